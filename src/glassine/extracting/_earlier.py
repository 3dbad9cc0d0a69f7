"""What is read in earlier summaries, ours or a model's, which the new one replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..summarising import SECTIONS
from ._form import CHANGED, CONTENT, KEYS, NONE, OPEN, SEEN, STATE, TOPIC, Said
from ._sentences import LONGEST, PLAIN_READ, one_line, pieces, scanned, split

_HEADING = re.compile(r"(?:(#{1,6}) |\*\*)([^#*]+?)(?: ?#*|:?\*\*:?)")
_LABEL = re.compile(r"(user|assistant|system|earlier|text|tool \S+)(?: \(([a-z ]+)\))?: (.+)")
_NUMBERED = re.compile(r"\A(?:[-*•]|\d{1,3}[.)])\s+")
_FILES = re.compile(r"`([^`]+)`")
_SETTLED = frozenset({"latest request", "unanswered", "question", "pending"})
"""Notes of open items that the messages after them settle, or say again."""


@dataclass
class Earlier:
    """What the earlier summaries say. `keys` have been key points before; `others` compete as if they were new."""

    topic: list[Said] = field(default_factory=list)
    keys: list[Said] = field(default_factory=list)
    others: list[Said] = field(default_factory=list)
    state: list[Said] = field(default_factory=list)
    open: list[Said] = field(default_factory=list)
    passing: list[tuple[str, Said]] = field(default_factory=list)
    """Open items that hold until somebody speaks, with their notes."""
    changed: dict[str, None] = field(default_factory=dict)


def read_summaries(previous: Sequence[str]) -> Earlier:
    """What the summaries say, the oldest first; the topic is that of the first that has one."""
    earlier = Earlier()
    for text in previous:
        read = scanned(text, PLAIN_READ)
        first, length = not earlier.topic, 0
        # The state of a summary is that of its own end.
        earlier.others += earlier.state
        earlier.state = []
        for section, note, said in _earlier_lines(read):
            length += len(said.text) + 1
            if section == TOPIC and first and (length <= LONGEST or not earlier.topic):
                earlier.topic.append(said)
            elif section == OPEN and note in _SETTLED:
                earlier.passing.append((note, said))
            elif section == OPEN:
                earlier.open.append(said)
            elif section == STATE:
                earlier.state.append(said)
            else:
                earlier.keys.append(said)
        listed = [line for line in read.split("\n") if line.startswith(f"- {CHANGED}: ")]
        earlier.changed.update(dict.fromkeys(_FILES.findall(one_line(" ".join(listed)))))
    return earlier


def _earlier_lines(summary: str) -> Iterator[tuple[str, str, Said]]:
    """(section, note, what was said) for each line of a summary, of ours or of a model's."""
    section = KEYS
    names = {name.casefold(): name for name in SECTIONS}
    for raw in summary.splitlines():
        line = one_line(raw)
        if heading := _HEADING.fullmatch(line):
            named = names.get(heading[2].strip().casefold())
            if named or heading[1]:
                section = named or (KEYS if len(heading[1]) <= 2 else section)
                continue
        line = _NUMBERED.sub("", line, count=1)
        if not line or line == NONE[2:] or (line.startswith("(Extracted ") and line.endswith(")")):
            continue
        if section == STATE and line.startswith((f"{CHANGED}: ", f"{SEEN}: ", f"{CONTENT}: ")):
            continue
        label = _LABEL.fullmatch(line)
        who, note, text = label.groups() if label else ("earlier", "", line)
        for sentence in [text] if len(text) <= LONGEST else split(text):
            for piece in pieces(sentence):
                yield section, note or "", Said(who, piece)
