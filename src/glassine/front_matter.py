"""The front matter of a markdown file: YAML between two lines of `---`, before the text.

Reading is lenient, as skills come from many hands: what YAML refuses is read line by line as far as it goes, and said
to be a problem. All values are read as text: a version `1.0` stays `1.0`, and nothing becomes a date or a truth value.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

FRONT_MATTER_LIMIT: Final = 16_384
"""Characters of front matter that are read: it is short, and YAML takes its time."""

_FENCED = re.compile(r"---[ \t]*\r?\n(?P<yaml>(?:.*\n)*?)---[ \t]*(?:\r?\n|\Z)")
_OPENING = re.compile(r"---[ \t]*\r?\n")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_SIMPLE_FIELD = re.compile(r"^(name|description)[ \t]*:[ \t]*(\S.*?)[ \t\r]*$", re.MULTILINE)


class Document(NamedTuple):
    """A text taken apart. `raw` is the front matter with its fences ("" if there is none), `body` the text without it,
    `fields` the values that are texts, `problem` what is wrong with the front matter (None: nothing)."""

    raw: str
    body: str
    fields: dict[str, str]
    problem: str | None


def read(text: str) -> Document:
    """Take a text apart. What looks like front matter but holds no fields at all belongs to the body."""
    text = text.removeprefix("\ufeff")
    match = _FENCED.match(text[: FRONT_MATTER_LIMIT + 16])
    if match is None:
        problem = None
        if _OPENING.match(text):
            long = len(text) > FRONT_MATTER_LIMIT
            problem = f"its front matter has no closing --- within {FRONT_MATTER_LIMIT:,} characters" if long else None
            problem = problem or "its front matter has no closing ---"
        return Document("", text, {}, problem)
    raw, rest = match[0], text[match.end() :]
    blank = _BLANK_LINE.match(rest)
    body = rest[blank.end() :] if blank else rest
    node, problem = _composed(match["yaml"])
    if problem is not None:
        fields = {name: _unquoted(value) for name, value in _SIMPLE_FIELD.findall(match["yaml"])}
        return Document(raw, body, fields, problem) if fields else Document("", text, {}, problem)
    if node is None:
        return Document(raw, body, {}, None)
    if node.id != "mapping":
        return Document("", text, {}, "its front matter holds no fields")
    # The first of two fields of one name counts, which is the one that `described` changes.
    fields = {key.value: value.value for key, value in reversed(node.value) if key.id == value.id == "scalar"}
    return Document(raw, body, fields, None)


def described(raw: str, name: str, description: str) -> str:
    """Front matter (with its fences) that says `description`, one line, and is otherwise the same to the character.

    Where there is none yet, it is made, with `name`. Raises ValueError when it cannot be changed without risk: it is no
    valid YAML, or written in a way that leaves no place.
    """
    value = json.dumps(description, ensure_ascii=False)  # a JSON text is a YAML text
    match = _FENCED.match(raw)
    if match is None:
        return f"---\nname: {json.dumps(name, ensure_ascii=False)}\ndescription: {value}\n---\n"
    inner = match["yaml"]
    node, problem = _composed(inner)
    if problem is not None:
        raise ValueError(problem)
    changed = inner + f"description: {value}\n"
    for key, old in node.value if node is not None else ():
        if key.value == "description":
            start, end = old.start_mark.index, old.end_mark.index
            if start < key.end_mark.index:
                raise ValueError("the description is an alias of another value")
            gap = "" if inner[start - 1].isspace() else " "
            # A block of lines ends where the next field begins.
            changed = inner[:start] + gap + value + ("\n" if inner[start:end].endswith("\n") else "") + inner[end:]
            break
    result = raw[: match.start("yaml")] + changed + raw[match.end("yaml") :]
    again = read(result)
    if again.problem is not None or again.fields.get("description") != description:
        raise ValueError("its fields are written in a way that is not changed here")
    return result


def updated(old: str | None, content: str, name: str, description: str | None) -> str:
    """The text of a file whose content becomes `content`: front matter that comes with `content` counts, else that of
    the `old` text is kept, with the `description` put in if there is one. Raises ValueError as `described` does."""
    given = read(content)
    raw = given.raw or (read(old).raw if old is not None else "")
    if description is not None:
        raw = described(raw, name, description)
    if raw and not raw.endswith("\n"):
        raw += "\n"
    # A line between, always: it is the one that reading takes away again.
    return f"{raw}\n{given.body}" if raw else given.body


def _composed(text: str) -> tuple[Any, str | None]:
    """The YAML node (None: empty), or what is wrong."""
    import yaml  # takes longer to load than most of what it reads takes

    try:
        return yaml.compose(text, Loader=yaml.BaseLoader), None
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""  # after the opening ---
        return None, f"its front matter is not valid YAML: {error.problem or error.context}{line}"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        return None, f"its front matter is not valid YAML: {reason}"


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
