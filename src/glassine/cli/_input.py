"""Texts that are given to a command: an argument, a file, or what is piped in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click

from ._errors import MisuseError, UnusableError

STDIN: Final = "-"


def given(text: str) -> str:
    """The value of an option: itself, or for `-` what is piped in, without its last line break (`echo` adds one)."""
    return piped().removesuffix("\n") if text == STDIN else text


def content(file: str) -> str:
    """The whole of a file, or of stdin for `-`."""
    if file == STDIN:
        return piped()
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise UnusableError(f"{file}: {error.strerror}") from error
    return _decoded(file, data)


def piped() -> str:
    return _decoded("stdin", sys.stdin.buffer.read())


def print_raw(text: str) -> None:
    """A stored text as it is, byte for byte, for a file or a program."""
    click.echo(text.encode("utf-8", "surrogatepass"), nl=False)


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MisuseError(f"{name}: it is not UTF-8: byte 0x{data[error.start]:02x} at {error.start}") from error
