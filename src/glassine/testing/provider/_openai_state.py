"""What the Responses API remembers: stored responses, and which items it gave out together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glassine.rules import Violation


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored response: the items before it, and itself."""

    input: Sequence[Mapping[str, Any]]
    response: Mapping[str, Any]

    @property
    def items(self) -> list[Mapping[str, Any]]:
        return [*self.input, *self.response["output"]]


class State:
    """The responses and items of one account."""

    def __init__(self) -> None:
        self.responses: dict[str, Stored] = {}
        self._items: dict[str, Mapping[str, Any]] = {}  # stored ones by id
        self._needs: dict[str, str] = {}  # an item: the reasoning that it came from
        self._leads: dict[str, str] = {}  # reasoning: the item that came of it
        self._contents: dict[str, str] = {}  # reasoning: its encrypted content
        self._owners: dict[str, str] = {}  # encrypted content: its reasoning

    def remember(self, stored: Stored, *, store: bool) -> None:
        """Keep a reply; without `store` only what was given out together."""
        reasoning: list[str] = []
        for item in stored.response["output"]:
            if item["type"] == "reasoning":
                reasoning.append(item["id"])
                if content := item.get("encrypted_content"):
                    self._contents[item["id"]] = content
                    self._owners[content] = item["id"]
            elif reasoning:
                self._needs[item["id"]] = reasoning[-1]
                self._leads.update(dict.fromkeys(reasoning, item["id"]))
                reasoning = []
        if store:
            self.responses[stored.response["id"]] = stored
            self._items.update({item["id"]: item for item in stored.response["output"]})

    def expand(self, body: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Violation]]:
        """All items that the model reads: those before, the references looked up, and the new ones."""
        given = listed(body.get("input"))
        items: list[Mapping[str, Any]] = []
        previous = body.get("previous_response_id")
        if previous is not None:
            if previous not in self.responses:
                text = f"Previous response with id '{previous}' not found."
                return [], [Violation("openai_responses.previous", "previous_response_id", text)]
            items += self.responses[previous].items
        if body.get("conversation") is not None:
            text = "Conversation not found."
            return [], [Violation("openai_responses.previous", "conversation", text)]
        found: list[Violation] = []
        for number, item in enumerate(given):
            if not self._is_bare(item):
                items.append(item)
            elif item.get("id") in self._items:
                items.append(self._items[item["id"]])
            else:
                text = f"Item with id '{item.get('id')}' not found."
                found.append(Violation("openai_responses.item_stored", f"input.{number}", text))
        return items, found

    def judge(self, items: Sequence[Mapping[str, Any]]) -> list[Violation]:
        """Items that came together stand together, and encrypted content is as it was."""
        found: list[Violation] = []
        ids = {item.get("id") for item in items}
        for number, item in enumerate(items):
            id, path = item.get("id"), f"input.{number}"
            if id is None:
                continue
            kind = item.get("type", "message")
            if id in self._needs and self._needs[id] not in ids:
                text = f"was provided without its required 'reasoning' item: '{self._needs[id]}'."
                found.append(Violation("openai_responses.linked", path, f"Item '{id}' of type '{kind}' {text}"))
            if id in self._leads and self._follower(items, number) not in (None, self._leads[id]):
                text = "was provided without its required following item."
                found.append(Violation("openai_responses.linked", path, f"Item '{id}' of type '{kind}' {text}"))
            found += self._judge_content(item, path)
        return found

    def _judge_content(self, item: Mapping[str, Any], path: str) -> list[Violation]:
        """Encrypted content that the fake gave out is as it was, and in its item. Foreign content passes."""
        id, content = item["id"], item.get("encrypted_content")
        if not content:
            return []
        if self._owners.get(content, id) != id:
            reason = "Encrypted content item_id did not match the target item id."
        elif self._contents.get(id, content) != content:
            reason = "Encrypted content could not be decrypted or parsed."
        else:
            return []
        text = f"The encrypted content for item {id} could not be verified. Reason: {reason}"
        return [Violation("openai_responses.encrypted_content", path, text)]

    def _is_bare(self, item: Mapping[str, Any]) -> bool:
        """Whether an item only points to one that is stored: a reference, or reasoning without its content."""
        if item.get("type") == "reasoning":
            return not item.get("encrypted_content")
        return item.get("type") == "item_reference" or ("type" not in item and "role" not in item)

    def _follower(self, items: Sequence[Mapping[str, Any]], number: int) -> Any:
        """The id of the item behind reasoning; None for one without an id."""
        after = (item for item in items[number + 1 :] if item.get("type") != "reasoning")
        return next(after, {}).get("id")


def listed(given: Any) -> list[Mapping[str, Any]]:
    """The input as items; a text is a message of the user."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return list(given or ())
