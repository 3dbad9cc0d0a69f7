"""An agent loop with the `anthropic` SDK: memory is written, a skill is loaded, and the next run goes on where it was.

    python examples/anthropic_agent.py "Remember that I like tea."
    python examples/anthropic_agent.py "What do I like?"

Needs `pip install glassine anthropic` and ANTHROPIC_API_KEY. ANTHROPIC_BASE_URL names another server. The conversation
is kept in agent.db.
"""

import sys
from pathlib import Path

import anthropic

import glassine

MODEL = "claude-sonnet-5"
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


def run(session: glassine.Session, client: anthropic.Anthropic, text: str, model: str = MODEL) -> str:
    """One turn: the user's text, then as many steps as the model wants. Returns its last words."""
    session.append(glassine.user(text))
    for _ in range(MAX_STEPS):
        view = session.view(model=model)
        response = client.messages.create(max_tokens=4096, **view.to_anthropic())
        reply = session.record(response, view=view)
        results = session.run_tools(reply)  # only our own tools; yours would be run here too
        if not results:
            return reply.text
        session.append(results)
    raise RuntimeError(f"no answer after {MAX_STEPS} steps")


def main() -> None:
    folder = Path(__file__).parent / "skills"
    with glassine.open("agent.db") as store:
        session = store.session("chat", spec(folder))
        print(run(session, anthropic.Anthropic(), " ".join(sys.argv[1:]) or "Hello!"))


if __name__ == "__main__":
    main()
