"""Skills: what is loaded into a conversation, told from it alone, and taken out again."""

from __future__ import annotations

from typing import Any

import glassine
from glassine import AsyncSession, AsyncStore

from .._expecting import equal, say, true


class Shelf:
    """Skills of a caller's own."""

    def __init__(self) -> None:
        self.bodies = {"deploy": "Deploy with care.", "style": "Write plainly."}

    def get(self) -> str:
        return "\n".join(f"- {key}" for key in self.bodies)

    def load(self, key: str) -> str | None:
        return self.bodies.get(key)


async def skills_are_loaded_once_and_unloaded_whole(store: AsyncStore) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf()).with_cached_prompt()
    session = store.session("s", spec)
    await session.append(say("u1"))
    before = [tool.to_anthropic() for tool in await session.tools()]
    body = await _use(session, "load_context", "c1", "deploy")
    equal(body, "Deploy with care.", "the body")
    equal(await session.loaded_skills(), (("skills", "deploy"),), "what is loaded")
    true((await _use(session, "load_context", "c2", "deploy")).startswith("Already loaded"), "loading it again")
    equal(await _use(session, "load_context", "c3", "nothing"), "Not found: nothing", "an unknown key")
    equal([tool.to_anthropic() for tool in await session.tools()], before, "the tools while it is loaded")
    again = store.session("s", spec)
    equal(await again.loaded_skills(), (("skills", "deploy"),), "what is loaded after a restart")
    true((await again.unload_skill("skills", "deploy")).startswith("Unloaded"), "unloading")
    equal(await again.loaded_skills(), (), "what is loaded then")
    for shown in ((await again.view()).messages, await again.history(), [m async for m in again.iter_history()]):
        text = repr([message.to_dict() for message in shown])
        true("Deploy with care." not in text and "[skill unloaded: deploy]" in text, "what a view shows")
    true("Deploy with care." in repr([m.to_dict() for m in await again.history(raw=True)]), "what is stored")
    true((await again.unload_skill("skills", "deploy")).startswith("Not loaded"), "unloading it again")
    equal(await _use(again, "load_context", "c4", "deploy"), "Deploy with care.", "loading it anew")
    equal(await again.loaded_skills(), (("skills", "deploy"),), "what is loaded at last")


async def an_unload_holds_on_its_branch(store: AsyncStore) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    await session.append(say("u1"))
    await _use(session, "load_context", "c1", "deploy")
    fork = await session.append(say("u2"))
    await session.unload_skill("skills", "deploy")
    equal(await session.loaded_skills(), (), "on the branch where it was unloaded")
    await session.append(say("other"), parent="r-c1")
    equal(await session.loaded_skills(), (("skills", "deploy"),), "on another branch")
    await session.switch(fork)
    equal(await session.loaded_skills(), (), "back on the first")


async def load_and_unload_before_anything_is_stored(store: AsyncStore) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    await session.append(say("u1"))
    tools = {tool.name: tool for tool in await session.tools()}
    arguments = {"label": "skills", "key": "deploy"}
    body = await tools["load_context"].call(arguments)
    gone = await tools["unload_context"].call(arguments)
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
    await session.append(glassine.assistant(*parts, id="a"))
    true(body not in repr((await session.view()).messages[-1].to_dict()), "the view")
    true(body not in repr((await session.history())[-1].to_dict()), "the history")
    equal(await store.session("s", spec).loaded_skills(), (), "what is loaded after a restart")


async def unloads_hold_on_every_branch_that_asks(store: AsyncStore) -> None:
    spec = glassine.SessionSpec().with_context("skills", provider=Shelf())
    session = store.session("s", spec)
    await session.append(say("u1"))
    await _use(session, "load_context", "c1", "deploy")
    await session.append(say("b1"))
    await session.unload_skill("skills", "deploy")
    await session.append(say("b2"), parent="r-c1")
    await session.unload_skill("skills", "deploy")
    equal(await session.loaded_skills(), (), "on the second branch")
    await session.switch("b1")
    equal(await session.loaded_skills(), (), "on the first")
    await session.switch("r-c1")
    equal(await session.loaded_skills(), (("skills", "deploy"),), "where nobody asked")


async def answers_are_told_from_bodies(store: AsyncStore) -> None:
    shelf = Shelf()
    shelf.bodies["errors"] = "Error: handling guide\nNot found: what to do"
    spec = glassine.SessionSpec().with_context("skills", provider=shelf)
    session = store.session("s", spec)
    await session.append(say("u1"))
    await _use(session, "load_context", "c1", "errors")
    equal(await session.loaded_skills(), (("skills", "errors"),), "a body that begins like an error")
    arguments = {"label": "skills", "key": "deploy"}
    shapes: list[Any] = [
        "Not found: deploy",
        {"type": "text", "value": "Not found: deploy"},
        [{"type": "text", "text": "Not found: deploy"}],
        {"type": "error-text", "value": "the shelf is gone"},
    ]
    for number, shape in enumerate(shapes):
        call = glassine.tool_call("load_context", arguments, id=f"d{number}")
        await session.append([glassine.assistant(call), glassine.tool_result(call, shape)])
    equal(await session.loaded_skills(), (("skills", "errors"),), "answers in other shapes")
    again = glassine.tool_call("load_context", arguments, id="c1")
    await session.append([glassine.assistant(again), glassine.tool_result(again, "Deploy with care.")])
    equal(len(await session.loaded_skills()), 2, "a call id that comes again")
    await session.unload_skill("skills", "errors")
    equal(await session.loaded_skills(), (("skills", "deploy"),), "each by its own message")


async def a_client_hands_back_what_it_was_shown(store: AsyncStore) -> None:
    day = {"now": "Monday"}

    class Calendar:
        def get(self) -> str:
            return day["now"]

    spec = glassine.SessionSpec().with_context("skills", provider=Shelf()).with_cached_prompt()
    session = store.session("s", spec.with_context("date", provider=Calendar(), when_changed="remind"))
    await session.append(say("u1"))
    await session.view()
    await _use(session, "load_context", "c1", "deploy")
    await session.append(say("u2"))
    await session.unload_skill("skills", "deploy")
    day["now"] = "Tuesday"
    shown = [message.to_dict() for message in (await session.view()).messages]
    true("Tuesday" in repr(shown) and "[skill unloaded: deploy]" in repr(shown), "what is shown")
    before = await session.history(raw=True)
    for message in shown:
        del message["id"]  # some clients drop ids
    done = await session.ingest([*shown, {"role": "user", "parts": [{"type": "text", "text": "and now?"}]}])
    after = await session.history(raw=True)
    equal((after[:-1], len(done.appended), after[-1].text), (before, 1, "and now?"), "what is stored then")


async def _use(session: AsyncSession, name: str, call_id: str, key: str) -> str:
    """A model's step: it calls a tool, and the answer is stored."""
    arguments = {"label": "skills", "key": key}
    call = glassine.tool_call(name, arguments, id=call_id)
    await session.append(glassine.assistant(call, id=f"a-{call_id}"))
    tool = {tool.name: tool for tool in await session.tools()}[name]
    answer = await tool.call(arguments)
    await session.append(glassine.tool_result(call, answer, id=f"r-{call_id}"))
    return answer
