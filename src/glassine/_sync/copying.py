# Generated from src/glassine/_async/copying.py by scripts/unasync.py. Edit that file and run ./dev fix.
"""Copying all sessions from one store to another, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .._ids import check_id
from .._spool import Spool
from ..copying import (
    ANOTHER,
    CHANGED_HERE,
    DELETED_THERE,
    CopyProblem,
    CopyReport,
    Fault,
    Fingerprint,
    Original,
    Outcome,
    State,
    judge,
)
from ..records import Ref
from .engine import Engine
from .ops.copying import Place, Start, shown

TRIES = 3
"""How often a session is read that others keep writing to."""


class Copying:
    """One run of a copy; see `Store.copy_to`."""

    def __init__(self, source: Engine, target: Engine, now: Callable[[], int], dry_run: bool) -> None:
        self._source, self._target, self._now, self._dry_run = source, target, now, dry_run
        self._counts: Counter[Outcome] = Counter()
        self._messages = 0
        self._problems: list[CopyProblem] = []

    def run(self, namespaces: Sequence[str], progress: Callable[[int, int], None] | None) -> CopyReport:
        total = done = 0
        for name in namespaces:
            total += self._source.store_info(check_id("namespace", name)).sessions
        for name in namespaces:
            last = 0
            while originals := self._source.copy_originals(name, last):
                states = self._target.copy_states(name, [original.id for original in originals])
                for original, state in zip(originals, states, strict=True):
                    self._session(Ref(name, original.id), original, state)
                    done += 1
                    if progress is not None:
                        progress(done, max(done, total))
                last = originals[-1].key
            self._deletions(name)
            self._shared(name)
        counts = self._counts
        return CopyReport(
            namespaces=tuple(namespaces),
            copied=counts["copied"],
            updated=counts["updated"],
            same=counts["same"],
            deleted=counts["deleted"],
            messages=self._messages,
            problems=tuple(self._problems),
        )

    def _session(self, ref: Ref, original: Original, state: State) -> None:
        for _ in range(TRIES):
            verdict = judge(original, state)
            if verdict.decision == "same":
                self._counts["same"] += 1
                return
            if verdict.decision == "diverged":
                self._problem(ref, "diverged", verdict.reason)
                return
            begun = self._source.copy_start(ref)
            if begun is None:
                return  # deleted meanwhile, of which the deletions tell
            if verdict.decision == "compare":
                settled = self._compare(ref, begun, state)
            else:
                settled = self._write(ref, begun, state)
            if settled:
                return
            begun = self._source.copy_start(ref)
            if begun is None:
                return
            original = original._replace(key=begun.session, change=begun.change, created_at=begun.created_at)
            [state] = self._target.copy_states(ref.namespace, [ref.session])
        self._problem(ref, "busy", "others kept writing to it while it was copied; copy again")

    def _compare(self, ref: Ref, begun: Start, state: State) -> bool:
        """Whether it was settled that the target holds the same, though no copy made it, or something else."""
        there = self._target.copy_start(ref)
        here = self._fingerprint(self._source, ref, begun, None)
        other = None if there is None else self._fingerprint(self._target, ref, there, None)
        if here is None or other is None:
            return False
        if here != other:
            self._problem(ref, "diverged", ANOTHER)
        elif self._dry_run or self._target.copy_adopt(ref, state):
            self._counts["same"] += 1
        else:
            return False
        return True

    def _write(self, ref: Ref, begun: Start, state: State) -> bool:
        """Whether the session was written and compared."""
        if not self._dry_run:
            with Spool() as spool:
                here = self._fingerprint(self._source, ref, begun, spool)
                if here is None or not self._target.copy_put(ref, begun.row, spool, state, self._now()):
                    return False
            there = self._target.copy_start(ref)
            # Others may write to it, or delete it, from now on; then there is nothing to compare.
            if there is not None and there.change == begun.change:
                found = self._fingerprint(self._target, ref, there, None)
                if found is not None and found != here:
                    self._problem(ref, "checksum", "what the target holds is not what was read; `verify` says more")
                    return True
        self._counts["copied" if state.change is None else "updated"] += 1
        self._messages += begun.messages
        return True

    def _fingerprint(self, engine: Engine, ref: Ref, begun: Start, spool: Spool | None) -> str | None:
        """What a session is known by; its rows go to `spool`. None: it was changed meanwhile."""
        fingerprint = Fingerprint()
        fingerprint.add(begun.shown)
        place: Place | None = Place()
        while place is not None:
            page = engine.copy_page(ref, begun, place, spool is not None)
            if page is None:
                return None
            fingerprint.add(shown(page.rows))
            if spool is not None:
                spool.add(page.rows)
            place = page.next
        return fingerprint.hex()

    def _deletions(self, namespace: str) -> None:
        """Delete in the target what a copy made there and the source has deleted since."""
        last = ""
        while rows := self._source.copy_deleted(namespace, last):
            states = self._target.copy_states(namespace, [id for id, _, _ in rows])
            for (id, change, deleted_at), state in zip(rows, states, strict=True):
                self._deletion(Ref(namespace, id), change, deleted_at, state)
            last = rows[-1][0]

    def _deletion(self, ref: Ref, change: int, deleted_at: int, state: State) -> None:
        dropped = state.untouched
        if dropped and not self._dry_run and not self._target.copy_drop(ref, change, deleted_at):
            [state] = self._target.copy_states(ref.namespace, [ref.session])
            dropped = state.change is None  # by another copy
        if dropped:
            self._counts["deleted"] += 1
        elif state.change is None:
            if state.deleted_at is None and not self._dry_run:
                self._target.copy_bury(ref, change, deleted_at)
        elif state.copied is not None:
            self._problem(ref, "diverged", DELETED_THERE)

    def _shared(self, namespace: str) -> None:
        """What belongs to the namespace itself, blocks and entries, one by one: what a copy wrote is brought up to
        date."""
        blocks = self._source.copy_shared_blocks(namespace)
        if blocks:
            for label in self._target.copy_shared_put_blocks(namespace, blocks, self._dry_run):
                detail = f"block {label!r} belongs to the whole namespace: {CHANGED_HERE}"
                self._problems.append(CopyProblem(namespace, "", "diverged", detail))
        after: tuple[str, str] | None = ("", "")
        while after is not None:
            page = self._source.copy_shared(namespace, after)
            if page.rows:
                left = self._target.copy_shared_put(namespace, page.rows, self._dry_run)
                self._shared_problems(namespace, left, CHANGED_HERE)
            after = page.next
        if gone := self._source.copy_shared_deleted(namespace):
            left = self._target.copy_shared_drop(namespace, gone, self._dry_run, self._now())
            self._shared_problems(namespace, left, DELETED_THERE)

    def _shared_problems(self, namespace: str, left: Sequence[tuple[str, str]], reason: str) -> None:
        for label, key in left:
            detail = f"entry {key!r} of {label!r} belongs to the whole namespace: {reason}"
            self._problems.append(CopyProblem(namespace, "", "diverged", detail))

    def _problem(self, ref: Ref, code: Fault, detail: str) -> None:
        self._problems.append(CopyProblem(ref.namespace, ref.session, code, detail))
