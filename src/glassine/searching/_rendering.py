"""A form of a query in the language of an engine, and tokens in the shape that it stores.

SQLite: an FTS5 table with `tokenize = 'ascii'`, fed the tokens joined by spaces. It cuts at spaces and takes everything
beyond ASCII for letters; folding and stemming are done already. Postgres: text that is cast, `::tsvector` and
`::tsquery`, so that no parser or dictionary of the server has a say. Both then match the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._queries import Form, Phrase

FTS5_TOKENIZER = "ascii"


def to_fts5(form: Form, columns: Sequence[str] = ()) -> str:
    """The form as an FTS5 expression, limited to some columns when these are given.

    It can stand in a larger expression. Raises ValueError for a form without phrases, which FTS5 could not express.
    """
    phrases = _phrases(form)
    texts = [
        '"' + " ".join(phrase.tokens).replace('"', '""') + '"' + (" *" if phrase.prefix else "") for phrase in phrases
    ]
    expression = f"({(' AND ' if form.every else ' OR ').join(texts)})"
    return f"{{{' '.join(columns)}}} : {expression}" if columns else expression


def to_tsquery(form: Form, weights: str = "") -> str:
    """The form as text to be cast to `tsquery`, limited to lexemes of some weights (of `ABCD`) when these are given.

    Raises ValueError for a form without phrases.
    """
    texts = []
    for phrase in _phrases(form):
        marks = [weights] * len(phrase.tokens)
        if phrase.prefix:
            marks[-1] = "*" + weights
        lexemes = [
            "'" + token.replace("\\", "\\\\").replace("'", "''") + "'" + (":" + mark if mark else "")
            for token, mark in zip(phrase.tokens, marks, strict=True)
        ]
        texts.append(f"({' <-> '.join(lexemes)})")
    return (" & " if form.every else " | ").join(texts)


def to_tsvector(tokens: Sequence[str], weight: str = "", first: int = 1) -> str:
    """Tokens of one chunk as text to be cast to `tsvector`: each at its position, the first at `first`.

    `weight` is a letter of `ABCD` for all of them. Postgres keeps positions up to 16,383.
    """
    return " ".join([f"'{token}':{place}{weight}" for place, token in enumerate(tokens, first)])


def _phrases(form: Form) -> Sequence[Phrase]:
    if not form.phrases:
        raise ValueError("nothing to look for: the form has no phrases")
    return form.phrases
