"""Files below a folder, found by their names as they are listed and never by joining a path with a key."""

from __future__ import annotations

import io
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from ..skills import SKILL_BYTES, too_large


def read(path: Path, limit: int = SKILL_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError, or ValueError for another kind of file or one that is too large."""
    with io.BufferedReader(io.FileIO(path, opener=_at_once)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(too_large(max(status.st_size, len(data))))
    return data


def _at_once(path: str, flags: int) -> int:
    # A pipe is not waited for until somebody writes to it: it is opened, and refused.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def write(path: Path, data: bytes) -> None:
    """Put a file in its place, whole or not at all; its rights stay, if it was there."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder and not hidden, in the order of the names."""
    with os.scandir(folder) as found:
        return sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda entry: entry.name)


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder or a link to one. A link that leads in a circle is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def find(folder: Path, parts: list[str]) -> Path | None:
    """The file or folder below `folder` whose path consists of just these names, in Unicode NFC. Case counts, also
    where the file system passes over it."""
    for part in parts:
        try:
            listed = entries(folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        match = next((entry for entry in listed if unicodedata.normalize("NFC", entry.name) == part), None)
        if match is None:
            return None
        folder = Path(match.path)
    return folder


def inside(root: Path, path: Path) -> Path | None:
    """Where `path` really is, when that is in `root`; None when links lead out of it, or nowhere."""
    try:
        real = path.resolve(strict=True)
        return real if real.is_relative_to(root.resolve(strict=True)) else None
    except (OSError, RuntimeError):  # a link to itself is a RuntimeError up to Python 3.12
        return None


def below(folder: Path, limit: int = 1000) -> Iterator[str]:
    """The paths of the files in a folder and below it, with `/` between the names, at most `limit`; without those that
    are hidden, behind a link to a folder, or in a folder that may not be read."""
    count = 0
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        prefix = "" if here == str(folder) else f"{Path(here).relative_to(folder).as_posix()}/"
        for name in sorted(names):
            if not name.startswith(".") and (Path(here) / name).is_file():
                yield prefix + name
                count += 1
                if count == limit:
                    return
