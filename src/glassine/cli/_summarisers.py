"""Who writes a summary for `glassine compact`: no model, or a model by its provider's SDK, with the key of the
environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

import glassine

from ._errors import MisuseError

if TYPE_CHECKING:
    from glassine import SummaryPrompt

EXTRACTIVE: Final = "extractive"
_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The SDKs, which are named as their packages are, and the variables with their keys."""


class Writer(NamedTuple):
    """A provider's model; both are empty where no model is asked."""

    provider: str = ""
    model: str = ""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.provider else EXTRACTIVE


def writer(_: click.Context, __: click.Parameter, text: str) -> Writer:
    """The callback of `--with`."""
    if text == EXTRACTIVE:
        return Writer()
    provider, model = [*text.split(":", 1), ""][:2]
    if provider not in _KEYS or not model.strip():
        raise click.BadParameter(f"{text!r} is not {EXTRACTIVE}, anthropic:MODEL or openai:MODEL")
    return Writer(provider, model.strip())


@contextmanager
def summariser(chosen: Writer) -> Iterator[Callable[[SummaryPrompt], Any]]:
    """What a Compactor calls; its connections are closed in the end. Raises MisuseError when the SDK is not installed,
    or has no key."""
    match chosen.provider:
        case "anthropic":
            with _anthropic() as client:
                yield glassine.summarize_with_anthropic(client, chosen.model)
        case "openai":
            with _openai() as client:
                yield glassine.summarize_with_openai(client, chosen.model)
        case _:
            yield glassine.extractive_summary


def _anthropic() -> Any:
    try:
        import anthropic
    except ModuleNotFoundError as error:
        raise _not_installed("anthropic", error) from error
    client = anthropic.Anthropic()
    # The SDK itself says so only when it is to send something.
    if not any(getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")):
        client.close()
        raise _no_key("anthropic")
    return client


def _openai() -> Any:
    try:
        import openai
    except ModuleNotFoundError as error:
        raise _not_installed("openai", error) from error
    try:
        return openai.OpenAI()
    except openai.OpenAIError as error:
        raise _no_key("openai") from error


def _not_installed(name: str, error: ModuleNotFoundError) -> MisuseError:
    if error.name != name:
        raise error  # the SDK is there, and lacks something itself
    return MisuseError(f"--with {name}:… needs the SDK of {name}, which is not installed: pip install {name}")


def _no_key(name: str) -> MisuseError:
    return MisuseError(f"--with {name}:… needs a key, and there is none: set {_KEYS[name]}")
