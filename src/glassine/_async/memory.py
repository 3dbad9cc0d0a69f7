"""Context memory as a session offers it: blocks, entries, skills, the frozen prompt and the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._ids import check_id
from ..moments import from_micros
from ..places import Place, id_of, storable
from ..records import StoredBlock
from .tree import AsyncTree

if TYPE_CHECKING:
    from ..blocks import Block, Scope, WhenChanged
    from ..entries import Entry, EntryInfo
    from ..loading import Loaded
    from ..origins import Line
    from ..prompt import Freezing, Prompt
    from .context import AsyncTool


class AsyncMemory(AsyncTree):
    """A session's tree, and its context memory."""

    async def blocks(self) -> list[Block]:
        """All blocks as they are now, in the order of the prompt. They may be newer than the frozen prompt."""
        return await self._context.blocks()

    async def block(self, label: str) -> Block:
        """One block as it is now. Raises BlockNotFoundError."""
        return await self._context.block(label)

    async def block_lines(self, label: str) -> list[Line]:
        """The lines of a block, each with the id of the message whose tool call wrote it (None: nobody's did)."""
        return await self._context.lines(label)

    async def stored_blocks(self) -> list[StoredBlock]:
        """The blocks that are stored in the database, whatever the spec says: those of this session, then those of its
        namespace, each in the order of their labels."""
        found = await self._engine.get_blocks(self._ref)
        blocks = [
            StoredBlock(label, scope, stored.content, from_micros(stored.updated_at))
            for (scope, label), stored in found.items()
        ]
        return sorted(blocks, key=lambda block: (block.scope == "namespace", block.label))

    async def replace_block(self, label: str, content: str) -> Block:
        """Write the content of a writable block anew; it lasts at once, and the frozen prompt stays as it is.

        Raises BudgetExceededError, and ReadOnlyBlockError for a block of another kind.
        """
        return await self._context.write(label, content, False)

    async def append_block(self, label: str, content: str) -> Block:
        """Add to a writable block: on a new line, unless `content` begins with a line break.

        Two holders of a stored block never lose each other's line. An object of the caller's that has no `append` is
        read, checked and set while other sessions wait; who writes to it by another way can still be overwritten.
        """
        return await self._context.write(label, content, True)

    async def put_entry(self, label: str, key: str, content: str, *, description: str | None = None) -> None:
        """Write an entry of a searchable or loadable block; the one of this key is replaced.

        Raises BudgetExceededError when it has more tokens than the block's `max_tokens`.
        """
        await self._context.bound(label).put(check_id("entry", key), content, description, None)

    async def entries(self, label: str) -> list[EntryInfo]:
        """The entries of a block with SearchableEntries or a SkillTable, in the order of their keys.

        Raises InvalidSpecError for a block of another kind; so do `entry` and `remove_entry`.
        """
        return await self._context.bound(label).entries()

    async def entry(self, label: str, key: str) -> Entry | None:
        """One of these entries, whole; None if there is none of this key."""
        return await self._context.bound(label).entry(key)

    async def remove_entry(self, label: str, key: str) -> bool:
        """Remove one of these entries. Returns whether it was there; the frozen prompt stays as it is."""
        return await self._context.bound(label).remove(key)

    async def add_context(
        self,
        label: str,
        *,
        text: str | None = None,
        provider: Any = None,
        description: str = "",
        max_tokens: int | None = None,
        scope: Scope = "session",
        when_changed: WhenChanged = "keep",
    ) -> None:
        """Add a block to this session object; see `SessionSpec.with_context`. The frozen prompt shows it after
        `refresh_prompt`; the tools can use it at once. Raises InvalidSpecError for a label that is taken."""
        from ..spec import block_spec

        self._context.add(block_spec(label, text, provider, description, max_tokens, scope, when_changed))
        self._has_prompt = True

    async def remove_context(self, label: str) -> bool:
        """Remove a block from this session object; what is stored of it stays. Returns whether it was there.

        The frozen prompt shows it until `refresh_prompt`.
        """
        return self._context.remove(label)

    async def load_skill(self, label: str, key: str) -> str | None:
        """The body of an entry of a loadable block, or None if there is none."""
        return await self._context.bound(label).load(key)

    async def unload_skill(self, label: str, key: str) -> str:
        """Take an entry that a model loaded out of the conversation, on this branch: a view shows a marker in the place
        of every copy, and what is stored stays. Returns what was done, in words."""
        return await self._context.unload(label, key)

    async def loaded_skills(self) -> tuple[Loaded, ...]:
        """The entries that are in the conversation now, read off the path to the active leaf."""
        return await self._context.loaded()

    async def freeze_prompt(self) -> str:
        """The system prompt. Frozen when it is first asked for: the same bytes until `refresh_prompt`, whatever is
        written to the blocks meanwhile; with a cached prompt also after a restart and in other processes."""
        return (await self._context.freeze()).text

    async def refresh_prompt(self, reason: str = "requested") -> str:
        """Render the system prompt and the tools anew from the blocks, freeze them, and return the prompt."""
        return (await self._context.refresh(storable(reason))).text

    async def drop_prompt(self) -> bool:
        """Forget the frozen prompt: the next request freezes it anew. Returns whether there was one. What is known of
        its freezings stays in `prompt_history`."""
        return await self._context.drop()

    async def prompt(self) -> Prompt | None:
        """The frozen prompt with its tools, digest, reason and time; None when none is frozen. Changes nothing."""
        return await self._context.frozen()

    async def stale_blocks(self) -> tuple[str, ...]:
        """The labels of the blocks that the frozen prompt does not show as they are now; none when none is frozen."""
        prompt = await self._context.frozen()
        return () if prompt is None else await self._context.stale(prompt)

    async def prompt_history(self) -> list[Freezing]:
        """When, why and with which digest the prompt was frozen, the oldest first. Only cached prompts are kept."""
        return await self._engine.freezings(self._ref)

    async def tools(self) -> list[AsyncTool]:
        """The tools through which a model uses the blocks, as they are frozen with the prompt.

        Without a spec there are none. Calls act on the blocks of now.
        """
        return await self._context.tools() if self._has_prompt else []

    async def read_original(self, message_id: Place, part: int, *, start: int = 0, length: int = 16_000) -> str:
        """Characters of the original of one part that a view shows shortened, with a line that says which they are.

        What is wrong with the arguments is said in the text, which begins with `Error:` then.
        """
        return await self._context.read_original(id_of(message_id), part, start, length)
