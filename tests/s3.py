"""S3 servers for the tests: moto, which keeps to conditions, and nanio, which looks at signatures."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import os
import socket
import subprocess
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

KEY, SECRET = "tests", "tests-secret"
RETRIES = {
    "max_retries": 1,
    "retry_timeout": timedelta(seconds=5),
    "backoff": {"init_backoff": timedelta(milliseconds=5)},
}

_numbers = itertools.count()


def options(endpoint: str, secret: str = SECRET) -> dict[str, Any]:
    """What obstore needs to reach one of the servers."""
    return {
        "endpoint": endpoint,
        "access_key_id": KEY,
        "secret_access_key": secret,
        "region": "us-east-1",
        "retry_config": RETRIES,
    }


@contextlib.contextmanager
def moto() -> Iterator[str]:
    """The URL of a moto server in this process. It takes any credentials."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextlib.contextmanager
def nanio(folder: Path) -> Iterator[str]:
    """The URL of a nanio server with the buckets that are folders of `folder`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sysconfig.get_path("scripts"), "nanio")
    command = [str(program), "serve", "--data-dir", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "NANIO_ACCESS_KEY": KEY, "NANIO_SECRET_KEY": SECRET}
    with (folder.parent / "nanio.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise RuntimeError((folder.parent / "nanio.log").read_text())
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def bucket(url: str, objects: Iterable[tuple[str, bytes, dict[str, str]]] = ()) -> str:
    """The name of a new bucket on the moto server, with objects (key, content, metadata) put behind its back."""
    from moto.backends import get_backend

    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("PUT", f"/{name}", headers={"Authorization": "AWS tests:x"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()
    backend: Any = get_backend("s3")["123456789012"]["aws"]
    for key, content, metadata in objects:
        backend.put_object(name, key, content).set_metadata({f"x-amz-meta-{k}": v for k, v in metadata.items()})
    return name


Answer = Callable[[str, str], int | None]


@contextlib.contextmanager
def in_front_of(url: str, answer: Answer) -> Iterator[str]:
    """A server that passes every request on to `url`, except where `answer(method, path)` says a status of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = answer(self.command, self.path)
            if status is not None:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
            connection.request(self.command, self.path, body, dict(self.headers))
            reply = connection.getresponse()
            data = reply.read()
            connection.close()
            self.send_response(reply.status)
            for name, value in reply.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.pass_on()

        def do_HEAD(self) -> None:
            self.pass_on()

        def do_PUT(self) -> None:
            self.pass_on()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
