"""Requests made of real conversations: every prefix of them, in every format, is one that a strict provider accepts."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

import glassine
from glassine import Message, rules, tool_result, transcripts
from glassine.dialects import Format, from_request, read_reply, to_request
from glassine.formats._common import Marks
from glassine.pairing import repair
from glassine.testing import FakeProvider

DATA = Path(__file__).parents[2] / "shared/data"
APIS: tuple[Format, ...] = ("anthropic", "openai", "openai_responses", "gemini")
MODELS = {
    "anthropic": "claude-sonnet-5",
    "openai": "gpt-4o",
    "openai_responses": "gpt-4o",
    "gemini": "gemini-2.5-flash",
}
needs_data = pytest.mark.skipif(not DATA.exists(), reason="../shared/data is not there")
PREFIXES = 12
"""How many prefixes of a path are tried here; all of them, up to 200, in the long run."""


def claude_code() -> list[Path]:
    return sorted((DATA / "claude-code").glob("*.jsonl*")) if DATA.exists() else []


def trajectories() -> list[Path]:
    return sorted((DATA / "trajectories").glob("*.json.gz")) if DATA.exists() else []


def imported(path: Path) -> list[list[Message]]:
    """The active paths of the conversations in a transcript, as a store gives them back."""
    with glassine.open(":memory:") as store:
        transcripts.import_transcript(store, transcripts.read(path))
        return [history for info in store.sessions() if (history := store.session(info.id).history())]


def steps(path: Path) -> list[Message]:
    """The messages of a trajectory."""
    found: list[Message] = []
    names: dict[str, str] = {}
    for step in json.loads(gzip.decompress(path.read_bytes()))["steps"]:
        role = step["role"]
        if role == "assistant":
            parts: list[Any] = [{"type": "text", "text": step["text"]}] if step.get("text") else []
            for call in step.get("tool_calls") or []:
                arguments = call["args"]
                names[call["id"]] = call["name"]
                parts.append(glassine.tool_call(call["name"], arguments, id=call["id"]))
            found.append(Message(id=f"m{len(found)}", role="assistant", parts=parts))
        elif role == "tool":
            result = step["tool_result"]
            name = result.get("name") or names.get(result["id"]) or "tool"
            is_error = bool(result.get("is_error"))
            message = tool_result(result["id"], result["text"], name=name, is_error=is_error, id=f"m{len(found)}")
            found.append(message)
        elif role in ("system", "user", "developer"):
            role = "system" if role == "developer" else role
            text = {"type": "text", "text": step.get("text") or ""}
            found.append(Message.from_dict({"id": f"m{len(found)}", "role": role, "parts": [text]}))
    return found


def prefixes(length: int, most: int) -> list[int]:
    if length <= most:
        return list(range(1, length + 1))
    return sorted({length, *random.Random(length).sample(range(1, length), most - 1)})


def going_on(messages: list[Message]) -> list[Message]:
    """Where what is sent ends in a reply nothing is asked, and some models refuse it: the user goes on, as in a loop.

    It also ends so when the results at the end are of no call that is there, and are dropped."""
    sent = repair(messages).messages
    return [*messages, glassine.user("go on", id="go-on")] if sent and sent[-1].role == "assistant" else messages


def check(messages: list[Message], most: int) -> None:
    for length in prefixes(len(messages), most):
        repaired = repair(going_on(messages[:length]))
        if repaired.pending:
            continue  # some of a step's results are there: the other tools are to be run first
        for api in APIS:
            made = to_request(api, repaired.messages, system="You help.", tools=[], model=MODELS[api], marks=Marks())
            body = {"max_tokens": 100, **made.arguments} if api == "anthropic" else made.arguments
            assert rules.violations(api, body) == [], (api, length)  # type: ignore[arg-type]


@needs_data
@pytest.mark.parametrize("path", claude_code(), ids=lambda path: path.name)
def test_claude_code(path: Path) -> None:
    for history in imported(path):
        check(history, PREFIXES)


@needs_data
@pytest.mark.parametrize("path", trajectories(), ids=lambda path: path.name)
def test_trajectories(path: Path) -> None:
    check(steps(path), PREFIXES)


@pytest.mark.soak
@needs_data
@pytest.mark.parametrize("path", [*claude_code(), *trajectories()], ids=lambda path: path.name)
def test_every_prefix(path: Path) -> None:
    for history in imported(path) if "jsonl" in path.name else [steps(path)]:
        check(history, 200)


def provider_items() -> Iterator[tuple[str, Format, Any]]:
    if not DATA.exists():
        return
    for path in sorted((DATA / "provider-items").glob("*.json")):
        api: Format = "anthropic" if path.name.startswith("anthropic") else "gemini"
        if path.name.startswith("openai"):
            api = "openai_responses"
        if not path.name.startswith("adk"):
            yield path.name, api, json.loads(path.read_text("utf-8"))


@needs_data
@pytest.mark.parametrize(
    ("name", "api", "item"), list(provider_items()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_recorded_reply_goes_back_as_it_came(name: str, api: Format, item: Any) -> None:
    """What a provider answered is sent back to it the same: read, written, and read again."""
    reply = read_reply(item).message.with_id("reply")
    history = [glassine.user("hi", id="u"), reply]
    made = to_request(api, history, system="", tools=[], model=MODELS[api], marks=Marks())
    back = from_request(api, made.arguments)
    again = to_request(api, back, system="", tools=[], model=MODELS[api], marks=Marks())
    assert again.arguments == made.arguments


@needs_data
def test_the_fake_provider_accepts_one_over_http() -> None:
    history = imported(DATA / "claude-code/cc_2.1.33_small_branch.jsonl")[0]
    with FakeProvider() as fake, anthropic.Anthropic(base_url=fake.anthropic_url, api_key="any") as client:
        made = to_request(
            "anthropic",
            repair(going_on(history)).messages,
            system="You help.",
            tools=[],
            model="claude-sonnet-5",
            marks=Marks(True, ()),
        )
        client.messages.create(max_tokens=10, **made.arguments)
        assert [request.status for request in fake.requests] == [200]
