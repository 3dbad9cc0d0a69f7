"""What summaries keep: facts planted in conversations are counted before and after these are compacted.

    python -m benchmarks.summary_probe [DATA]

The conversations are made up: sessions of an agent that works on code, in English and Japanese, the same in every run.
DATA, a folder that is no part of the project, adds real ones (see `trajectories`). Each is appended in as many parts as
there are rounds, and compacted after each part, so that what was said first has been through every summary.

A fact counts as kept when all its terms stand in one line of what the model sees; whether the line still says the same
of them is not looked at. Facts that no summary covers, as they stand in the head or the tail, are not counted; the
user's latest request, which compaction never covers, is looked for in the whole view.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from rich import box
from rich.console import Console
from rich.table import Table

import glassine
from glassine import (
    Compactor,
    Message,
    SessionSpec,
    SummaryPrompt,
    assistant,
    calls,
    results,
    tool_call,
    tool_result,
    user,
)
from glassine.compactor import Summarize
from glassine.indexing import tokens as estimates
from glassine.tokens import estimate_tokens

LANGUAGES: Final = ("en", "ja")
PART: Final = 25_000
"""Tokens of a made-up conversation between two compactions."""
TAIL: Final = 5_000
"""Tokens that stay at the end, as the Compactor's budget."""
REQUEST: Final = "open request"


# -- facts -------------------------------------------------------------------------------------------------------------

Carrier = str
"""Where a fact stands: in a text of the `user` or the `assistant`, a tool's output (`tool`) or its input (`call`)."""


class Fact(NamedTuple):
    """`text` is what is said in `carrier`; the fact is kept where all `terms` stand in one line."""

    kind: str
    carrier: Carrier
    text: str
    terms: tuple[str, ...]


class Kind(NamedTuple):
    """How facts of a kind are told, by language, in more and less telling words: {a}, {b}, … are filled, `terms` names
    those that matter."""

    carriers: tuple[Carrier, ...]
    terms: str
    en: tuple[str, ...]
    ja: tuple[str, ...]


KINDS: Final = {
    "name": Kind(
        ("user", "assistant", "tool"),
        "ab",
        ("{a} is the one who looks after {b}.", "Ask {a} about {b}.", "For {b} there is {a}, by the way."),
        ("{b}を担当しているのは{a}さんです。", "{b}のことは{a}さんに聞いてください。", "{b}には{a}さんがいます。"),
    ),
    "number": Kind(
        ("assistant", "tool", "user"),
        "bc",
        ("{b} took {c} requests before it gave up.", "That makes {c} for {b}.", "{b}: {c} per hour, not more."),
        ("{b}は{c}件のリクエストで止まりました。", "{b}は合わせて{c}になります。", "{b}は毎時{c}までです。"),
    ),
    "path": Kind(
        ("assistant", "call", "tool"),
        "d",
        ("The settings that count are in {d}.", "{d} is what gets read.", "Have a look at {d}, it overrides the rest."),
        ("有効な設定は{d}にあります。", "読み込まれるのは{d}です。", "{d}がほかの設定を上書きします。"),
    ),
    "decision": Kind(
        ("user", "assistant"),
        "be",
        (
            "We decided to use {e} for {b}, because the other one loses the order.",
            "Let's go with {e} for {b}, then.",
            "{e} it is for {b}; the other one loses the order.",
        ),
        (
            "順序が保たれないため、{b}には{e}を使うことに決めました。",
            "では、{b}は{e}でいきましょう。",
            "{b}は{e}にします。もう一方は順序が保たれません。",
        ),
    ),
    "constraint": Kind(
        ("user",),
        "b",
        (
            "Whatever you do, {b} must not be restarted while customers are online.",
            "Keep your hands off {b} while customers are online.",
            "{b} stays up as long as customers are online, please.",
        ),
        (
            "お客様が利用している間は、{b}を絶対に再起動しないでください。",
            "お客様が利用している間は、{b}には触らないようにお願いします。",
            "お客様が利用している間は、{b}は動かしたままにします。",
        ),
    ),
    "error": Kind(
        ("tool", "assistant"),
        "bf",
        ("{b} ended with error {f}: lease lost", "{b} exited, {f} lease lost", "{f} again from {b}, at the same place"),
        ("{b}がエラー{f}で異常終了しました", "{b}が{f}で止まりました", "{b}からまた{f}が出ています"),
    ),
    "open item": Kind(
        ("user", "assistant"),
        "b",
        (
            "Still to do, but not now: migrate {b} to the new format.",
            "Once this is through, somebody has to move {b} to the new format.",
            "{b} has the old format; it comes after this.",
        ),
        (
            "今ではありませんが、あとで{b}を新しい形式に移す必要があります。",
            "これが済んだら、{b}も新しい形式に移しましょう。",
            "{b}は古い形式のままです。この次になります。",
        ),
    ),
    REQUEST: Kind(
        ("user",),
        "b",
        ("Now find out why {b} is slow on Mondays.",),
        ("それでは、月曜日に{b}が遅い理由を調べてください。",),
    ),
}
COUNTED: Final = [kind for kind in KINDS if kind != REQUEST]
FACTS: Final = 3
"""Of each kind, in each part."""

_SYLLABLES: Final = (
    *("ba", "dor", "fen", "gil", "hak", "jum", "kel", "lor", "mip", "nar"),
    *("pol", "quen", "rus", "sil", "tam", "vek", "wim", "xan", "yor", "zul"),
)
_EN_NAMES: Final = (
    ("Ines", "Marek", "Oluwaseun", "Priya", "Tomas", "Yuki", "Greta", "Halvard"),
    ("Achterberg", "Bielska", "Carrow", "Dimitrov", "Eklund", "Farouk", "Gatwick", "Hidalgo", "Iversen", "Juhasz"),
)
_JA_NAMES: Final = (
    ("阿久津", "榎本", "鬼塚", "柏木", "桐生", "小山内", "滝沢", "土屋", "野々村", "蓮見"),
    ("綾子", "英二", "薫", "恭平", "沙織", "拓海", "千尋", "真理子"),
)


def facts(
    source: random.Random, language: str, kinds: Iterable[str], carriers: Mapping[str, Iterator[Carrier]]
) -> Iterator[Fact]:
    """One fact of each kind; `carriers` gives the next carrier of a kind."""
    for kind in kinds:
        first, last = _JA_NAMES if language == "ja" else _EN_NAMES
        code = "".join(source.sample(_SYLLABLES, 3))
        filled = {
            "a": ("" if language == "ja" else " ").join((source.choice(first), source.choice(last))),
            "b": code.capitalize(),
            "c": f"{source.randrange(10_000, 99_999):,}",
            "d": f"deploy/{code}/{source.choice(_SYLLABLES)}-{source.randrange(100)}.toml",
            "e": f"{source.choice(_SYLLABLES).capitalize()}MQ {source.randint(2, 9)}",
            "f": f"E{source.randrange(1000, 9999)}",
        }
        told = KINDS[kind]
        text = source.choice(told.ja if language == "ja" else told.en).format(**filled)
        yield Fact(kind, next(carriers[kind]), text, tuple([filled[term] for term in told.terms]))


def stands_in(fact: Fact, lines: Iterable[str]) -> bool:
    terms = [_folded(term) for term in fact.terms]
    return any(all(term in line for term in terms) for line in lines)


def _folded(text: str) -> str:
    """A text without what may differ although the same is said: case, width, spaces, commas within numbers."""
    return re.sub(r"(?<=\d),(?=\d)|\s", "", unicodedata.normalize("NFKC", text).casefold())


def lines_of(messages: Iterable[Message]) -> list[str]:
    """All lines of what messages say, tools' inputs and outputs included, folded."""
    return [_folded(line) for message in messages for text in _strings(message.parts) for line in text.split("\n")]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


# -- planting ----------------------------------------------------------------------------------------------------------


def plant(messages: list[Message], fact: Fact, wanted: float, source: random.Random) -> str | None:
    """Put a fact into the message nearest to a place (0 to 1) that has its carrier. Its id, or None if none has it."""
    middle = wanted * len(messages)
    for index in sorted(range(len(messages)), key=lambda index: abs(index - middle)):
        parts = json.loads(json.dumps(messages[index].parts))
        if _put(parts, messages[index].role, fact, source):
            messages[index] = Message.of({**messages[index].to_dict(), "parts": parts})
            return messages[index].id
    return None


def _put(parts: list[dict[str, Any]], role: str, fact: Fact, source: random.Random) -> bool:
    for part in parts:
        text = part.get("text")
        if fact.carrier == role and part["type"] == "text" and isinstance(text, str) and text.strip():
            part["text"] = _within(text, fact.text, source, r"(?<=[.!?])\s|(?<=[。？！])|\n", " ")
            return True
        if fact.carrier == "tool" and part["type"] == "tool-result" and isinstance(part.get("output"), str):
            part["output"] = _within(part["output"], fact.text, source, r"\n", "\n")
            return True
        if fact.carrier == "call" and part["type"] == "tool-call" and isinstance(part.get("input"), dict):
            part["input"] = {**part["input"], "note": fact.text}
            return True
    return False


def _within(text: str, said: str, source: random.Random, between: str, glue: str) -> str:
    """A sentence, or a line, put between those of a text."""
    places = [0, *(found.end() for found in re.finditer(between, text)), len(text)]
    place = source.choice(places)
    return glue.join(piece for piece in (text[:place].rstrip(" "), said, text[place:].lstrip(" ")) if piece)


# -- made-up conversations ---------------------------------------------------------------------------------------------

_ASKED = {
    "en": (
        "Can you look at {file}? The output of {name} is not what I expect.",
        "Please go through {file} and tell me what {name} does with an empty list.",
        "The build took {n} seconds this morning. See whether {name} has to do with it.",
        "Add a test for {name}, then run the ones in {folder}.",
        "Thanks. Now the same for {file}.",
        "I see {n} warnings in {folder}; which of them are new?",
    ),
    "ja": (
        "{file}を見てもらえますか。{name}の出力が思っていたものと違います。",
        "{file}を読んで、空のリストのとき{name}が何をするか教えてください。",
        "今朝のビルドは{n}秒かかりました。{name}が関係しているか調べてください。",
        "{name}のテストを追加して、{folder}のテストを実行してください。",
        "ありがとうございます。次は{file}も同じようにお願いします。",
        "{folder}に警告が{n}件出ています。新しいものはどれですか。",
    ),
}
_TOLD = {
    "en": (
        "I'll read {file} first.",
        "{name} is called in {n} places, most of them in {folder}.",
        "The helper returns early when the list is empty, so the loop below never runs.",
        "Let me check how {folder} is put together before I change anything.",
        "That accounts for {n} of the differences; the others come from the order of the keys.",
        "The tests in {folder} pass, {n} of them, in about {n} seconds.",
        "I moved the check into {name} and left the rest of {file} as it was.",
        "Line {n} of {file} does the conversion.",
        "This looks like the same pattern as in {name}.",
        "Nothing else depends on it.",
        "I'll run the tests again to be sure.",
        "The type checker has no complaints about {file}.",
    ),
    "ja": (
        "まず{file}を読みます。",
        "{name}は{n}か所で呼ばれていて、ほとんどが{folder}にあります。",
        "リストが空のときは早く戻るので、その下のループは実行されません。",
        "変更する前に、{folder}の構成を確認します。",
        "違いのうち{n}件はこれで説明できます。残りはキーの順序によるものです。",
        "{folder}のテスト{n}件は約{n}秒で通りました。",
        "判定を{name}に移し、{file}の残りはそのままにしました。",
        "{file}の{n}行目で変換しています。",
        "{name}と同じ書き方のようです。",
        "ほかに依存しているものはありません。",
        "念のため、もう一度テストを実行します。",
        "型検査では{file}について何も指摘されませんでした。",
    ),
}
_FOLDERS = ("src/orders", "src/mail", "lib/render", "tests/unit", "tools/report", "app/views", "app/models")
_STEMS = ("parse", "merge", "format", "load", "collect", "render", "split", "check", "resolve", "index")
_THINGS = ("rows", "header", "address", "total", "page", "field", "token", "record", "entry", "date")
_COMMANDS = (
    "pytest -q {folder}",
    "rg -n {name} {folder}",
    "sed -n '1,80p' {file}",
    "ls -l {folder}",
    "git diff {file}",
)


def agent_session(seed: int, language: str, tokens: int) -> Iterator[Message]:
    """Turns of a user and an agent that works on code, of about so many tokens. Ids are m0, m1, …

    What fills them is as distracting as in real ones: paths, numbers and results of tests stand in most sentences.
    """
    source = random.Random(f"{seed} {language}")
    number = said = 0
    while said < tokens:
        for message in _turn(source, language):
            yield message.with_id(f"m{number}")
            number += 1
            said += _tokens([message])


def _turn(source: random.Random, language: str) -> Iterator[Message]:
    yield user(_sentences(source, _ASKED[language], 1, 2, language))
    for _ in range(source.randint(3, 7)):
        call_id = f"call_{source.randrange(10**12)}"
        command = _filled(source, source.choice(_COMMANDS))
        told = _sentences(source, _TOLD[language], 1, 2, language)
        yield assistant(told, tool_call("shell", {"command": command}, id=call_id))
        yield tool_result(call_id, _output(source), name="shell")
    yield assistant(_sentences(source, _TOLD[language], 3, 6, language))


def _sentences(source: random.Random, pool: tuple[str, ...], least: int, most: int, language: str) -> str:
    between = " " if language == "en" else ""
    return between.join(_filled(source, text) for text in source.sample(pool, source.randint(least, most)))


def _filled(source: random.Random, text: str) -> str:
    folder = source.choice(_FOLDERS)
    name = f"{source.choice(_STEMS)}_{source.choice(_THINGS)}"
    file = f"{folder}/{source.choice(_STEMS)}_{source.choice(_THINGS)}.py"
    return text.format(folder=folder, name=name, file=file, n=source.randint(2, 400))


def _output(source: random.Random) -> str:
    """What a tool printed: some 300 to 6,000 characters."""
    line = source.choice(_LINES)
    count = min(4 + int(source.lognormvariate(2.3, 0.8)), 100)
    return "\n".join(_filled(source, line(source)) for _ in range(count))


_LINES: tuple[Callable[[random.Random], str], ...] = (
    lambda source: f"{{file}}::test_{{name}} {source.choice(('PASSED', 'PASSED', 'PASSED', 'FAILED'))} [{{n}} ms]",
    lambda source: "{file}:{n}:    value = {name}(value, limit={n})",
    lambda source: f"-rw-r--r-- 1 dev dev {source.randrange(90_000)} Mar {source.randint(1, 28)} 10:12 {{file}}",
    lambda source: f"2026-03-{source.randint(1, 28):02} INFO {{name}} done in {{n}} ms, {{n}} items left",
)


# -- real conversations ------------------------------------------------------------------------------------------------


def trajectories(data: Path) -> Iterator[tuple[str, list[Message]]]:
    """The long runs of real agents in DATA/trajectories, without system prompts: {steps: [{role, text, …}, …]}."""
    for path in sorted((data / "trajectories").glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            steps = json.load(file)["steps"]
        found = [message for step in steps if (message := _of_step(step)) is not None]
        yield path.name.split(".")[0], [message.with_id(f"m{number}") for number, message in enumerate(found)]


def _of_step(step: dict[str, Any]) -> Message | None:
    text = str(step.get("text") or "")
    said: list[Any] = [text] if text.strip() else []
    if step["role"] == "assistant":
        made = [tool_call(call["name"], call["args"], id=call["id"]) for call in step.get("tool_calls") or ()]
        return assistant(*said, *made) if said or made else None
    if step["role"] == "tool":
        result = step["tool_result"]
        return tool_result(result["id"], result["text"], name=result.get("name"), is_error=bool(result.get("is_error")))
    return user(*said) if step["role"] == "user" and said else None


def in_parts(messages: Sequence[Message], rounds: int) -> list[list[Message]]:
    """A conversation in parts of about as many tokens each, parted where no tool is running."""
    costs = [_tokens([message]) for message in messages]
    parts: list[list[Message]] = [[]]
    waiting: set[str] = set()
    done = 0
    for message, cost in zip(messages, costs, strict=True):
        if not waiting and done >= sum(costs) * len(parts) / rounds and len(parts) < rounds:
            parts.append([])
        parts[-1].append(message)
        done += cost
        if message.role == "user":
            waiting = set()  # whatever has no result by now never gets one
        waiting = (waiting | {call.id for call in calls(message)}) - {result.id for result in results(message)}
    return parts


def _tokens(messages: Iterable[Message]) -> int:
    return sum([estimates(message)[-1] for message in messages])


# -- summarisers -------------------------------------------------------------------------------------------------------


def drawn(prompt: SummaryPrompt) -> str:
    """For comparison: lines of the earlier summaries and the conversation, drawn at random until the room is full."""
    source = random.Random(len(prompt))
    told = [*prompt.previous, *(text for message in prompt.messages for text in _strings(_said(message)))]
    lines = list(dict.fromkeys(line[:240] for text in told for line in _sentences_of(text) if line.strip()))
    source.shuffle(lines)
    room, kept = prompt.max_tokens, []
    for line in lines:
        room -= estimate_tokens(line, "safe") + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def _said(message: Message) -> list[Any]:
    inputs = [call.input for call in calls(message)]
    outputs = [result.output for result in results(message)]
    return [*[part.get("text") for part in message.parts if part["type"] == "text"], *inputs, *outputs]


def _sentences_of(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s|(?<=[。？！])|\n", text)


def summariser(named: str) -> Summarize:
    """By name: extractive, drawn, anthropic:MODEL, openai:MODEL."""
    provider, _, model = named.partition(":")
    if named == "extractive":
        return glassine.extractive_summary
    if named == "drawn":
        return drawn
    if provider == "anthropic" and model:
        return glassine.summarize_with_anthropic(model=model)
    if provider == "openai" and model:
        return glassine.summarize_with_openai(model=model)
    raise click.BadParameter(f"{named!r} is none of extractive, drawn, anthropic:MODEL and openai:MODEL")


# -- the probe ---------------------------------------------------------------------------------------------------------


class Planted(NamedTuple):
    fact: Fact
    message_id: str
    part: int


class Outcome(NamedTuple):
    """Of one fact after one round; `summaries` is how many of them it has been through."""

    group: str
    kind: str
    carrier: str
    round: int
    summaries: int
    kept: bool


@dataclass
class Result:
    outcomes: list[Outcome] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """For each summary, its tokens as a share of those it stands for."""
    failures: list[str] = field(default_factory=list)


def probe(name: str, language: str, parts: list[list[Message]], compactor: Compactor, result: Result) -> None:
    """Plant facts in the parts of one conversation, append and compact them one by one, and note what is kept."""
    source = random.Random(name)
    carriers = {kind: cycle(KINDS[kind].carriers) for kind in KINDS}
    group = f"{'real' if name.startswith('real') else 'made up'}, {language}"
    planted: list[Planted] = []
    covered_in: dict[str, int] = {}
    with glassine.open(":memory:") as store:
        session = store.session("probe", SessionSpec().with_compaction(compactor))
        for number, part in enumerate(parts, 1):
            planted += [Planted(fact, id, number) for fact, id in _sown(part, language, carriers, source)]
            request = next(iter(facts(source, language, [REQUEST], carriers)))
            part[-1:] = [part[-1], user(request.text, id=f"request-{number}")]
            session.append(part)
            before = lines_of(session.history())
            fresh = [one for one in planted if one.part == number]
            assert all(stands_in(one.fact, before) for one in fresh), "what was planted must be there before"
            made = session.compact()
            if made.kind != "compacted" or made.plan is None:
                result.failures.append(f"{name}, round {number}: {made.kind}, {made.reason}")
            elif made.overlay is not None:
                result.shares.append(_tokens([user(made.overlay.text or "")]) / made.plan.covered_tokens)
            shown = session.view().messages
            lines, ids = lines_of(shown), {message.id for message in session.history()}
            for one in planted:
                if one.message_id in ids:
                    continue
                since = covered_in.setdefault(one.message_id, number)
                kept = stands_in(one.fact, lines)
                outcome = Outcome(group, one.fact.kind, one.fact.carrier, number, number - since + 1, kept)
                result.outcomes.append(outcome)
            result.outcomes.append(Outcome(group, REQUEST, "user", number, 0, stands_in(request, lines)))


def _sown(
    part: list[Message], language: str, carriers: Mapping[str, Iterator[Carrier]], source: random.Random
) -> Iterator[tuple[Fact, str]]:
    """Facts of all kinds, spread evenly over a part, in mixed order."""
    wanted = list(COUNTED) * FACTS
    source.shuffle(wanted)
    for number, fact in enumerate(facts(source, language, wanted, carriers)):
        assert not stands_in(fact, lines_of(part)), "a fact must stand nowhere else"
        if (id := plant(part, fact, (number + 0.5) / len(wanted), source)) is not None:
            yield fact, id


def conversations(data: Path | None, rounds: int, sessions: int) -> Iterator[tuple[str, str, list[list[Message]]]]:
    """(name, language of the facts, parts) of all that is measured."""
    for number in range(sessions):
        for language in LANGUAGES:
            messages = list(agent_session(number, language, PART * rounds))
            yield f"{language}-{number}", language, in_parts(messages, rounds)
    if data is not None:
        for number, (name, messages) in enumerate(trajectories(data)):
            yield f"real {name}", LANGUAGES[number % 2], in_parts(messages, rounds)


Cell = tuple[int, int]
"""How many facts were kept, of how many."""


def counted(outcomes: Iterable[Outcome], key: Callable[[Outcome], tuple[str, str]]) -> dict[tuple[str, str], Cell]:
    cells: dict[tuple[str, str], Cell] = {}
    for outcome in outcomes:
        kept, of = cells.get(key(outcome), (0, 0))
        cells[key(outcome)] = (kept + outcome.kept, of + 1)
    return cells


def rows(result: Result) -> list[tuple[str, str, dict[int, Cell]]]:
    """(what the row is about, its value, cells by round); the request stands in its row alone."""
    facts_only = [outcome for outcome in result.outcomes if outcome.kind != REQUEST]
    found: list[tuple[str, str, dict[int, Cell]]] = []

    def add(about: str, outcomes: list[Outcome], value: Callable[[Outcome], str]) -> None:
        for one in dict.fromkeys(value(outcome) for outcome in outcomes):
            chosen = [outcome for outcome in outcomes if value(outcome) == one]
            cells = counted(chosen, lambda outcome: ("", str(outcome.round)))
            found.append((about, one, {int(number): cell for (_, number), cell in cells.items()}))

    add("all facts", facts_only, lambda outcome: "")
    add("kind", sorted(facts_only, key=lambda outcome: COUNTED.index(outcome.kind)), lambda outcome: outcome.kind)
    add("stood in", facts_only, lambda outcome: outcome.carrier)
    add("conversation", facts_only, lambda outcome: outcome.group)
    add("summaries since", facts_only, lambda outcome: str(outcome.summaries))
    add("kind", [outcome for outcome in result.outcomes if outcome.kind == REQUEST], lambda outcome: outcome.kind)
    return found


@click.command(help=__doc__)
@click.argument("data", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--with", "named", default="extractive", help="extractive, drawn, anthropic:MODEL or openai:MODEL")
@click.option("--rounds", type=click.IntRange(1, 9), default=3, show_default=True, help="Compactions of each.")
@click.option("--sessions", type=click.IntRange(0), default=4, show_default=True, help="Made-up ones per language.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(data: Path | None, named: str, rounds: int, sessions: int, as_json: bool) -> None:
    compactor = Compactor(summariser(named), tail_token_budget=TAIL)
    result = Result()
    for name, language, parts in conversations(data, rounds, sessions):
        probe(name, language, parts, compactor, result)
    found = rows(result)
    if as_json:
        told = [{"about": about, "value": value, "rounds": cells} for about, value, cells in found]
        print(json.dumps({"with": named, "shares": result.shares, "failures": result.failures, "rows": told}, indent=2))
    else:
        _print(found, result, rounds)


def _print(found: list[tuple[str, str, dict[int, Cell]]], result: Result, rounds: int) -> None:
    shown = Table(box=box.SIMPLE_HEAD, title="facts that are kept, of those that summaries cover", title_justify="left")
    for title in ("", "", *(f"round {number}" for number in range(1, rounds + 1))):
        shown.add_column(title, justify="right" if title else "left", no_wrap=True)
    for about, value, cells in found:
        there = [cells.get(number) for number in range(1, rounds + 1)]
        texts = ["" if cell is None else f"{cell[0] / cell[1]:.0%} of {cell[1]}" for cell in there]
        shown.add_row(about, value, *texts)
    console = Console()
    console.print(shown)
    if result.shares:
        share = statistics.mean(result.shares)
        console.print(f"{len(result.shares)} summaries, on average {share:.0%} as long as what they stand for")
    for failure in result.failures:
        console.print(failure, style="red", markup=False)


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.summary_probe")
