"""Fit the weights of the token estimator to texts whose true token counts are known.

    python scripts/fit_tokens.py DATA            fit, and print how far off the estimates are
    python scripts/fit_tokens.py DATA --folds N  the same for texts of sources that the fit has not seen
    python scripts/fit_tokens.py DATA --write    fit, and write src/glassine/tokens/_weights.py
    python scripts/fit_tokens.py DATA --check    exit 1 when the weights in the repository are not those of DATA

DATA is a folder of JSON files `{"cls": name, "items": [{"kind": "big" | "short", "source": name, "text": text,
"tokens": {tokenizer: count}}]}`, one for each class of text; files whose names begin with `_` are passed over.

The fit is least squares on relative errors, every class of text with the same say and no weight below zero. It goes in
three steps, so that a pair of classes that hardly occurs is not left to chance: a weight for each class and one for
each class before it; then one for each pair, held to the sum of these two; then the same on the grid on which the
weights are stored. Only additions in a fixed order: the same data give the same weights on every machine.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from glassine.tokens import FAMILIES, _features

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/glassine/tokens/_weights.py"

TOKENIZERS: dict[str, tuple[str, ...]] = {
    "o200k": ("o200k_base",),
    "claude3": ("claude_3_to_4_6",),
    "claude48": ("claude_4_7_plus",),
    "gemma3": ("gemma3",),
    # The largest of these. Claude 4.7 is left out: it takes a quarter more than any other, and is known by its name.
    "safe": ("o200k_base", "cl100k_base", "claude_3_to_4_6", "gemma3", "llama3", "qwen2_3", "mistral_tekken"),
}
FITTED = FAMILIES[:4]
BASE_OF_SAFE = (0, 1, 3)

UNITS = 32  # a pair's weight is kept in 32nds of a token, below 64 of them
HIGHEST = 63
CLASSES = len(_features.CLASSES)
SCRIPTS = len(_features.SCRIPT_NAMES)
PAIRS = CLASSES * CLASSES

# How strongly weights are held to what is expected of them, against data whose errors are relative.
HOLD_CLASSES, HOLD_PAIRS, HOLD_SCRIPTS = 1e-4, 1e-3, 1e-3
HOLD_BYTES = 1.0  # what falls back to bytes costs these, whatever the few such characters in the data seem to say

# A line drawn with RULE_LENGTH equal characters, by family. Measured on lines of 8 to 120 characters.
RULES = (0.35, 0.35, 0.8, 0.35)

# What a character of each script is expected to add to the pairs it stands in, in tokens: for o200k, claude3, claude48
# and gemma3; and what the thriftless among the tokenizers (cl100k, Qwen) take beyond the largest of these. The fit
# starts from these numbers, and scripts of which the data hold nothing keep them: measured on catalogues of
# translated messages with the real o200k and a reconstruction of Claude's; Gemma's are o200k's where nothing was
# measured. What is not listed falls back to bytes in every tokenizer.
EXPECTED: dict[str, tuple[float, float, float, float, float]] = {
    "latin-1": (0.7, 1.4, 1.4, 0.7, 0.0),
    "latin extended": (0.7, 1.4, 1.4, 0.7, 0.0),
    "greek": (0.35, 0.75, 0.75, 0.35, 0.2),
    "cyrillic": (0.25, 0.4, 0.4, 0.25, 0.0),
    "cyrillic extended": (1.15, 2.6, 2.6, 1.15, 0.0),
    "armenian": (0.32, 0.79, 0.78, 0.32, 1.5),
    "hebrew": (0.4, 0.8, 0.8, 0.45, 0.3),
    "arabic": (0.3, 0.75, 0.75, 0.3, 0.0),
    "thaana": (1.91, 1.22, 1.22, 1.3, 0.0),
    "devanagari": (0.35, 0.85, 0.85, 0.3, 0.3),
    "bengali": (0.37, 1.01, 1.0, 0.37, 0.35),
    "gurmukhi": (0.61, 2.43, 2.43, 0.61, 0.0),
    "gujarati": (0.4, 1.1, 1.1, 0.4, 0.85),
    "oriya": (1.11, 1.8, 1.8, 1.1, 1.1),
    "tamil": (0.36, 0.92, 0.91, 0.36, 0.6),
    "telugu": (0.44, 0.98, 0.98, 0.44, 0.95),
    "kannada": (0.4, 2.0, 1.99, 0.4, 0.0),
    "malayalam": (0.35, 1.25, 1.25, 0.35, 0.5),
    "sinhala": (0.61, 1.09, 1.09, 0.61, 0.95),
    "thai": (0.35, 0.95, 0.95, 0.3, 0.0),
    "lao": (1.81, 1.23, 1.23, 1.2, 0.25),
    "tibetan": (1.52, 1.39, 1.4, 1.4, 0.55),
    "myanmar": (0.52, 1.11, 1.12, 0.52, 0.85),
    "georgian": (0.32, 0.75, 0.74, 0.32, 1.25),
    "ethiopic": (1.84, 1.86, 1.86, 1.84, 0.95),
    "khmer": (0.53, 1.1, 1.09, 0.53, 0.5),
    "latin additional": (0.5, 0.9, 0.9, 0.5, 0.0),
    "greek extended": (2.2, 2.3, 2.3, 2.2, 0.65),
    "punctuation": (0.7, 0.9, 1.0, 0.7, 0.0),
    "currency": (1.2, 1.8, 1.8, 1.2, 0.0),
    "arrows and operators": (1.4, 2.0, 2.0, 1.4, 0.0),
    "box drawing": (0.7, 0.6, 0.6, 0.4, 0.0),
    "shapes": (1.5, 1.7, 1.7, 1.5, 0.0),
    "pictures": (1.6, 2.1, 2.1, 1.1, 0.0),
    "cjk punctuation": (0.6, 0.8, 0.8, 0.7, 0.0),
    "kana": (0.35, 0.65, 0.65, 0.3, 0.0),
    "han": (0.6, 0.9, 0.9, 0.35, 0.0),
    "hangul": (0.4, 1.0, 1.0, 0.4, 0.0),
    "emoji": (1.7, 2.2, 2.2, 1.1, 0.4),
    "rare han": (3.7, 3.7, 3.7, 3.7, 0.0),
    "low surrogates": (0.0, 0.0, 0.0, 0.0, 0.0),
    "cjk compatibility": (2.7, 1.7, 1.7, 1.7, 0.0),
    "variation selectors": (0.6, 0.6, 0.6, 0.6, 0.0),
    "full width": (0.7, 1.0, 0.9, 0.6, 0.0),
    "half-width": (1.6, 2.3, 2.3, 1.5, 0.0),
    "two bytes": (1.8, 1.8, 1.8, 1.8, 0.0),
    "three bytes": (2.65, 2.6, 2.6, 2.65, 0.0),
}


@dataclass(frozen=True)
class Item:
    """One text: how often each feature occurs in it, and its true tokens in each family."""

    cls: str
    kind: str
    source: str
    features: dict[int, int]
    rules: int
    tokens: dict[str, int]


def features_of(text: str) -> tuple[dict[int, int], int]:
    """Counts by feature (pairs first, then scripts), and the number of drawn lines, whose pairs are left out."""
    counts: dict[int, int] = {}
    lines = 0
    for piece, pairs, scripts in _features.blocks(text):
        for code in pairs:
            feature = (code >> 4) * CLASSES + (code & 15)
            counts[feature] = counts.get(feature, 0) + 1
        for script, n in scripts.items():
            counts[PAIRS + script] = counts.get(PAIRS + script, 0) + n
        for code, n in _features.rules(piece).items():
            feature = (code >> 4) * CLASSES + (code & 15)
            counts[feature] -= n * _features.RULE_LENGTH
            lines += n
    return counts, lines


def load(folder: pathlib.Path) -> list[Item]:
    items = []
    for path in sorted(folder.glob("[!_]*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for raw in data["items"]:
            tokens = {family: max(raw["tokens"][name] for name in names) for family, names in TOKENIZERS.items()}
            features, lines = features_of(raw["text"])
            items.append(Item(data["cls"], raw["kind"], raw["source"], features, lines, tokens))
    return items


# --- least squares ----------------------------------------------------------------------------------------------------


class Normal:
    """Sums over texts that determine a least-squares fit: they add up, so that a fold is left out by subtraction."""

    def __init__(self, size: int) -> None:
        self.matrix = [[0.0] * size for _ in range(size)]
        self.vector = [0.0] * size

    def add(self, row: Sequence[tuple[int, float]], value: float) -> None:
        for i, x in row:
            line = self.matrix[i]
            self.vector[i] += x * value
            for j, y in row:
                line[j] += x * y

    def less(self, other: Normal) -> Normal:
        rest = Normal(0)
        rest.matrix = [
            [a - b for a, b in zip(mine, its, strict=True)] for mine, its in zip(self.matrix, other.matrix, strict=True)
        ]
        rest.vector = [a - b for a, b in zip(self.vector, other.vector, strict=True)]
        return rest

    def folded(self) -> Normal:
        """The same sums for one weight per class, one per class before it, and the scripts."""
        size = 2 * CLASSES + SCRIPTS
        result = Normal(size)
        places = [(f % CLASSES, CLASSES + f // CLASSES) for f in range(PAIRS)]
        places += [(2 * CLASSES + s,) * 2 for s in range(SCRIPTS)]
        for i, line in enumerate(self.matrix):
            spread = [0.0] * size
            for j, value in enumerate(line):
                if value:
                    for place in sorted(set(places[j])):
                        spread[place] += value
            for place in sorted(set(places[i])):
                target = result.matrix[place]
                for k, value in enumerate(spread):
                    target[k] += value
                result.vector[place] += self.vector[i]
        return result


def solve(
    normal: Normal,
    holds: Sequence[float],
    expected: Sequence[float],
    start: Sequence[float],
    allowed: Callable[[int, float], float],
    tolerance: float = 1e-4,
    sweeps: int = 400,
) -> list[float]:
    """Coordinate descent; `allowed` brings a proposed weight to one that may be. Features without data don't move."""
    used = [i for i in range(len(expected)) if normal.matrix[i][i] > 1e-12]
    matrix = [[normal.matrix[i][j] for j in used] for i in used]
    for k, i in enumerate(used):
        matrix[k][k] += holds[i]
    weights = [start[i] for i in used]
    slope = [
        sum(map(float.__mul__, line, weights)) - normal.vector[i] - holds[i] * expected[i]
        for line, i in zip(matrix, used, strict=True)
    ]
    for _ in range(sweeps):
        largest = 0.0
        for k, i in enumerate(used):
            new = allowed(i, weights[k] - slope[k] / matrix[k][k])
            change = new - weights[k]
            if abs(change) > 1e-7:
                slope = [s + change * m for s, m in zip(slope, matrix[k], strict=True)]
                weights[k] = new
                largest = max(largest, abs(change))
        if largest < tolerance:
            break
    result = list(start)
    for i, weight in zip(used, weights, strict=True):
        result[i] = weight
    return result


def not_negative(_: int, weight: float) -> float:
    return max(weight, 0.0)


def on_grid(feature: int, weight: float) -> float:
    if feature < PAIRS:
        return min(max(round(weight * UNITS), 0), HIGHEST) / UNITS
    return max(weight, 0.0)


def fit(normal: Normal, family: int) -> list[float]:
    """The weights of one family, pairs first."""
    scripts = [EXPECTED[name][family] for name in _features.SCRIPT_NAMES]
    script_holds = [HOLD_BYTES if name in _features.UNLISTED else HOLD_SCRIPTS for name in _features.SCRIPT_NAMES]
    start = [0.2] * CLASSES + [0.05] * CLASSES + scripts
    holds = [HOLD_CLASSES] * (2 * CLASSES) + script_holds
    rough = solve(normal.folded(), holds, start, start, not_negative)
    expected = [rough[f % CLASSES] + rough[CLASSES + f // CLASSES] for f in range(PAIRS)] + scripts
    holds = [HOLD_PAIRS] * PAIRS + script_holds
    exact = solve(normal, holds, expected, expected, not_negative)
    gridded = [on_grid(feature, weight) for feature, weight in enumerate(exact)]
    return solve(normal, holds, expected, gridded, on_grid)


def estimate(item: Item, weights: Sequence[float], family: int) -> float:
    return sum(n * weights[feature] for feature, n in item.features.items()) + item.rules * RULES[family]


def normals(items: Iterable[Item], family: int, fold_of: Callable[[Item], int]) -> dict[int, Normal]:
    """The sums over the texts of each fold."""
    items = list(items)
    name = FAMILIES[family]
    totals: dict[str, int] = {}
    for item in items:
        totals[item.cls] = totals.get(item.cls, 0) + item.tokens[name]
    sums: dict[int, Normal] = {}
    for item in items:
        true = item.tokens[name]
        if true:
            scale = 1 / math.sqrt(true * totals[item.cls])
            row = [(feature, n * scale) for feature, n in sorted(item.features.items())]
            normal = sums.setdefault(fold_of(item), Normal(PAIRS + SCRIPTS))
            normal.add(row, (true - item.rules * RULES[family]) * scale)
    return sums


def fit_safe(items: Sequence[Item], fitted: Sequence[Sequence[float]]) -> list[float]:
    """What a character of each script costs in the thriftless tokenizers, beyond the largest of the other estimates."""
    extra = []
    for script, name in enumerate(_features.SCRIPT_NAMES):
        feature = PAIRS + script
        missing = count = 0.0
        for item in items:
            n = item.features.get(feature, 0)
            beyond = sum(k for f, k in item.features.items() if f >= PAIRS)
            if n * 2 > beyond:  # the script that this text is mostly written in
                missing += item.tokens["safe"] - max(estimate(item, fitted[f], f) for f in BASE_OF_SAFE)
                count += beyond
        if count >= 500:
            extra.append(max(missing / count, 0.0))
        else:
            extra.append(EXPECTED[name][4])
    return extra


def fit_all(items: Sequence[Item]) -> list[list[float]]:
    """The weights of FITTED; and, in the last row, what `safe` adds for each script."""
    fitted = [fit(normals(items, family, lambda _: 0)[0], family) for family in range(len(FITTED))]
    return [*fitted, fit_safe(items, fitted)]


# --- errors -----------------------------------------------------------------------------------------------------------


def class_errors(items: Iterable[Item], estimates: Iterable[float], family: str) -> dict[str, float]:
    """How far the sum of the estimates is off the sum of the true counts, per class, as a fraction."""
    true: dict[str, int] = {}
    found: dict[str, float] = {}
    for item, value in zip(items, estimates, strict=True):
        true[item.cls] = true.get(item.cls, 0) + item.tokens[family]
        found[item.cls] = found.get(item.cls, 0.0) + value
    return {cls: found[cls] / true[cls] - 1 for cls in true}


def estimates_of(items: Sequence[Item], weights: Sequence[Sequence[float]], family: int) -> list[float]:
    if family < len(FITTED):
        return [estimate(item, weights[family], family) for item in items]
    extra = weights[-1]
    return [
        max(estimate(item, weights[f], f) for f in BASE_OF_SAFE)
        + sum(n * extra[f - PAIRS] for f, n in item.features.items() if f >= PAIRS)
        for item in items
    ]


def held_out_errors(items: Sequence[Item], family: int, folds: int) -> dict[str, float]:
    """The errors per class when no text is estimated with weights that its source had a part in."""
    sources: dict[str, list[str]] = {}
    for item in items:
        known = sources.setdefault(item.cls, [])
        if item.source not in known:
            known.append(item.source)

    def fold_of(item: Item) -> int:
        return sorted(sources[item.cls]).index(item.source) % folds

    sums = normals(items, family, fold_of)
    whole = normals(items, family, lambda _: 0)[0]
    weights = {fold: fit(whole.less(part), family) for fold, part in sums.items()}
    return class_errors(items, [estimate(i, weights[fold_of(i)], family) for i in items], FAMILIES[family])


def print_errors(title: str, errors: dict[str, dict[str, float]]) -> None:
    families = list(errors)
    print(f"\n{title}, % of the true count\n{'':14}" + "".join(f"{family:>10}" for family in families))
    for cls in sorted(errors[families[0]]):
        print(f"{cls:14}" + "".join(f"{errors[family][cls] * 100:+10.1f}" for family in families))
    print(f"{'largest':14}" + "".join(f"{max(map(abs, errors[f].values())) * 100:10.1f}" for f in families))


# --- the module that is written ---------------------------------------------------------------------------------------


def module(weights: Sequence[Sequence[float]]) -> str:
    lines = [
        '"""The weights of the token estimator. Written by scripts/fit_tokens.py; change them there."""',
        "",
        "# All weights are in this fraction of a token.",
        f"UNITS = {UNITS}",
        "",
        "# By family, what a character of one class costs after one of another: a row of 16 bytes, in hexadecimal, for",
        "# each class before, in the order of _features.CLASSES.",
        "PAIR_UNITS = {",
    ]
    for family, row in zip(FITTED, weights, strict=False):
        lines.append(f'    "{family}": (')
        for before in range(16):
            cells = [0] * 16
            if before < CLASSES:
                cells[:CLASSES] = [round(w * UNITS) for w in row[before * CLASSES : (before + 1) * CLASSES]]
            lines.append(f'        "{bytes(cells).hex()}"')
        lines.append("    ),")
    lines += [
        "}",
        "",
        "# What _features.RULE_LENGTH equal characters in a row cost, in each family.",
        f"RULE_UNITS = ({', '.join(f'{w * UNITS:.1f}' for w in RULES)})",
        "",
        "# What a character of each script adds, in each family, and what `safe` adds to the largest of them; in the",
        "# order of _features.SCRIPT_NAMES.",
        "SCRIPT_UNITS = (",
    ]
    for script, name in enumerate(_features.SCRIPT_NAMES):
        cells5 = [row[PAIRS + script] for row in weights[: len(FITTED)]] + [weights[-1][script]]
        lines.append(f"    ({', '.join(f'{w * UNITS:.1f}' for w in cells5)}),  # {name}")
    return "\n".join([*lines, ")", ""])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the token estimator.")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--folds", type=int, metavar="N", help="weigh each text by other sources only")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    items = load(options.data)
    if options.folds:
        errors = {name: held_out_errors(items, f, options.folds) for f, name in enumerate(FITTED)}
        print_errors(f"Sources left out of the fit, {options.folds} folds", errors)
        return 0
    weights = fit_all(items)
    text = module(weights)
    for title, kinds in (("All texts", ("big", "short")), ("Short strings", ("short",))):
        chosen = [item for item in items if item.kind in kinds]
        print_errors(
            title,
            {name: class_errors(chosen, estimates_of(chosen, weights, f), name) for f, name in enumerate(FAMILIES)},
        )
    if options.write:
        TARGET.write_text(text, encoding="utf-8")
    if options.check and TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.relative_to(ROOT)} is not what {options.data} gives", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
