"""Google's Gemini API, generateContent: the rules, and the judgement of a whole request.

A request is either the keyword arguments of the SDK's call (`model`, `contents`, `config`) or the body that goes over
the wire; names are taken in both spellings, `function_call` and `functionCall`, as the server takes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ._findings import Findings
from ._gemini_parts import camel, check_content, check_fields, check_instruction, field, google
from ._gemini_tools import check_tool_config, check_tools
from ._gemini_turns import check_alternation, check_first, check_last, check_signatures, check_turns
from ._table import Limits, Rule, Violation
from ._values import is_int, unwritable

_SDK = "Google Gen AI SDK for Python, types of the request"
_CALLING = "Google AI docs, function calling"
_SIGNATURES = "Google AI docs, thought signatures"
_REPORTS = "refusals quoted in public issue reports"

_TABLE = (
    ("json", "The body is JSON that UTF-8 can hold: no NaN, no lone surrogates.", _REPORTS),
    ("type", "A field has the type that the SDK declares.", _SDK),
    ("required", "A field that has to be there is there.", _SDK),
    ("unknown", "No field stands in the request, a content, a part or a declaration that is not declared there.",
     _REPORTS),
    ("no_contents", "There is at least one content.", _REPORTS),
    ("role", "The role of a content is user or model; one without a role is the user's.", _SDK),
    ("first_user", "The first content is the user's.", _REPORTS),
    ("alternation", "Contents of the user and of the model alternate.", _REPORTS),
    ("last_user", "From Gemini 3.6 on (and 3.5 Flash-Lite), the last content is the user's.", _REPORTS),
    ("no_parts", "A content has at least one part.", _REPORTS),
    ("empty_part", "A part holds exactly one thing, and a text is not empty unless it carries a signature.", _REPORTS),
    ("part_role", "Function calls stand in model contents, function responses in user contents.", _CALLING),
    ("media", "Inline data has a media type that the models read, and valid base64.", _REPORTS),
    ("call_name", "A function call and a function response carry the name of the function.", _REPORTS),
    ("object", "The arguments of a call and the response to it are objects.", _REPORTS),
    ("call_place", "A content with function calls follows one of the user.", _REPORTS),
    ("response_place", "A content with function responses follows the content with the calls.", _REPORTS),
    ("response_count", "Each call of a content has its response in the very next one, and no other stands there.",
     _REPORTS),
    ("response_name", "The responses carry the names (and ids, if any) of the calls they answer.", _CALLING),
    ("signature", "From Gemini 3 on, the first call of each step of the current turn carries its thought signature.",
     _SIGNATURES),
    ("signature_bytes", "A thought signature is base64, and given back as it was.", _REPORTS),
    ("function_name", "A declared name starts with a letter or `_`, then letters, digits, `_`, `.`, `:`, `-`; 128 at "
     "most.", _SDK),
    ("function_unique", "No two declared functions have one name.", _REPORTS),
    ("schema", "`parameters` keeps to the declared subset of OpenAPI; `parametersJsonSchema` is for all else.",
     _REPORTS),
    ("tool_config", "A function calling config comes with function declarations, and names declared functions.",
     _REPORTS),
    ("range", "A number stays within its range.", _SDK),
    ("max_output", "`maxOutputTokens` does not pass what the model can write.", _REPORTS),
    ("cached", "`cachedContent` names a cache that is there.", _REPORTS),
    ("too_long", "The prompt fits into the window of the model.", _REPORTS),
    ("headers", "A request has an API key.", _REPORTS),
)  # fmt: skip

RULES: tuple[Rule, ...] = tuple(Rule(f"gemini.{id}", "gemini", text, source) for id, text, source in _TABLE)

_NAMES = """
    contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent model labels
    serviceTier store continuationToken
"""
_FIELDS = frozenset(_NAMES.split())
_CALL_FIELDS = frozenset({"model", "contents", "config"})
_BODY_FIELDS = _FIELDS - _CALL_FIELDS
_GENERATION_NAMES = """
    temperature topP topK candidateCount maxOutputTokens stopSequences responseLogprobs logprobs presencePenalty
    frequencyPenalty seed responseMimeType responseSchema responseJsonSchema responseModalities mediaResolution
    speechConfig thinkingConfig imageConfig enableEnhancedCivicAnswers audioTranscriptionConfig audioTimestamp
    routingConfig modelSelectionConfig enableAffectiveDialog responseFormat translationConfig
"""
_GENERATION_FIELDS = frozenset(_GENERATION_NAMES.split())
# What the SDK takes in `config` and does not send, or not as a field of its own.
_CONFIG_NAMES = """
    httpOptions shouldReturnHttpResponse automaticFunctionCalling automaticContinuation modelArmorConfig
    generationOutputConfig
"""
_CONFIG_FIELDS = (_FIELDS | _GENERATION_FIELDS | set(_CONFIG_NAMES.split())) - {"contents", "generationConfig", "model"}
_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?(-flash-lite)?")


def check(request: Mapping[str, Any], limits: Limits) -> list[Violation]:
    """Every rule that the request breaks: first what is wrong with a field by itself, then what is between them."""
    findings = Findings("gemini")
    if not isinstance(request, dict):
        findings.add("type", "", "Invalid JSON payload received. Root element must be a message.")
        return findings.found
    if (reason := unwritable(request)) is not None:
        findings.add("json", "", f"Invalid JSON payload received. {reason}")
        return findings.found
    called = _is_call(request)
    check_fields(request, _CALL_FIELDS if called else _FIELDS, "", findings)
    config = _holder(request, "config", findings) if called else request
    if called:
        check_fields(config, _CONFIG_FIELDS, "config", findings)
        settings, path, settings_path = config, "config.", "config"
    else:
        settings, path, settings_path = _holder(request, "generationConfig", findings), "", "generationConfig"
        check_fields(settings, _GENERATION_FIELDS, settings_path, findings)
    instruction = field(config, "systemInstruction")
    if called:
        instruction = instruction_of(instruction)
    check_instruction(instruction, f"{path}systemInstruction", findings)
    names = check_tools(field(config, "tools"), f"{path}tools", findings)
    check_tool_config(field(config, "toolConfig"), names, f"{path}toolConfig", findings)
    _check_settings(settings, limits, settings_path, findings)
    contents = request.get("contents")
    _check_contents(contents_of(contents) if called else contents, _version(request.get("model")), findings)
    tokens, window = limits.input_tokens, limits.context_window
    if tokens is not None and window is not None and tokens > window:
        text = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        findings.add("too_long", "contents", text)
    return findings.found


def contents_of(given: Any) -> Any:
    """The contents as the SDK sends them: texts and parts between contents are put together to one of the user."""
    if not isinstance(given, list):
        given = [given] if isinstance(given, str | dict) and given else given
    if not isinstance(given, list):
        return given
    contents: list[Any] = []
    loose: list[Any] = []
    for item in given:
        part = {"text": item} if isinstance(item, str) else item
        if not (isinstance(part, dict) and part) or "parts" in part or "role" in part:
            contents.append(part)
            loose = []
            continue
        if not loose:
            contents.append({"role": "user", "parts": loose})
        loose.append(part)
    return contents


def instruction_of(given: Any) -> Any:
    """The system instruction as the SDK sends it: a text, a part or a list of them is one content."""
    if given is None or given == "" or (isinstance(given, dict) and "parts" in given):
        return given
    items = given if isinstance(given, list) else [given]
    return {"parts": [{"text": item} if isinstance(item, str) else item for item in items]}


def _is_call(request: Mapping[str, Any]) -> bool:
    """Whether a request is the arguments of a call and not a body: it has a `config`, or no field of a body's own."""
    return "config" in request or not any(camel(name) in _BODY_FIELDS for name in request)


def _holder(request: Mapping[str, Any], name: str, findings: Findings) -> Mapping[str, Any]:
    value = field(request, name)
    if value is not None and not isinstance(value, dict):
        findings.add("type", name, f"Invalid value at '{google(name)}'")
    return value if isinstance(value, dict) else {}


def _version(model: Any) -> tuple[int, int, bool]:
    """The version of a Gemini by its name, and whether it is a Flash-Lite; (0, 0, False) for what is none."""
    found = _VERSION.search(model) if isinstance(model, str) else None
    return (int(found[1]), int(found[2] or 0), found[3] is not None) if found else (0, 0, False)


def _check_settings(settings: Mapping[str, Any], limits: Limits, path: str, findings: Findings) -> None:
    for name, most in (("temperature", 2), ("topP", 1)):
        value = field(settings, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            findings.add("type", f"{path}.{name}", f"Invalid value at '{google(f'{path}.{name}')}': {value!r}")
        elif not 0 <= value <= most:
            text = f"must be in the range [0.0, {most}.0]."
            findings.add("range", f"{path}.{name}", f"* GenerateContentRequest.{google(f'{path}.{name}')}: {text}")
    most_tokens = field(settings, "maxOutputTokens")
    place = f"{path}.maxOutputTokens"
    if most_tokens is None:
        return
    if not is_int(most_tokens):
        findings.add("type", place, f"Invalid value at '{google(place)}' (TYPE_INT32), {most_tokens!r}")
    elif most_tokens < 1:
        text = "max_output_tokens must be positive."
        findings.add("range", place, f"* GenerateContentRequest.generation_config.max_output_tokens: {text}")
    elif limits.max_output is not None and most_tokens > limits.max_output:
        text = f"supported range is from 1 (inclusive) to {limits.max_output + 1} (exclusive)"
        findings.add("max_output", place, f"maxOutputTokens of {most_tokens} is out of range: {text}")


def _check_contents(contents: Any, version: tuple[int, int, bool], findings: Findings) -> None:
    if contents is None or contents == []:
        findings.add("no_contents", "contents", "* GenerateContentRequest.contents: contents is not specified")
        return
    if not isinstance(contents, list):
        findings.add("type", "contents", "Invalid value at 'contents'")
        return
    for number, content in enumerate(contents):
        check_content(content, f"contents.{number}", findings)
    if all(isinstance(content, dict) for content in contents):
        check_first(contents, findings)
        check_alternation(contents, findings)
        check_turns(contents, findings)
        if version >= (3, 0, False):
            check_signatures(contents, findings)
        if version >= (3, 5, True):
            check_last(contents, findings)
