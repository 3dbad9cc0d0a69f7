"""What each format can carry of a message: the table of docs/formats.md, which the round-trip tests go by."""

from __future__ import annotations

from typing import Literal, NamedTuple

Carried = Literal["yes", "text", "no"]
FORMATS = ("anthropic", "openai", "openai_responses", "gemini", "ai_sdk")


class Feature(NamedTuple):
    """`carried` says for each of FORMATS, in that order, what becomes of it: "yes", it comes back from the request as
    it was; "text", the model reads a text that stands for it; "no", it is left out. `remark` says what else is to
    know."""

    name: str
    carried: tuple[Carried, Carried, Carried, Carried, Carried]
    remark: str = ""


CARRIES: tuple[Feature, ...] = (
    Feature("text", ("yes", "yes", "yes", "yes", "yes"), "Empty texts are left out where the API refuses them."),
    Feature(
        "system message in the history",
        ("text", "yes", "yes", "text", "yes"),
        "As text, it is a user's message in `<system>…</system>`.",
    ),
    Feature("tool call and its result", ("yes", "yes", "yes", "yes", "yes"), "Inputs are always objects."),
    Feature(
        "result that is an error",
        ("yes", "text", "text", "yes", "yes"),
        "As text, the output begins with `Error: `.",
    ),
    Feature(
        "image in a result",
        ("yes", "text", "yes", "text", "yes"),
        "As text, the result names the image, and that follows as the user's. Anthropic takes none in an error.",
    ),
    Feature("image of the user's", ("yes", "yes", "yes", "yes", "yes"), "JPEG, PNG, GIF, WebP; Gemini: HEIC, no GIF."),
    Feature("PDF of the user's", ("yes", "yes", "yes", "yes", "yes")),
    Feature("text file of the user's", ("yes", "yes", "yes", "yes", "yes"), "Anthropic takes any as `text/plain`."),
    Feature("sound of the user's", ("text", "yes", "text", "yes", "yes"), "OpenAI chat: WAV and MP3."),
    Feature(
        "sound of the model's",
        ("text", "text", "text", "yes", "yes"),
        "OpenAI chat: as its transcript, if it has one; sound known by its id alone goes back by that.",
    ),
    Feature("name of a file", ("yes", "yes", "yes", "no", "yes"), "Anthropic and OpenAI: of documents, not of images."),
    Feature("reasoning of Anthropic", ("yes", "no", "no", "no", "yes"), "Whole, with its signature, or not at all."),
    Feature(
        "reasoning of OpenAI",
        ("no", "no", "yes", "no", "yes"),
        "By its encrypted content; ids of items go back only behind it.",
    ),
    Feature(
        "thought signature of Google",
        ("no", "no", "no", "yes", "yes"),
        "On any part, tool calls included. OpenAI chat: on calls, to a Gemini.",
    ),
    Feature("citation of Anthropic", ("yes", "no", "no", "no", "yes"), "The text stays in every format."),
    Feature("item of Anthropic", ("yes", "no", "no", "no", "no"), "Tools that run on the server, compactions."),
    Feature("item of OpenAI", ("no", "no", "yes", "no", "no"), "Tools that run on the server, compactions."),
    Feature("item of Google", ("no", "no", "no", "yes", "no"), "Code that ran on the server."),
    Feature("part of unknown type", ("no", "no", "no", "no", "no"), "It stays stored; a note names it."),
)


def carried(feature: str, format: str) -> Carried:
    """What becomes of a feature in a format. Raises StopIteration or ValueError for names that are not here."""
    return next(each for each in CARRIES if each.name == feature).carried[FORMATS.index(format)]


def table() -> str:
    """CARRIES as a table in Markdown."""
    names = ("Anthropic", "OpenAI chat", "OpenAI Responses", "Gemini", "AI SDK")
    rows = [("", *names, "Remark"), ("---", *["---"] * len(names), "---")]
    rows += [(each.name, *each.carried, each.remark) for each in CARRIES]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
