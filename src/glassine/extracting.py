"""A summary without a model: sentences of a conversation, chosen by a score and quoted as they stand.

It has the sections of a model's summary, so that either can follow the other. Nothing in it is concluded: what a line
says was said by whom the line names. The score adds up what is seen in a sentence (who speaks, a decision, a number
with its unit, a path, an error), and a line of an earlier summary that is replaced gets a bonus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _json
from .formats._common import sendable
from .formats._outputs import is_error_output, output_text
from .messages import Message, ToolCall, ToolResult, calls, results
from .searching import fold, segment
from .tokens import estimate_tokens
from .truncation._whole import after, before

if TYPE_CHECKING:
    from .summarising import SummaryPrompt

SECTIONS = ("Topic", "Key Points", "Current State", "Open Items")
TOPIC, KEYS, STATE, OPEN = SECTIONS
LONGEST = 240
"""Characters of a quotation."""
PLAIN_TOKENS = 1000
"""Bound of the summary of a plain text, which names none."""

_NONE = "- (none)"
_SHORT_HONEST = "(Extracted without a model.)"
_STATE_SHARE, _OPEN_SHARE, _EARLIER_SHARE, _NEW_SHARE = 0.2, 0.25, 0.5, 0.5
"""Parts of the room that two sections fill before Key Points; then earlier ones of these, then new ones, then any."""

# Characters that are read: of a message in a conversation of n messages, at most _MOST and at least _LEAST, and of all
# together about _ALL. Users write less than they are owed, and what they write counts for more.
_ALL, _MOST, _LEAST, _USER = 2_000_000, 16_000, 200, 4
_TOOL_READ, _PLAIN_READ = 2_000, 100_000


def extractive_summary(prompt: SummaryPrompt | str) -> str:
    """The summary that a prompt asks for, quoted from its messages; of a plain text, sentences of the text itself.

    Markdown with the sections Topic, Key Points, Current State and Open Items, never longer than `prompt.max_tokens`
    by the `safe` estimate (a plain text: PLAIN_TOKENS). The topic and the request are cut before they are left out.
    The same input gives the same text in any process; NUL, other control characters and lone surrogates come out as
    U+FFFD. Of long messages the beginning and the end are read. Empty for a prompt with nothing in it, and for a bound
    below 2, which no mark fits in.
    """
    messages: tuple[Message, ...] | None = getattr(prompt, "messages", None)
    if messages is None:
        return _of_text(prompt) if prompt else ""
    previous, request, most = (getattr(prompt, name) for name in ("previous", "request", "max_tokens"))
    if not (messages or previous or request):
        return ""
    beside = f" and {_counted(len(previous), 'earlier summary', 'earlier summaries')}" if previous else ""
    source = _counted(len(messages), "message", "messages") + beside
    return _summary(_read(messages), _earlier(previous), request or "", source, most)


def _of_text(text: str) -> str:
    talk = _Talk(asker="text")
    talk.said = [_Said("text", *sentence) for sentence in _sentences(text, _PLAIN_READ)]
    talk.first = [said.text for said in talk.said[:3]]
    return _summary(talk, _Earlier(), "", "a text", PLAIN_TOKENS)


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_BULLET = re.compile(r"\A(?:[-*+•・>]\s+)+")
_CLOSING = r"[)\]\"'’”」』）】〉》]*"
_WIDE = "。｡！？．"
# Matches wherever a mark stands, so that a line of nothing but points takes no longer than another; `_ends` decides.
_END = re.compile(rf"[{_WIDE}.!?…।؟]++{_CLOSING}")
_GOES_ON = frozenset("とっのでがはをにも、，,")
"""What follows a closing bracket where the sentence around the quotation goes on."""
_SHORT_FORMS = _each("Mr Mrs Ms Dr Prof St vs Fig fig Eq eq Vol vol approx cf Inc Ltd Co Corp Jr Sr Dept bzw usw")
_SOFT = re.compile(r"[、，；：]|[,;:]?\s")
_SPACED_LETTERS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]")
_FENCES = ("```", "~~~")


def _line(text: str) -> str:
    """A text as one line that can be sent and stored anywhere; behind its label it is no heading, whatever it says."""
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    text = sendable(text)
    return _CONTROL.sub("\ufffd", _ESCAPE.sub("", text)) if _CONTROL.search(text) else text


def _scanned(text: str, most: int) -> str:
    """The beginning and the end of a text of more than `most` characters."""
    if len(text) <= most:
        return text
    head, tail = text[:most], text[-most:]  # looked at alone: where a run of flags began may be far away
    return f"{head[: before(head, most - most // 4)]}…\n…{tail[after(tail, most - most // 4) :]}"


def _sentences(text: str, most: int) -> Iterator[tuple[str, bool, bool]]:
    """(sentence, whether it is the first, whether it is code) of the `most` characters that are read of a text.

    No sentence is longer than LONGEST; of a longer one come several pieces. A line of code is kept whole.
    """
    fenced, first = False, True
    for raw in _clean(_scanned(text, most)).splitlines():
        line = " ".join(raw.split())
        if line.startswith(_FENCES):
            fenced = not fenced
            continue
        for sentence in [line] if fenced else _split(_BULLET.sub("", line, count=1)):
            for piece in [sentence] if 0 < len(sentence) <= LONGEST else _pieces(sentence):
                yield piece, first, fenced
                first = False


def _split(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if _ends(line, start, end) and before(line, end.end()) == end.end():
            yield line[start : end.end()].strip()
            start = end.end()
    if rest := line[start:].strip():
        yield rest


def _ends(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether the mark ends a sentence: not the point of `e.g.`, `Dr.`, `J. Smith` or the number of an item."""
    mark, following = end[0], line[end.end() : end.end() + 2]
    if mark[0] in _WIDE:
        return not (mark == "．" and following[:1].isdigit()) and (mark[-1] in _WIDE or following[:1] not in _GOES_ON)
    if not following.startswith(" "):
        return False
    if mark[0] == "…" or mark.startswith(".."):
        return not following[1:].islower()
    word = line[max(start, end.start() - 16) : end.start()].rpartition(" ")[2].lstrip("([\"'“")
    item = word.isdigit() and line[start : end.start()].strip() == word
    item = item or (word in ("No", "no") and following[1:].isdigit())
    return mark[0] != "." or not (item or word in _SHORT_FORMS or _SPACED_LETTERS.fullmatch(word))


def _pieces(sentence: str) -> Iterator[str]:
    """A sentence in pieces of at most LONGEST characters, with … where it was cut."""
    start, cut = 0, ""
    while len(sentence) - start > LONGEST - len(cut):
        window = sentence[start : start + LONGEST]
        soft = [found.end() for found in _SOFT.finditer(window, LONGEST // 2, LONGEST - 2)]
        place = before(window, soft[-1] if soft else LONGEST - 2)
        if place == 0:  # one character of more than all the room
            start = after(sentence, start + 1)
            continue
        yield f"{cut}{window[:place].rstrip()}…"
        start, cut = start + place, "…"
    if rest := sentence[start:].strip():
        yield cut + rest


def _cut(text: str, most: int) -> str:
    """A line of at most `most` characters: its beginning, and of a long one its end, where a request often stands."""
    if len(text) <= most:
        return text
    tail = after(text, len(text) - most // 3) if most >= 60 else len(text)
    head = before(text, most - (len(text) - tail) - 3)
    return f"{text[:head].rstrip()} … {text[tail:].lstrip()}".strip()


_WEIGHTS = {"user": 3.0, "text": 1.5, "assistant": 1.5, "earlier": 3.0, "system": 1.0, "tool": 0.0}
_EARLIER_BONUS, _LEAST_SCORE = 2.5, 1.0
"""What scores less is left out even where there is room: greetings, and what tools say without saying much."""

_FIRM = _each(
    "decided decide decision must never always agreed forbidden required mandatory prohibited important remember "
    "deadline prefer prefers preferred confirmed chose chosen approved rule policy"
)
_FIRM_CJK = _each(
    "決定 決め 決まり にする にします しないで 禁止 必ず 絶対 必須 方針 採用 重要 覚えて 締め切り 締切 期限 好み "
    "决定 必须 务必 绝不 偏好 截止 결정 반드시 금지 절대 하기로 필수 마감"
)
_WANTED = _each(
    "use uses should need needs want wants please don't instead only called named keep avoid because owns requires"
)
_WANTED_CJK = _each(
    "ください 下さい 使う 使い 使用 欲しい ほしい べき 名前は 担当 優先 好き 不要 采用 请 주세요 하세요 사용 담당"
)
_WRONG = _each("error errors failed failure exception traceback fatal denied refused timeout panic crash")
_WRONG_CJK = _each("エラー 失敗 例外 错误 失败 异常 오류 실패 에러")
_LATER = re.compile(
    r"(?i)\b(?:todo|fixme|later|next|remaining|follow[- ]up|not yet|yet to|still (?:need|have|has|to|open|missing))\b"
)
_LATER_CJK = _each(
    "まだ 次に 次は 次回 あとで 後で 未完 未対応 未実装 未定 残り 残って 今後 "
    "还没 稍后 下一步 待办 尚未 나중에 다음에 아직"
)
_NAMED_CJK = _each("さん 様 氏 株式会社 先生 女士 公司 씨 님")
_WORDS = re.compile(r"[a-z][a-z']*")
_DIGITS = re.compile(r"\d+")
_UNITS = (
    r"%|[kmgt]i?b\b|[µmn]?s\b|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|tokens?|users?|px|[kcm]?m\b"
    r"|[km]?g\b|usd|eur|jpy|yen|dollars?|euros?|rows?|[kmg]?hz"
    r"|[円人件個分秒時日月年回名台本枚歳位割点元天号岁块]|ドル|ヶ月|小时|[분초일월년원개명대]|시간"
)
_MEASURE = re.compile(rf"(?i)\d\s?(?:{_UNITS})|[$€£¥]\s?\d|\d[-/:.]\d")
_PATH = re.compile(r"(?:[\w.~-]*/){1,}[\w.-]*\w|\b[\w-]+\.[a-z]{1,5}\b")
_ID = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])[\w-]{5,}\b|\b[A-Z]{2,}-\d+\b|#\d+|`[^`]+`|「[^」]+」")
_NAME = re.compile(r"[a-z,;:] [A-Z][\w'-]+")
_JUNK = re.compile(r"[!-.0-~]{80,}")
_CHATTER = re.compile(
    r"(?i)(?:hi|hello|hey|thanks|thank you|ok|okay|sure|great|perfect|got it|let me|let's|i'll|i will|now i|now let)\b"
    r"|こんにちは|こんばんは|おはよう|ありがとう|了解|はい|承知|わかりました|分かりました|お疲れ|よろしく"
    r"|你好|谢谢|好的|안녕|감사|네[,. ]"
)


def _has(text: str, marks: Iterable[str]) -> bool:
    return any(mark in text for mark in marks)


def _is_chatter(text: str) -> bool:
    return len(text) < 60 and _CHATTER.match(text) is not None


def _is_later(text: str) -> bool:
    return _LATER.search(text) is not None or (not text.isascii() and _has(text, _LATER_CJK))


def _is_wrong(text: str) -> bool:
    named = "Error" in text or "Exception" in text or not _WRONG.isdisjoint(_WORDS.findall(text.lower()))
    return named or (not text.isascii() and _has(text, _WRONG_CJK))


def _is_question(text: str) -> bool:
    return text.rstrip("\"')”」』）").endswith(("?", "？", "か。", "吗。", "까."))


def _score(text: str, kind: str, first: bool = False, code: bool = False) -> float:
    """How much later work is likely to need a sentence; `kind` is who speaks, without a tool's name."""
    words = set(_WORDS.findall(text.lower().replace("’", "'")))
    cjk = not text.isascii()
    firm = not _FIRM.isdisjoint(words) or (cjk and _has(text, _FIRM_CJK))
    wanted = not _WANTED.isdisjoint(words) or (cjk and _has(text, _WANTED_CJK))
    digits = _DIGITS.search(text) is not None
    located = "://" in text or (("/" in text or "." in text) and _PATH.search(text) is not None)
    seen = (
        (3.0, firm),
        (1.0, wanted),
        (2.0, _is_wrong(text)),
        (0.5, digits),
        (1.0, digits and _MEASURE.search(text)),
        (1.0, (digits or "`" in text or "「" in text) and _ID.search(text)),
        (1.5, located),
        (1.0, _NAME.search(text) or (cjk and _has(text, _NAMED_CJK))),
        (0.5, first),
        (-3.0, _is_chatter(text) and not (firm or wanted or digits)),
        (-1.0, kind == "assistant" and _is_question(text)),
        (-3.0, len(text) < (6 if cjk else 12)),
        (-1.5, code),
        (-3.0, len(text) >= 80 and _JUNK.search(text)),
    )
    return _WEIGHTS[kind] + sum(weight for weight, found in seen if found)


class _Said(NamedTuple):
    """A sentence and who said it: `user`, `assistant`, `system`, `tool NAME`, or `earlier` for whoever it was."""

    who: str
    text: str
    first: bool = False
    code: bool = False

    @property
    def kind(self) -> str:
        return self.who.partition(" ")[0]


@dataclass
class _Talk:
    """What was read in the messages.

    `first` are sentences of the first request, `unanswered` is the user's latest text while the assistant's does not
    follow it, `spoke` says whether the user said anything, `last` are the sentences of the assistant's latest text and
    `asked` says that nothing of the user's follows it. `failures` has tool and error by tool and input.
    """

    asker: str = "user"
    said: list[_Said] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    unanswered: str = ""
    spoke: bool = False
    last: list[str] = field(default_factory=list)
    asked: bool = False
    failures: dict[tuple[str, bytes], tuple[str, str]] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    seen: dict[str, None] = field(default_factory=dict)
    pending: dict[str, ToolCall] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    attached: Counter[str] = field(default_factory=Counter)


_CHANGING = re.compile(r"writ|edit|creat|patch|replac|insert|append|save|updat|delet|remov|move|renam", re.IGNORECASE)
_ERROR_NAME = re.compile(r"\w(?:Error|Exception)\b")
_PATH_KEYS = ("path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file", "paths", "files")


def _read(messages: Sequence[Message]) -> _Talk:
    talk = _Talk()
    room = max(min(_ALL // max(len(messages), 1), _MOST), _LEAST)
    made: dict[str, ToolCall] = {}
    for message in messages:
        parts: list[dict[str, Any]] = message.parts  # type: ignore[assignment]
        who = "tool ?" if message.role == "tool" else message.role
        if who == "user" and "origin" in (message.metadata or {}):
            who = "system"  # put in by a harness: no request of the user's
        if text := "\n".join([str(part.get("text", "")) for part in parts if part["type"] == "text"]):
            most = min(room * _USER, _MOST) if who == "user" else room
            found = [_Said(who, *sentence) for sentence in _sentences(text, most)]
            talk.said += found
            _hear(talk, who, text, [said.text for said in found])
        for part in parts:
            if part["type"] == "file" or part["type"].startswith("data-"):
                talk.attached[_name(str(part.get("mediaType") or part["type"]))] += 1
        if asked := calls(message):
            talk.pending = {}
        for call in asked:
            made[call.id] = talk.pending[call.id] = call
            _note_call(talk, call)
        for result in results(message):
            talk.pending.pop(result.id, None)
            _note_result(talk, result, made.get(result.id), min(room // 2, _TOOL_READ))
    return talk


def _hear(talk: _Talk, who: str, text: str, sentences: list[str]) -> None:
    if who == "user" and sentences:
        if not talk.first or all(map(_is_chatter, talk.first)):
            talk.first = sentences[:3]
        talk.unanswered, talk.spoke, talk.asked, talk.pending = text, True, False, {}
    elif who == "assistant" and sentences:
        talk.unanswered, talk.last, talk.asked, talk.pending = "", sentences, True, {}


def _note_call(talk: _Talk, call: ToolCall) -> None:
    talk.tools[_name(call.name)] += 1
    files = talk.changed if _CHANGING.search(call.name) else talk.seen
    for key in _PATH_KEYS:
        value = call.input.get(key)
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, str) and 0 < len(path) <= LONGEST and path.strip():
                name = _line(path).replace("`", "'")
                files.pop(name, None)
                files[name] = None


def _name(name: str) -> str:
    return "_".join(_cut(_line(name), 60).split()) or "?"


def _note_result(talk: _Talk, result: ToolResult, call: ToolCall | None, most: int) -> None:
    name = _name(result.name or (call.name if call else ""))
    said = [_Said(f"tool {name}", *sentence) for sentence in _sentences(output_text(result.output), most)]
    talk.said += said
    failed = result.is_error or is_error_output(result.output)
    if failed or talk.failures:
        # The same call, gone well at last, is no failure any more.
        asked = (name, _json.canonical(call.raw) if call else b"")
        talk.failures.pop(asked, None)
        if failed:
            lines = [each.text for each in said]
            named, wrong = filter(_ERROR_NAME.search, lines), filter(_is_wrong, lines)
            talk.failures[asked] = (name, (list(named) or list(wrong) or lines or ["(no output)"])[-1])


_HEADING = re.compile(r"(?:(#{1,6}) |\*\*)([^#*]+?)(?: ?#*|:?\*\*:?)")
_LABEL = re.compile(r"(user|assistant|system|earlier|text|tool \S+)(?: \(([a-z ]+)\))?: (.+)")
_NUMBERED = re.compile(r"\A(?:[-*•]|\d{1,3}[.)])\s+")
_FILES = re.compile(r"`([^`]+)`")
_CHANGED, _SEEN, _CONTENT = "files changed", "files seen", "content"
_FILES_SHOWN, _NAMES_SHOWN, _MOST_LATER = 10, 8, 50
_SETTLED = frozenset({"latest request", "unanswered", "question", "pending"})
"""Notes of open items that the messages after them settle, or say again."""


@dataclass
class _Earlier:
    """What the earlier summaries say. `keys` have been key points before; `others` compete as if they were new."""

    topic: list[_Said] = field(default_factory=list)
    keys: list[_Said] = field(default_factory=list)
    others: list[_Said] = field(default_factory=list)
    state: list[_Said] = field(default_factory=list)
    open: list[_Said] = field(default_factory=list)
    passing: list[tuple[str, _Said]] = field(default_factory=list)
    """Open items that hold until somebody speaks, with their notes."""
    changed: dict[str, None] = field(default_factory=dict)


def _earlier(previous: Sequence[str]) -> _Earlier:
    earlier = _Earlier()
    for text in previous:
        first, length = not earlier.topic, 0
        # The state of a summary is that of its own end.
        earlier.others += earlier.state
        earlier.state = []
        for section, note, said in _earlier_lines(text):
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
        listed = [line for line in text.split("\n") if line.startswith(f"- {_CHANGED}: ")]
        earlier.changed.update(dict.fromkeys(_FILES.findall(_line(" ".join(listed)))))
    return earlier


def _earlier_lines(summary: str) -> Iterator[tuple[str, str, _Said]]:
    """(section, note, what was said) for each line of a summary, of ours or of a model's."""
    section = KEYS
    names = {name.casefold(): name for name in SECTIONS}
    for raw in _scanned(summary, _PLAIN_READ).splitlines():
        line = _line(raw)
        if heading := _HEADING.fullmatch(line):
            named = names.get(heading[2].strip().casefold())
            if named or heading[1]:
                section = named or (KEYS if len(heading[1]) <= 2 else section)
                continue
        line = _NUMBERED.sub("", line, count=1)
        if not line or line == _NONE[2:] or (line.startswith("(Extracted ") and line.endswith(")")):
            continue
        if section == STATE and line.startswith((f"{_CHANGED}: ", f"{_SEEN}: ", f"{_CONTENT}: ")):
            continue
        label = _LABEL.fullmatch(line)
        who, note, text = label.groups() if label else ("earlier", "", line)
        for sentence in [text] if len(text) <= LONGEST else _split(text):
            for piece in _pieces(sentence):
                yield section, note or "", _Said(who, piece)


class _Line(NamedTuple):
    """`- label: text`, the sentence that it quotes if it does, and where it stands among key points."""

    label: str
    text: str
    said: _Said | None = None
    order: int | None = None


_COMMON = frozenset(
    segment(
        "a an the of to in on at by for from with as is are was were be been it its this that these those and or so "
        "we i you he she they them our my your will would can could do does did has have had just very also then there"
    )
)
_NEGATIONS = frozenset(segment("not never no don doesn didn isn won cannot can't without none nothing"))
_ALIKE, _LOOKED_AT = 0.6, 64
_OF_ONE_TEMPLATE = {"tool": 1, "assistant": 2}
"""Lines that differ in their numbers only, as those of logs do; users and earlier summaries may say any number."""


def _key(text: str) -> str:
    return fold(text).strip(" .…。")


class _Novelty:
    """What has been chosen. A sentence adds to it by a word, number or negation that no single chosen line has."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._templates: Counter[tuple[str, str]] = Counter()
        self._chosen: list[frozenset[str]] = []
        self._holding: dict[str, list[int]] = {}

    def adds(self, said: _Said) -> bool:
        key = _key(said.text)
        if not key or key in self._keys:
            return False
        most = _OF_ONE_TEMPLATE.get(said.kind)
        if most and self._templates[said.kind, _DIGITS.sub("0", key)] >= most:
            return False
        words = frozenset(segment(said.text))
        telling = words - _COMMON
        if not telling:
            return bool(words) or not self._chosen
        rarest = min(telling, key=lambda word: (len(self._holding.get(word, ())), word))
        for number in self._holding.get(rarest, ())[-_LOOKED_AT:]:
            other = self._chosen[number]
            if (
                telling <= other
                and words & _NEGATIONS == other & _NEGATIONS
                and len(words & other) >= _ALIKE * len(words | other)
            ):
                return False
        return True

    def take(self, said: _Said) -> None:
        key = _key(said.text)
        self._keys.add(key)
        self._templates[said.kind, _DIGITS.sub("0", key)] += 1
        words = frozenset(segment(said.text))
        for word in words - _COMMON:
            self._holding.setdefault(word, []).append(len(self._chosen))
        self._chosen.append(words)


def _candidates(talk: _Talk, earlier: _Earlier, most: int) -> Iterator[Iterator[_Line]]:
    """Key points of earlier summaries, new ones, and all; the best first, and more than fit in `most` tokens."""
    # Places count down, so that of equals the first is best.
    kept = [(_score(said.text, said.kind) + _EARLIER_BONUS, -order, said) for order, said in enumerate(earlier.keys)]
    others = [
        *earlier.others,
        *(earlier.state if talk.said else ()),
        *(said for note, said in earlier.passing if talk.spoke and note != "pending"),
        *talk.said,
    ]
    fresh: list[tuple[float, int, _Said]] = []
    for order, said in enumerate(dict.fromkeys(others)):
        score = _score(said.text, said.kind, said.first, said.code)
        if score >= _LEAST_SCORE:
            fresh.append((score + order / len(others) / 2, -order - len(kept), said))
    for among in (kept, fresh, kept + fresh):
        yield (_Line(said.who, said.text, said, -place) for _, place, said in nlargest(most + 200, among))


def _state_lines(talk: _Talk, earlier: _Earlier) -> Iterator[_Line]:
    """Current State, the most needed first."""
    statements = [text for text in talk.last if not _is_question(text)]
    statements = [text for text in statements if not _is_chatter(text)] or statements
    said_last = [_Line("assistant", text, _Said("assistant", text)) for text in (*statements[-1:], *statements[:1])]
    yield from said_last[:1]
    if not talk.said:
        for said in earlier.state:
            yield _Line(said.who, said.text, said)
    for name, text in list(talk.failures.values())[-2:]:
        yield _Line(f"tool {name} (failed)", text, _Said(f"tool {name}", text))
    changed = [*(name for name in earlier.changed if name not in talk.changed), *talk.changed]
    for label, names in ((_CHANGED, changed), (_SEEN, [name for name in talk.seen if name not in changed])):
        more = f" and {len(names) - _FILES_SHOWN} earlier ones" if len(names) > _FILES_SHOWN else ""
        if names:
            yield _Line(label, ", ".join(f"`{name}`" for name in names[-_FILES_SHOWN:]) + more)
    yield from said_last[1:]
    counts = [_tally(talk.tools, "tool call", "tool calls"), _tally(talk.attached, "attachment", "attachments")]
    if any(counts):
        yield _Line(_CONTENT, "; ".join(filter(None, counts)))


def _tally(counter: Counter[str], one: str, more: str) -> str:
    """`3 tool calls: read_file ×2, bash`; empty for none."""
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    names = [name if number == 1 else f"{name} ×{number}" for name, number in ordered[:_NAMES_SHOWN]]
    names += [f"{len(ordered) - _NAMES_SHOWN} more"] if len(ordered) > _NAMES_SHOWN else []
    return f"{_counted(counter.total(), one, more)}: {', '.join(names)}" if names else ""


def _open_lines(talk: _Talk, earlier: _Earlier, request: str) -> Iterator[_Line]:
    """Open Items behind the latest request, the most needed first."""
    for call in talk.pending.values():
        name = _name(call.name)
        yield _Line(f"tool {name} (pending)", _cut(_line(_json.text(call.raw)), LONGEST) or "(no input)")
    if talk.asked:
        for text in [text for text in talk.last if _is_question(text)][-2:]:
            yield _Line("assistant (question)", text, _Said("assistant", text))
    if not talk.spoke:
        for note, said in earlier.passing:
            if not (note == "latest request" and request):
                yield _Line(f"{said.who} ({note})", said.text, said)
    later = (s for s in reversed(talk.said) if s.kind != "tool" and not s.code and _is_later(s.text))
    # In turns, so that neither what has been open for long nor what has just come up fills all the room.
    for said in chain.from_iterable(zip_longest(reversed(earlier.open), islice(later, _MOST_LATER))):
        if said is not None:
            yield _Line(said.who, said.text, said)


_ENOUGH, _BARELY, _LEAST_LINE = 40, 20, 6
"""Tokens for the topic and the request, below which the first line is shortened; then, all but the request goes; and
those below which no further line is tried."""


def _cost(text: str) -> int:
    return estimate_tokens(text, "safe")


def _fitted(label: str, text: str, room: int) -> str:
    """The line within `room` tokens, cut if it must be; empty if hardly a word would be left."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost(f"- {label}: {_cut(text, middle)}\n") <= room else (low, middle - 1)
    return f"- {label}: {_cut(text, low)}" if low >= min(len(text), 5) > 0 else ""


def _topic(talk: _Talk, earlier: _Earlier) -> tuple[str, str]:
    """(who, text): the sentences up to the first that says something."""
    if earlier.topic:
        return earlier.topic[0].who, _cut(" ".join(said.text for said in earlier.topic), LONGEST)
    telling = (n for n, text in enumerate(talk.first, 1) if len(text) >= 8 and not _is_chatter(text))
    return talk.asker, _cut(" ".join(talk.first[: next(telling, None)]), LONGEST)


class _Summary:
    """The sections, filled within a bound."""

    def __init__(self, most: int) -> None:
        self.most, self.honest, self.room = most, "", 0
        self.lines: list[tuple[str, int, str]] = []
        self.novelty = _Novelty()

    def text(self) -> str:
        parts = [self.honest]
        for section in SECTIONS:
            # Key points keep the order of the conversation; elsewhere the order is that of need.
            found = sorted((order, line) for name, order, line in self.lines if name == section)
            parts.append("\n".join([f"## {section}", *([line for _, line in found] or [_NONE])]))
        return "\n\n".join(parts)

    def begin(self, source: str) -> bool:
        """The skeleton. False if the bound leaves no room for anything in it."""
        for self.honest, needed in (
            (f"(Extracted from {source} without a model: sentences are quoted, nothing is concluded.)", _ENOUGH),
            (_SHORT_HONEST, _BARELY),
        ):
            self.room = self.most - _cost(self.text())
            if self.room >= needed:
                return True
        return False

    def put(self, section: str, line: str, order: int | None = None) -> bool:
        """Add a line if there is room for it."""
        cost = _cost(f"{line}\n")
        if cost > self.room:
            return False
        self.room -= cost
        self.lines.append((section, len(self.lines) if order is None else order, line))
        return True

    def fill(self, section: str, lines: Iterable[_Line], share: float) -> None:
        """Add lines that say something new, up to a part of the room."""
        kept = int(self.room * (1 - share))  # for what comes later
        self.room -= kept
        for label, text, said, order in lines:
            if self.room < _LEAST_LINE:
                break
            said = said or _Said("system", f"{label} {text}")
            if self.novelty.adds(said) and self.put(section, f"- {label}: {text}", order):
                self.novelty.take(said)
        self.room += kept


def _summary(talk: _Talk, earlier: _Earlier, request: str, source: str, most: int) -> str:
    who, topic = _topic(talk, earlier)
    note = "latest request" if request else "unanswered"
    request = _cut(_line(_scanned(request or talk.unanswered, _MOST)), LONGEST)
    summary = _Summary(most)
    asker = f"user ({note})"
    if not summary.begin(source):
        marks = (mark for mark in (_SHORT_HONEST, "…", "-", "") if _cost(mark) <= max(most, 0))
        return _fitted(asker, request, most) or _fitted(who, topic, most) or next(marks)
    wanted = _cost(f"- {asker}: {request}\n") if request else 0
    for section, label, text, room in (
        (TOPIC, who, topic, max(summary.room - wanted, summary.room // 2)),
        (OPEN, asker, request, summary.most),
    ):
        if line := _fitted(label, text, min(room, summary.room)):
            summary.put(section, line)
            for said in [shown := line.partition(": ")[2], *_split(shown)]:
                summary.novelty.take(_Said(label.partition(" ")[0], said))
    state, still_open = list(_state_lines(talk, earlier)), list(_open_lines(talk, earlier, request))
    kept, fresh, every = _candidates(talk, earlier, most)
    for section, lines, share in (
        (STATE, state, _STATE_SHARE),
        (OPEN, still_open, _OPEN_SHARE),
        (KEYS, kept, _EARLIER_SHARE),
        (KEYS, fresh, _NEW_SHARE),
        (KEYS, every, 1.0),
        (STATE, state, 1.0),
        (OPEN, still_open, 1.0),
    ):
        summary.fill(section, lines, share)
    while _cost(text := summary.text()) > most and summary.lines:
        summary.lines.pop()
    return text
