"""The demo runs to its end, piped, and shows what it says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rich.cells import cell_len


def test_demo(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path / "home"), "COLUMNS": "90"}
    env.pop("FORCE_COLOR", None)
    done = subprocess.run([sys.executable, "-m", "glassine.demo"], capture_output=True, env=env, timeout=60)
    said = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "\x1b" not in said
    (database,) = tmp_path.glob("glassine-demo-*/glassine.db")
    assert str(database) in said
    commands = re.findall(r"^\$ glassine (\w+)", said, re.MULTILINE)
    assert commands == ["import", "sessions", "show", "show", "show"]
    for shown in ("3 sessions", "├─○", "≡ summary of 11 messages", "材料名のふりがな", "~/.claude/projects"):
        assert shown in said
    assert all(cell_len(row) <= 90 for row in said.splitlines() if "/" not in row)
    assert not (tmp_path / "home").exists()
    shutil.rmtree(database.parent)


def test_demo_is_quiet_when_its_reader_leaves(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "glassine.demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() == 0
