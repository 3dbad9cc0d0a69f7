"""One conversation while its lines come in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from ._claude_blocks import text_field, text_of, title_of
from ._tree import Node, Tree, tail
from ._values import Compaction, Conversation, Entry, Event, Lineage, Usage

__all__ = ["Call", "Draft"]


@dataclass(slots=True, eq=False)
class Call:
    """A tool call: the step that made it, and its tool."""

    step: Node
    name: str


class Draft:
    """What is known so far of one conversation: its tree, and by which ids its lines refer to each other.

    `session` is the sessionId of its first line, `sessions` all that were seen. `sidechain` is None for a session, else
    ("agent", its id) or, where the file does not name the agent, ("sidechain", the uuid of the first line); `anchor` is
    then the message in another conversation that it hangs on, if its own lines say so. `tasks` are the prompts of the
    calls that start subagents, with the ids of their steps.
    """

    def __init__(self, *, session: str, sidechain: tuple[str, str] | None = None) -> None:
        self.session, self.sidechain = session, sidechain
        self.sessions = {session}
        self.anchor: tuple[Draft, Node] | None = None
        self.tree = Tree()
        self.latest: Node | None = None
        self.ids: set[str] = set()
        self.replies: dict[str, Node] = {}
        self.calls: dict[str, Call] = {}
        self.usage: dict[str, Usage] = {}
        self.compactions: list[Compaction] = []
        self.events: list[Event] = []
        self.titles: dict[str, str] = {}
        self.agents: dict[str, str] = {}
        self.tasks: defaultdict[str, list[str]] = defaultdict(list)
        self.created_at: str | None = None
        self.cwd: str | None = None
        self.git_branch: str | None = None
        self.version: str | None = None
        self.model: str | None = None

    def see(self, line: dict[str, Any], created_at: str | None) -> None:
        """Take what every line says about the conversation as a whole."""
        self.created_at = self.created_at or created_at
        self.cwd = self.cwd or text_field(line, "cwd")
        self.git_branch = self.git_branch or text_field(line, "gitBranch")
        self.version = text_field(line, "version") or self.version

    def fresh_id(self, wanted: str) -> str:
        """`wanted`, or when that is taken the first of wanted~2, wanted~3, … that is not."""
        id, n = wanted, 1
        while id in self.ids:
            n += 1
            id = f"{wanted}~{n}"
        self.ids.add(id)
        return id

    def title(self) -> str:
        """The name someone gave it, else a summary of this very conversation, else how it begins."""
        for kind in ("custom-title", "summary", "ai-title"):
            if title := self.titles.get(kind):
                return title
        commands = ""
        for node in self.tree.nodes:
            if node.message["role"] != "user":
                continue
            title = title_of(node.message["parts"])
            if "origin" not in node.message["metadata"] and title:
                return title
            if node.message["metadata"].get("origin") == "command":
                commands = commands or title
        return commands

    def prompt(self) -> str:
        """The text of the first message: for a subagent, the task it was given."""
        return text_of(self.tree.nodes[0].message["parts"])

    def take_task(self, prompt: str) -> str | None:
        """The id of the earliest message that gave a subagent this task, each given out once."""
        return asked.pop(0) if (asked := self.tasks.get(prompt)) else None

    def frozen(self, id: str, lineage: Lineage | None) -> Conversation:
        leaf = tail(self.latest)
        assert leaf is not None, "a conversation has messages"
        return Conversation(
            id=id,
            title=self.title(),
            lineage=lineage,
            created_at=self.created_at,
            cwd=self.cwd,
            git_branch=self.git_branch,
            version=self.version,
            model=self.model,
            messages=tuple(
                Entry(node.message, None if node.parent is None else node.parent.id) for node in self.tree.nodes
            ),
            compactions=tuple(self.compactions),
            events=tuple(sorted(self.events, key=lambda event: event.line)),
            usage=tuple(self.usage.values()),
            leaf_id=leaf.id,
            agents=self.agents,
        )
