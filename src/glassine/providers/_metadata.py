"""Descriptions in the metadata of objects, which is ASCII on S3 and small everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

from ..skills import one_line

DESCRIPTION: Final = "description"
LIMIT: Final = 1_800
"""Bytes of an encoded description: S3 and R2 allow 2 KB (and 8 KB) for all metadata of an object together."""

_PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in "%=")
_WORD = re.compile(r"=\?[\w-]+\?[BbQq]\?[^?]*\?=")


def get(attributes: Mapping[str, str]) -> str:
    """The description among an object's attributes, "" if there is none.

    It is percent-encoded where it was written here. What others wrote in other letters than ASCII comes from S3 and R2
    as encoded words (RFC 2047); these are read too.
    """
    found = next((value for name, value in attributes.items() if name.lower() == DESCRIPTION), "")
    if _WORD.search(found):
        from email.errors import HeaderParseError
        from email.header import decode_header, make_header

        try:
            return one_line(str(make_header(decode_header(found))))
        except (HeaderParseError, LookupError, ValueError):
            return one_line(found)
    try:
        return one_line(unquote(found, errors="strict"))
    except UnicodeDecodeError:
        return one_line(found)


def put(attributes: dict[str, str], description: str | None) -> bool:
    """Put a description in, in place of the one that is there; None leaves that as it is. One that is too long is left
    out, and so is the old one: then the answer is False."""
    if description is None:
        return True
    for name in [name for name in attributes if name.lower() == DESCRIPTION]:
        del attributes[name]
    value = quote(description, safe=_PLAIN)
    if len(value) > LIMIT:
        return False
    attributes[DESCRIPTION] = value
    return True
