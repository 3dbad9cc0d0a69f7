"""Where a line of a Claude Code file belongs: its conversation, the message it hangs on, and the id it gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._claude_meta import clean_id, time_of
from ._conversation import Draft
from ._notes import Notes
from ._tree import Node
from ._values import Lineage

__all__ = ["Line", "Place", "Places"]

Line = dict[str, Any]


@dataclass(slots=True)
class Place:
    """Where a line stands: its conversation, and the message that its children hang on. `made` is the first message
    that holds the line's own content, None when it has none."""

    draft: Draft
    node: Node | None
    made: Node | None = None


class Places:
    """The conversations of one file, and the place of every line that has a uuid."""

    def __init__(self, path: Path, notes: Notes) -> None:
        self.path, self.notes = path, notes
        self._drafts: dict[tuple[str | None, ...], Draft] = {}
        self._continued: dict[str | None, Draft] = {}
        self._places: dict[str, Place] = {}
        self._missing: dict[str, tuple[int, str]] = {}

    def get(self, uuid: Any) -> Place | None:
        return self._places.get(uuid) if isinstance(uuid, str) else None

    def put(self, line: Line, place: Place) -> None:
        """Remember where a line stands. One that holds no content never displaces one that does."""
        uuid = clean_id(line.get("uuid"))
        if uuid is not None and (place.made is not None or uuid not in self._places):
            self._places[uuid] = place

    def known(self, line: Line, role: str, parts: list[dict[str, Any]]) -> Place | None:
        """The place of an earlier line with the same uuid and the same content: this one is its copy."""
        place = self.get(line.get("uuid"))
        if place is None or place.made is None or place.node is None or place.node.message["role"] != role:
            return None
        content = list(place.made.message["parts"])
        if place.node is not place.made:
            content += place.node.message["parts"]
        return place if all(part in content for part in parts) else None

    def locate(self, number: int, line: Line) -> tuple[Draft, Node | None]:
        """The conversation of a line, and the message it hangs on (None: it begins a path)."""
        parent = line.get("parentUuid") or line.get("logicalParentUuid")
        place = self.get(parent)
        draft = self._draft(number, line, place)
        draft.see(line, time_of(line, number, self.notes))
        if place is None:
            return draft, self._unlinked(number, line, parent, draft)
        if place.draft is draft:
            return draft, place.node
        if not draft.sidechain:
            self.notes.problem(number, "parent-in-sidechain", f"{line.get('uuid')} follows {parent}")
        elif place.node is not None and draft.anchor is None:
            draft.anchor = (place.draft, place.node)
        return draft, None

    def _unlinked(self, number: int, line: Line, parent: Any, draft: Draft) -> Node | None:
        if isinstance(parent, str):
            if parent == line.get("uuid"):
                self.notes.problem(number, "cycle", f"{parent} follows itself")
            else:
                self._missing.setdefault(parent, (number, str(line.get("uuid"))))
            return None
        if "parentUuid" in line or draft.latest is None:
            return None
        if "uuid" in line:
            self.notes.problem(number, "no-parent-links")
        return draft.latest

    def _draft(self, number: int, line: Line, place: Place | None) -> Draft:
        session = clean_id(line.get("sessionId"))
        if line.get("isSidechain") is True:
            agent = clean_id(line.get("agentId"))
            if agent is None and place is not None and place.draft.sidechain:
                return place.draft
            first = clean_id(line.get("uuid")) or f"line-{number}"
            return self._draft_at(session, agent=agent, first=first)
        if place is None or place.draft.sidechain:
            return self._continued.get(session) or self._draft_at(session)
        draft = place.draft
        if session is not None and session not in draft.sessions:
            self.notes.problem(number, "resumed-session", f"{session} continues {draft.session}")
            draft.sessions.add(session)
            self._continued.setdefault(session, draft)
        return draft

    def _draft_at(self, session: str | None, *, agent: str | None = None, first: str | None = None) -> Draft:
        key = (session, agent, None if agent else first)
        if (draft := self._drafts.get(key)) is None:
            self._drafts[key] = draft = Draft(session=session, agent=agent, first=first)
        return draft

    def fresh_id(self, number: int, line: Line, draft: Draft) -> str:
        """The id for the message of a line: its uuid, unless that is missing or taken."""
        if (uuid := clean_id(line.get("uuid"))) is None:
            self.notes.problem(number, "missing-uuid", str(line.get("type")))
            uuid = f"line-{number}"
        id = draft.fresh_id(uuid)
        if id != uuid:
            self.notes.problem(number, "reused-uuid", uuid)
        return id

    # ---- when all lines have been read

    def note_missing(self) -> None:
        """Report every parent that was not there when its child came."""
        for parent, (number, child) in self._missing.items():
            code = "missing-parent"
            if (place := self._places.get(parent)) is not None:
                ancestor = place.node
                while ancestor is not None and ancestor.id != child:
                    ancestor = ancestor.parent
                code = "late-parent" if ancestor is None else "cycle"
            self.notes.problem(number, code, f"{child} follows {parent}")

    def drafts(self) -> list[Draft]:
        """The conversations, sessions before sidechains, each group in file order. Those without a message too."""
        return sorted(self._drafts.values(), key=lambda draft: draft.sidechain)

    def conversation_id(self, draft: Draft) -> str:
        if not draft.sidechain:
            # A file is named by its session; one that goes on from another session begins with that one's id.
            name = self.path.name.split(".")[0]
            return name if name in draft.sessions else draft.session or clean_id(name) or "session"
        parent = self._parent_id(draft)
        if draft.agent is None:
            return f"{parent or draft.session}/sidechain-{draft.first}"
        return f"agent-{draft.agent}" if parent is None else f"{parent}/agent-{draft.agent}"

    def lineage(self, draft: Draft) -> Lineage | None:
        """What a sidechain hangs on: what its lines say, else the call that its session says started it, else the
        earliest call that gave it its first message as the task. None for sessions."""
        if not draft.sidechain:
            return None
        if draft.anchor is not None:
            return Lineage("sidechain", self.conversation_id(draft.anchor[0]), draft.anchor[1].id)
        if (parent := self._parent_id(draft)) is None:
            self.notes.problem(0, "orphan-subagent", str(draft.agent))
            return None
        main = self._session_of(draft)
        call = None if main is None else main.agents.get(draft.agent or "") or main.take_task(draft.prompt())
        return Lineage("sidechain", parent, call)

    def _session_of(self, draft: Draft) -> Draft | None:
        main = self._continued.get(draft.session) or self._drafts.get((draft.session, None, None))
        return main if main is not None and main.tree.nodes else None

    def _parent_id(self, draft: Draft) -> str | None:
        if (main := self._session_of(draft)) is not None:
            return self.conversation_id(main)
        if draft.session is not None and draft.session != f"agent-{draft.agent}":
            return draft.session
        folder = self.path.parent
        return clean_id(folder.parent.name) if folder.name == "subagents" else None
