"""From stored messages to a provider's request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing

import glassine

from . import _floor
from ._corpus import Wire, wires, workdir
from ._measure import Figure, Side, figure, in_turn

MESSAGES = 1_000
MODEL = "claude-sonnet-5"


def run() -> Iterator[Figure]:
    """Against reading the same rows, `json.loads` for each and `json.dumps` of all: decoding and re-encoding them."""
    path = workdir() / "view.db"
    with glassine.open(path) as store, closing(_floor.connect(path)) as connection:
        session = store.session("chat")
        session.append(paired())

        def floor() -> None:
            rows = connection.execute("SELECT data FROM body ORDER BY seq").fetchall()
            assert len(json.dumps([json.loads(data) for (data,) in rows])) > MESSAGES

        def made(format: str) -> None:
            view = session.view(model=MODEL)
            assert getattr(view, f"to_{format}")()

        formats = ("anthropic", "openai", "openai_responses", "gemini")
        *ours, bare = in_turn(*[_each(made, format) for format in formats], _repeated(floor), blocks=30)
        for format, times in zip(formats, ours, strict=True):
            bar = 2.0 if format == "anthropic" else None
            yield figure(f"view().to_{format}() of 1,000 / json.loads and dumps", bar, times, bare)


def paired() -> list[Wire]:
    """Messages whose results name their calls, as in any conversation that took place."""
    found = list(wires(MESSAGES))
    call = ""
    for message in found:
        for number, part in enumerate(message["parts"]):
            if part["type"] == "tool-call":
                call = part["toolCallId"]
            elif part["type"] == "tool-result":
                message["parts"][number] = {**part, "toolCallId": call}
    return found


def _each(work: Callable[[str], None], format: str) -> Side:
    return _repeated(lambda: work(format))


def _repeated(work: Callable[[], object]) -> Side:
    def block() -> None:
        for _ in range(3):
            work()

    return lambda: block
