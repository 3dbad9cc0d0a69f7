"""Chat Completions as gateways and old clients speak it: calls without ids, one call in a field of its own, streams
that count their calls wrongly."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glassine
from glassine.formats import openai_chat
from glassine.messages import Message, calls, results, tool_result, user
from glassine.pairing import repair
from glassine.rules import violations

openai = pytest.importorskip("openai")
chat_types = pytest.importorskip("openai.types.chat")


def called(name: str = "search", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


def reply(message: dict[str, Any], stop: str = "tool_calls", **more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, **message}
    return {"id": "r1", "created": 7, "choices": [{"index": 0, "message": said, "finish_reason": stop}], **more}


def ids(message: Message) -> list[str]:
    return [call.id for call in calls(message)]


def streamed(deltas: Sequence[dict[str, Any]], stop: str | None = "tool_calls", **more: Any) -> openai_chat.Stream:
    stream = openai_chat.Stream()
    for delta in deltas:
        stream.feed({"id": "r1", "created": 7, **more, "choices": [{"index": 0, "delta": delta}]})
    if stop:
        stream.feed({"id": "r1", **more, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
    return stream


# -- replies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"id": ""}, {"id": None}])
def test_calls_without_an_id_get_one(more: dict[str, Any]) -> None:
    same = called(arguments='{"q":"猫"}', **more)
    message = openai_chat.read_reply(reply({"tool_calls": [same, called(id="c1"), same]})).message
    made = ids(message)
    assert made[1] == "c1"
    assert len(set(made)) == 3
    assert all(made)
    assert [call.input for call in calls(message)] == [{"q": "猫"}, {}, {"q": "猫"}]
    assert ids(openai_chat.read_reply(reply({"tool_calls": [same, called(id="c1"), same]})).message) == made
    assert openai_chat.to_request([user("go"), message]).notes == ()


def test_the_same_call_of_another_reply_has_another_id() -> None:
    replies = [
        reply({"tool_calls": [called()]}),
        reply({"tool_calls": [called()]}, id="r2"),
        reply({"tool_calls": [called()]}, created=8),
    ]
    assert len({id for each in replies for id in ids(openai_chat.read_reply(each).message)}) == 3
    bare = [{"choices": [{"message": {"tool_calls": [called(name)]}}]} for name in ("one", "two")]
    assert len({id for each in bare for id in ids(openai_chat.read_reply(each).message)}) == 2


def test_the_one_call_of_old_is_read() -> None:
    given_call = {"name": "search", "arguments": '{"q":1}'}
    said = openai_chat.read_reply(reply({"content": "I look.", "function_call": given_call}, "function_call"))
    assert said.message.text == "I look."
    assert [(call.name, call.input) for call in calls(said.message)] == [("search", {"q": 1})]
    assert all(ids(said.message))
    assert said.stop == "function_call"
    cut = {"name": "search", "arguments": '{"q":'}
    assert not calls(openai_chat.read_reply(reply({"function_call": cut}, "length")).message)
    assert calls(openai_chat.read_reply(reply({"function_call": cut}, "function_call")).message)[0].raw == '{"q":'


def test_the_objects_of_the_sdk_are_read_alike() -> None:
    given_reply = reply({"tool_calls": [called()], "function_call": {"name": "other", "arguments": "{}"}})
    made = chat_types.ChatCompletion.construct(**given_reply)
    assert openai_chat.read_reply(made).message == openai_chat.read_reply(given_reply).message
    assert len(ids(openai_chat.read_reply(made).message)) == 2


# -- streams ----------------------------------------------------------------------------------------------------------


def test_a_stream_gives_the_ids_of_the_whole_reply() -> None:
    first, second = called(arguments='{"q":"猫"}'), called("other", '{"n":1}')
    legacy = {"name": "third", "arguments": '{"x":[]}'}
    whole = openai_chat.read_reply(reply({"tool_calls": [first, second], "function_call": legacy}))
    deltas: list[dict[str, Any]] = []
    for index, call in enumerate([first, second]):
        deltas.append({"tool_calls": [{"index": index, "function": {"name": call["function"]["name"]}}]})
        letters = call["function"]["arguments"]
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": letter}}]} for letter in letters]
    deltas += [{"function_call": {"name": "third"}}, *({"function_call": {"arguments": c}} for c in '{"x":[]}')]
    assert streamed(deltas).reply().message == whole.message


def test_a_call_keeps_its_id_while_it_comes() -> None:
    deltas: list[dict[str, Any]] = [
        {"function_call": {"name": "search", "arguments": ""}},
        {"function_call": {"arguments": '{"q":'}},
        {"function_call": {"arguments": "1}"}},
    ]
    seen = [streamed(deltas[: count + 1], None).reply().message for count in range(3)]
    assert len({id for message in seen for id in ids(message)}) == 1
    assert [calls(message)[0].raw for message in seen] == [{}, '{"q":', {"q": 1}]
    assert [len(calls(streamed(deltas[:count], None).reply(finished=False).message)) for count in (2, 3)] == [0, 1]


PARTS = [("search", '{"q":1}'), ("search", '{"q":2}'), ("other", "{}")]


@pytest.mark.parametrize("index", [{}, {"index": 0}])
@pytest.mark.parametrize("id", [lambda n: {}, lambda n: {"id": ""}, lambda n: {"id": f"c{n}"}])
def test_calls_that_a_server_does_not_number(index: dict[str, int], id: Any) -> None:
    pieces = [{**called(name, text), **index, **id(number)} for number, (name, text) in enumerate(PARTS)]
    for deltas in ([{"tool_calls": pieces}], [{"tool_calls": [piece]} for piece in pieces]):
        message = streamed(deltas).reply().message
        assert [(call.name, call.input) for call in calls(message)] == [(n, json.loads(text)) for n, text in PARTS]
        assert len(set(ids(message))) == 3
        if id(0).get("id"):
            assert ids(message) == ["c0", "c1", "c2"]


def test_an_id_in_each_piece_begins_no_other_call() -> None:
    pieces: list[dict[str, Any]] = [
        {"index": 0, "id": "a", "function": {"name": "search", "arguments": '{"q"'}},
        {"index": 0, "id": "b", "function": {"arguments": ":1}"}},
        {"index": 0, "id": "c", "function": {"name": None, "arguments": ""}},
    ]
    message = streamed([{"tool_calls": [piece]} for piece in pieces]).reply().message
    assert [(call.id, call.input) for call in calls(message)] == [("a", {"q": 1})]
    bare: list[dict[str, Any]] = [{name: piece[name] for name in ("id", "function")} for piece in pieces]
    assert streamed([{"tool_calls": [piece]} for piece in bare]).reply().message == message


# -- histories --------------------------------------------------------------------------------------------------------

OLD: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "天気は?"},
    {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": '{"city":"東京"}'}},
    {"role": "function", "name": "weather", "content": "晴れ"},
    {"role": "assistant", "content": None, "tool_calls": [called("one"), called("two"), called("one")]},
    {"role": "tool", "name": "two", "content": "second"},
    {"role": "tool", "tool_call_id": "", "content": "first"},
    {"role": "tool", "content": "third"},
    {"role": "assistant", "content": "Sunny."},
]


def test_results_without_an_id_find_their_calls() -> None:
    history = openai_chat.from_request({"messages": OLD})
    asked = {call.id: (call.name, place) for place, message in enumerate(history) for call in calls(message)}
    assert len(asked) == 4
    answered = [(*asked[each.id], each.output) for message in history for each in results(message)]
    assert answered == [("weather", 1, "晴れ"), ("two", 3, "second"), ("one", 3, "first"), ("one", 3, "third")]
    # Both calls of `one` are answered, and each once.
    assert len({each.id for message in history for each in results(message)}) == 4
    assert [each.name for message in history for each in results(message)] == ["weather", "two", "one", "one"]
    fixed = repair(history)
    assert (fixed.notes, len(fixed.messages)) == ((), 8)
    request = openai_chat.to_request([*fixed.messages, user("thanks")], model="gpt-4o")
    assert not violations("openai", request.arguments)
    assert request.notes == ()


def test_an_old_history_written_and_read_again_is_the_same() -> None:
    history = openai_chat.from_request({"messages": OLD})
    assert openai_chat.from_request(openai_chat.to_request(history, system="Be brief.").arguments) == history


def test_ids_do_not_depend_on_where_the_history_begins() -> None:
    whole, tail = (openai_chat.from_request({"messages": given}) for given in (OLD, OLD[1:2] + OLD[4:]))
    assert whole[-len(tail) + 1 :] == tail[1:]


def test_a_result_that_nothing_waits_for_stays_without_an_id() -> None:
    message = {"role": "function", "name": "weather", "content": None}
    (found,) = openai_chat.from_request({"messages": [message]})
    assert [(each.id, each.name, each.output) for each in results(found)] == [("", "weather", "")]


_ids = st.sampled_from([None, "", "c1", "c2"])
_calls = st.builds(lambda name, id: called(name, id=id), st.sampled_from(["one", "two"]), _ids)
_results = st.builds(
    lambda role, name, id: {"role": role, "name": name, "tool_call_id": id, "content": "x"},
    st.sampled_from(["tool", "function"]),
    st.sampled_from([None, "one", "two"]),
    _ids,
)
_answers = st.builds(
    lambda found, old: {"role": "assistant", "content": None, "tool_calls": found, "function_call": old},
    st.lists(_calls, max_size=3),
    st.sampled_from([None, {"name": "one", "arguments": "{}"}]),
)
_turns = st.lists(st.one_of(_answers, _results, st.just({"role": "user", "content": "go"})), max_size=8)


@settings(max_examples=50)
@given(turns=_turns)
def test_every_history_of_a_gateway_can_be_sent(turns: list[dict[str, Any]]) -> None:
    history = openai_chat.from_request({"messages": [{"role": "user", "content": "go"}, *turns]})
    fixed = repair([*history, user("on")]).messages
    request = openai_chat.to_request(fixed, model="gpt-4o")
    assert violations("openai", request.arguments) == []
    assert openai_chat.to_request(openai_chat.from_request(request.arguments), model="gpt-4o").arguments == (
        request.arguments
    )
    given_calls = itertools.chain.from_iterable(calls(message) for message in history)
    assert all(call.id for call in given_calls)


# -- calls of other kinds ---------------------------------------------------------------------------------------------

SIGNED = called(id="a", extra_content={"google": {"thought_signature": "Ab4-9w"}})


def test_signatures_of_google_go_back_to_a_gemini() -> None:
    message = openai_chat.read_reply(reply({"tool_calls": [SIGNED, called(id="b")]})).message
    assert [part.get("providerMetadata") for part in message.parts] == [
        {"google": {"thoughtSignature": "Ab4+9w=="}},
        None,
    ]
    assert openai_chat.read_reply(chat_types.ChatCompletion.construct(**reply({"tool_calls": [SIGNED]}))).message == (
        openai_chat.read_reply(reply({"tool_calls": [SIGNED]})).message
    )
    pieces = [{**SIGNED, "index": 0, "function": {"name": "search", "arguments": ""}}]
    rest = [{"index": 0, "function": {"arguments": "{}"}}, {**called(id="b"), "index": 1}]
    assert streamed([{"tool_calls": [piece]} for piece in (*pieces, *rest)]).reply().message == message
    for model in ("gemini-3-pro-preview", "google/Gemini-3-flash"):
        request = openai_chat.to_request([user("go"), message], model=model)
        first, second = request.arguments["messages"][1]["tool_calls"]
        assert first["extra_content"] == {"google": {"thought_signature": "Ab4+9w=="}}
        assert "extra_content" not in second
        assert openai_chat.from_request(request.arguments)[1] == message
    for other in ("gpt-5", None):
        sent = openai_chat.to_request([user("go"), message], model=other).arguments["messages"][1]["tool_calls"]
        assert ["extra_content" in call for call in sent] == [False, False]


def test_custom_tools_go_back_as_what_they_are() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": "*** Begin\n直す"}}
    message = openai_chat.read_reply(reply({"tool_calls": [call]})).message
    assert calls(message)[0].input == {"input": "*** Begin\n直す"}
    request = openai_chat.to_request([user("go"), message, tool_result("a", "ok"), user("on")], model="gpt-5")
    assert request.arguments["messages"][1]["tool_calls"] == [call]
    assert violations("openai", request.arguments) == []
    assert openai_chat.from_request(request.arguments)[1] == message


# -- in a session -----------------------------------------------------------------------------------------------------


def test_a_session_with_a_gateway_that_gives_no_ids() -> None:
    """The same call in every step, streamed: each is answered, and what was sent is sent the same again."""
    with glassine.open(":memory:") as store:
        session = store.session("s")
        session.append(user("天気は?"))
        sent: list[list[Any]] = []
        for step in range(3):
            view = session.view(model="local")
            sent.append(view.to_openai()["messages"])
            call = {"tool_calls": [{"function": {"name": "weather", "arguments": '{"city":"東京"}'}}]}
            deltas: list[dict[str, Any]] = [{"delta": call}, {"delta": {}, "finish_reason": "tool_calls"}]
            events = [{"id": "0", "created": step, "choices": [{"index": 0, **delta}]} for delta in deltas]
            reply = session.record_stream(events, view=view).run()
            assert reply is not None
            session.append([tool_result(call, f"晴れ {step}") for call in calls(reply)])
        view = session.view(model="local")
        request = view.request("openai")
        assert (view.notes, view.pending, request.notes) == ((), (), ())
        assert violations("openai", request.arguments) == []
        sent.append(request.arguments["messages"])
        assert [len(each) for each in sent] == [1, 3, 5, 7]
        assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(sent))
        assert [message["content"] for message in sent[-1][2::2]] == ["晴れ 0", "晴れ 1", "晴れ 2"]
