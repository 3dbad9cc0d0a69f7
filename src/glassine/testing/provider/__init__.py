"""A fake of the providers' APIs that is as strict as they are, for tests of agents with the real clients."""

from ._answers import Call, Cut, Failure, Received, Text, Thinking, Wait
from ._server import FakeProvider

__all__ = ["Call", "Cut", "Failure", "FakeProvider", "Received", "Text", "Thinking", "Wait"]
