"""An agent loop with the `openai` SDK, streamed: memory is written, a skill is loaded, and the next run goes on.

    python examples/openai_agent.py "Remember that I like tea."
    python examples/openai_agent.py "What do I like?"

Needs `pip install glassine openai` and OPENAI_API_KEY. OPENAI_BASE_URL names any server that speaks chat completions.
The conversation is kept in agent.db.
"""

import asyncio
import sys
from pathlib import Path

import openai

import glassine

MODEL = "gpt-5"
MAX_STEPS = 20


def spec(skills: Path) -> glassine.SessionSpec:
    """What the agent's sessions are made of."""
    return (
        glassine.SessionSpec()
        .with_context("soul", text="You are a careful assistant. Write down what will matter later.")
        .with_context("memory", description="Facts about the user", max_tokens=1100)
        .with_context("skills", provider=glassine.SkillDirectory(skills))
        .with_cached_prompt()
    )


async def run(session: glassine.AsyncSession, client: openai.AsyncOpenAI, text: str, model: str = MODEL) -> str:
    """One turn: the user's text, then as many steps as the model wants. Returns its last words."""
    await session.append(glassine.user(text))
    for _ in range(MAX_STEPS):
        view = await session.view(model=model)
        stream = await client.chat.completions.create(
            stream=True, stream_options={"include_usage": True}, **view.to_openai()
        )
        async with session.record_stream(stream, view=view) as recording:
            async for event in recording:  # what came is stored now and then, whatever happens next
                print(*[choice.delta.content or "" for choice in event.choices], sep="", end="", flush=True)
        reply = recording.message
        if reply is None:
            raise RuntimeError("the model said nothing")
        results = await session.run_tools(reply)
        if not results:
            print()
            return reply.text
        await session.append(results)
    raise RuntimeError(f"no answer after {MAX_STEPS} steps")


async def main() -> None:
    folder = Path(__file__).parent / "skills"
    async with glassine.open_async("agent.db") as store, openai.AsyncOpenAI() as client:
        await run(store.session("chat", spec(folder)), client, " ".join(sys.argv[1:]) or "Hello!")


if __name__ == "__main__":
    asyncio.run(main())
