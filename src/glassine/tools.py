"""The tools through which a model uses its context: what they are called with, and what a call intends.

Tools are made from the kinds of the blocks. A call becomes an *intent*, a value; only a session performs it. What a
model gets wrong comes back as one sentence that begins with `Error:` and says what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from . import _json
from .blocks import Block

MAX_RESULTS = 10
ORIGINAL_CHARS = 16_000
"""Characters that `read_original` gives at once."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model is told of it. `input_schema` is a JSON Schema of type object. What the methods give are
    copies: the frozen definition stays as it is."""

    name: str
    description: str
    input_schema: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, in a fixed order of keys: `name`, `description`, `input_schema`."""
        return {"name": self.name, "description": self.description, "input_schema": deepcopy(self.input_schema)}

    def to_anthropic(self) -> dict[str, Any]:
        """An item of `tools` of Anthropic's Messages API."""
        return self.to_dict()

    def to_openai(self) -> dict[str, Any]:
        """An item of `tools` of OpenAI's chat completions."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": deepcopy(self.input_schema)},
        }

    def to_openai_responses(self) -> dict[str, Any]:
        """An item of `tools` of OpenAI's Responses API."""
        return {
            "type": "function",
            "name": self.name,
            "description": self.description,
            "parameters": deepcopy(self.input_schema),
            "strict": False,
        }


class SetContext(NamedTuple):
    """Write to a block. For a keyed block, `title` and `description` belong to the entry."""

    label: str
    content: str
    action: Literal["replace", "append"]
    title: str
    description: str | None


class LoadContext(NamedTuple):
    label: str
    key: str


class UnloadContext(NamedTuple):
    label: str
    key: str


class SearchContext(NamedTuple):
    label: str
    query: str


class ReadOriginal(NamedTuple):
    message_id: str
    part: int
    start: int


Intent = SetContext | LoadContext | UnloadContext | SearchContext | ReadOriginal


def definitions(blocks: Sequence[Block]) -> tuple[ToolDefinition, ...]:
    """The tools for these blocks. `read_original` is always there: any view may shorten what is too long.

    Nothing in them changes while the blocks stay the same: they are the earliest part of a request.
    """
    writable = [block for block in blocks if block.writable]
    loadable = [block for block in blocks if block.kind == "loadable"]
    searchable = [block for block in blocks if block.kind == "searchable"]
    found = []
    if writable:
        found.append(_set_context(writable))
    if loadable:
        key = {"type": "string", "description": "The key of the entry, as it is listed in the block."}
        found.append(
            ToolDefinition(
                "load_context",
                f"Load an entry of a block into the conversation, whole.{_listed(loadable)}",
                _object({"label": _label(loadable), "key": key}, ["label", "key"]),
            )
        )
        found.append(
            ToolDefinition(
                "unload_context",
                "Take a loaded entry out of the conversation again, to make room. It can be loaded again later.",
                _object({"label": _label(loadable), "key": key}, ["label", "key"]),
            )
        )
    if searchable:
        query = {"type": "string", "description": "Words to look for; put words in quotation marks to find a phrase."}
        found.append(
            ToolDefinition(
                "search_context",
                f"Search the entries of a block. Gives at most {MAX_RESULTS} results.{_listed(searchable)}",
                _object({"label": _label(searchable), "query": query}, ["label", "query"]),
            )
        )
    found.append(_read_original())
    return tuple(found)


def intent(name: str, arguments: Any, blocks: Sequence[Block]) -> Intent | str:
    """What a call of a tool intends, or the sentence that tells the model what was wrong with it.

    `arguments` is an object, or JSON text of one, as the providers hand it over. `blocks` are the live ones: a block
    added since the tools were frozen can be used too.
    """
    try:
        given = _arguments(arguments)
        match name:
            case "set_context":
                return _setting(given, blocks)
            case "load_context":
                return LoadContext(_block(given, blocks, "loadable").label, _text(given, "key"))
            case "unload_context":
                return UnloadContext(_block(given, blocks, "loadable").label, _text(given, "key"))
            case "search_context":
                return SearchContext(_block(given, blocks, "searchable").label, _text(given, "query"))
            case "read_original":
                return ReadOriginal(_text(given, "message_id"), _number(given, "part"), _number(given, "start", 0))
    except _WrongError as error:
        return f"Error: {error}"
    known = ", ".join(tool.name for tool in definitions(blocks))
    return f"Error: there is no tool {shortened(name)!r}; there are {known}."


class _WrongError(Exception):
    """What is wrong with a call; the text is for the model."""


def _set_context(writable: Sequence[Block]) -> ToolDefinition:
    properties: dict[str, Any] = {
        "label": _label(writable),
        "content": {"type": "string", "description": "The text to write."},
    }
    if any(not block.keyed for block in writable):
        properties["action"] = {
            "type": "string",
            "enum": ["replace", "append"],
            "description": "replace (the default) writes the block anew, append adds to what is there.",
        }
    if any(block.keyed for block in writable):
        properties["metadata"] = _object(
            {
                "title": {"type": "string", "description": "Names the entry; the same title again replaces it."},
                "description": {"type": "string", "description": "One line on what is in the entry."},
            },
            [],
            description="For a block that holds entries by their keys.",
        )
    return ToolDefinition(
        "set_context",
        "Write to a block of your context. It is stored at once, and stays when this conversation is shortened."
        f"{_listed(writable)}",
        _object(properties, ["label", "content"]),
    )


def _read_original() -> ToolDefinition:
    return ToolDefinition(
        "read_original",
        "Read the whole of a text that is shown shortened in this conversation. Where something was shortened, a note "
        f"says which message and part it is. Gives up to {ORIGINAL_CHARS} characters at a time.",
        _object(
            {
                "message_id": {"type": "string", "description": "The message, as the note names it."},
                "part": {"type": "integer", "minimum": 0, "description": "The part, as the note names it."},
                "start": {"type": "integer", "minimum": 0, "description": "The character to begin at; 0 by default."},
            },
            ["message_id", "part"],
        ),
    )


_NATURES = {
    "writable": "writable",
    "loadable": "skill collection, keyed",
    "searchable": "searchable, keyed",
}


def _listed(blocks: Iterable[Block]) -> str:
    lines = []
    for block in blocks:
        described = " ".join(block.description.split())
        if block.keyed and block.writable and block.max_tokens is not None:
            described = f"{described} (an entry has at most {block.max_tokens} tokens)".lstrip()
        lines.append(f"\n- {block.label} ({_NATURES[block.kind]})" + (f": {described}" if described else ""))
    return "\nBlocks:" + "".join(lines)


def _label(blocks: Iterable[Block]) -> dict[str, Any]:
    return {"type": "string", "enum": [block.label for block in blocks], "description": "The block."}


def _object(properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", **more, "properties": properties}
    if required:
        schema["required"] = required
    return schema


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = _json.decode(_json.CODEC_STDLIB, value.encode("utf-8", "surrogatepass")) if value.strip() else {}
        except (ValueError, RecursionError):
            raise _WrongError("the arguments are not valid JSON; give one JSON object.") from None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _WrongError(f"the arguments must be one JSON object, not {_kind(value)}.")
    return value


def _setting(given: Mapping[str, Any], blocks: Sequence[Block]) -> SetContext:
    block = _block(given, blocks, "writable")
    content = _text(given, "content", blank=True)
    action = given.get("action") or "replace"
    if action not in ("replace", "append"):
        raise _WrongError('`action` must be "replace" or "append".')
    if block.keyed and action == "append":
        raise _WrongError(f'block "{block.label}" holds entries; write the whole entry with the action "replace".')
    metadata = given.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise _WrongError("`metadata` must be an object with `title` and `description`.")
    title, description = metadata.get("title"), metadata.get("description")
    for name, value in (("title", title), ("description", description)):
        if value is not None and not isinstance(value, str):
            raise _WrongError(f"`metadata.{name}` must be a text, not {_kind(value)}.")
    if block.keyed and not content.strip():
        raise _WrongError("an entry must not be blank; give its text as `content`.")
    return SetContext(
        block.label, content, "append" if action == "append" else "replace", title or "", description or None
    )


def _block(given: Mapping[str, Any], blocks: Sequence[Block], wanted: str) -> Block:
    label = given.get("label")
    right = [block for block in blocks if (block.writable if wanted == "writable" else block.kind == wanted)]
    for block in right:
        if block.label == label:
            return block
    known = ", ".join(f'"{block.label}"' for block in right)
    if not right:
        raise _WrongError(f"this session has no {wanted} block.")
    if label is None:
        raise _WrongError(f"`label` is missing; it must be one of {known}.")
    if any(block.label == label for block in blocks):
        raise _WrongError(f'block "{label}" is not {wanted}; `label` must be one of {known}.')
    raise _WrongError(f"there is no block {_shown(label)}; `label` must be one of {known}.")


def _text(given: Mapping[str, Any], name: str, *, blank: bool = False) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        what = "is missing" if value is None else f"must be a text, not {_kind(value)}"
        raise _WrongError(f"`{name}` {what}.")
    if not blank and not value.strip():
        raise _WrongError(f"`{name}` must not be blank.")
    return value


def _number(given: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = given.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _WrongError(f"`{name}` must be a whole number from 0 on.")
    return value


def tools_text(tools: Iterable[ToolDefinition]) -> str:
    """The definitions of tools as JSON, a line each: what their tokens are counted by."""
    return "\n".join([_json.text(tool.to_dict()) for tool in tools])


def shortened(text: str, most: int = 80) -> str:
    """A text of a caller's as it may stand in a sentence: on one line, at most so many characters."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shown(value: Any) -> str:
    return f'"{shortened(value)}"' if isinstance(value, str) else _kind(value)


def _kind(value: Any) -> str:
    names = ((bool, "a truth value"), (str, "a text"), ((int, float), "a number"), ((list, tuple), "a list"))
    return next((name for kind, name in names if isinstance(value, kind)), "an object")
