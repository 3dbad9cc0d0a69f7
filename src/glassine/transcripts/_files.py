"""Finding transcripts among files, folders and patterns, and telling what format a file has."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from gzip import GzipFile
from itertools import islice
from pathlib import Path
from typing import IO, Any

from ._claude_code import SOURCE
from ._claude_meta import KNOWN_TYPES
from ._lines import objects, opened
from ._notes import Notes
from ._values import Discovery, Found, Ignored

__all__ = ["detect", "discover"]

SUFFIXES = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
"""What a file in a folder must be called to be looked into. A file that is named itself may be called anything."""

_OBJECTS_TRIED = 50
_BYTES_TRIED = 1 << 24
_NAMES = (b'"sessionId"', b'"uuid"', b'"loglines"')


def detect(path: str | os.PathLike[str]) -> str | None:
    """The name of the format of a transcript, told from its first objects; None when it is none that is known.

    Reads as little as it can: at most 50 objects or 16 MiB, and to the end of a longer line that begins like one of a
    transcript. Raises OSError when the file cannot be read.
    """
    with opened(Path(path)) as file:
        head = islice(objects(_head(file), Notes()), _OBJECTS_TRIED)
        return next((SOURCE for _, line in head if _is_claude_code(line)), None)


def discover(paths: Iterable[str | os.PathLike[str]]) -> Discovery:
    """The transcripts among `paths`: files, folders (searched recursively, hidden ones too) and glob patterns.

    `~` stands for the home directory. Every file comes once, sorted by path, a main session before its subagents.
    In folders only files called `*.jsonl`, `*.json` (or with `.gz`) are looked into; other names are passed over
    without mention. Nothing raises: what cannot be used is in `ignored` with the reason.
    """
    found: dict[Path, Found] = {}
    ignored: dict[Path, Ignored] = {}
    for given in paths:
        for path, reason in _candidates(Path(given).expanduser()):
            real = path.resolve()
            source = None
            if reason is None:
                try:
                    source = detect(path)
                    reason = "empty" if not path.stat().st_size else "not a transcript of a known format"
                except OSError as error:
                    reason = error.strerror or str(error)
            if source is not None:
                found[real] = Found(path, source)
            else:
                ignored[real] = Ignored(path, reason or "")
    return Discovery(
        tuple(sorted(found.values(), key=lambda item: _order(item.path))),
        tuple(sorted(ignored.values(), key=lambda item: item.path)),
    )


def _candidates(given: Path) -> Iterator[tuple[Path, str | None]]:
    """Files to look into, or a path and the reason why there is nothing to look into."""
    if given.is_dir():
        inside = list(_walk(given))
        yield from inside
        if not inside:
            yield given, "a folder without .jsonl or .json files"
    elif given.exists():
        yield (given, None) if given.is_file() else (given, "neither a file nor a folder")
    elif glob.has_magic(str(given)):
        matches = sorted(glob.glob(str(given), recursive=True, include_hidden=True))  # noqa: PTH207 - hidden files
        for match in matches:
            path = Path(match)
            yield from _walk(path) if path.is_dir() else ((path, None),)
        if not matches:
            yield given, "nothing matches"
    else:
        yield given, "no such file"


def _walk(folder: Path) -> Iterator[tuple[Path, str | None]]:
    refused: list[OSError] = []
    for inner, _, names in os.walk(folder, onerror=refused.append):
        yield from ((Path(inner, name), None) for name in names if name.endswith(SUFFIXES))
    yield from ((Path(error.filename), error.strerror or str(error)) for error in refused)


def _order(path: Path) -> tuple[Path, bool, str, bool, str]:
    """Sorts `<session>/subagents/agent-*` right behind `<session>`, and `agent-*` behind all sessions beside it."""
    if path.parent.name == "subagents":
        session = path.parent.parent
        return session.parent, False, session.name, True, path.name
    return path.parent, path.name.startswith("agent-"), path.name.split(".")[0], False, path.name


def _head(file: IO[bytes] | GzipFile) -> Iterator[bytes]:
    left = _BYTES_TRIED
    while left > 0 and (line := file.readline(left)):
        left -= len(line)
        if not left and not line.endswith(b"\n") and any(name in line for name in _NAMES):
            line += file.readline()  # one message can be as long as that
        yield line


def _is_claude_code(line: dict[str, Any]) -> bool:
    match line.get("type"):
        case "user" | "assistant":
            return isinstance(line.get("message"), dict) and ("uuid" in line or "sessionId" in line)
        case "summary":
            return "leafUuid" in line
        case "file-history-snapshot":
            return "snapshot" in line
        case kind:
            return kind in KNOWN_TYPES and "sessionId" in line
