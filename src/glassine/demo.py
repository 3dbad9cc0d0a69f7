"""`python -m glassine.demo`: a look at glassine in a few seconds, with the transcripts that come with it.

Everything shown is a command that was really run, in a fresh database of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

ENGLISH, JAPANESE = "5d0b8a34", "c81f6e07"
"""The two conversations of the bundled set."""


class Terminal:
    """Where the demo prints, and runs its commands: with colours and width of the terminal it is shown on."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.bold, self.dim, self.plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if _colours() else ("", "", "")
        size = shutil.get_terminal_size((100, 40))
        self.rows = size.lines if sys.stdout.isatty() else 40
        self.env = {**os.environ, "COLUMNS": str(size.columns), "PYTHONIOENCODING": "utf-8"}
        if _colours():
            self.env["FORCE_COLOR"] = "1"

    def say(self, text: str) -> None:
        print(text, flush=True)

    def run(self, *argv: str, shown: str = "", whole: bool = True) -> None:
        """Run `glassine ARGV` and print what it prints; not `whole`: as much as fits on a screen."""
        self.say(f"\n{self.bold}$ glassine {shown or shlex.join(argv)}{self.plain}")
        command = [sys.executable, "-m", "glassine", *argv, "--db", str(self.database)]
        done = subprocess.run(command, env=self.env, stdout=subprocess.PIPE, encoding="utf-8", check=True)
        lines = done.stdout.splitlines()
        room = len(lines) if whole else max(self.rows - 4, 10)
        self.say("\n".join(lines[:room]))
        if len(lines) > room:
            self.say(f"{self.dim}… {len(lines) - room} more lines{self.plain}")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="glassine-demo-"))
    terminal = Terminal(folder / "glassine.db")
    bold, plain = terminal.bold, terminal.plain
    terminal.say(f"{bold}glassine{plain} keeps the conversations of agents. Here are three that come with it,")
    terminal.say(f"in a fresh database: {terminal.database}")
    with as_file(files("glassine") / "demo_data" / "projects") as projects:
        terminal.run("import", str(projects), shown="import glassine/demo_data/projects")
    terminal.run("sessions")
    terminal.say("\nA conversation is a tree. Here somebody went back and took another way:")
    terminal.run("show", ENGLISH, "--tree")
    terminal.say("\nA summary is laid over what it stands for. What is beneath stays stored (--raw shows it):")
    terminal.run("show", JAPANESE, "--tree")
    terminal.run("show", JAPANESE, whole=False)
    terminal.say(f"\n{bold}Now with your own{plain} (it only reads your transcripts; --dry-run writes nothing at all):")
    terminal.say("\n  glassine import               # everything in ~/.claude/projects")
    terminal.say("  glassine sessions\n  glassine show ID --tree")
    terminal.say("\nIn a checkout of the project: ./dev run -- glassine import, and so on.")
    terminal.say(f"To look around in the demo's database: --db {shlex.quote(str(terminal.database))}")


def _colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        # The reader has gone (`| head`); the interpreter must not fail when it flushes stdout at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.exit(130)
