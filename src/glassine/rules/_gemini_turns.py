"""The order of contents in a request to Gemini: turns, calls with their responses, thought signatures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._findings import Findings
from ._gemini_parts import field
from ._values import dicts


def held(content: Mapping[str, Any], what: str) -> list[tuple[int, dict[str, Any]]]:
    """The function calls, or the function responses, of a content, each with the index of its part."""
    found = [(number, field(part, what)) for number, part in dicts(content.get("parts"))]
    return [(number, value) for number, value in found if isinstance(value, dict)]


def check_first(contents: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """The conversation starts with the user."""
    if contents[0].get("role") == "model":
        if held(contents[0], "functionCall"):
            return  # said better by `check_turns`
        findings.add("first_user", "contents.0.role", "Please ensure that multiturn requests begin with a user turn.")


def check_alternation(contents: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """The user and the model take turns."""
    for number in range(1, len(contents)):
        if contents[number].get("role", "user") == contents[number - 1].get("role", "user"):
            text = "Please ensure that multiturn requests alternate between user and model."
            findings.add("alternation", f"contents.{number}.role", text)


def check_last(contents: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """The model is asked by the user, or by function responses."""
    last = contents[-1]
    if last.get("role") == "model" and not held(last, "functionCall"):
        text = "Requests ending with a model turn are not supported unless the last part is a function response."
        findings.add("last_user", f"contents.{len(contents) - 1}.role", text)


def check_turns(contents: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """Calls come after the user, their responses right after them, one for each."""
    before: Mapping[str, Any] = {}
    for number, content in enumerate(contents):
        calls, responses = held(content, "functionCall"), held(content, "functionResponse")
        if calls and before.get("role", "user" if before else "model") == "model":
            text = "Please ensure that function call turn comes immediately after a user turn or after a function"
            findings.add("call_place", f"contents.{number}", f"{text} response turn.")
        asked = held(before, "functionCall")
        if responses and not asked:
            text = "Please ensure that function response turn comes immediately after a function call turn."
            findings.add("response_place", f"contents.{number}", text)
        elif len(asked) != len(responses):
            _miscounted(number, findings)
        elif asked:
            _check_names(asked, responses, number, findings)
        before = content
    if held(before, "functionCall"):
        _miscounted(len(contents) - 1, findings)


def check_signatures(contents: Sequence[Mapping[str, Any]], findings: Findings) -> None:
    """In the current turn, which begins at the last content of the user that says something, the first call of every
    step has its signature. Older turns are not looked at."""
    begin = max((number for number, content in enumerate(contents) if _says(content)), default=-1)
    for number in range(begin + 1, len(contents)):
        content = contents[number]
        for position, call in held(content, "functionCall")[:1]:
            if not field(content["parts"][position], "thoughtSignature"):
                findings.add(
                    "signature",
                    f"contents.{number}.parts.{position}.thoughtSignature",
                    "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                    "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                    f"data, function call `default_api:{call.get('name')}` , position {number + 1}.",
                )


def _says(content: Mapping[str, Any]) -> bool:
    """Whether a content is the user's and holds no function responses."""
    return content.get("role", "user") == "user" and not held(content, "functionResponse")


def _miscounted(number: int, findings: Findings) -> None:
    text = "Please ensure that the number of function response parts is equal to the number of function call parts of"
    findings.add("response_count", f"contents.{number}", f"{text} the function call turn.")


def _check_names(
    asked: Sequence[tuple[int, Mapping[str, Any]]],
    responses: Sequence[tuple[int, Mapping[str, Any]]],
    number: int,
    findings: Findings,
) -> None:
    open_calls = [call for _, call in asked]
    for position, response in responses:
        for call in open_calls:
            same_id = not call.get("id") or not response.get("id") or call["id"] == response["id"]
            if call.get("name") == response.get("name") and same_id:
                open_calls.remove(call)
                break
        else:
            text = f"Function response {response.get('name')!r} answers no function call of the function call turn."
            findings.add("response_name", f"contents.{number}.parts.{position}.functionResponse.name", text)
