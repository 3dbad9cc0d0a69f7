"""An agent without a model: a list of tool calls that write memory, index and search knowledge, and use a skill.

    python examples/scripted_memory.py [DATABASE]       DATABASE: a file or a postgresql:// URL; a new file if none
    python examples/scripted_memory.py --async [DATABASE]

Between the acts the store is closed and opened again, as if the program had been restarted: what was written lasts.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import glassine

SKILLS = {
    "deploy-checklist": "1. Run the tests.\n2. Tell the team.\n3. Deploy, and watch the errors for ten minutes.",
    "style-guide": "Write short sentences. Say what a thing does before how it does it.",
}


class Skills:
    """Skills of one's own: any object with `get` (the listing) and `load` (one body)."""

    def get(self) -> str:
        return "\n".join(f"- {key}: {body.splitlines()[0]}" for key, body in SKILLS.items())

    def load(self, key: str) -> str | None:
        return SKILLS.get(key)


SPEC = (
    glassine.SessionSpec()
    .with_context("soul", text="You are a careful engineer.")
    .with_context("memory", description="Important facts", max_tokens=1100)
    .with_context("knowledge", description="What the team knows", provider=glassine.SearchableEntries())
    .with_context("skills", provider=Skills())
    .with_cached_prompt()
)

# (tool, arguments), as a model would call them; after each act the program "restarts".
ACTS = [
    [
        ("set_context", {"label": "memory", "content": "The user prefers dark mode."}),
        ("set_context", {"label": "memory", "content": "ユーザーは東京にいる。", "action": "append"}),
        (
            "set_context",
            {
                "label": "knowledge",
                "content": "The billing service is deployed on Fridays.",
                "metadata": {"title": "Billing"},
            },
        ),
        (
            "set_context",
            {
                "label": "knowledge",
                "content": "東京都の天気は晴れ、明日の会議は三時からです。",
                "metadata": {"title": "東京"},
            },
        ),
    ],
    [
        ("search_context", {"label": "knowledge", "query": "billing deployed"}),
        ("search_context", {"label": "knowledge", "query": "天気"}),
        ("load_context", {"label": "skills", "key": "deploy-checklist"}),
        ("load_context", {"label": "skills", "key": "deploy-checklist"}),
    ],
    [
        ("unload_context", {"label": "skills", "key": "deploy-checklist"}),
        ("set_context", {"label": "soul", "content": "I do as I like."}),
    ],
]


def play(url: str) -> list[str]:
    """Play all acts with the sync classes. Returns the tools' answers, and the refreshed prompt at last."""
    answers = []
    for number, act in enumerate(ACTS):
        with glassine.open(url) as store:
            session = store.session("scripted", SPEC)
            prompt = session.freeze_prompt()
            session.append(glassine.user(f"Act {number + 1}"))
            tools = {tool.name: tool for tool in session.tools()}
            for step, (name, arguments) in enumerate(act):
                call = glassine.tool_call(name, arguments, id=f"call-{number}-{step}")
                reply = session.append(glassine.assistant(call))
                answer = tools[name].call(arguments, message_id=reply.id)
                session.append(glassine.tool_result(call, answer))
                answers.append(answer)
            assert session.freeze_prompt() == prompt  # whatever was written meanwhile
            loaded = session.loaded_skills()
            answers.append(f"loaded: {', '.join(skill.key for skill in loaded) or 'nothing'}")
    with glassine.open(url) as store:
        answers.append(store.session("scripted", SPEC).refresh_prompt("the script is over"))
    return answers


async def play_async(url: str) -> list[str]:
    """The same with the async classes."""
    answers = []
    for number, act in enumerate(ACTS):
        async with glassine.open_async(url) as store:
            session = store.session("scripted", SPEC)
            prompt = await session.freeze_prompt()
            await session.append(glassine.user(f"Act {number + 1}"))
            tools = {tool.name: tool for tool in await session.tools()}
            for step, (name, arguments) in enumerate(act):
                call = glassine.tool_call(name, arguments, id=f"call-{number}-{step}")
                reply = await session.append(glassine.assistant(call))
                answer = await tools[name].call(arguments, message_id=reply.id)
                await session.append(glassine.tool_result(call, answer))
                answers.append(answer)
            assert await session.freeze_prompt() == prompt
            loaded = await session.loaded_skills()
            answers.append(f"loaded: {', '.join(skill.key for skill in loaded) or 'nothing'}")
    async with glassine.open_async(url) as store:
        answers.append(await store.session("scripted", SPEC).refresh_prompt("the script is over"))
    return answers


def main() -> None:
    arguments = sys.argv[1:]
    colour = play
    if arguments[:1] == ["--async"]:
        arguments = arguments[1:]

        def colour(url: str) -> list[str]:
            return asyncio.run(play_async(url))

    with tempfile.TemporaryDirectory() as folder:
        for answer in colour(arguments[0] if arguments else str(Path(folder, "agent.db"))):
            print(answer)


if __name__ == "__main__":
    main()
