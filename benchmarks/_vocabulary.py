"""The words of the conversations that are measured: as many, and as unevenly used, as in real ones.

What an index costs and what a search finds both follow from how often words occur. Here fifty words make up a quarter
of a text, and most of the others are met a few times (Zipf's law), in English and in Japanese.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate

_COMMON = (
    *("the", "to", "of", "and", "a", "in", "is", "it", "that", "for", "on", "with", "was", "so", "we", "this", "be"),
    *("not", "at", "then", "what", "all", "from", "because", "its", "file", "test", "first", "still", "run", "error"),
    *("server", "deployment", "failed", "migration", "lock", "log", "replica", "roll", "back", "changed", "production"),
)
_SYLLABLES = ("ba", "con", "der", "fi", "gra", "hel", "in", "ko", "lum", "mi", "nor", "pa", "qui", "ren", "sta", "tu")
_ENDINGS = ("", "s", "ed", "ing", "er", "tion", "al", "ly")
_KANJI = (
    "日本環境移行処理確認実失敗成功設定変更追加削除更新検索結果"
    "記録時間会議予定資料送信接続画面業務担当者連絡問題原因対応"
)
_KATAKANA = (
    *("サーバー", "データ", "テスト", "ファイル", "エラー"),
    *("ログ", "デプロイ", "バックアップ", "ユーザー", "メモリ"),
)
_JOINTS = ("の", "を", "は", "が", "に", "で", "と", "から", "まで", "して", "した", "します。", "でした。", "ですか。")

WORDS = 20_000
EVERYWHERE = "standup"
"""A word that is met nowhere in here, to be put into every message."""


@cache
def words() -> list[str]:
    """`WORDS` words, the commonest first."""
    source = random.Random(11)
    found = dict.fromkeys(_COMMON)
    while len(found) < WORDS:
        stem = "".join(source.choices(_SYLLABLES, k=source.choice((2, 2, 3, 3, 4))))
        found[stem + source.choice(_ENDINGS)] = None
    return list(found)


@cache
def nouns() -> list[str]:
    """Japanese nouns of two to four characters, the commonest first."""
    source = random.Random(13)
    found = dict.fromkeys(_KATAKANA)
    while len(found) < WORDS // 10:
        found["".join(source.sample(_KANJI, source.choice((2, 2, 2, 3, 4))))] = None
    return list(found)


def english(source: random.Random, count: int) -> str:
    """`count` words; one in ten is a number or a name of something in code."""
    found = source.choices(words(), cum_weights=_weights(WORDS), k=count)
    for place in range(source.randrange(10), count, 10):
        found[place] = f"{found[place]}_{source.randrange(100)}" if place % 2 else str(source.randrange(10_000))
    return " ".join(found)


def japanese(source: random.Random, count: int) -> str:
    """`count` nouns and what stands between them, without spaces."""
    picked = source.choices(nouns(), cum_weights=_weights(WORDS // 10), k=count)
    return "".join(noun + source.choice(_JOINTS) for noun in picked)


@cache
def _weights(count: int) -> list[float]:
    return list(accumulate(1 / (rank + 2.7) for rank in range(count)))
