"""The Messages API of Anthropic."""

from __future__ import annotations

from starlette.routing import Route

from ._server import FakeProvider


def routes(fake: FakeProvider) -> list[Route]:
    """The routes of this API, beneath its mount."""
    return []
