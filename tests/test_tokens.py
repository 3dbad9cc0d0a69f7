"""The token estimator: what it may be relied on for, and how near it comes to true counts."""

import json
import sys
import types
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glassine import tokens
from glassine.tokens import FAMILIES, _features, _weights, estimate_all, estimate_tokens, family_of, o200k_counter
from scripts import fit_tokens

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "tokens"
real_data = pytest.mark.skipif(not DATA.is_dir(), reason="the counted texts (../shared/data/tokens) are not here")

# Any code point, lone surrogates and NUL too; mostly of kinds that the estimator treats in different ways.
ANYTHING = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("aeioxyz AZ09  \n\t\r.,-_=#*/'\"(){}\0éßžλЖאمहกげカ漢字한→─•’😀𠀋\ud800\udfff\ufe0f"),
    ),
    max_size=60,
)
# Texts of our own, and what they take in o200k, Claude 3 to 4.6 and Claude 4.7 (an unofficial reconstruction).
COUNTED = {
    "english": (
        (
            "Please check whether the nightly backup finished. If it failed again, restart the worker on"
            " the second host and tell me what the log says about the disk. I would rather wait an hour "
            "than lose the invoices of last week."
        ),
        (45, 47, 62),
    ),
    "markdown": (
        (
            "## Steps\n"
            "\n"
            "1. Install the tool: `pip install parcel-tracker`\n"
            "2. Run **`parcel sync --all`** and wait\n"
            "3. Open [the report](https://example.org/report?id=42)\n"
            "\n"
            "| carrier | parcels | late |\n"
            "|---|---:|---:|\n"
            "| North Post | 1,204 | 17 |\n"
            "| QuickShip | 88 | 3 |\n"
        ),
        (84, 98, 119),
    ),
    "python": (
        (
            "def load_parcels(path: Path, *, carrier: str | None = None) -> list[Parcel]:\n"
            "    parcels = []\n"
            '    with path.open(encoding="utf-8") as file:\n'
            "        for row in csv.DictReader(file):\n"
            '            if carrier is None or row["carrier"] == carrier:\n'
            '                parcels.append(Parcel(row["id"], float(row["weight_kg"])))\n'
            "    return parcels\n"
        ),
        (83, 105, 132),
    ),
    "json": (
        (
            '{"id": "prc_7f3a91", "carrier": "NorthPost", "weightKg": 2.75, "events": [{"at": "2025-03-1'
            '4T09:26:53Z", "state": "IN_TRANSIT"}, {"at": "2025-03-15T17:02:11Z", "state": "DELIVERED"}]'
            ', "signed": true}'
        ),
        (90, 94, 116),
    ),
    "log": (
        (
            '2025-03-14 09:26:53,120 WARN  [sync-worker-3] carrier=quickship attempt=2/5 error="HTTP 503'
            '" retry_in=12.5s\n'
            "2025-03-14 09:27:05,733 INFO  [sync-worker-3] carrier=quickship fetched=88 changed=3 took=6"
            "12ms\n"
            "==================== 2 passed in 3.41s ====================\n"
        ),
        (95, 107, 131),
    ),
    "japanese": (
        (
            "昨夜のバックアップが終わったか確認してください。また失敗していたら、二台目のサーバーでワーカ"
            "ーを再起動し、ログの内容を教えてください。先週の請求書を失うくらいなら、一時間待つほうがいい"
            "です。"
        ),
        (65, 85, 84),
    ),
    "chinese": (
        (
            "请检查昨晚的备份是否已经完成。如果又失败了，请在第二台服务器上重新启动工作进程，并告诉我日志"
            "里关于磁盘写了什么。我宁愿等一个小时，也不想丢失上周的发票。"
        ),
        (54, 85, 84),
    ),
    "korean": (
        (
            "어젯밤 백업이 끝났는지 확인해 주세요. 또 실패했다면 두 번째 서버에서 작업자를 다시 시작하고"
            ", 로그에 디스크에 대해 뭐라고 적혀 있는지 알려 주세요. 지난주 송장을 잃느니 한 시간 기다리는"
            " 편이 낫습니다."
        ),
        (62, 124, 123),
    ),
    "german": (
        (
            "Bitte prüfe, ob die nächtliche Sicherung fertig geworden ist. Falls sie wieder fehlgeschlag"
            "en ist, starte den Dienst auf dem zweiten Rechner neu und sag mir, was im Protokoll über di"
            "e Festplatte steht."
        ),
        (46, 64, 95),
    ),
    "russian": (
        (
            "Проверь, пожалуйста, закончилось ли ночное резервное копирование. Если оно снова не удалось"
            ", перезапусти службу на втором сервере и скажи мне, что в журнале написано про диск."
        ),
        (46, 70, 70),
    ),
    "hex": (
        (
            "3f9a1c77e0b24d5e8a6610fb42cd93a7 5b0e9d3c-71f2-4a8e-b6c4-0d92e7f1a835 9c56cc51b374c3ba18921"
            "0d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
        ),
        (94, 96, 102),
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_near_the_true_count(name: str) -> None:
    text, true = COUNTED[name]
    for estimate, count in zip(estimate_all(text), true, strict=False):
        assert estimate == pytest.approx(count, rel=0.21)


def test_all_texts_together_are_near_the_true_count() -> None:
    sums = [sum(column) for column in zip(*(estimate_all(text)[:3] for text, _ in COUNTED.values()), strict=True)]
    true = [sum(column) for column in zip(*(counts for _, counts in COUNTED.values()), strict=True)]
    assert sums == pytest.approx(true, rel=0.05)


def test_empty_is_nothing_and_anything_else_is_something() -> None:
    assert estimate_all("") == (0, 0, 0, 0, 0)
    assert [estimate_tokens("", family) for family in FAMILIES] == [0] * 5
    one_of_each_class = "\n A0ejm'(-,éλ─漢"
    assert [_features.features(c)[0][0] for c in one_of_each_class] == list(range(len(_features.CLASSES)))
    for text in (*one_of_each_class, "\0", "\ud800", "\udc00"):
        assert min(estimate_all(text)) >= 1


def test_unknown_family_is_named() -> None:
    with pytest.raises(ValueError, match=r"'gpt5'.*o200k, claude3"):
        estimate_tokens("text", "gpt5")


@settings(deadline=None)
@given(ANYTHING)
def test_one_family_is_its_part_of_all(text: str) -> None:
    assert tuple(estimate_tokens(text, family) for family in FAMILIES) == estimate_all(text)
    assert estimate_tokens(text) == estimate_tokens(text, "o200k")


@settings(deadline=None)
@given(ANYTHING)
def test_safe_is_never_below_the_families_it_covers(text: str) -> None:
    o200k, claude3, _, gemma3, safe = estimate_all(text)
    assert safe >= max(o200k, claude3, gemma3)


def test_safe_allows_for_tokenizers_that_know_fewer_scripts() -> None:
    for text in ("Παρακαλώ ελέγξτε αν τελείωσε. " * 9, "გთხოვთ შეამოწმოთ. " * 9, "कृपया जाँच करें। " * 9):
        o200k, claude3, _, gemma3, safe = estimate_all(text)
        assert safe > 1.1 * max(o200k, claude3, gemma3)


# What a seam can make: one pair more, the rounding, and a drawn line that was in two pieces before.
SEAM = _features.RULE_LENGTH + 4


@settings(deadline=None)
@given(ANYTHING, ANYTHING)
def test_joined_texts_take_what_their_parts_take(one: str, other: str) -> None:
    for joined, first, second in zip(estimate_all(one + other), estimate_all(one), estimate_all(other), strict=True):
        assert max(first, second) - SEAM <= joined <= first + second + SEAM


@settings(deadline=None)
@given(ANYTHING, st.integers(1, 9))
def test_where_blocks_end_changes_nothing(text: str, size: int) -> None:
    whole = _features.features(text) if text else (b"", {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_features, "BLOCK", size)
        pieces = list(_features.blocks(text))
    assert "".join(piece for piece, _, _ in pieces) == text
    assert b"".join(pairs for _, pairs, _ in pieces) == whole[0]
    counts: dict[int, int] = {}
    for _, _, scripts in pieces:
        for script, n in scripts.items():
            counts[script] = counts.get(script, 0) + n
    assert counts == whole[1]


def test_long_texts_are_taken_in_blocks() -> None:
    text = "The quick brown fox jumps over the lazy dog. 速い茶色の狐。\n" * 4000
    assert len(text) > 3 * _features.BLOCK
    assert list(map(len, islice((piece for piece, _, _ in _features.blocks(text)), 3))) == [_features.BLOCK] * 3
    short = estimate_tokens(text[: len(text) // 4000 * 100])
    assert estimate_tokens(text) == pytest.approx(40 * short, rel=0.01)


def test_no_text_can_overflow_the_sum_of_a_slice() -> None:
    heaviest = max(max(bytes.fromhex(table)) for table in _weights.PAIR_UNITS.values())
    assert heaviest * tokens._SLICE < 65521


@pytest.mark.parametrize("text", ["a" * 5000, "z9" * 5000, "漢" * 5000, "aé" * 5000])
def test_a_long_text_is_the_sum_of_its_slices(text: str) -> None:
    def summed(part: str) -> float:
        pairs, scripts = _features.features(part)
        table = bytes.fromhex(_weights.PAIR_UNITS["claude3"])
        return sum(table[pair] for pair in pairs) + sum(n * _weights.SCRIPT_UNITS[s][1] for s, n in scripts.items())

    assert estimate_tokens(text, "claude3") == -(-summed(text) // _weights.UNITS)


def test_classes_are_told_apart() -> None:
    pairs, scripts = _features.features("aJm A1\n.é漢")
    names = [_features.CLASSES[pair & 15] for pair in pairs]
    assert names == ["common", "capital", "letter", "space", "capital", "digit", "newline", "joiner", "latin", "han"]
    assert [_features.CLASSES[pair >> 4] for pair in pairs] == ["newline", *names[:-1]]
    assert {_features.SCRIPT_NAMES[script]: n for script, n in scripts.items()} == {"latin-1": 1, "han": 1}


def test_each_script_has_characters_of_its_own() -> None:
    for name, first, last in _features.SCRIPTS:
        assert first % 64 == 0
        assert last % 64 == 63
        if name == "low surrogates":
            continue
        character = "😀" if name == "emoji" else "𠀋" if name == "rare han" else chr(last)
        _, scripts = _features.features(f"a{character}b{character}")
        assert {_features.SCRIPT_NAMES[script]: n for script, n in scripts.items()} == {name: 2}
    for (_, _, end), (_, start, _) in pairwise(_features.SCRIPTS):
        assert end < start
    assert len(_weights.SCRIPT_UNITS) == len(_features.SCRIPT_NAMES)


def test_what_is_not_listed_costs_its_bytes() -> None:
    for family in FAMILIES:
        assert estimate_tokens("㐀㐁㐂㐃" * 20, family) == pytest.approx(80 * 3, rel=0.15)
        assert estimate_tokens("𠀀𠀁𠀂𠀃" * 20, family) == pytest.approx(80 * 4, rel=0.15)


def test_a_drawn_line_is_not_counted_character_by_character() -> None:
    for character in _features.RULE_CHARACTERS:
        line = character * 80
        assert estimate_tokens(f"a\n{line}\nb") - estimate_tokens("a\n\nb") <= 6
    assert estimate_tokens("+-" * 40) > 20  # no line


def test_lines_are_counted_with_text_around_them() -> None:
    text = "== one ==\n" + "=" * 40 + "\n" + "-" * 16 + "\n"
    assert estimate_tokens(text * 50) == pytest.approx(50 * estimate_tokens(text), rel=0.1)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o", "o200k"),
        ("gpt-4o-mini-2024-07-18", "o200k"),
        ("openai/gpt-5.1-codex", "o200k"),
        ("gpt-4.1-nano", "o200k"),
        ("ft:gpt-4o:org::id", "o200k"),
        ("o1", "o200k"),
        ("openrouter/openai/o4-mini", "o200k"),
        ("openai:o3", "o200k"),
        ("gpt-oss-120b", "o200k"),
        ("chatgpt-4o-latest", "o200k"),
        ("gpt-4", "safe"),
        ("gpt-4-1106-preview", "safe"),
        ("gpt-3.5-turbo", "safe"),
        ("gpt-35-turbo", "safe"),
        ("claude-3-5-sonnet-20241022", "claude3"),
        ("claude-sonnet-4-20250514", "claude3"),
        ("claude-sonnet-4-5", "claude3"),
        ("anthropic/claude-opus-4.6", "claude3"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "claude3"),
        ("claude-opus-4@20250514", "claude3"),
        ("claude-2.1", "claude3"),
        ("claude-opus-4-7", "claude48"),
        ("us.anthropic.claude-opus-4-7-v1:0", "claude48"),
        ("anthropic/claude-opus-4.8:thinking", "claude48"),
        ("claude-sonnet-5", "claude48"),
        ("Claude-Opus-4-10-20260101", "claude48"),
        ("sonnet", "claude48"),
        ("gemini-2.5-pro", "gemma3"),
        ("models/gemini-2.0-flash", "gemma3"),
        ("google/gemma-3-27b-it", "gemma3"),
        ("llama-3.3-70b", "safe"),
        ("deepseek-chat", "safe"),
        ("qwen3-coder", "safe"),
        ("", "safe"),
    ],
)
def test_family_of(model: str, family: str) -> None:
    assert family_of(model) == family
    assert family in FAMILIES


def test_exact_counter_loads_its_package_when_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], str]] = []

    def batch_count(texts: list[str], encoding: str) -> list[int]:
        seen.append((texts, encoding))
        return [7]

    monkeypatch.setattr("glassine.tokens._exact.find_spec", lambda name: object())
    count = o200k_counter()
    monkeypatch.setitem(sys.modules, "toktok", types.SimpleNamespace(batch_count=batch_count))
    assert count("é\ud800") == 7
    assert seen == [(["é\ufffd"], "o200k_base")]


def test_exact_counter_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassine.tokens._exact.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="toktok-rs"):
        o200k_counter()


def test_exact_counter_is_exact() -> None:
    pytest.importorskip("toktok", reason="toktok-rs is not installed")
    count = o200k_counter()
    assert {name: count(text) for name, (text, _) in COUNTED.items()} == {n: t[0] for n, (_, t) in COUNTED.items()}


# --- the fit ----------------------------------------------------------------------------------------------------------


def test_solve_finds_the_weights_that_made_the_data() -> None:
    normal = fit_tokens.Normal(3)
    for row in ([(0, 1.0), (1, 2.0)], [(0, 3.0)], [(1, 1.0)]):
        normal.add(row, sum((0.5, 0.25)[i] * x for i, x in row))
    weights = fit_tokens.solve(normal, [1e-9] * 3, [0.0] * 3, [0.1, 0.1, 0.7], fit_tokens.not_negative, 1e-9)
    assert weights == pytest.approx([0.5, 0.25, 0.7])  # the last has no data, and stays


def test_solve_keeps_to_what_is_allowed() -> None:
    normal = fit_tokens.Normal(2)
    normal.add([(0, 1.0)], -1.0)
    normal.add([(1, 1.0)], 0.3)
    weights = fit_tokens.solve(normal, [1e-9] * 2, [0.0] * 2, [0.0, 0.0], fit_tokens.on_grid)
    assert weights == [0.0, 10 / fit_tokens.UNITS]


def test_solve_holds_weights_to_what_is_expected() -> None:
    normal = fit_tokens.Normal(1)
    normal.add([(0, 1.0)], 1.0)
    assert fit_tokens.solve(normal, [1.0], [0.5], [0.1], fit_tokens.not_negative, 1e-9) == pytest.approx([0.75])


def test_a_fold_is_left_out_by_subtraction() -> None:
    parts = []
    whole = fit_tokens.Normal(2)
    for value in (2.0, 3.0):
        part = fit_tokens.Normal(2)
        for normal in (part, whole):
            normal.add([(0, value), (1, 1.0)], value)
        parts.append(part)
    rest = whole.less(parts[0])
    assert (rest.matrix, rest.vector) == (parts[1].matrix, parts[1].vector)


@pytest.fixture(scope="module")
def items() -> list[fit_tokens.Item]:
    return fit_tokens.load(DATA)


@real_data
@pytest.mark.parametrize("family", FAMILIES[:4])
def test_each_class_of_text_is_within_bounds(family: str) -> None:
    errors, short_errors = _shipped_errors(family, {"big", "short"}), _shipped_errors(family, {"short"})
    assert len(errors) == 24
    assert max(map(abs, errors.values())) <= 0.12
    assert sum(abs(error) <= 0.1 for error in errors.values()) >= 22
    assert max(map(abs, short_errors.values())) <= 0.15


def _shipped_errors(family: str, kinds: set[str]) -> dict[str, float]:
    errors = {}
    (tokenizer,) = fit_tokens.TOKENIZERS[family]
    for path in DATA.glob("[!_]*.json"):
        texts = [item for item in json.loads(path.read_text("utf-8"))["items"] if item["kind"] in kinds]
        true = sum(item["tokens"][tokenizer] for item in texts)
        errors[path.stem] = sum(estimate_tokens(item["text"], family) for item in texts) / true - 1
    return errors


@pytest.mark.soak
@real_data
@pytest.mark.parametrize("family", range(4))
def test_sources_that_the_fit_has_not_seen(items: list[fit_tokens.Item], family: int) -> None:
    errors = fit_tokens.held_out_errors(items, family, folds=3)
    assert len(errors) == 24
    assert max(map(abs, errors.values())) <= 0.20


@pytest.mark.soak
@real_data
def test_the_weights_are_those_of_the_data(items: list[fit_tokens.Item]) -> None:
    assert fit_tokens.TARGET.read_text("utf-8") == fit_tokens.module(fit_tokens.fit_all(items))
