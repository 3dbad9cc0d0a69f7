"""Search without an engine: what a text is indexed by, what a query looks for, and where a text answers it.

    tokens = segment(text)                    # to be indexed, joined by spaces; `chunks` cuts long ones
    query = parse_query(what_a_user_typed)    # never fails; `query.searchable` says whether it looks for anything
    to_fts5(query.strict), to_fts5(query.loose)
    snippet(text, query).marked()

Both engines are given finished tokens and only match them, so that they find the same rows.
"""

from ._folding import fold
from ._queries import Form, Phrase, Query, parse_query
from ._rendering import FTS5_TOKENIZER, to_fts5, to_tsquery, to_tsvector
from ._segmenting import CHUNK_REPEATS, CHUNK_TOKENS, INDEX_VERSION, LONGEST_PHRASE, LONGEST_TOKEN, chunks, segment
from ._snippets import Snippet, snippet

__all__ = [
    "CHUNK_REPEATS",
    "CHUNK_TOKENS",
    "FTS5_TOKENIZER",
    "INDEX_VERSION",
    "LONGEST_PHRASE",
    "LONGEST_TOKEN",
    "Form",
    "Phrase",
    "Query",
    "Snippet",
    "chunks",
    "fold",
    "parse_query",
    "segment",
    "snippet",
    "to_fts5",
    "to_tsquery",
    "to_tsvector",
]
