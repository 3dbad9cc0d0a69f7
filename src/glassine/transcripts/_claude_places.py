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
        self.notes = notes
        # A session's file is named by its id; a file that was renamed has a name that no line mentions.
        self._name = clean_id(path.name.split(".")[0]) or "session"
        self._folder = path.parent
        self._sessions: dict[str, Draft] = {}
        self._continued: dict[str, Draft] = {}
        self._sidechains: dict[tuple[str, str], Draft] = {}
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
        if draft.sidechain is None:
            self.notes.problem(number, "parent-in-sidechain", f"{line.get('uuid')} follows {parent}")
        elif place.node is not None and draft.anchor is None:
            draft.anchor = (place.draft, place.node)
        return draft, None

    def _unlinked(self, number: int, line: Line, parent: Any, draft: Draft) -> Node | None:
        if isinstance(parent, str):
            self._missing.setdefault(parent, (number, str(line.get("uuid"))))
            return None
        if "parentUuid" in line or draft.latest is None:
            return None
        if "uuid" in line:
            self.notes.problem(number, "no-parent-links")
        return draft.latest

    def _draft(self, number: int, line: Line, place: Place | None) -> Draft:
        named = clean_id(line.get("sessionId"))
        session = named or self._name
        if line.get("isSidechain") is True:
            agent = clean_id(line.get("agentId"))
            if agent is None and place is not None and place.draft.sidechain is not None:
                return place.draft
            key = ("agent", agent) if agent else ("sidechain", clean_id(line.get("uuid")) or f"line-{number}")
            if key not in self._sidechains:
                self._sidechains[key] = Draft(session=session, sidechain=key)
            return self._sidechains[key]
        if place is None or place.draft.sidechain is not None:
            return self._session(session) or self._sessions.setdefault(session, Draft(session=session))
        draft = place.draft
        if named is not None and named not in draft.sessions:
            self.notes.problem(number, "resumed-session", f"{named} continues {draft.session}")
            draft.sessions.add(named)
            self._continued.setdefault(named, draft)
        return draft

    def _session(self, session: str) -> Draft | None:
        """The conversation of a session: its own, unless it only ever went on from another one."""
        own, continued = self._sessions.get(session), self._continued.get(session)
        return own if continued is None or (own is not None and own.tree.nodes) else continued

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
        return [*self._sessions.values(), *self._sidechains.values()]

    def conversation_id(self, draft: Draft) -> str:
        if draft.sidechain is None:
            # A file that goes on from another session begins with the other's lines.
            return self._name if self._session(self._name) is draft else draft.session
        kind, name = draft.sidechain
        base = self._parent_session(draft)
        return f"{kind}-{name}" if base is None else f"{base}/{kind}-{name}"

    def lineage(self, draft: Draft) -> Lineage | None:
        """What a sidechain hangs on: what its lines say, else the call that its session says started it, else the
        earliest call that gave it its first message as the task. None for sessions."""
        if draft.sidechain is None:
            return None
        if draft.anchor is not None:
            return Lineage("sidechain", self.conversation_id(draft.anchor[0]), draft.anchor[1].id)
        kind, name = draft.sidechain
        if (parent := self._parent_session(draft)) is None:
            self.notes.problem(0, "orphan-subagent", name)
            return None
        main = self._session(parent)
        if main is None or not main.tree.nodes:
            return Lineage("sidechain", parent, None)
        call = main.agents.get(name) if kind == "agent" else None
        return Lineage("sidechain", self.conversation_id(main), call or main.take_task(draft.prompt()))

    def _parent_session(self, draft: Draft) -> str | None:
        if draft.sidechain is None or draft.session != "-".join(draft.sidechain):
            return draft.session
        # Its lines only name the subagent itself.
        return clean_id(self._folder.parent.name) if self._folder.name == "subagents" else None
