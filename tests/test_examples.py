"""The programs in examples/, run as they are."""

from __future__ import annotations

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

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
