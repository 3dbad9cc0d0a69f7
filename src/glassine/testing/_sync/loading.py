# Generated from src/glassine/testing/_async/loading.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Skills: what is loaded into a conversation, told from it alone, and taken out again."""

from __future__ import annotations

from typing import Any

import glassine
from glassine import Session, Store

from .._expecting import equal, say, true


class Shelf:
    """Skills of a caller's own."""

    def __init__(self) -> None:
        self.bodies = {"deploy": "Deploy with care.", "style": "Write plainly."}

    def get(self) -> str:
        return "\n".join(f"- {key}" for key in self.bodies)

    def load(self, key: str) -> str | None:
        return self.bodies.get(key)


def skills_are_loaded_once_and_unloaded_whole(store: Store) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf()).with_cached_prompt()
    session = store.session("s", spec)
    session.append(say("u1"))
    before = [tool.to_anthropic() for tool in session.tools()]
    body = _use(session, "load_context", "c1", "deploy")
    equal(body, "Deploy with care.", "the body")
    equal(session.loaded_skills(), (("skills", "deploy"),), "what is loaded")
    true(_use(session, "load_context", "c2", "deploy").startswith("Already loaded"), "loading it again")
    equal(_use(session, "load_context", "c3", "nothing"), "Not found: nothing", "an unknown key")
    equal([tool.to_anthropic() for tool in session.tools()], before, "the tools while it is loaded")
    again = store.session("s", spec)
    equal(again.loaded_skills(), (("skills", "deploy"),), "what is loaded after a restart")
    true(again.unload_skill("skills", "deploy").startswith("Unloaded"), "unloading")
    equal(again.loaded_skills(), (), "what is loaded then")
    for shown in (again.view().messages, again.history(), [m for m in again.iter_history()]):
        text = repr([message.to_dict() for message in shown])
        true("Deploy with care." not in text and "[skill unloaded: deploy]" in text, "what a view shows")
    true("Deploy with care." in repr([m.to_dict() for m in again.history(raw=True)]), "what is stored")
    true(again.unload_skill("skills", "deploy").startswith("Not loaded"), "unloading it again")
    equal(_use(again, "load_context", "c4", "deploy"), "Deploy with care.", "loading it anew")
    equal(again.loaded_skills(), (("skills", "deploy"),), "what is loaded at last")


def an_unload_holds_on_its_branch(store: Store) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    session.append(say("u1"))
    _use(session, "load_context", "c1", "deploy")
    fork = session.append(say("u2"))
    session.unload_skill("skills", "deploy")
    equal(session.loaded_skills(), (), "on the branch where it was unloaded")
    session.append(say("other"), parent="r-c1")
    equal(session.loaded_skills(), (("skills", "deploy"),), "on another branch")
    session.switch(fork)
    equal(session.loaded_skills(), (), "back on the first")


def load_and_unload_before_anything_is_stored(store: Store) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    session.append(say("u1"))
    tools = {tool.name: tool for tool in session.tools()}
    arguments = {"label": "skills", "key": "deploy"}
    body = tools["load_context"].call(arguments)
    gone = tools["unload_context"].call(arguments)
    true(gone.startswith("Unloaded"), f"the answer: {gone}")
    parts: list[Any] = [
        {
            "type": f"tool-{name}",
            "toolCallId": f"t{number}",
            "state": "output-available",
            "input": arguments,
            "output": output,
        }
        for number, (name, output) in enumerate((("load_context", body), ("unload_context", gone)))
    ]
    session.append(glassine.assistant(*parts, id="a"))
    true(body not in repr(session.view().messages[-1].to_dict()), "the view")
    true(body not in repr(session.history()[-1].to_dict()), "the history")
    equal(store.session("s", spec).loaded_skills(), (), "what is loaded after a restart")


def unloads_hold_on_every_branch_that_asks(store: Store) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    session.append(say("u1"))
    _use(session, "load_context", "c1", "deploy")
    session.append(say("b1"))
    session.unload_skill("skills", "deploy")
    session.append(say("b2"), parent="r-c1")
    session.unload_skill("skills", "deploy")
    equal(session.loaded_skills(), (), "on the second branch")
    session.switch("b1")
    equal(session.loaded_skills(), (), "on the first")
    session.switch("r-c1")
    equal(session.loaded_skills(), (("skills", "deploy"),), "where nobody asked")


def answers_are_told_from_bodies(store: Store) -> None:
    shelf = Shelf()
    shelf.bodies["errors"] = "Error: handling guide\nNot found: what to do"
    spec = glassine.SessionSpec().with_context("skills", provider=shelf)
    session = store.session("s", spec)
    session.append(say("u1"))
    _use(session, "load_context", "c1", "errors")
    equal(session.loaded_skills(), (("skills", "errors"),), "a body that begins like an error")
    arguments = {"label": "skills", "key": "deploy"}
    shapes: list[Any] = [
        "Not found: deploy",
        {"type": "text", "value": "Not found: deploy"},
        [{"type": "text", "text": "Not found: deploy"}],
        {"type": "error-text", "value": "the shelf is gone"},
    ]
    for number, shape in enumerate(shapes):
        call = glassine.tool_call("load_context", arguments, id=f"d{number}")
        session.append([glassine.assistant(call), glassine.tool_result(call, shape)])
    equal(session.loaded_skills(), (("skills", "errors"),), "answers in other shapes")
    again = glassine.tool_call("load_context", arguments, id="c1")
    session.append([glassine.assistant(again), glassine.tool_result(again, "Deploy with care.")])
    equal(len(session.loaded_skills()), 2, "a call id that comes again")
    session.unload_skill("skills", "errors")
    equal(session.loaded_skills(), (("skills", "deploy"),), "each by its own message")


def a_client_hands_back_what_it_was_shown(store: Store) -> None:
    day = {"now": "Monday"}

    class Calendar:
        def get(self) -> str:
            return day["now"]

    spec = glassine.SessionSpec().with_context("skills", provider=Shelf()).with_cached_prompt()
    session = store.session("s", spec.with_context("date", provider=Calendar(), when_changed="remind"))
    session.append(say("u1"))
    session.view()
    _use(session, "load_context", "c1", "deploy")
    session.append(say("u2"))
    session.unload_skill("skills", "deploy")
    day["now"] = "Tuesday"
    shown = [message.to_dict() for message in session.view().messages]
    true("Tuesday" in repr(shown) and "[skill unloaded: deploy]" in repr(shown), "what is shown")
    before = session.history(raw=True)
    for message in shown:
        del message["id"]  # some clients drop ids
    done = session.ingest([*shown, {"role": "user", "parts": [{"type": "text", "text": "and now?"}]}])
    after = session.history(raw=True)
    equal((after[:-1], len(done.appended), after[-1].text), (before, 1, "and now?"), "what is stored then")


def _use(session: Session, name: str, call_id: str, key: str) -> str:
    """A model's step: it calls a tool, and the answer is stored."""
    arguments = {"label": "skills", "key": key}
    call = glassine.tool_call(name, arguments, id=call_id)
    session.append(glassine.assistant(call, id=f"a-{call_id}"))
    tool = {tool.name: tool for tool in session.tools()}[name]
    answer = tool.call(arguments)
    session.append(glassine.tool_result(call, answer, id=f"r-{call_id}"))
    return answer
