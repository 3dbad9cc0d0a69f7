"""Search analysis: folding, tokens, queries and snippets; and that SQLite's FTS5 finds with them what it should."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category

import apsw
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks import retrieval
from glassine import searching
from glassine.searching import (
    FTS5_TOKENIZER,
    LONGEST_PHRASE,
    LONGEST_TOKEN,
    Form,
    Phrase,
    _segmenting,
    _snippets,
    chunks,
    fold,
    parse_query,
    segment,
    snippet,
    to_fts5,
    to_tsquery,
    to_tsvector,
)
from glassine.searching._characters import UNSPACED
from glassine.searching._stemming import stem

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
search_data = pytest.mark.skipif(
    not (DATA / "tokens" / "_search.json").is_file(),
    reason="the documents and queries (../shared/data/tokens) are not here",
)
question_data = pytest.mark.skipif(
    not (DATA / "retrieval").is_dir(), reason="the questions and passages (../shared/data/retrieval) are not here"
)

# What folding, cutting or quoting could trip over, beside any code point at all.
TRICKY = (
    "abcxyzABCXYZ0189 \t\n_-.,:;'\"*^()+@/“”«»…\0éÉñßſŁøæœıİﬁªº²½①Ⅳσςάё́йїאבּשׁتَةـأیکअनिंक़ั้กขาคภ한글국ㄱㅏ한ﾡ"
    "あかがきぱアイカガー・々〆〇ゝヽ゛゜ﾊﾟｶﾞ漢字東京都、。「」Ａ１（）㍿㌀𠀋😀👍🏽👨‍👩‍👧🇯🇵\u0301\u3099\u200b\u200c\u200d\u00ad\ufe0f\ud800\udc00\u3000"
)
ANYTHING = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=())), max_size=40)


class Engine:
    """FTS5 with one text per row, as glassine indexes it."""

    def __init__(self, *texts: str) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize = '{FTS5_TOKENIZER}')")
        for number, text in enumerate(texts):
            self.put(number, segment(text))

    def put(self, number: int, tokens: list[str]) -> None:
        self.connection.execute("INSERT INTO t(rowid, x) VALUES (?, ?)", (number, " ".join(tokens)))

    def matches(self, form: Form) -> list[int]:
        if not form.phrases:
            return []
        rows = self.connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid", (to_fts5(form),))
        return [row[0] for row in rows]

    def finds(self, query: str) -> bool:
        return bool(self.matches(parse_query(query).strict))

    def tokens(self) -> list[str]:
        self.connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, 't', 'instance')")
        return [row[0] for row in self.connection.execute('SELECT term FROM v ORDER BY doc, "offset"')]


# --- folding ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ａｂｃ", "abc"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("か\u3099", "が"),
        ("か゛", "が"),
        ("ﾊﾟ", "パ"),
        ("한", "\u1112\u1161\u11ab"),
        ("㍿", "株式会社"),
        ("⑫", "12"),
        ("１２月", "12月"),
        ("ﬁn", "fin"),
        ("Straße", "STRASSE"),
        ("café", "CAFE\u0301"),
        ("café", "cafe"),
        ("Łódź", "lodz"),
        ("Smørrebrød", "smorrebrod"),
        ("İstanbul", "istanbul"),
        ("ISTANBUL", "ıstanbul"),
        ("Οδός", "ΟΔΟΣ"),
        ("ёлка", "Елка"),
        ("за\u0301мок", "замок"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("أحمد", "احمد"),
        ("كتـــاب", "کتاب"),
        ("می\u200cخواهم", "میخواهم"),
        ("co\u00adoperate", "cooperate"),
        ("漢\U000e0100字", "漢字"),
        ("x²", "x2"),
    ],
)
def test_taken_for_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("か", "が"),
        ("は", "ぱ"),
        ("й", "и"),
        ("ї", "і"),
        ("한", "하"),
        ("हिन", "हन"),
        ("กา", "ก"),
        ("ア", "あ"),
        ("つ", "っ"),
    ],
)
def test_kept_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_folding_twice_is_folding_once() -> None:
    for code in range(0, 0x110000, 1):
        if code < 0x3400 or code % 97 == 0 or 0xF900 <= code < 0x10000:
            once = fold(chr(code))
            assert fold(once) == once, hex(code)


@settings(deadline=None)
@given(ANYTHING)
def test_folding_of_any_text_is_final(text: str) -> None:
    once = fold(text)
    assert fold(once) == once


@settings(deadline=None, max_examples=300)
@given(ANYTHING)
def test_a_text_folds_piece_by_piece(text: str) -> None:
    pieces = [piece[0] for piece in _snippets._pieces().finditer(text)]
    assert "".join(pieces) == text
    assert "".join(map(fold, pieces)) == fold(text)


# --- stems ------------------------------------------------------------------------------------------------------------

WORDS = re.findall(
    r"\w+",
    """
    a as is by caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled
    sized hopping hoping tanned falling hissing fizzed failing filing happy sky relational conditional rational
    valenci hesitanci digitizer conformabli radicalli differentli vileli analogousli vietnamization predication
    operator feudalism decisiveness hopefulness callousness formaliti sensitiviti sensibiliti geologi triplicate
    formative formalize electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic
    adjustable defensible irritant replacement adjustment dependent adoption homologou communism activate
    angulariti homologous effective bowdlerize probate rate cease controll roll deployed deploys deployment
    failures failing billing services invoices retried retries configuration configured yes eyed saying toys
    employ crying cries queued queueing agreement oscillation syzygy yellow yellowing generalizations
    oscillators ratified ratifies nonsense see seeing bee dyed dying lying ski skis skies
    """,
)


def test_stems_are_porters() -> None:
    engine = Engine()
    engine.connection.execute("CREATE VIRTUAL TABLE p USING fts5(x, tokenize = 'porter ascii')")
    engine.connection.execute("CREATE VIRTUAL TABLE temp.w USING fts5vocab(main, 'p', 'instance')")
    for number, word in enumerate(WORDS):
        engine.connection.execute("INSERT INTO p(rowid, x) VALUES (?, ?)", (number, word))
    theirs = [row[0] for row in engine.connection.execute("SELECT term FROM w ORDER BY doc")]
    assert [stem(word) for word in WORDS] == theirs


def test_a_word_begins_with_its_stem_but_for_the_last_letter() -> None:
    # The snippet looks for words by this.
    for word in WORDS:
        found = stem(word)
        assert word.startswith(found[:-1] if len(found) > 2 or found[1:] == "i" else found)


# --- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("🎉 !? … _", ""),
        ("The deployed services", "the deploi servic"),
        ("foo_bar-baz.py a@b.example v1.2e5", "foo bar baz py a b exampl v1 2e5"),
        ("SQLiteの行を追加", "sqlite の行 行を を追 追加 加"),
        ("語", "語"),
        ("3月12日 第3回", "3 月 12 日 第 3 回"),
        ("修改youer服务端", "修改 改 youer 服务 务端 端"),
        ("サーバー、人々", "サー ーバ バー ー 人々 々"),
        ("한국어 파일에서", "한국 국어 어 파일 일에 에서 서"),
        ("ภาษา ไทย", "ภา าษ ษา า ไท ทย ย"),
        ("हिन्दी में", "हिन्दी में"),
        ("ﾌﾟﾗｸﾞ", "プラ ラグ グ"),
        ("Ünïcödé_tést", "unicod test"),
        ("漢字_kanji", "漢字 字 kanji"),
        ("𠀋𠮟る", "𠀋𠮟 𠮟る る"),
        ("running1 deployed2", "running1 deployed2"),
        ("x\0y\ud800z", "x y z"),
        ("漢\u093c株 \u093c", "漢 株"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert segment(text) == tokens.split()


def test_a_long_word_is_cut_in_pieces() -> None:
    for letter in "aé":
        tokens = segment(letter * (2 * LONGEST_TOKEN + 5))
        assert [len(token) for token in tokens] == [LONGEST_TOKEN, LONGEST_TOKEN, 5]


def test_the_memory_of_stems_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    stems = _segmenting._Stems({str(number): "" for number in range(1 << 16)})
    assert stems["deployed"] == "deploi"
    assert len(stems) == 1


@settings(deadline=None, max_examples=300)
@given(ANYTHING)
def test_the_quick_way_gives_the_tokens_of_the_plain_one(text: str) -> None:
    plain: list[str] = []
    for run, unspaced in _segmenting.runs(fold(text).replace("_", " ")):
        plain += _segmenting.run_tokens(run) if unspaced else _segmenting.word_tokens(run)
    assert segment(text) == plain


@settings(deadline=None)
@given(ANYTHING, st.integers(1, 9))
def test_where_a_long_text_is_parted_changes_nothing(text: str, size: int) -> None:
    whole = segment(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_segmenting, "_BLOCK", size)
        assert segment(text) == whole


@settings(deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=80))
def test_ascii_gives_the_same_beside_other_text(text: str) -> None:
    assert segment(text + " é") == [*segment(text), "e"]


@settings(deadline=None, max_examples=200)
@given(ANYTHING)
def test_the_engine_keeps_every_token_whole(text: str) -> None:
    tokens = segment(text)
    assert all(0 < len(token) <= LONGEST_TOKEN for token in tokens)
    engine = Engine()
    engine.put(0, tokens)
    assert engine.tokens() == tokens


@settings(deadline=None, max_examples=200)
@given(ANYTHING)
def test_tokens_need_no_quoting_for_postgres(text: str) -> None:
    for token in segment(text):
        assert not re.search(r"[\s'\\:]", token)
        assert all(c.isalnum() or category(c)[0] == "M" or re.match(f"[{UNSPACED}]", c) for c in token)


# --- chunks -----------------------------------------------------------------------------------------------------------


def test_a_short_text_is_one_chunk() -> None:
    assert list(chunks([])) == []
    assert list(chunks(["a"] * 256)) == [["a"] * 256]


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=120))
def test_chunks_keep_every_phrase(tokens: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_segmenting, "CHUNK_TOKENS", 20)
        patch.setattr(_segmenting, "CHUNK_REPEATS", 9)
        patch.setattr(_segmenting, "LONGEST_PHRASE", 5)
        pieces = list(chunks(tokens))
    assert all(len(piece) <= 20 for piece in pieces)
    assert all(max(Counter(piece).values()) <= 9 for piece in pieces)
    held = {tuple(piece[i : i + 5]) for piece in pieces for i in range(len(piece))}
    assert all(tuple(tokens[i : i + 5]) in held for i in range(max(len(tokens) - 4, 0)))
    if pieces:
        joined = list(pieces[0])
        for piece in pieces[1:]:
            joined += piece[4:]
        assert joined == tokens


def test_chunks_of_real_size() -> None:
    tokens = [f"w{number}" for number in range(10_000)]
    pieces = list(chunks(tokens))
    assert [len(piece) for piece in pieces] == [4000, 4000, 2254]
    assert pieces[1][:LONGEST_PHRASE] == tokens[4000 - LONGEST_PHRASE + 1 :][:LONGEST_PHRASE]
    assert max(len(piece) for piece in chunks(["same"] * 2000)) == 256


def test_the_longest_query_is_found_across_the_border_of_a_chunk() -> None:
    words = [f"w{number}" for number in range(9000)]
    engine = Engine()
    for number, piece in enumerate(chunks(words)):
        engine.put(number, list(piece))
    for start in (0, 3872, 3900, 3936, 3999, 4000, 7800):
        assert engine.finds('"' + " ".join(words[start : start + LONGEST_PHRASE]) + '"')


# --- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "strict", "loose"),
    [
        ("billing failed", '("bill" AND "fail")', '("bill" OR "fail")'),
        ('"deploy of the" billing', '("deploi of the" AND "bill")', '("deploi of the" OR "bill")'),
        ("“smart quotes” „x”", '("smart quot" AND "x")', '("smart quot" OR "x")'),
        ("＂wide ones＂ x", '("wide on" AND "x")', '("wide on" OR "x")'),
        ("what is the deployment", '("what" AND "is" AND "the" AND "deploy")', '("deploy")'),
        ("to be or", '("to" AND "be" AND "or")', '("to" OR "be" OR "or")'),
        ("語", '("語" *)', None),
        ("api を", '("api" AND "を" *)', '("api")'),
        ("追加API", '("追加 加 api")', '("追加" OR "api")'),
        ("APIを追", '("api を追")', '("api" OR "追" *)'),
        ("SQLiteの行", '("sqlite の行")', '("sqlite" OR "行" *)'),
        ("第3回", '("第 3 回" *)', '("第" * OR "3" OR "回" *)'),
        ("日本語の文書", '("日本 本語 語の の文 文書")', '("日本" OR "本語" OR "文書")'),
        ("データベース", '("デー ータ タベ ベー ース")', None),
        ("りんごとデータ", '("りん んご ごと とデ デー ータ")', '("りん んご ごと" OR "デー ータ")'),
        ("파일에서", '("파일 일에 에서")', '("파일" OR "일에" OR "에서")'),
        ("a_b c-d", '("a b" AND "c d")', '("b" OR "c" OR "d")'),
        ("say \"hello world", '("sai" AND "hello" AND "world")', '("sai" OR "hello" OR "world")'),
        ('foo"bar baz"', '("foo" AND "bar baz")', '("foo" OR "bar baz")'),
        ("foo* -bar", '("foo" AND "bar")', '("foo" OR "bar")'),
        ("text:x NEAR(y)", '("text x" AND "near y")', '("text" OR "x" OR "near" OR "y")'),
        ("NOT a OR", '("not" AND "a" AND "or")', '("not" OR "a" OR "or")'),
        ("same Same", '("same")', None),
        ('"to be" then', '("to be" AND "then")', '("to be")'),
        ("東京から来た", '("東京 京か から ら来 来た")', '("東京" OR "来" *)'),
        ("🎉!", None, None),
        ("", None, None),
        ('"" "', None, None),
    ],
)  # fmt: skip
def test_queries(query: str, strict: str | None, loose: str | None) -> None:
    parsed = parse_query(query)
    assert parsed.searchable == (strict is not None)
    assert (to_fts5(parsed.strict) if parsed.strict.phrases else None) == strict
    assert (to_fts5(parsed.loose) if parsed.loose.phrases else None) == loose


@pytest.mark.parametrize(
    "text", ["word " * 20_000, "語" * 100_000, "hello 語" * 20_000, "x" * 100_000, '"a b" ' * 20_000]
)
def test_a_huge_query_is_bounded(text: str) -> None:
    parsed = parse_query(text)
    assert parsed.searchable
    assert sum(len(phrase.tokens) for phrase in parsed.strict.phrases) <= LONGEST_PHRASE
    assert len(parsed.loose.phrases) <= 64
    Engine("text").matches(parsed.strict)


def test_the_loose_form_is_bounded() -> None:
    assert len(parse_query(" ".join(f"w{number}" for number in range(200))).loose.phrases) == 64


def test_a_cut_query_finds_the_text_it_was_cut_from() -> None:
    words = " ".join(f"w{number}" for number in range(300))
    for text in (words, f'"{words}"', "".join(map(chr, range(0x4E00, 0x4E00 + 300)))):
        parsed = parse_query(text)
        assert sum(len(phrase.tokens) for phrase in parsed.strict.phrases) in (LONGEST_PHRASE, LONGEST_PHRASE - 1)
        assert Engine(text).matches(parsed.strict) == [0]


@settings(deadline=None, max_examples=300)
@given(ANYTHING, ANYTHING)
def test_any_text_is_a_valid_query(text: str, query: str) -> None:
    engine = Engine(text)
    parsed = parse_query(query)
    engine.matches(parsed.strict)
    engine.matches(parsed.loose)
    assert parsed.searchable == bool(segment(query))


@settings(deadline=None, max_examples=300)
@given(ANYTHING)
def test_a_text_is_found_by_itself(text: str) -> None:
    assume(segment(text))
    assert Engine(text).finds(text)


# Runs of scripts without spaces, among Latin words; each character searched as it is written.
MIXED = st.text(st.sampled_from("東京都の行をーサバ한국어ไทย漢字 ab1 、。"), min_size=1, max_size=24)


@settings(deadline=None, max_examples=300)
@given(MIXED, st.data())
def test_any_piece_of_an_unspaced_text_finds_it(text: str, data: st.DataObject) -> None:
    pieces = re.findall(f"[{UNSPACED}]+", text)
    assume(pieces)
    run = data.draw(st.sampled_from(pieces))
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert Engine(text).finds(run[start:end])


@settings(deadline=None, max_examples=300)
@given(MIXED, MIXED)
def test_a_strict_hit_contains_the_query(text: str, query: str) -> None:
    if Engine(text).finds(query):
        for term in query.split():
            assert retrieval.bare(term) in retrieval.bare(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("明天下午三点开项目评审会议", "项目评审"),
        ("明天下午三点开项目评审会议", "项目"),
        ("明天下午三点开项目评审会议", "会"),
        ("修改youer服务端的计划", "youer"),
        ("deploy of the billing service failed", "billing failed"),
        ("the café on the corner", "cafe"),
        ("the cafe on the corner", "Café"),
        ("Deploys were retried", "deployed retries"),
        ("ﾌﾟﾗｸﾞを抜く", "プラグ"),
        ("プラグを抜く", "ﾌﾟﾗｸﾞ"),
        ("JSONを返す", "ＪＳＯＮ"),
        ("東京　都庁", "東京 都庁"),
        ("👍🏽 done_already", "done already"),
    ],
)
def test_found(text: str, query: str) -> None:
    assert Engine(text).finds(query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("failed billing", '"billing failed"'),
        ("京都東", "東京都"),
        ("東京と大阪", "東京大阪"),
        ("かき", "がき"),
        ("13月", "3月"),
        ("追加。加工", "追加加工"),
        ("billing", "bill ing"),
    ],
)
def test_not_found(text: str, query: str) -> None:
    assert not Engine(text).finds(query)


# --- rendering --------------------------------------------------------------------------------------------------------


def test_columns_limit_an_fts5_expression() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(a, b, c, tokenize = '{FTS5_TOKENIZER}')")
    connection.execute("INSERT INTO t VALUES ('x y', 'y', 'z')")

    def count(query: str, *columns: str) -> int:
        expression = to_fts5(parse_query(query).strict, columns)
        return len(
            connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (f"{expression} NOT (c : nothing)",)).fetchall()
        )

    assert count("x y") == count("y x", "a") == count("x", "a", "b") == count("y", "b") == 1
    assert count("x", "b") == count("x y", "b", "c") == 0


def test_postgres_forms() -> None:
    parsed = parse_query('"o\'foo bar" api を')
    assert to_tsquery(parsed.strict) == "('o' <-> 'foo' <-> 'bar') & ('api') & ('を':*)"
    assert to_tsquery(parsed.strict, "AB") == "('o':AB <-> 'foo':AB <-> 'bar':AB) & ('api':AB) & ('を':*AB)"
    assert to_tsquery(Form((Phrase(("a",)), Phrase(("b",))), every=False)) == "('a') | ('b')"
    assert to_tsvector(segment("APIを追加"), "B") == "'api':1B 'を追':2B '追加':3B '加':4B"
    assert to_tsvector(["a", "b"], first=9) == "'a':9 'b':10"


def test_quotes_in_a_form_stay_inside() -> None:
    form = Form((Phrase(('a"b', "c'd\\")),), every=True)
    assert to_fts5(form) == '("a""b c\'d\\")'
    assert to_tsquery(form) == "('a\"b' <-> 'c''d\\\\')"


@pytest.mark.parametrize("render", [to_fts5, to_tsquery])
def test_a_form_without_phrases_is_refused(render: object) -> None:
    assert callable(render)
    with pytest.raises(ValueError, match="nothing to look for"):
        render(parse_query("!").strict)


# --- snippets ---------------------------------------------------------------------------------------------------------

FILLING = "Nothing of interest was said for quite a while. " * 4
雑談 = "その間は特に何も起こらなかった。" * 8


@pytest.mark.parametrize(
    ("text", "query", "width", "shown"),
    [
        ("Deploys were retried", "deployed retries", 40, "«Deploys» were «retried»"),
        (
            f"{FILLING}The billing service failed. {FILLING}",
            "billing failed",
            40,
            "…The «billing» service «failed». Nothing of…",
        ),
        (f"{FILLING}The billing service failed.", "failed", 30, "…The billing service «failed»."),
        ("billing " * 3, "nothing", 11, "billing…"),
        ("foo_bar(baz)", '"bar baz"', 40, "foo_«bar(baz»)"),
        ("CAFE\u0301 Café cafe", "café", 40, "«CAFE\u0301» «Café» «cafe»"),
        ("ofﬁce", "office", 40, "«ofﬁce»"),
        ("(㍿グラシン)", "株式会社", 40, "(«㍿»グラシン)"),
        ("ﾌﾟﾗｸﾞを抜く", "プラグ", 40, "«ﾌﾟﾗｸﾞ»を抜く"),
        ("かか゛か", "が", 40, "か«か゛»か"),
        (f"{雑談}項目を追加した。{雑談}", "追加", 20, "…項目を«追加»した。その…"),
        (f"{雑談}行", "行", 9, "…った。«行»"),
        ("AとBの行 行", "の行", 40, "AとB«の行» 行"),
        ("追加 追加api 追加。API", "追加api", 40, "追加 «追加api» «追加。API»"),
        ("追加行 追加、行", "追加・行", 40, "追加行 «追加、行»"),
        ("abilling billing", "billing", 40, "abilling «billing»"),
        ("éabilling billing", "billing", 40, "éabilling «billing»"),
        ("किbilling billing", "billing", 40, "किbilling «billing»"),
        ("x\U00011a94billing", "billing", 40, "x\U00011a94«billing»"),  # a mark outside the BMP parts words
        ("한국어 파일에서", "파일", 40, "한국어 «파일»에서"),
        ("กำไรสุทธิ", "สุทธ", 40, "กำไร«สุทธิ»"),
        ("हिन्दी में लिखा", "हिन्दी", 40, "«हिन्दी» में लिखा"),
        ("👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧 family 👨‍👩‍👧👨‍👩‍👧", "family", 12, "…👨‍👩‍👧 «family» 👨‍👩‍👧…"),
        ("🇯🇵🇰🇷🇨🇳🇹🇭🇻🇳 flags", "flags", 12, "…🇨🇳🇹🇭🇻🇳 «flags»"),
        ("🇯🇵🇰🇷🇨🇳🇹🇭🇻🇳 flags", "flags", 13, "…🇨🇳🇹🇭🇻🇳 «flags»"),
        ("👨\u200da", "a", 40, "👨\u200d«a»"),
        ("שלום🏽 x", "שלום", 40, "«שלום🏽» x"),
        ("aaaa bbbb", "aaaa", 2, "«aa»…"),
        ("a\0\ud800b", "b", 40, "a\0\ud800«b»"),
        ("plain text", "", 40, "plain text"),
        ("", "x", 40, ""),
    ],
)
def test_snippets(text: str, query: str, width: int, shown: str) -> None:
    assert snippet(text, parse_query(query), width).marked() == shown


def test_a_snippet_says_where_it_was_cut() -> None:
    text = f"{雑談}The billing service failed.{雑談}"
    cut = snippet(text, parse_query("billing failed"), 50)
    assert text[cut.start : cut.start + len(cut.text)] == cut.text
    assert [cut.text[start:end] for start, end in cut.marks] == ["billing", "failed"]
    assert (cut.cut_before, cut.cut_after) == (True, True)
    assert cut.marked("<b>", "</b>", "[…]").startswith("[…]")
    assert "<b>billing</b> service <b>failed</b>" in cut.marked("<b>", "</b>")


def test_the_stretch_with_most_of_the_query_is_shown() -> None:
    text = f"billing. {FILLING} service. {FILLING} the billing service. {FILLING} billing"
    assert "the «billing» «service»" in snippet(text, parse_query("billing service"), 60).marked()


def test_loose_hits_are_shown_where_there_are_no_strict_ones() -> None:
    assert snippet(f"{雑談}日本の文書", parse_query("日本語の文書"), 30).marked().endswith("«日本»の«文書»")


@pytest.mark.parametrize("place", [0, 1, 1700, 2040, 2044, 2046, 2048, 5000, 9000])
def test_a_hit_deep_in_a_long_text_is_found(place: int) -> None:
    # Half-width, so that it does not stand there as it is typed.
    text = "あ" * place + "ﾌﾟﾗｸﾞ" + "い" * 3000
    assert "«ﾌﾟﾗｸﾞ»" in snippet(text, parse_query("プラグ"), 40).marked()
    assert snippet("あ" * place + "プラグ" + "い" * 3000, parse_query("プラグ"), 40).start >= place - 40


def test_the_first_of_equal_stretches_is_shown() -> None:
    assert snippet(f"billing one. {FILLING} billing two.", parse_query("billing"), 20).start == 0


def test_of_a_frequent_word_the_first_hits_are_marked() -> None:
    marks = snippet("billing " * 1000, parse_query("billing"), 500).marks
    assert marks == tuple((place, place + 7) for place in range(0, 24 * 8, 8))


def test_a_long_text_is_shown_where_the_query_stands_as_it_was_typed() -> None:
    text = "ﾌﾟﾗｸﾞ" + "あ" * 3000 + "プラグ"
    assert snippet(text, parse_query("プラグ"), 20).marked().endswith("«プラグ»")


def columns(text: str) -> int:
    return sum(_snippets._columns(text))


@settings(deadline=None, max_examples=300)
@given(ANYTHING, ANYTHING, st.integers(1, 30))
def test_a_snippet_is_a_whole_piece_of_the_text(text: str, query: str, width: int) -> None:
    cut = snippet(text, parse_query(query), width)
    end = cut.start + len(cut.text)
    assert text[cut.start : end] == cut.text
    assert (cut.cut_before, cut.cut_after) == (cut.start > 0, end < len(text))
    assert cut.marked("", "", "") == cut.text
    place = 0
    for first, last in cut.marks:
        assert place <= first < last <= len(cut.text)
        place = last
    # Nothing is wider than asked for, unless a single character is.
    whole = [0, *(i for i in range(1, len(cut.text)) if _snippets._is_boundary(cut.text, i))]
    assert columns(cut.text) <= width or len(whole) == 1
    for edge in (cut.start, end, *(cut.start + edge for mark in cut.marks for edge in mark)):
        assert _snippets._is_boundary(text, edge)


def pieces_of(text: str) -> Iterator[str]:
    for size in (1, 2, 3, 5, 9):
        yield from (text[i : i + size] for i in range(0, len(text), size))


@settings(deadline=None, max_examples=150)
@given(ANYTHING)
def test_what_the_engine_finds_the_snippet_shows(text: str) -> None:
    engine = Engine(text)
    for query in pieces_of(text):
        parsed = parse_query(query)
        if engine.matches(parsed.strict):
            assert snippet(text, parsed, 500).marks, query


# --- measured ---------------------------------------------------------------------------------------------------------


@search_data
@pytest.mark.parametrize(("language", "bar"), [("ja", 0.97), ("zh", 0.99), ("ko", 0.99)])
def test_documents_are_found_by_what_they_contain(language: str, bar: float) -> None:
    found = retrieval.containing(DATA, language)
    assert found.recall >= bar
    assert found.short_recall == 1
    assert not found.wrong


@question_data
def test_questions_find_their_passage() -> None:
    jaquad = retrieval.passages(DATA)
    questions = jaquad.questions[::4]
    _, among_five, _ = retrieval.hit_rates(retrieval.Index(jaquad.texts).search, questions)
    assert among_five >= 0.8
    for other in (retrieval.one_phrase, retrieval.trigrams):
        assert retrieval.hit_rates(other(jaquad.texts), questions)[1] < among_five


def test_strict_hits_come_before_loose_ones() -> None:
    index = retrieval.Index(["billing", "failed " * 9, "billing then failed", "other"])
    assert index.search("billing failed", 10)[0] == 2
    assert sorted(index.search("billing failed", 10)) == [0, 1, 2]
    assert index.search("billing failed", 1) == [2]
    assert searching.INDEX_VERSION >= 1
