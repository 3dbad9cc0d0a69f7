"""Cutting older messages: what is cut and what is not, the kind of every value kept, sizes, ways back, policies."""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glassine import Message, _json, assistant, tool_call, tool_result, user
from glassine.handles import names_original, original_handle
from glassine.messages import calls, results
from glassine.transcripts import read
from glassine.truncation import Policy, truncate_older
from glassine.truncation._shrink import placeholder, shrink, size
from glassine.truncation._whole import after, before

HOW = 'read the whole with read_original: [glassine original: message "m1", part 0]'


def cut(output: Any, limit: int = 500, *, policy: Policy | None = None, **options: Any) -> Any:
    """The output of one old tool result after cutting; cutting again changes nothing."""
    policies = {"read": policy} if policy is not None else None
    message = tool_result("c1", output, name="read", id="m1")
    options = {"max_tool_output_chars": limit, "policies": policies, **options}
    (shown,) = truncate_older([message], 0, **options)
    (again,) = truncate_older([shown], 0, **options)
    assert again is shown
    return results(shown)[0].output


# --- which messages and parts -----------------------------------------------------------------------------------------


def test_the_last_four_are_untouched() -> None:
    history = [tool_result(f"c{n}", "x" * 600, name="read", id=f"m{n}") for n in range(7)]
    shown = truncate_older(history)
    assert [size(results(message)[0].output) <= 500 for message in shown] == [True] * 3 + [False] * 4
    assert all(a is b for a, b in zip(shown[3:], history[3:], strict=True))
    assert truncate_older(history, 7) == history
    assert truncate_older(history, 100) == history
    assert all(size(results(message)[0].output) <= 500 for message in truncate_older(history, 0))
    assert truncate_older([]) == []


def test_what_needs_no_cut_is_the_same_object() -> None:
    history = [user("short"), tool_result("c", "x" * 500, name="read"), user("y" * 10_000), assistant("ok")]
    assert all(a is b for a, b in zip(truncate_older(history, 0), history, strict=True))


def test_dicts_are_taken_for_messages() -> None:
    (shown,) = truncate_older([{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "x" * 11_000}]}], 0)
    assert isinstance(shown, Message)
    assert len(shown.text) <= 10_000


def test_long_texts_are_cut_at_their_own_limit() -> None:
    message = assistant("a" * 6_000 + "b" * 6_000, {"type": "reasoning", "text": "r" * 50_000}, id="m1")
    (shown,) = truncate_older([message], 0)
    assert len(shown.text) <= 10_000
    assert shown.text.startswith("a" * 5_000)
    assert "\n…\nbbbb" in shown.text
    assert shown.text.endswith(f" of 12000 characters; {HOW}]")
    assert shown.parts[1] == message.parts[1]  # a provider takes reasoning back whole or not at all


def test_other_fields_and_parts_stay() -> None:
    parts: list[Any] = [
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + "A" * 5_000},
        {"type": "data-chart", "data": {"points": "1" * 5_000}},
        {
            "type": "tool-result",
            "toolCallId": "c",
            "toolName": "read",
            "output": "x" * 600,
            "callProviderMetadata": {"a": 1},
        },
        {"type": "provider-item", "provider": "anthropic", "item": {"encrypted": "z" * 5_000}},
    ]
    message = Message(role="assistant", parts=parts, id="m1", metadata={"k": "v"}, extra={"mine": [1]})
    (shown,) = truncate_older([message], 0)
    assert {**shown.to_dict(), "parts": None} == {**message.to_dict(), "parts": None}
    for index in (0, 1, 3):
        assert shown.parts[index] == parts[index]
    assert {**shown.parts[2], "output": None} == {**parts[2], "output": None}


def test_ai_sdk_parts_hold_call_and_result_together() -> None:
    parts: list[Any] = [
        {
            "type": "tool-read",
            "toolCallId": "c1",
            "state": "output-available",
            "input": {"path": "p" * 900},
            "output": {"text": "x" * 900},
        },
        {"type": "dynamic-tool", "toolName": "t", "toolCallId": "c2", "state": "output-error", "errorText": "e" * 900},
        {"type": "tool-read", "toolCallId": "c3", "state": "input-available", "input": {"path": "p" * 900}},
        {
            "type": "tool-web_search",
            "toolCallId": "c4",
            "state": "output-available",
            "providerExecuted": True,
            "output": [{"encryptedContent": "z" * 900}],
        },
    ]
    message = assistant(*parts, id="m1")
    (shown,) = truncate_older([message], 0)
    first, second, third, fourth = results(shown)[0], results(shown)[1], shown.parts[2], shown.parts[3]
    assert set(first.output) == {"text", "__truncated"}
    assert isinstance(second.output, str)
    assert second.is_error
    assert len(second.output) <= 500
    assert calls(shown)[0].input == {"path": "p" * 900}  # the inputs of calls are only cut when the whole is too large
    assert third == parts[2]
    assert fourth == parts[3]  # what the provider made goes back as it was


# --- values -----------------------------------------------------------------------------------------------------------


def test_a_text_keeps_its_beginning_and_end() -> None:
    shown = cut("first line\n" + "middle\n" * 1_000 + "last line")
    assert shown.startswith("first line\nmiddle")
    assert "\n…\n" in shown
    kept = int(shown.rpartition("[shortened: ")[2].split()[0])
    assert shown.endswith(f"last line\n[shortened: {kept} of 7020 characters; {HOW}]")
    assert kept == len(shown.partition("\n[shortened")[0]) - len("\n…\n")
    assert names_original(shown, "m1")


def test_an_object_stays_an_object_with_its_keys() -> None:
    output = {
        "path": "src/a.py",
        "content": "x" * 9_000,
        "lines": 300,
        "ok": True,
        "more": None,
        "stats": {"n": [1, 2]},
    }
    shown = cut(output)
    assert list(shown) == [*output, "__truncated"]
    assert {key: shown[key] for key in output if key != "content"} == {
        k: v for k, v in output.items() if k != "content"
    }
    assert shown["content"].startswith("xxx")
    assert "…" in shown["content"]
    assert original_handle("m1", 0) in shown["__truncated"]
    assert f"of {size(output)} characters" in shown["__truncated"]


def test_many_long_values_share_the_room() -> None:
    shown = cut({f"key_{n}": "v" * 300 for n in range(15)})
    assert len(shown) == 16
    assert {type(value) for value in shown.values()} == {str}


def test_of_too_many_keys_the_last_ones_go() -> None:
    shown = cut({f"key{n}": n for n in range(1_000)})
    assert list(shown)[:3] == ["key0", "key1", "key2"]
    assert "__truncated" in shown
    nested = cut({"rows": {f"key{n}": n for n in range(1_000)}})
    assert nested["rows"]["__truncated"].endswith("of 1000 keys left out")


def test_lists_keep_their_first_items() -> None:
    numbers = cut(list(range(1_000)))
    assert numbers[:50] == list(range(50))
    assert numbers[-1].startswith("[shortened: ")
    rows = cut([{"id": n, "name": "n" * 40} for n in range(100)])
    assert rows[0] == {"id": 0, "name": "n" * 40}
    assert list(rows[-1]) == ["__truncated"]
    nested = cut({"rows": [{"id": n} for n in range(1_000)], "next": "page2"})
    assert nested["next"] == "page2"
    assert nested["rows"][-1] == {"__truncated": f"{1_000 - len(nested['rows']) + 1} of 1000 items left out"}


def test_content_blocks_stay_content_blocks_and_media_is_never_cut_inside() -> None:
    image = "iVBORw0KGgo" * 1_000
    blocks = [
        {"type": "text", "text": "t" * 3_000},
        {"type": "image", "data": image, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": image}},
        {"type": "image_url", "image_url": {"url": f"data:image/webp;base64,{image}"}},
    ]
    shown = cut(blocks, 800)
    assert [block["type"] for block in shown] == ["text"] * 5
    assert [block["text"] for block in shown[1:4]] == [f"[image/{kind} left out]" for kind in ("png", "jpeg", "webp")]
    assert cut({"content": blocks, "isError": False}, 800)["isError"] is False
    shot = cut({"ok": True, "screenshot": f"data:image/png;base64,{image}"})
    assert shot["screenshot"] == "[image/png left out]"
    odd = cut({"mimeType": '"' * 90, "data": image})
    assert odd["data"] == "[media left out]"
    document = cut({"mimeType": "text/html", "text": "<p>words, not base64</p>" * 100})
    assert document["text"].startswith("<p>words")


def test_the_outputs_of_model_messages_keep_their_wrapper() -> None:
    shown = cut({"type": "text", "value": 'line "one"\n' * 300})
    assert set(shown) == {"type", "value"}
    assert HOW in shown["value"]
    assert set(cut({"type": "json", "value": {"a": "x" * 900}})["value"]) == {"a", "__truncated"}
    assert cut({"type": "json", "value": {"a": "x" * 900}}, policy="placeholder")["type"] == "json"


@pytest.mark.parametrize("output", [7, None, True, 1.5, 10**600, "", [], {}])
def test_what_cannot_be_cut_stays(output: Any) -> None:
    assert cut(output, 0) == output


@pytest.mark.parametrize("limit", [0, 1, 2, 20, 60, 100, 160])
@pytest.mark.parametrize("output", ["x" * 900, {"a": "x" * 900}, ["x" * 900], [{"a": 1}] * 99])
def test_small_limits(output: Any, limit: int) -> None:
    shown = cut(output, limit)
    assert type(shown) is type(output)
    assert size(shown) <= max(limit, 0 if isinstance(output, str) else 2)


def test_a_note_is_kept_through_further_cuts() -> None:
    first = cut("x" * 9_000, 2_000)
    second = cut(first, 400)
    assert "of 9000 characters" in second
    assert second.count("[shortened") == 1
    for output in ({"a": "x" * 9_000}, ["x" * 90] * 100):
        whole = size(output)
        assert f"of {whole} characters" in json.dumps(cut(cut(output, 2_000), 400))
    # The note of a preview, which a view has put there before.
    note = '[shortened: 4000 of 300000 characters; read the whole with x: [glassine original: message "m1", part 0]]'
    preview = "y" * 4_000 + "\n" + note
    assert "of 300000 characters" in cut(preview)


def test_a_note_without_a_tool_to_read_with() -> None:
    shown = cut("x" * 900, readable=False)
    assert "read_original" not in shown
    assert names_original(shown, "m1")


# --- whole characters -------------------------------------------------------------------------------------------------

CLUSTERS = [
    *("a", "é", "e\u0301", "漢", "か\u3099", "नि", "\r\n", "\ud83d\ude00"),
    *("한", "\u1112\u1161\u11ab", "각\u11a8", "\u1100\u1161"),
    *("👨‍👩‍👧‍👦", "👍🏽", "❤️", "1️⃣", "🇯🇵", "🏴\U000e0067\U000e0062\U000e007f"),
]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=30), st.integers(-2, 200))
def test_no_character_is_ever_parted(clusters: list[str], index: int) -> None:
    text = "".join(clusters)
    ends = {sum(map(len, clusters[:n])) for n in range(len(clusters) + 1)}
    assert before(text, index) == max(end for end in ends if end <= max(index, 0))
    assert after(text, index) == min(end for end in ends if end >= min(index, len(text)))


@given(st.lists(st.sampled_from(CLUSTERS), min_size=200, max_size=300), st.integers(150, 500))
@settings(max_examples=15)
def test_cut_texts_are_whole(clusters: list[str], limit: int) -> None:
    for shown in (cut("".join(clusters), limit), cut({"a": "".join(clusters)}, limit).get("a", "")):
        head, _, rest = shown.partition("…")
        assert head.rstrip("\n") in {"".join(clusters[:n]).rstrip("\n") for n in range(len(clusters) + 1)}
        tail = rest.partition("\n[shortened")[0].removeprefix("\n")
        assert tail in {"".join(clusters[n:]) for n in range(len(clusters) + 1)} or not rest


def test_a_single_endless_character() -> None:
    text = "e" + "\u0301" * 5_000
    assert cut(text).startswith(("…", "\n…"))
    assert unicodedata.normalize("NFC", cut(text + "z" * 900)).count("\u0301") == 0


@pytest.mark.parametrize("text", ["\x00" * 900, "\ud800" * 900, "\udc00\ud800" * 450, '"\\\n' * 300, "\u2028" * 900])
def test_any_text_can_be_cut(text: str) -> None:
    assert len(cut(text)) <= 500
    assert size(cut({"a": text})) <= 500
    assert size(cut({text[:50]: text})) <= 500


def test_deep_values() -> None:
    deep: Any = "x" * 900
    for _ in range(400):
        deep = {"type": "json", "value": deep}
    assert size(cut(deep)) <= 500
    for _ in range(60):
        deep = [deep, {"k": 1}]
    assert size(cut(deep)) <= 500
    assert isinstance(cut(deep, policy="head_tail"), list)


# --- policies ---------------------------------------------------------------------------------------------------------


def test_never() -> None:
    assert cut("x" * 900, policy="never") == "x" * 900


def test_placeholder_keeps_the_kind() -> None:
    note = f"[shortened: 0 of {{}} characters; {HOW}]"
    assert cut("x" * 900, policy="placeholder") == note.format(900)
    assert cut({"a": "x" * 900}, policy="placeholder") == {"__truncated": note.format(908)}
    assert cut(["x" * 900], policy="placeholder") == [note.format(904)]
    assert cut([{"type": "text", "text": "x" * 900}], policy="placeholder")[0]["type"] == "text"


def test_head_tail_fits_a_closed_schema() -> None:
    output = {"path": "src/a.py", "content": "x" * 9_000, "status": "completed", "hits": [{"line": 1}] * 500}
    shown = cut(output, policy="head_tail")
    assert list(shown) == list(output)
    assert (shown["path"], shown["status"]) == ("src/a.py", "completed")
    assert HOW in shown["content"]
    assert all(hit == {"line": 1} for hit in shown["hits"])
    assert size(shown) <= 500
    # Keys are never taken, not even for the limit.
    many = {f"key{n}": "v" * 90 for n in range(200)}
    assert list(cut(many, policy="head_tail")) == list(many)
    assert cut([1] * 900, policy="head_tail") == [1] * len(cut([1] * 900, policy="head_tail"))


def test_a_function_of_the_callers() -> None:
    assert cut({"rows": [1] * 900}, policy=lambda output: {"rows": output["rows"][:3]}) == {"rows": [1, 1, 1]}
    seen: list[Any] = []
    assert cut("x" * 10, policy=lambda output: seen.append(output)) == "x" * 10  # within the limit it is not asked
    assert seen == []


def spoil(output: Any) -> Any:
    output["a"] = object()
    raise RuntimeError


@pytest.mark.parametrize(
    "broken", [lambda output: 1 / 0, lambda output: {1, 2}, lambda output: float("nan"), lambda output: (1,), spoil]
)
def test_a_function_that_fails_gives_a_placeholder(broken: Callable[[Any], Any]) -> None:
    assert cut({"a": "x" * 900}, policy=broken) == {"__truncated": f"[shortened: 0 of 908 characters; {HOW}]"}


def test_a_function_that_changes_what_it_is_given() -> None:
    def pop(output: dict[str, Any]) -> dict[str, Any]:
        del output["big"]
        return output

    message = tool_result("c", {"big": "x" * 900, "n": 1}, name="read", id="m1")
    (shown,) = truncate_older([message], 0, policies={"read": pop})
    assert results(shown)[0].output == {"n": 1}
    assert results(message)[0].output == {"big": "x" * 900, "n": 1}


def test_an_error_text_stays_a_text() -> None:
    part = {"type": "tool-read", "toolCallId": "c", "state": "output-error", "errorText": "e" * 900}
    (shown,) = truncate_older([assistant(part, id="m1")], 0, policies={"*": lambda text: {"no": "text"}})
    assert shown.parts[0]["errorText"] == f"[shortened: 0 of 900 characters; {HOW}]"  # type: ignore[typeddict-item]


def test_policies_by_name_and_pattern() -> None:
    history = [
        assistant(tool_call("mcp_read", {}, id="c4")),
        *(
            tool_result(f"c{n}", "x" * 900, name=name, id="m1")
            for n, name in enumerate(["read", "mcp_read", "mcp_write", "other", ""])
        ),
    ]
    policies: dict[str, Policy] = {"mcp_*": "placeholder", "mcp_write": "never", "*": lambda output: "mine"}
    shown = [results(message)[0].output[:5] for message in truncate_older(history, 0, policies=policies)[1:]]
    # The last result does not name its tool; its call does.
    assert shown == ["mine", "[shor", "xxxxx", "mine", "[shor"]


@pytest.mark.parametrize(
    "options",
    [
        {"keep_recent": -1},
        {"max_tool_output_chars": -1},
        {"max_text_chars": -1},
        {"max_message_bytes": -1},
        {"policies": {"read": "sometimes"}},
    ],
)
def test_wrong_arguments_are_errors(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options)) if "policies" not in options else "the policy of 'read'"):
        truncate_older([], **options)


# --- many small values ------------------------------------------------------------------------------------------------


def many_parts(count: int = 400, chars: int = 5_000) -> Message:
    return assistant(
        *(
            {
                "type": "tool-read",
                "toolCallId": f"c{n}",
                "state": "output-available",
                "input": {"path": "src/a.py", "patch": "p" * (chars // 10)},
                "output": {"text": "y" * chars},
            }
            for n in range(count)
        ),
        id="m1",
    )


@pytest.mark.parametrize("limit", [2_000_000, 1_000_000, 300_000, 150_000])
def test_a_limit_for_a_whole_message(limit: int) -> None:
    message = many_parts()
    (shown,) = truncate_older([message], 0, 10_000, max_message_bytes=limit)
    assert len(shown.encoded()[1]) <= limit
    assert [type(result.output) for result in results(shown)] == [dict] * 400
    assert truncate_older([shown], 0, 10_000, max_message_bytes=limit)[0] is shown
    if limit == 1_000_000:
        # Outputs go first, the first ones first; inputs stay as long as that is enough.
        assert [call.input for call in calls(shown)] == [call.input for call in calls(message)]
        assert results(shown)[-1].output == results(message)[-1].output
        assert names_original(results(shown)[0].output, "m1")
    if limit == 150_000:
        assert all(call.input["path"] == "src/a.py" for call in calls(shown))


def test_a_limit_that_cannot_be_kept_is_come_near_to() -> None:
    message = many_parts(20)
    (shown,) = truncate_older([message], 0, max_message_bytes=10)
    assert len(shown.encoded()[1]) < 20 * 250
    assert truncate_older([shown], 0, max_message_bytes=10)[0] is shown
    (kept,) = truncate_older([message], 0, max_message_bytes=10, policies={"read": "never"})
    assert kept is message
    assert truncate_older([message], 1, max_message_bytes=10)[0] is message


def test_an_input_that_stands_as_text_stays_readable() -> None:
    small = assistant(tool_call("write", '{"path": "a" }', id="c"), "text " * 20, id="m1")
    assert truncate_older([small], 0, 50, max_message_bytes=1_000)[0] is small
    message = assistant(tool_call("write", json.dumps({"path": "a", "text": "x" * 9_000}), id="c"), id="m1")
    (shown,) = truncate_older([message], 0, max_message_bytes=1_000)
    assert calls(shown)[0].input["path"] == "a"
    assert len(shown.encoded()[1]) <= 1_000


# --- properties -------------------------------------------------------------------------------------------------------

texts = st.text() | st.text(alphabet=st.sampled_from('ab\n"é漢👍🏽\u0301\ud800\x00'), max_size=900)
# Names and words that mean something to the code under test.
names = st.sampled_from(["type", "value", "text", "data", "mimeType", "source", "__truncated"])
words = st.sampled_from(["text", "image", "json", "image/png", "A" * 90, f"[shortened: 1 of 99 characters; {HOW}]"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | words,
    lambda inner: (
        st.lists(inner, max_size=8) | st.dictionaries(names | texts.map(lambda key: key[:40]), inner, max_size=8)
    ),
    max_leaves=25,
)


def is_shape_kept(whole: Any, shown: Any) -> bool:
    if isinstance(whole, dict) and isinstance(shown, dict):
        if "left out" in str(shown.get("text")):
            return True  # a content block with media
        return all(key == "__truncated" or (key in whole and is_shape_kept(whole[key], shown[key])) for key in shown)
    if isinstance(whole, list) and isinstance(shown, list):
        return all(is_shape_kept(a, b) for a, b in zip(whole, shown[:-1], strict=False))
    return type(whole) is type(shown)


@given(values, st.integers(0, 700))
@settings(max_examples=60)
@example({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": "x" * 900}}}}}}}}}, 100)
def test_shrinking_keeps_the_kind_and_the_limit(value: Any, limit: int) -> None:
    before_it = copy.deepcopy(value)
    shown = shrink(value, limit, HOW)
    assert value == before_it
    assert is_shape_kept(value, shown)
    _json.encode(shown)
    if isinstance(value, (str, list, dict)):
        assert size(shown) <= max(limit, 0 if isinstance(value, str) else 2)
    assert size(shown) <= size(value)
    assert _json.text(shrink(shown, limit, HOW)) == _json.text(shown)


@given(values, st.integers(0, 700))
@settings(max_examples=60)
def test_strict_shrinking_keeps_every_key(value: Any, limit: int) -> None:
    def check(whole: Any, shown: Any, depth: int = 0) -> None:
        assert type(whole) is type(shown)
        if isinstance(shown, dict) and list(shown) == ["type", "text"] and "left out" in str(shown["text"]):
            return  # a content block with media
        if isinstance(whole, dict) and depth < 8:
            assert list(whole) == list(shown)
            for key in whole:
                check(whole[key], shown[key], depth + 1)
        elif isinstance(whole, list):
            assert len(shown) <= len(whole)
            for a, b in zip(whole, shown, strict=False):
                check(a, b, depth + 1)

    shown = shrink(value, limit, HOW, strict=True)
    check(value, shown)
    assert size(shown) <= max(size(value), limit)
    assert _json.text(shrink(shown, limit, HOW, strict=True)) == _json.text(shown)


@given(values, st.integers(0, 700))
@settings(max_examples=60)
def test_placeholders_are_stable(value: Any, limit: int) -> None:
    shown = placeholder(value, limit, HOW)
    assert type(shown) is type(value)
    assert placeholder(shown, limit, HOW) == shown


named_policies = st.sampled_from(["never", "shape", "head_tail", "placeholder"])
some_parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, texts),
    st.builds(lambda text: {"type": "reasoning", "text": text}, texts),
    st.builds(
        lambda name, value: {"type": "tool-result", "toolCallId": "c", "toolName": name, "output": value},
        st.sampled_from(["read", "write"]),
        values,
    ),
    st.builds(
        lambda value, other: {
            "type": "tool-read",
            "toolCallId": "c",
            "state": "output-available",
            "input": value,
            "output": other,
        },
        values,
        values,
    ),
    st.builds(lambda value: {"type": "tool-call", "toolCallId": "c", "toolName": "read", "input": value}, values),
    st.builds(lambda value: {"type": "data-x", "data": value}, values),
)
some_messages = st.builds(
    lambda role, parts, id: Message(role=role, parts=parts, id=id),
    st.sampled_from(["user", "assistant", "tool", "system"]),
    st.lists(some_parts, max_size=4),
    st.sampled_from(["", "m1", 'm"{}\n']),
)


@given(
    st.lists(some_messages, max_size=4),
    st.integers(0, 4),
    st.integers(0, 300),
    st.integers(0, 300),
    st.none() | st.integers(0, 2_000),
    st.dictionaries(st.sampled_from(["read", "wr*", "*"]), named_policies),
)
@settings(max_examples=60)
def test_cutting_twice_is_cutting_once(
    history: list[Message], recent: int, outputs: int, text: int, whole: int | None, policies: dict[str, Policy]
) -> None:
    wires = [message.encoded() for message in history]
    shown = truncate_older(history, recent, outputs, text, policies, max_message_bytes=whole)
    assert [message.encoded() for message in history] == wires
    assert [(message.id, message.role, len(message.parts)) for message in shown] == [
        (message.id, message.role, len(message.parts)) for message in history
    ]
    again = truncate_older(shown, recent, outputs, text, policies, max_message_bytes=whole)
    assert all(a is b for a, b in zip(shown, again, strict=True))
    for message in shown[: max(0, len(shown) - recent)]:
        assert len(message.text) <= text * len(message.parts) + len(message.parts)


# --- real sessions ----------------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[2] / "shared" / "data" / "claude-code"
FILES = sorted(DATA.glob("*.jsonl*")) if DATA.is_dir() else []


@pytest.mark.skipif(not FILES, reason="the real transcripts (../shared/data/claude-code) are not here")
def test_real_sessions() -> None:
    cuts = 0
    for path in FILES:
        for conversation in read(path).conversations:
            history = [Message.of(entry.message) for entry in conversation.messages]
            shown = truncate_older(history)
            assert [message.id for message in shown] == [message.id for message in history]
            assert all(a is b for a, b in zip(truncate_older(shown), shown, strict=True))
            for old, new in zip(history[:-4], shown[:-4], strict=True):
                for whole, short in zip(results(old), results(new), strict=True):
                    assert size(short.output) <= 500
                    assert type(short.output) is type(whole.output)
                    cuts += short.output != whole.output
    assert cuts > 50
