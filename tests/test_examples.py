"""The programs in examples/, run as they are."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import anthropic
import openai
import pytest

import glassine
from glassine.testing import Call, FakeProvider, Text

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_answers(answers: list[str]) -> None:
    assert answers[0].startswith("Written to memory. Usage: ")
    assert answers[2:4] == ['Indexed "billing" in knowledge.', 'Indexed "東京" in knowledge.']
    assert answers[5:7] == [
        "[billing]\nThe billing service is deployed on Fridays.",
        "[東京]\n東京都の天気は晴れ、明日の会議は三時からです。",
    ]
    assert answers[7].startswith("1. Run the tests.")
    assert answers[8].startswith("Already loaded")
    assert [answer for answer in answers if answer.startswith("loaded: ")] == [
        "loaded: nothing",
        "loaded: deploy-checklist",
        "loaded: nothing",
    ]
    assert answers[10].startswith("Unloaded: deploy-checklist")
    assert answers[11].startswith('Error: block "soul" is not writable')
    assert "The user prefers dark mode.\nユーザーは東京にいる。" in answers[-1]
    assert "2 entries indexed." in answers[-1]


def test_scripted_memory(tmp_path: Path) -> None:
    example = load("scripted_memory")
    check_answers(example.play(str(tmp_path / "sync.db")))
    check_answers(asyncio.run(example.play_async(str(tmp_path / "async.db"))))


@pytest.mark.parametrize("colour", ["play", "play_async"])
def test_scripted_memory_on_postgres(colour: str, postgres_url: str) -> None:
    example = load("scripted_memory")
    played = getattr(example, colour)(postgres_url)
    check_answers(played if isinstance(played, list) else asyncio.run(played))


def test_scripted_memory_as_a_program() -> None:
    for options in ([], ["--async"]):
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "scripted_memory.py"), *options], capture_output=True, text=True, check=True
        )
        assert "Unloaded: deploy-checklist" in done.stdout


REMEMBERS: list[Text | Call] = [
    Text("I will note that."),
    Call("set_context", {"label": "memory", "content": "The user likes tea."}),
]
LOADS: list[Text | Call] = [Call("load_context", {"label": "skills", "key": "tea"})]


def test_anthropic_agent(tmp_path: Path) -> None:
    """Memory is written, a skill is loaded, and the next run, on the refreshed prompt, knows both."""
    example = load("anthropic_agent")
    with (
        FakeProvider(answers=[REMEMBERS, LOADS, Text("Noted.")]) as fake,
        anthropic.Anthropic(base_url=fake.anthropic_url, api_key="any") as client,
    ):
        with glassine.open(tmp_path / "agent.db") as store:
            session = store.session("chat", example.spec(EXAMPLES / "skills"))
            assert example.run(session, client, "Remember that I like tea.", "claude-sonnet-5") == "Noted."
        with glassine.open(tmp_path / "agent.db") as store:
            session = store.session("chat", example.spec(EXAMPLES / "skills"))
            assert session.loaded_skills() == (("skills", "tea"),)
            session.refresh_prompt("a new run")
            fake.script(Text("You like tea."))
            assert example.run(session, client, "What do I like?", "claude-sonnet-5") == "You like tea."
            assert len(session.usage()) == 4
        assert [request.status for request in fake.requests] == [200] * 4
        assert "The user likes tea." in str(fake.requests[-1].body["system"])


def test_openai_agent(tmp_path: Path) -> None:
    example = load("openai_agent")

    async def play(url: str) -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="any") as client:
            async with glassine.open_async(tmp_path / "agent.db") as store:
                session = store.session("chat", example.spec(EXAMPLES / "skills"))
                assert await example.run(session, client, "Remember that I like tea.", "gpt-4o") == "Noted."
            async with glassine.open_async(tmp_path / "agent.db") as store:
                session = store.session("chat", example.spec(EXAMPLES / "skills"))
                assert await session.loaded_skills() == (("skills", "tea"),)
                assert (await session.block("memory")).content == "The user likes tea."
                assert len(await session.usage()) == 3

    with FakeProvider(answers=[REMEMBERS, LOADS, Text("Noted.")]) as fake:
        asyncio.run(play(fake.openai_url))
        assert [request.status for request in fake.requests] == [200] * 3
