"""Responses as bytes: events of a stream, and answers that break off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event: its name, if it has one, and JSON (or a text as it is)."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text}\n\n".encode("utf-8", "replace")


class Broken(Response):
    """Another response, of which only `chunks` are sent before the connection breaks."""

    def __init__(self, whole: Response, chunks: Sequence[bytes]) -> None:
        super().__init__(status_code=whole.status_code)
        self.raw_headers = whole.raw_headers
        self._chunks = chunks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for chunk in self._chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        # Invariant: no last chunk. The server closes the connection of an application that returns with more to come.
