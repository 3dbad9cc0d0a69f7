"""Contents and parts of a request to Gemini, each by itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ._findings import Findings, bracketed, is_base64
from ._values import dicts

_SNAKE = re.compile(r"_([a-z])")
_HUMP = re.compile(r"([A-Z])")
_DATA_NAMES = """
    text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall
    toolResponse
"""
_DATA = _DATA_NAMES.split()
_BESIDE_NAMES = """
    thought thoughtSignature videoMetadata partMetadata mediaResolution mediaProcessing audioTranscription
    speechMetadata documentMetadata spreadsheetMetadata audioMetadata
"""
_BESIDE = _BESIDE_NAMES.split()
_PART_FIELDS = frozenset([*_DATA, *_BESIDE])
_CONTENT_FIELDS = frozenset({"role", "parts"})
_CALL_FIELDS = frozenset({"id", "name", "args"})
_RESPONSE_FIELDS = frozenset({"id", "name", "response", "parts", "willContinue", "scheduling"})
_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_MEDIA = ("audio/", "video/", "text/")
_FILES = ("application/pdf", "application/json", "application/x-javascript", "application/x-python")


def camel(name: Any) -> str:
    """A name in the spelling of the wire: "functionCall" for "function_call"."""
    return _SNAKE.sub(lambda found: found[1].upper(), str(name))


def google(path: str) -> str:
    """A path as the server writes it: "contents[0].parts[1].function_call" for "contents.0.parts.1.functionCall"."""
    return bracketed(_HUMP.sub(lambda found: "_" + found[1].lower(), path))


def field(holder: Mapping[str, Any], name: str) -> Any:
    """A field by its name on the wire, in either spelling."""
    if name in holder:
        return holder[name]
    return holder.get(_HUMP.sub(lambda found: "_" + found[1].lower(), name))


def check_fields(holder: Mapping[str, Any], known: Collection[str], path: str, findings: Findings) -> None:
    """Every field is a known one. Fields without a value are not sent by the SDK."""
    for name, value in holder.items():
        if value is not None and camel(name) not in known:
            place = f" at '{google(path)}'" if path else ""
            text = f'Invalid JSON payload received. Unknown name "{name}"{place}: Cannot find field.'
            findings.add("unknown", f"{path}.{name}" if path else name, text)


def data_of(part: Mapping[str, Any]) -> list[str]:
    """The things a part holds; a good one holds one."""
    return [camel(name) for name, value in part.items() if camel(name) in _DATA and value is not None]


def check_content(content: Any, path: str, findings: Findings) -> None:
    """One content by itself."""
    if not isinstance(content, dict):
        findings.add("type", path, f"Invalid value at '{google(path)}'")
        return
    check_fields(content, _CONTENT_FIELDS, path, findings)
    role = content.get("role") or "user"
    if role not in ("user", "model"):
        findings.add("role", f"{path}.role", "Please use a valid role: user, model.")
    parts = content.get("parts")
    if parts is None or parts == []:
        text = "contents.parts must not be empty."
        findings.add("no_parts", f"{path}.parts", f"* GenerateContentRequest.{google(path)}.parts: {text}")
        return
    if not isinstance(parts, list):
        findings.add("type", f"{path}.parts", f"Invalid value at '{google(path)}.parts'")
        return
    for number, part in enumerate(parts):
        _check_part(part, role, f"{path}.parts.{number}", findings)


def check_instruction(instruction: Any, path: str, findings: Findings) -> None:
    """The system instruction: one content."""
    if instruction is None:
        return
    if not isinstance(instruction, dict) or not isinstance(instruction.get("parts"), list):
        findings.add("type", path, f"Invalid value at '{google(path)}'")
        return
    check_fields(instruction, _CONTENT_FIELDS, path, findings)
    if not instruction["parts"]:
        findings.add("no_parts", f"{path}.parts", f"* GenerateContentRequest.{google(path)}.parts: must not be empty.")
    for number, part in dicts(instruction["parts"]):
        _check_part(part, "user", f"{path}.parts.{number}", findings)


def _check_part(part: Any, role: Any, path: str, findings: Findings) -> None:
    if not isinstance(part, dict):
        findings.add("type", path, f"Invalid value at '{google(path)}'")
        return
    check_fields(part, _PART_FIELDS, path, findings)
    held = data_of(part)
    signature = field(part, "thoughtSignature")
    if not held or (held == ["text"] and part["text"] == "" and not signature):
        text = "required oneof field 'data' must have one initialized field"
        findings.add("empty_part", path, f"* GenerateContentRequest.{google(path)}.data: {text}")
        return
    if len(held) > 1:
        text = f"(oneof), oneof field 'data' is already set. Cannot set '{held[1]}'"
        findings.add("empty_part", path, f"Invalid value at '{google(path)}' {text}")
    if signature is not None and not (isinstance(signature, str) and is_base64(signature)):
        text = "(TYPE_BYTES), Base64 decoding failed"
        place = f"{path}.thoughtSignature"
        findings.add("signature_bytes", place, f"Invalid value at '{google(place)}' {text}")
    value, place = field(part, held[0]), f"{path}.{held[0]}"
    if held[0] == "text":
        if not isinstance(value, str):
            findings.add("type", place, f"Invalid value at '{google(place)}' (TYPE_STRING)")
    elif not isinstance(value, dict):
        findings.add("type", place, f"Invalid value at '{google(place)}'")
    else:
        _check_held(value, held[0], role, place, findings)


def _check_held(value: Mapping[str, Any], what: str, role: Any, path: str, findings: Findings) -> None:
    match what:
        case "functionCall":
            if role == "user":
                findings.add("part_role", path, "Function call parts are not allowed in a user content.")
            check_fields(value, _CALL_FIELDS, path, findings)
            _check_named(value, "args", path, findings)
        case "functionResponse":
            if role == "model":
                findings.add("part_role", path, "Function response parts are not allowed in a model content.")
            check_fields(value, _RESPONSE_FIELDS, path, findings)
            _check_named(value, "response", path, findings)
            if field(value, "response") is None:
                findings.add(
                    "required", f"{path}.response", f"* GenerateContentRequest.{google(path)}.response: missing"
                )
        case "inlineData":
            _check_media(value, path, findings)
        case "fileData":
            if not field(value, "fileUri"):
                text = f"* GenerateContentRequest.{google(path)}.file_uri: File URI cannot be empty."
                findings.add("required", f"{path}.fileUri", text)


def _check_named(value: Mapping[str, Any], said: str, path: str, findings: Findings) -> None:
    name = value.get("name")
    if not isinstance(name, str) or not name:
        text = f"* GenerateContentRequest.{google(path)}.name: Name cannot be empty."
        findings.add("call_name", f"{path}.name", text)
    if value.get(said) is not None and not isinstance(value[said], dict):
        findings.add("object", f"{path}.{said}", f"Invalid value at '{google(path)}.{said}' (Struct), {value[said]!r}")


def _check_media(value: Mapping[str, Any], path: str, findings: Findings) -> None:
    kind, data = field(value, "mimeType"), value.get("data")
    if not isinstance(kind, str) or not kind:
        findings.add("media", f"{path}.mimeType", f"* GenerateContentRequest.{google(path)}.mime_type: must be set.")
    elif kind not in _IMAGES and not kind.startswith(_MEDIA) and kind not in _FILES:
        findings.add("media", f"{path}.mimeType", f"Unsupported MIME type: {kind}")
    if not isinstance(data, str) or not is_base64(data):
        text = "(TYPE_BYTES), Base64 decoding failed"
        findings.add("media", f"{path}.data", f"Invalid value at '{google(path)}.data' {text}")
