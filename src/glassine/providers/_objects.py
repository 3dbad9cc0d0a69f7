"""Object stores, through obstore: opened by their URLs, with errors that a person can read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final
from urllib.parse import unquote

from ..errors import GlassineError, ProviderError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_QUERY = re.compile(r"([A-Za-z][\w+.-]*://[^\s?\"]*)\?[^\s)\"]*")
_USER = re.compile(r"([A-Za-z][\w+.-]*://)[^\s/\"]*@")
_CODE = re.compile(r"<Code>([A-Za-z]+)</Code>")
_GENERIC = re.compile(r"^Generic \w+ error: ")
_DENIED = re.compile(r"status code: 40[13]\b")  # what a listing is refused with has no error class of its own
_XML = re.compile(r":? *<\?xml.*")
_TRIED = re.compile(r" in [\d.]+[mµn]?s(?:, after .*?retry_timeout: [^ ]+)?")

# A prompt waits for the answer: obstore's own 3 minutes are too long.
_RETRIES: Final = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
_CLIENT: Final = {"connect_timeout": "5s", "timeout": "30s"}
# The process that first used obstore. Its threads are not in a forked child, which would wait for them for ever.
_users: dict[str, int] = {}


def is_url(text: str) -> bool:
    return _URL.match(text) is not None


def shown(url: str) -> str:
    """The URL without what may be secret in it: a user and password, a query."""
    scheme, separator, rest = url.partition("://")
    rest = rest.partition("?")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def opened(url: str, options: dict[str, Any], source: str) -> Any:
    """A store of obstore for a URL; its path, if any, is a prefix of all paths in the store.

    `options` go to `obstore.store.from_url`: `endpoint`, `access_key_id`, `region`, … Requests are tried 3 times more
    within 20 seconds, and an endpoint with http:// is believed, unless `retry_config` or `client_options` say else.
    """
    with translated(source):
        # The type checker knows from_url by its overloads, one for each kind of store.
        from obstore import store

        make: Any = store.from_url
        if url.startswith(("file:", "memory:")):
            return make(url, **options)
        client = _CLIENT | ({"allow_http": True} if _is_http(options.get("endpoint", url)) else {})
        return make(
            url,
            **options
            | {"client_options": client | (options.get("client_options") or {})}
            | {"retry_config": _RETRIES | (options.get("retry_config") or {})},
        )


def _is_http(url: object) -> bool:
    return isinstance(url, str) and url.lower().startswith("http://")


def parted(url: str) -> tuple[str, str]:
    """The URL of an object as the URL of what it is in, and its name there."""
    scheme, _, rest = url.partition("://")
    if scheme in ("http", "https") and "?" in rest:
        raise ProviderError("a query in the URL is not used; give credentials as options", source=shown(url))
    above, slash, name = rest.rpartition("/")
    if not slash or not name or not above:
        raise ProviderError("the URL names no object: it has the form s3://bucket/path/to/file", source=shown(url))
    return f"{scheme}://{above}", unquote(name) if scheme in ("http", "https") else name


@contextmanager
def translated(source: str) -> Iterator[None]:
    """Where obstore is used: its errors become ProviderErrors."""
    if _users.setdefault("first", os.getpid()) != os.getpid():
        reason = "a forked child cannot use object stores after its parent did; start it anew (spawn), or fork before"
        raise ProviderError(reason, source=source)
    try:
        yield
    except GlassineError:
        raise
    except ImportError as error:
        reason = "it needs the extra `buckets`: pip install 'glassine[buckets]'"
        raise ProviderError(reason, source=source) from error
    except Exception as error:
        # obstore raises Python's own errors too, for what they mean: OSError, ValueError, NotImplementedError.
        if type(error).__module__.partition(".")[0] != "obstore" and not isinstance(
            error, (OSError, ValueError, NotImplementedError)
        ):
            raise
        raise ProviderError(reason_of(error), source=source) from error


def reason_of(error: Exception) -> str:
    """What went wrong, in one line without secrets."""
    text = str(error)
    code = match[1] if (match := _CODE.search(text)) else ""
    kind = type(error).__name__
    if code == "NoSuchBucket":
        return "the bucket does not exist"
    if isinstance(error, FileNotFoundError):
        return "it is not there"
    denied = kind in ("PermissionDeniedError", "UnauthenticatedError") or isinstance(error, PermissionError)
    if denied or _DENIED.search(text):
        return "access was denied; check the credentials and their rights" + (f" ({code})" if code else "")
    if kind in ("AlreadyExistsError", "PreconditionError"):
        return "somebody else changed it at the same time; nothing was written"
    line = text.partition("\n")[0]
    for pattern, kept in ((_GENERIC, ""), (_XML, ""), (_QUERY, r"\1"), (_USER, r"\1"), (_TRIED, "")):
        line = pattern.sub(kept, line)
    line = line if len(line) <= 300 else line[:299] + "…"
    return f"{line.strip()} ({code})" if code else line.strip() or kind


def is_missing(error: Exception) -> bool:
    """Whether an object was not there. A bucket that is not there is another matter."""
    return isinstance(error, FileNotFoundError) and "NoSuchBucket" not in str(error)
