"""The rules of Anthropic's Messages API, and where each of them is stated."""

from __future__ import annotations

from ._table import Rule

_SDK = "Anthropic Python SDK, types of the request"
_REPORTS = "refusals quoted in public issue reports"
_TOOLS = "Anthropic docs, handle tool calls: formatting requirements"
_THINKING = "Anthropic docs, extended thinking"
_PRESERVED = "Anthropic docs, preserved thinking: prefix checks"
_CACHING = "Anthropic docs, prompt caching"
_ERRORS = "Anthropic docs, errors"
_FIRST = "refusals of 2024 quoted in public issue reports; Bedrock still refuses, Anthropic itself no longer does"

_TABLE = (
    ("json", "The body is JSON that UTF-8 can hold: no NaN, no lone surrogates.", _REPORTS),
    ("shape", "A field has the type that the SDK declares.", _SDK),
    ("required", "A field that has to be there is there.", _SDK),
    ("extra", "No field stands in the request or in a block that is not declared there.", _REPORTS),
    ("max_tokens", "`max_tokens` is an integer; 0 only fills the cache.", _SDK),
    ("max_output", "`max_tokens` does not pass what the model can write.", _REPORTS),
    ("range", "A number stays within its range.", _SDK),
    ("stop_sequence", "A stop sequence holds more than white space.", _REPORTS),
    ("tool_name", "The name of a tool, and of a call, is 1 to 128 letters, digits, `_` or `-`.", _REPORTS),
    ("tool_unique", "No two tools have one name.", _REPORTS),
    ("tool_schema", "`input_schema` is an object schema, without a choice at its top, with plain names of properties.",
     f"{_SDK}; {_REPORTS}"),
    ("tool_choice", "`tool_choice` comes with tools, and names one of them.", _REPORTS),
    ("no_messages", "There is at least one message.", _REPORTS),
    ("many_messages", "There are at most 100,000 messages.", _SDK),
    ("role", "The role of a message is user, assistant or system.", _SDK),
    ("first_user", "The first message is the user's.", _FIRST),
    ("system_place", "A system message follows a user message, or a call of a server tool, and stands before an "
     "assistant's, or last.", "Anthropic docs, mid-conversation system messages"),
    ("system_model", "System messages inside the conversation need Claude 4.8 or later.",
     "Anthropic docs, mid-conversation system messages"),
    ("prefill", "From Claude 4.6 on, the last message is not the assistant's.",
     "Anthropic docs, errors: prefill not supported"),
    ("trailing_space", "An assistant message that is to be continued does not end in white space.", _REPORTS),
    ("block_type", "A content block is of a known type.", _SDK),
    ("block_role", "Calls and thinking stand in assistant messages, results and images in user messages.", _REPORTS),
    ("empty_content", "Only a last assistant message may be empty.", _REPORTS),
    ("empty_text", "A text block holds more than white space.", _REPORTS),
    ("call_id", "The id of a call is 1 to 64 letters, digits, `_` or `-`.", _REPORTS),
    ("call_unique", "No two calls have one id.", _REPORTS),
    ("unanswered_call", "Each call has its result in the very next message, which is the user's.", _TOOLS),
    ("orphan_result", "A result answers a call of the message just before.", _TOOLS),
    ("double_result", "A call has one result.", _REPORTS),
    ("results_first", "In a user message the results come before anything else.", _TOOLS),
    ("error_result", "A result that is an error holds only text.", _REPORTS),
    ("media_type", "An image is JPEG, PNG, GIF or WebP, a document PDF or plain text.", _SDK),
    ("base64", "Base64 data is valid and not empty.", _REPORTS),
    ("url", "The URL of an image or document is an http or https URL.", _REPORTS),
    ("thinking_config", "A budget of thinking is at least 1024 and below `max_tokens`.", _SDK),
    ("thinking_manual", "From Claude 4.7 on, thinking is not enabled by hand.", _THINKING),
    ("thinking_choice", "With thinking on, no tool is forced.", _THINKING),
    ("thinking_signature", "Thinking comes with the signature it was given, and is the text that was signed.",
     _THINKING),
    ("thinking_first", "With thinking enabled by hand, the turn that tool results continue starts with thinking.",
     _REPORTS),
    ("thinking_off", "With thinking disabled, a message to be continued holds none.", _REPORTS),
    ("thinking_last", "Thinking is not the last block of an assistant message.", _REPORTS),
    ("thinking_whole", "Thinking in the latest assistant message is all there, in its place and order.", _THINKING),
    ("thinking_bound", "For models that bind thinking, nothing before a thinking block has changed, and none "
     "between others is missing.", _PRESERVED),
    ("cache_mark", "`cache_control` is of type ephemeral, with ttl 5m or 1h if any.", _SDK),
    ("cache_marks", "At most 4 places are marked with `cache_control`, the automatic one included.", _CACHING),
    ("cache_order", "Marks of one hour come before marks of five minutes.", _CACHING),
    ("cache_empty", "An empty text is not marked with `cache_control`.", _REPORTS),
    ("context_edits", "`context_management` lists known edits in their declared shape, clearing of thinking first.",
     "Anthropic docs, context editing; the SDK's types"),
    ("beta", "A field of a beta comes with the header of that beta.", "Anthropic docs, beta headers"),
    ("too_long", "The prompt fits into the window of the model.", _REPORTS),
    ("too_large", "The body is at most 32 MB.", _ERRORS),
    ("headers", "A request has an API key and `anthropic-version`.", _ERRORS),
)  # fmt: skip

RULES: tuple[Rule, ...] = tuple(Rule(f"anthropic.{id}", "anthropic", text, source) for id, text, source in _TABLE)
