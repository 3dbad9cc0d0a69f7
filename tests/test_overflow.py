"""Errors as clients see them: those that say that the request was too long, and those that only sound like it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassine.overflow import Overflow, is_context_overflow

if TYPE_CHECKING:  # the SDKs take seconds to import: only the tests that use them pay
    import anthropic
    import openai

TOO_LONG: list[tuple[str, int | None, int | None]] = [
    # Anthropic
    ("prompt is too long: 213462 tokens > 200000 maximum", 213_462, 200_000),
    (
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
        "`max_tokens` and try again",
        242_959,
        200_000,
    ),
    ("Request exceeds the maximum size", None, None),
    # OpenAI: chat, older completions, responses
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. "
        "Please reduce the length of the messages.",
        204_308,
        128_000,
    ),
    (
        "This model's maximum context length is 4097 tokens, however you requested 6539 tokens (6283 in your prompt; "
        "256 for the completion). Please reduce your prompt; or completion length.",
        6_539,
        4_097,
    ),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", None, None),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please "
        "reduce the length of the messages.",
        300_123,
        272_000,
    ),
    (
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a "
        "string with length 12000000 instead.",
        None,
        None,
    ),
    # Gemini and Vertex
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_196_265,
        1_048_575,
    ),
    ("The input token count exceeds the maximum number of tokens allowed 1048576.", None, 1_048_576),
    (
        "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576. "
        "Reduce the input token count and try again.",
        2_000_000,
        1_048_576,
    ),
    # Bedrock
    (
        "An error occurred (ValidationException) when calling Converse: Input is too long for requested model.",
        None,
        None,
    ),
    (
        "Too many input tokens. Max input tokens: 8192, request input token count: 12000 ",
        12_000,
        8_192,
    ),
    (
        "The model returned the following errors: prompt is too long: 201,000 tokens > 200,000 maximum",
        201_000,
        200_000,
    ),
    ("Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input.", None, None),
    # OpenRouter
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (130000 "
        "of text input, 10000 in the output). Please reduce the length of either one.",
        140_000,
        131_072,
    ),
    # Mistral
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        40_000,
        32_768,
    ),
    # llama.cpp and its Python binding
    ("the request exceeds the available context size, try increasing it", None, None),
    ("request (9500 tokens) exceeds the available context size (8192 tokens), try increasing it", 9_500, 8_192),
    ("Requested tokens (1200) exceed context window of 512", 1_200, 512),
    # vLLM
    (
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the "
        "messages, 10000 in the completion). Please reduce the length of the messages or completion. None",
        19_591,
        16_384,
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 "
        "tokens and your request has 2104 input tokens (2000 > 4096 - 2104).",
        4_104,
        4_096,
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt "
        "contains at least 7193 input tokens, for a total of at least 8193 tokens.",
        8_193,
        8_192,
    ),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 5_000, 4_096),
    ("The prompt (total length 25938) is too long to fit into the model (context length 4096).", 25_938, 4_096),
    # SGLang, text-generation-inference, Together
    ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5_000, 4_096),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and "
        "512 `max_new_tokens`",
        9_512,
        8_193,
    ),
    ("`inputs` must have less than 4096 tokens. Given: 5000", 5_000, 4_096),
    # LM Studio
    (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context "
        "length of only 32768 tokens, which is not enough.",
        111_490,
        32_768,
    ),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", 15_028, 7_424),
    ("The number of tokens to keep from the initial prompt is greater than the context length.", None, None),
    # Ollama
    ("prompt too long; exceeded max context length by 24 tokens", None, None),
    ("the input length exceeds the context length", None, None),
    # others
    ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537_812, 131_072),
    ("Please reduce the length of the messages or completion.", None, None),
    ("prompt token count of 130000 exceeds the limit of 128000", 130_000, 128_000),
    ("Your request exceeded model token limit: 262144 (requested: 291351)", 291_351, 262_144),
    ("invalid params, context window exceeds limit (2013)", None, None),
    (
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
        5_000,
        4_081,
    ),
    ("The prompt is too long: 140000, model maximum context length: 131071", 140_000, 131_071),
    ("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", None, 129_024),
    ("Prompt 超长", None, None),
    ("context length exceeded", None, None),
]

SOMETHING_ELSE = [
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 37313. The "
    "input or output tokens must be reduced in order to run successfully.",
    "Number of request tokens has exceeded your per-minute rate limit",
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute",
    "An error occurred (ThrottlingException): Too many tokens, please wait before trying again.",
    "You exceeded your current quota, please check your plan and billing details.",
    "RESOURCE_EXHAUSTED: context size quota",
    "Overloaded",
    "max_tokens: 9999999 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-8",
    "max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.",
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    "messages.1.content.0: Invalid `signature` in `thinking` block.",
    "messages: text content blocks must be non-empty",
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    "The token has expired",
    "image exceeds 5 MB maximum: 6316664 bytes > 5242880 bytes",
    "Connection error.",
    "",
]


@pytest.mark.parametrize(("text", "tokens", "limit"), TOO_LONG, ids=[text[:40] for text, _, _ in TOO_LONG])
def test_a_request_that_was_too_long(text: str, tokens: int | None, limit: int | None) -> None:
    assert is_context_overflow(text) == Overflow(tokens, limit, text[:500])
    body = {"error": {"message": text, "type": "invalid_request_error", "code": None}}
    assert is_context_overflow(body) == Overflow(tokens, limit, text)
    assert is_context_overflow(ValueError(f"Error code: 400 - {body}")) is not None
    # A gateway passes the provider's body on as text within its own.
    wrapped = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": json.dumps(body)}}}
    found = is_context_overflow(wrapped)
    assert found is not None
    assert found[:2] == (tokens, limit)


@pytest.mark.parametrize("text", SOMETHING_ELSE)
def test_something_else(text: str) -> None:
    assert is_context_overflow(text) is None
    assert is_context_overflow({"type": "error", "error": {"type": "invalid_request_error", "message": text}}) is None
    assert is_context_overflow(RuntimeError(text)) is None


def anthropic_error(status: int, kind: str, message: str) -> anthropic.APIStatusError:
    import anthropic
    import httpx2

    body = {"type": "error", "error": {"type": kind, "message": message}}
    response = httpx2.Response(status, request=httpx2.Request("POST", "http://localhost/"), json=body)
    return anthropic.APIStatusError(f"Error code: {status} - {body}", response=response, body=body)


def openai_error(status: int, body: dict[str, Any]) -> openai.APIStatusError:
    import httpx2
    import openai

    response = httpx2.Response(status, request=httpx2.Request("POST", "http://localhost/"), json={"error": body})
    return openai.APIStatusError(f"Error code: {status} - {body}", response=response, body=body)


def test_exceptions_of_anthropic() -> None:
    error = anthropic_error(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum")
    found = is_context_overflow(error)
    assert found is not None
    assert found[:2] == (213_462, 200_000)
    assert is_context_overflow(anthropic_error(413, "request_too_large", "Request exceeds the maximum size"))
    assert is_context_overflow(anthropic_error(429, "rate_limit_error", "prompt is too long for now")) is None
    assert is_context_overflow(anthropic_error(529, "overloaded_error", "Overloaded")) is None


def test_exceptions_of_openai() -> None:
    body = {
        "message": "Your input exceeds the context window of this model.",
        "type": "invalid_request_error",
        "param": "input",
        "code": "context_length_exceeded",
    }
    assert is_context_overflow(openai_error(400, body)) is not None
    # The code alone is enough, in whatever language the message is.
    assert is_context_overflow(openai_error(400, {"message": "長すぎます", "code": "context_length_exceeded"}))
    too_fast = {"message": "Request too large on tokens per min (TPM)", "type": "tokens", "code": "rate_limit_exceeded"}
    assert is_context_overflow(openai_error(429, too_fast)) is None
    assert is_context_overflow(openai_error(413, too_fast)) is None
    # A server that answers 413 and nothing else.
    assert is_context_overflow(openai_error(413, {})) == Overflow(None, None, "Error code: 413 - {}")


def test_an_event_of_a_responses_stream() -> None:
    event = {
        "type": "response.failed",
        "response": {
            "status": "failed",
            "error": {"code": "context_length_exceeded", "message": "Your input is too big"},
        },
    }
    assert is_context_overflow(event) == Overflow(None, None, "Your input is too big")


def test_exceptions_of_google() -> None:
    from google.genai import errors as google_errors

    message = "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    assert is_context_overflow(google_errors.ClientError(400, body)) == Overflow(1_196_265, 1_048_575, message)
    spent = {"error": {"code": 429, "message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}
    assert is_context_overflow(google_errors.ClientError(429, spent)) is None


def test_an_exception_in_the_shape_of_boto3() -> None:
    class ClientError(Exception):
        def __init__(self, code: str, message: str, status: int) -> None:
            self.response = {
                "Error": {"Code": code, "Message": message},
                "ResponseMetadata": {"HTTPStatusCode": status},
            }
            super().__init__(f"An error occurred ({code}) when calling the Converse operation: {message}")

    error = ClientError("ValidationException", "Input is too long for requested model.", 400)
    assert is_context_overflow(error) == Overflow(None, None, "Input is too long for requested model.")
    assert is_context_overflow(ClientError("ThrottlingException", "Too many tokens, please wait", 429)) is None
    assert is_context_overflow(ClientError("ValidationException", "The input is too long", 429)) is None


def test_the_fields_of_llama_cpp() -> None:
    body = {
        "error": {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": 1034,
            "n_ctx": 512,
        }
    }
    expected = Overflow(1034, 512, "the request exceeds the available context size, try increasing it")
    assert is_context_overflow(body) == expected
    assert is_context_overflow(json.dumps(body)) == expected


def test_wrapped_exceptions() -> None:
    try:
        try:
            raise anthropic_error(400, "invalid_request_error", "prompt is too long: 3 tokens > 2 maximum")
        except Exception as error:
            raise RuntimeError("the model call failed") from error
    except RuntimeError as error:
        found = is_context_overflow(error)
        group = is_context_overflow(ExceptionGroup("two", [ValueError("x"), error]))
    assert found is not None
    assert found[:2] == (3, 2)
    assert group is not None


def test_a_body_that_repeats_the_prompt() -> None:
    body = {
        "detail": [{"msg": "Field required", "input": {"messages": ["why: prompt is too long: 3 tokens > 2 maximum"]}}]
    }
    assert is_context_overflow(body) is None


keys = st.sampled_from(["error", "message", "code", "status", "body", "n_ctx"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["error", "message", "code", "status", "body", "n_ctx"]), inner)
    ),
)


@given(json_values | st.binary())
def test_never_raises(value: Any) -> None:
    found = is_context_overflow(value)
    assert found is None or isinstance(found, Overflow)
    error = RuntimeError("x")
    for name in ("message", "body", "code", "status_code", "response"):
        setattr(error, name, value)
    is_context_overflow(error)


def test_what_refers_to_itself() -> None:
    body: dict[str, Any] = {}
    body["error"] = body
    assert is_context_overflow(body) is None
    error = RuntimeError("again")
    error.__cause__ = error
    assert is_context_overflow(error) is None


def test_a_huge_text_is_cut_before_it_is_searched() -> None:
    found = is_context_overflow("prompt is too long: 3 tokens > 2 maximum " + "x" * 1_000_000)
    assert found is not None
    assert len(found.text) == 500
    assert is_context_overflow("maximum context length is 1 tokens " * 50_000) is not None
