"""Skills: texts that a model loads when it needs them. What a skill is, what its key may be, and how skills are listed.

The rules for names and descriptions are those of the open agent skills format (agentskills.io). A skill that breaks
them is used all the same, with a warning.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final, NamedTuple

from . import front_matter
from ._ids import check_id
from .errors import InvalidError, InvalidIdError

KEY_CHARS: Final = 60
"""Characters of a key made from a title."""
NAME_LIMIT: Final = 64
DESCRIPTION_LIMIT: Final = 1024
"""Characters of a description; the listing shows no more."""
SKILL_BYTES: Final = 1_048_576
"""Bytes of UTF-8 that a skill, or a file of one, may have."""
SKILL_FILE: Final = "SKILL.md"

_SHOWN_FILES = 50
_HASH_CHARS = 8
_MARKDOWN_START = re.compile(r"^[\s#>*+-]+")
_UNPRINTABLE = dict.fromkeys([0xFEFF, 0xFFFE, 0xFFFF])
# What a name may not be on some system or other, with any ending.
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as it is listed. `size` is in bytes, front matter included; `updated_at` is an aware time, or None where
    it is not known."""

    key: str
    description: str
    size: int
    updated_at: datetime | None


class Description(NamedTuple):
    """What a text says of itself, on one line, and what breaks the rules of the format."""

    text: str
    warnings: list[str]


def listing(skills: Iterable[Skill]) -> str:
    """The lines `- key: description` in the order of the keys; "" when there are none."""
    lines = []
    for skill in sorted(skills, key=lambda skill: skill.key):
        text = one_line(skill.description)
        text = text if len(text) <= DESCRIPTION_LIMIT else text[: DESCRIPTION_LIMIT - 1].rstrip() + "…"
        lines.append(f"- {skill.key}: {text}" if text else f"- {skill.key}")
    return "\n".join(lines)


def description_of(key: str, text: str, *, in_folder: bool) -> Description:
    """What the text of a skill says of itself: the description in its front matter, or else its first line.

    One in a folder of its own has to keep to the rules of the format; a plain file may do without front matter.
    """
    document = front_matter.read(text)
    found = [document.problem] if document.problem else []
    if document.raw and in_folder:
        found += _name_problems(key, document.fields.get("name", ""))
    description = one_line(document.fields.get("description", ""))
    if len(description) > DESCRIPTION_LIMIT:
        found.append(f"its description has {len(description):,} characters; at most {DESCRIPTION_LIMIT:,} are shown")
    if not description:
        description = first_line(document.body)
        if not description:
            found.append("it has no description, and no text")
        elif in_folder and not document.problem:
            found.append("it has no description; its first line is shown")
    return Description(description, found)


def first_line(text: str) -> str:
    """The first line with text in it, without the signs of markdown before it; at most 200 characters."""
    for line in text.split("\n"):
        if plain := one_line(_MARKDOWN_START.sub("", line)):
            return plain if len(plain) <= 200 else plain[:199].rstrip() + "…"
    return ""


def one_line(text: str) -> str:
    """The text on one line: white space of any kind as single spaces, without control characters."""
    plain = "".join([ch for ch in text if ch.isspace() or unicodedata.category(ch) not in ("Cc", "Cs")])
    return " ".join(plain.translate(_UNPRINTABLE).split())


def _name_problems(key: str, name: str) -> list[str]:
    if not name:
        return ["it has no name"]
    found = []
    if len(name) > NAME_LIMIT:
        found.append(f"its name has {len(name)} characters; the format allows {NAME_LIMIT}")
    if name != name.lower() or not all(ch.isalnum() or ch == "-" for ch in name):
        found.append(f"its name {name[:80]!r} has other characters than lower-case letters, digits and hyphens")
    elif name.startswith("-") or name.endswith("-") or "--" in name:
        found.append(f"its name {name[:80]!r} has a hyphen at an end, or two in a row")
    if unicodedata.normalize("NFC", name) != key.rpartition("/")[2]:
        found.append(f"its name is {name[:80]!r}, but its key is {key!r}")
    return found


# --- keys -------------------------------------------------------------------------------------------------------------


def key_for(title: str, content: str) -> str:
    """The key of an entry that a model writes: at most 60 characters, lower case, words joined by hyphens.

    The same title, whatever its case and width, gives the same key; letters of every script are kept. A title that is
    cut, or has no letters, ends in a short hash of all of it. Without a title the key is made from the content: the
    beginning of its first line, and a hash of the whole.
    """
    name = _folded(title)
    if not name:
        begin = _cut(_words(_folded(first_line(content))), KEY_CHARS - _HASH_CHARS - 1)
        return f"{begin or 'entry'}-{_hash(content)}"
    words = _words(name)
    if len(words) <= KEY_CHARS and any(ch.isalpha() for ch in words):
        return words
    return f"{_cut(words, KEY_CHARS - _HASH_CHARS - 1) or 'entry'}-{_hash(name)}"


def _folded(text: str) -> str:
    once = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", once).split())


def _words(text: str) -> str:
    kept = "".join([ch if unicodedata.category(ch)[0] in "LMN" else "-" for ch in text])
    return "-".join(filter(None, kept.split("-")))


def _cut(text: str, limit: int) -> str:
    return text[:limit].rstrip("-")


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def normal_key(key: object) -> str | None:
    """The key in the one form (Unicode NFC) that is compared, or None for what can be no key.

    A key is a path inside its folder: parts joined by `/`, none of them blank, `.` or `..`, or hidden by a leading dot;
    no backslash, no control character, no lone surrogate.
    """
    try:
        return checked_key(key)
    except InvalidIdError:
        return None


def checked_key(key: object) -> str:
    """As `normal_key`, but raises InvalidIdError saying why not."""
    key = unicodedata.normalize("NFC", check_id("entry", key))
    if "\\" in key:
        raise InvalidIdError("entry", key, "must not contain a backslash")
    if any(unicodedata.category(ch) in ("Cc", "Cs", "Zl", "Zp") for ch in key):
        raise InvalidIdError("entry", key, "must not contain control characters or line breaks")
    for part in key.split("/"):
        if not part.strip() or part != part.strip():
            raise InvalidIdError("entry", key, "has a part that is blank or begins or ends with white space")
        if part.startswith("."):
            raise InvalidIdError("entry", key, "has a part that begins with a dot")
    return key


def check_new_key(key: str) -> None:
    """Raise InvalidIdError for a key that would be read as another one: endings are left off, SKILL.md is not named."""
    if any(part.casefold().endswith(".md") for part in key.split("/")):
        raise InvalidIdError("entry", key, "has a part that ends in .md; a key is given without it")


def check_file_key(key: str) -> None:
    """Raise InvalidIdError for a key that some file system could not take as the path of a file."""
    for part in key.split("/"):
        if any(ch in '<>:"|?*' for ch in part):
            raise InvalidIdError("entry", key, 'must not contain any of < > : " | ? *')
        if part.endswith(".") or _DEVICES.fullmatch(part):
            raise InvalidIdError("entry", key, f"has the part {part!r}, which is no file name on every system")
        if len(part.encode()) > 200:
            raise InvalidIdError("entry", key, "has a part of more than 200 bytes", limit=200)


class AllowedKeys:
    """The skills that may be used: all of them, or those named (relative to the folder, with the files below them)."""

    def __init__(self, keys: Iterable[str] | None) -> None:
        if isinstance(keys, str):
            raise TypeError("keys must be a collection of keys, not one text")
        self.named = None if keys is None else frozenset(checked_key(key) for key in keys)

    def __contains__(self, key: str) -> bool:
        return self.named is None or key in self.named or any(above in self.named for above in parents(key))

    def missing(self, found: Collection[str]) -> list[str]:
        """Warnings for keys that are named, of skills that are not there."""
        return [
            f"{key}: it is among the allowed keys, but not there"
            for key in sorted(self.named or ())
            if key not in found and not any(above in found for above in parents(key))
        ]


def parents(key: str) -> list[str]:
    """The keys above a key, the nearest first: `a/b`, `a` for `a/b/c`."""
    parts = key.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


# --- texts ------------------------------------------------------------------------------------------------------------


def decoded(data: bytes, *, whole: bool = True) -> str:
    """The text of a file, a byte order mark taken off. Raises ValueError saying where it is not UTF-8. Of a file that
    is not `whole` the last character may be cut, and is left off."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data, final=whole).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8: byte {data[error.start]:#04x} at {error.start:,}") from None


def encoded(text: str) -> bytes:
    """The bytes of a text to be written. Raises InvalidError for one that is too large or has a lone surrogate."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidError(f"a skill must not contain a lone surrogate, as at character {error.start:,}") from None
    if len(data) > SKILL_BYTES:
        raise InvalidError(f"the skill would have {len(data):,} bytes; at most {SKILL_BYTES:,}")
    return data


def too_large(size: int) -> str:
    return f"it has {size:,} bytes; at most {SKILL_BYTES:,} are read"


def with_files(body: str, keys: Sequence[str]) -> str:
    """The text of a skill with a line that names its other files by the keys that load them."""
    if not keys:
        return body
    more = f" and {len(keys) - _SHOWN_FILES} more" if len(keys) > _SHOWN_FILES else ""
    named = ", ".join(keys[:_SHOWN_FILES])
    return f"{body.rstrip()}\n\nOther files of this skill, loaded by these keys: {named}{more}\n"
