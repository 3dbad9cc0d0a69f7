"""Texts to be measured on, as they occur in conversations of agents; made up."""

from __future__ import annotations

import inspect
import json
import random

_PROSE = (
    "The nightly backup did not finish because the second disk was full. I moved the old archives away and started it "
    "again; it should be done within the hour. Please tell Mika that the invoices of last week are safe, and that we "
    "will look at the retention settings on Monday. "
)
_JAPANESE = (
    "昨夜のバックアップは、二台目のディスクがいっぱいだったため終わりませんでした。古いアーカイブを移動して、もう一度実行しています。"
    "一時間以内に完了するはずです。先週の請求書は無事なので、月曜日に保存期間の設定を見直しましょう。"
)


def _rows(count: int) -> str:
    source = random.Random(5)
    rows = [{"id": f"prc_{source.getrandbits(32):08x}", "weightKg": source.randrange(9000) / 100} for _ in range(count)]
    return json.dumps(rows, indent=1)


def texts(size: int) -> dict[str, str]:
    """One text of each kind, each of `size` characters."""
    kinds = {"prose": _PROSE, "code": inspect.getsource(inspect), "JSON": _rows(2000), "Japanese": _JAPANESE}
    return {kind: (text * (size // len(text) + 1))[:size] for kind, text in kinds.items()}
