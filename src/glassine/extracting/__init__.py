"""A summary without a model: sentences of a conversation, chosen by a score and quoted as they stand.

It has the sections of a model's summary, so that either can follow the other. Nothing in it is concluded: what a line
says was said by whom the line names. The score adds up what is seen in a sentence (who speaks, a decision, a number
with its unit, a path, an error), and a line of an earlier summary that is replaced gets a bonus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..messages import Message
from ._earlier import Earlier, read_summaries
from ._form import Said, counted
from ._sentences import PLAIN_READ, sentences
from ._talk import Talk, read_messages
from ._writing import written

if TYPE_CHECKING:
    from ..summarising import SummaryPrompt

__all__ = ["PLAIN_TOKENS", "extractive_summary"]

PLAIN_TOKENS = 1000
"""Bound of the summary of a plain text, which names none."""


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
    beside = f" and {counted(len(previous), 'earlier summary', 'earlier summaries')}" if previous else ""
    source = counted(len(messages), "message", "messages") + beside
    return written(read_messages(messages), read_summaries(previous), request or "", source, most)


def _of_text(text: str) -> str:
    talk = Talk(asker="text")
    talk.said = [Said("text", *sentence) for sentence in sentences(text, PLAIN_READ)]
    talk.first = [said.text for said in talk.said[:3]]
    return written(talk, Earlier(), "", "a text", PLAIN_TOKENS)
