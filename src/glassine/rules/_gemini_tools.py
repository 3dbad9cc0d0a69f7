"""Function declarations of a request to Gemini."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ._findings import Findings
from ._gemini_parts import camel, check_fields, field, google
from ._values import dicts

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}\Z")
_TOOL_NAMES = """
    functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext retrieval computerUse
    fileSearch googleMaps enterpriseWebSearch parallelAiSearch mcpServers exaAiSearch
"""
_TOOL_FIELDS = frozenset(_TOOL_NAMES.split())
_DECLARATION_NAMES = """
    name description parameters parametersJsonSchema response responseJsonSchema behavior
"""
_DECLARATION_FIELDS = frozenset(_DECLARATION_NAMES.split())
_SCHEMA_NAMES = """
    anyOf default description enum example format items maxItems maxLength maxProperties maximum minItems
    minLength minProperties minimum nullable pattern properties propertyOrdering required title type
"""
_SCHEMA_FIELDS = frozenset(_SCHEMA_NAMES.split())
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_DEEPEST = 40


def check_tools(tools: Any, path: str, findings: Findings) -> list[str]:
    """The tools; returns the names of the functions that are declared."""
    names: list[str] = []
    if tools is None:
        return names
    if not isinstance(tools, list):
        findings.add("type", path, f"Invalid value at '{google(path)}'")
        return names
    for number, tool in dicts(tools):
        place = f"{path}.{number}"
        check_fields(tool, _TOOL_FIELDS, place, findings)
        declarations = field(tool, "functionDeclarations")
        for index, declaration in dicts(declarations):
            _check_declaration(declaration, names, f"{place}.functionDeclarations.{index}", findings)
    return names


def check_tool_config(config: Any, names: Collection[str], path: str, findings: Findings) -> None:
    """What the model is told to call."""
    if not isinstance(config, dict):
        return
    calling = field(config, "functionCallingConfig")
    if not isinstance(calling, dict):
        return
    if not names:
        findings.add("tool_config", path, "Function calling config is set without function_declarations.")
        return
    allowed = field(calling, "allowedFunctionNames")
    for name in allowed if isinstance(allowed, list) else ():
        if name not in names:
            text = f"allowed_function_names contains {name!r}, which is not among the function_declarations."
            findings.add("tool_config", path, text)


def _check_declaration(declaration: Mapping[str, Any], names: list[str], path: str, findings: Findings) -> None:
    check_fields(declaration, _DECLARATION_FIELDS, path, findings)
    name = declaration.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        text = (
            "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), "
            "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128."
        )
        findings.add("function_name", f"{path}.name", f"* GenerateContentRequest.{google(path)}.name: {text}")
    else:
        if name in names:
            findings.add("function_unique", f"{path}.name", f"Duplicate function declaration found: {name}")
        names.append(name)
    parameters = declaration.get("parameters")
    as_json = field(declaration, "parametersJsonSchema")
    if parameters is not None and as_json is not None:
        text = "parameters and parameters_json_schema are mutually exclusive."
        findings.add("schema", path, f"* GenerateContentRequest.{google(path)}: {text}")
    if parameters is not None:
        _check_schema(parameters, f"{path}.parameters", 0, findings)
    if as_json is not None and not (isinstance(as_json, dict) and as_json.get("type") == "object"):
        text = "schema must describe an object."
        place = f"{path}.parametersJsonSchema"
        findings.add("schema", place, f"* GenerateContentRequest.{google(place)}: {text}")


def _check_schema(schema: Any, path: str, depth: int, findings: Findings) -> None:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        findings.add("schema", path, f"Invalid value at '{google(path)}'")
        return
    for name in schema:
        if camel(name) not in _SCHEMA_FIELDS:
            text = f"Invalid JSON payload received. Unknown name \"{name}\" at '{google(path)}': Cannot find field."
            findings.add("schema", f"{path}.{name}", text)
    kind = schema.get("type")
    if kind is not None and (not isinstance(kind, str) or kind.upper() not in _TYPES):
        findings.add("schema", f"{path}.type", f"Invalid value at '{google(path)}.type' (Type), {kind!r}")
        return
    properties = schema.get("properties")
    if kind is not None and kind.upper() == "OBJECT" and not properties:
        text = "should be non-empty for OBJECT type"
        findings.add("schema", f"{path}.properties", f"* GenerateContentRequest.{google(path)}.properties: {text}")
    if kind is not None and kind.upper() == "ARRAY" and schema.get("items") is None:
        findings.add("schema", f"{path}.items", f"* GenerateContentRequest.{google(path)}.items: missing field.")
    for name, property in properties.items() if isinstance(properties, dict) else ():
        _check_schema(property, f"{path}.properties.{name}", depth + 1, findings)
    if schema.get("items") is not None:
        _check_schema(schema["items"], f"{path}.items", depth + 1, findings)
    choices = field(schema, "anyOf")
    for number, choice in enumerate(choices if isinstance(choices, list) else ()):
        _check_schema(choice, f"{path}.anyOf.{number}", depth + 1, findings)
