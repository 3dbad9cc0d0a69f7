"""How much later work is likely to need a sentence, by what can be seen in it."""

from __future__ import annotations

import re


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _any_of(marks: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, marks.split())))


_WEIGHTS = {"user": 3.0, "text": 1.5, "assistant": 1.5, "earlier": 3.0, "system": 1.0, "tool": 0.0}
_FIRM = _each(
    "decided decide decision must never always agreed forbidden required mandatory prohibited important remember "
    "deadline prefer prefers preferred confirmed chose chosen approved rule policy"
)
_FIRM_CJK = _any_of(
    "決定 決め 決まり にする にします しないで 禁止 必ず 絶対 必須 方針 採用 重要 覚えて 締め切り 締切 期限 好み "
    "决定 必须 务必 绝不 偏好 截止 결정 반드시 금지 절대 하기로 필수 마감"
)
_WANTED = _each(
    "use uses should need needs want wants please don't instead only called named keep avoid because owns requires"
)
_WANTED_CJK = _any_of(
    "ください 下さい 使う 使い 使用 欲しい ほしい べき 名前は 担当 優先 好き 不要 采用 请 주세요 하세요 사용 담당"
)
_WRONG = _each("error errors failed failure exception traceback fatal denied refused timeout panic crash")
_WRONG_CJK = _any_of("エラー 失敗 例外 错误 失败 异常 오류 실패 에러")
_LATER = re.compile(
    r"(?i)\b(?:todo|fixme|later|next|remaining|follow[- ]up|not yet|yet to|still (?:need|have|has|to|open|missing))\b"
)
_LATER_CJK = _any_of(
    "まだ 次に 次は 次回 あとで 後で 未完 未対応 未実装 未定 残り 残って 今後 "
    "还没 稍后 下一步 待办 尚未 나중에 다음에 아직"
)
_NAMED_CJK = _any_of("さん 様 氏 株式会社 先生 女士 公司 씨 님")
_WORDS = re.compile(r"[a-z][a-z']*")
DIGITS = re.compile(r"\d+")
_UNITS = (
    r"%|[kmgt]i?b\b|[µmn]?s\b|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|tokens?|users?|px|[kcm]?m\b"
    r"|[km]?g\b|usd|eur|jpy|yen|dollars?|euros?|rows?|[kmg]?hz"
    r"|[円人件個分秒時日月年回名台本枚歳位割点元天号岁块]|ドル|ヶ月|小时|[분초일월년원개명대]|시간"
)
_MEASURE = re.compile(rf"(?i)\d\s?(?:{_UNITS})|[$€£¥]\s?\d|\d[-/:.]\d")
# Only whether there is a path counts: the one mark that makes it is looked for, in linear time.
_PATH = re.compile(r"/[.-]*\w|\w-*\.[a-z]{1,5}\b")
_ID = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])[\w-]{5,}\b|\b[A-Z]{2,}-\d+\b|#\d+|`[^`]+`|「[^」]+」")
_NAME = re.compile(r"[a-z,;:] [A-Z][\w'-]+")
_JUNK = re.compile(r"[!-.0-~]{80,}")
_CHATTER = re.compile(
    r"(?i)(?:hi|hello|hey|thanks|thank you|ok|okay|sure|great|perfect|got it|let me|let's|i'll|i will|now i|now let)\b"
    r"|こんにちは|こんばんは|おはよう|ありがとう|了解|はい|承知|わかりました|分かりました|お疲れ|よろしく"
    r"|你好|谢谢|好的|안녕|감사|네[,. ]"
)


def is_chatter(text: str) -> bool:
    return len(text) < 60 and _CHATTER.match(text) is not None


def is_later(text: str) -> bool:
    return _LATER.search(text) is not None or (not text.isascii() and _LATER_CJK.search(text) is not None)


def is_wrong(text: str) -> bool:
    named = "Error" in text or "Exception" in text or not _WRONG.isdisjoint(_WORDS.findall(text.lower()))
    return named or (not text.isascii() and _WRONG_CJK.search(text) is not None)


def is_question(text: str) -> bool:
    return text.rstrip("\"')”」』）").endswith(("?", "？", "か。", "吗。", "까."))


def score(text: str, kind: str, first: bool = False, code: bool = False) -> float:
    """How much later work is likely to need a sentence; `kind` is who speaks, without a tool's name."""
    words = set(_WORDS.findall(text.lower().replace("’", "'")))
    cjk = not text.isascii()
    firm = not _FIRM.isdisjoint(words) or (cjk and _FIRM_CJK.search(text) is not None)
    wanted = not _WANTED.isdisjoint(words) or (cjk and _WANTED_CJK.search(text) is not None)
    digits = DIGITS.search(text) is not None
    located = "://" in text or (("/" in text or "." in text) and _PATH.search(text) is not None)
    seen = (
        (3.0, firm),
        (1.0, wanted),
        (2.0, is_wrong(text)),
        (0.5, digits),
        (1.0, digits and _MEASURE.search(text)),
        (1.0, (digits or "`" in text or "「" in text) and _ID.search(text)),
        (1.5, located),
        (1.0, _NAME.search(text) or (cjk and _NAMED_CJK.search(text) is not None)),
        (0.5, first),
        (-3.0, is_chatter(text) and not (firm or wanted or digits)),
        (-1.0, kind == "assistant" and is_question(text)),
        (-3.0, len(text) < (6 if cjk else 12)),
        (-1.5, code),
        (-3.0, len(text) >= 80 and _JUNK.search(text)),
    )
    return _WEIGHTS[kind] + sum(weight for weight, found in seen if found)
