"""Signatures of the thinking that the fake issues, and whether they still hold.

A signature carries what is signed, so that nothing has to be remembered: thinking that one fake issued is checked by
the next. What does not carry the mark of the fake is taken for a real signature and accepted.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from glassine.rules import Violation

from ._blocks import Block, blocks_of

_MARK = "ZmFrZS"  # "fake" in base64, so that a signature looks like one
_KEY = b"the fake provider's key: it is no secret"
_THINKING = ("thinking", "redacted_thinking")


class _Seal(NamedTuple):
    """What a signature says: the reply it belongs to, its number among that reply's thinking and how many there are,
    and digests: of its text, of the reply's other blocks before it, of the one behind it, of the thinking before it
    in the conversation, and of everything else before it ("" for a model that does not bind thinking)."""

    reply: str
    number: int
    total: int
    text: str
    within: str
    behind: str
    previous: str
    prefix: str


def signed(
    request: Mapping[str, Any], reply: str, content: Sequence[Mapping[str, Any]], *, bound: bool
) -> list[dict[str, Any]]:
    """The blocks of a reply to `request`, with their thinking signed. `reply` is a name that no other reply has."""
    before = blocks_of(request)
    prefix = [block for block in before if block.kind not in _THINKING]
    thinking = [dict(block.value) for block in before if block.kind in _THINKING]
    others = [block for block in content if block["type"] not in _THINKING]
    passed: list[Mapping[str, Any]] = []
    done: list[dict[str, Any]] = []
    number = 0
    for block in content:
        if block["type"] not in _THINKING:
            passed.append(block)
            done.append(dict(block))
            continue
        seal = _Seal(
            reply,
            number,
            len(content) - len(others),
            _digest(block.get("thinking", "")),
            _digest(passed),
            _digest(others[len(passed)]) if len(passed) < len(others) else "",
            _digest(thinking[-1]) if thinking else "",
            _prefix_digest(prefix, passed) if bound else "",
        )
        number += 1
        thinking.append({**block, "data" if block["type"] == "redacted_thinking" else "signature": _seal(seal)})
        done.append(thinking[-1])
    return done


def altered(request: Mapping[str, Any], *, bound: bool) -> list[Violation]:
    """What is wrong with thinking that a fake issued; `bound`: the request's model checks what is before it."""
    blocks = blocks_of(request)
    found: list[Violation] = []
    seals: list[tuple[int, _Seal]] = []
    for place, block in enumerate(blocks):
        token = block.value.get("signature" if block.kind == "thinking" else "data")
        if block.kind not in _THINKING or not isinstance(token, str) or not token.startswith(_MARK):
            continue
        seal = _open(token)
        if seal is None or seal.text != _digest(block.value.get("thinking", "")):
            what = "`signature` in `thinking`" if block.kind == "thinking" else "`data` in `redacted_thinking`"
            found.append(Violation("anthropic.thinking_signature", _path(block), f"Invalid {what} block"))
        else:
            seals.append((place, seal))
    if found:
        return found
    return (_unbound(blocks, seals) if bound else []) or _modified(blocks, seals)


def _unbound(blocks: Sequence[Block], seals: Sequence[tuple[int, _Seal]]) -> list[Violation]:
    """The first thinking block before which something has changed. Thinking may be left out from the start only."""
    for place, seal in seals:
        if not seal.prefix:
            continue
        thinking = [block for block in blocks[:place] if block.kind in _THINKING]
        before = [block for block in blocks[:place] if block.kind not in _THINKING]
        if _prefix_digest(before, ()) != seal.prefix or (thinking and _digest(thinking[-1].value) != seal.previous):
            return [
                Violation(
                    "anthropic.thinking_bound",
                    _path(blocks[place]),
                    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove "
                    'the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
                )
            ]
    return []


def _modified(blocks: Sequence[Block], seals: Sequence[tuple[int, _Seal]]) -> list[Violation]:
    """Thinking of the latest assistant message that is half there, out of order, or not where it was."""
    latest = max((block.message for block in blocks if block.place == "assistant"), default=-1)
    replies: dict[str, list[tuple[int, _Seal]]] = {}
    for place, seal in seals:
        if blocks[place].message == latest:
            replies.setdefault(seal.reply, []).append((place, seal))
    for held in replies.values():
        whole = [seal.number for _, seal in held] == list(range(held[0][1].total))
        if not whole or not all(_in_place(blocks, place, seal) for place, seal in held):
            return [
                Violation(
                    "anthropic.thinking_whole",
                    _path(blocks[held[0][0]]),
                    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
                    "These blocks must remain as they were in the original response.",
                )
            ]
    return []


def _in_place(blocks: Sequence[Block], place: int, seal: _Seal) -> bool:
    """Whether a block still has before it, in its message, what the reply had, and not what the reply had behind it."""
    message = blocks[place].message
    before = [block.value for block in blocks[:place] if block.message == message and block.kind not in _THINKING]
    kept = any(_digest(before[start:]) == seal.within for start in range(len(before) + 1))
    return kept and seal.behind not in map(_digest, before)


def _path(block: Block) -> str:
    return f"messages.{block.message}.content.{block.position}"


def _prefix_digest(blocks: Sequence[Block], reply: Sequence[Mapping[str, Any]]) -> str:
    return _digest([[block.place, block.value] for block in blocks] + [["assistant", value] for value in reply])


def _digest(value: Any) -> str:
    data = json.dumps(_bare(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _bare(value: Any) -> Any:
    """A value without its empty fields: clients send back what they received, with or without its nulls."""
    if isinstance(value, dict):
        return {name: _bare(item) for name, item in value.items() if item is not None}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _seal(seal: _Seal) -> str:
    data = json.dumps(seal).encode()
    return _MARK + base64.b64encode(hmac.digest(_KEY, data, "sha256")[:16] + data).decode()


def _open(token: str) -> _Seal | None:
    try:
        raw = base64.b64decode(token[len(_MARK) :], validate=True)
        if not hmac.compare_digest(hmac.digest(_KEY, raw[16:], "sha256")[:16], raw[:16]):
            return None
        return _Seal(*json.loads(raw[16:]))
    except ValueError:
        return None
