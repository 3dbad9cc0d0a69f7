"""glassine: a session and memory layer for agents.

The conversation is stored once and never destroyed; everything a model sees is a view laid over it.
"""

from typing import TYPE_CHECKING, Any

from ._sync.session import Session
from ._sync.store import Store, open
from .errors import (
    ConflictError,
    CorruptMessageError,
    ForkedStoreError,
    GlassineError,
    InvalidError,
    InvalidIdError,
    InvalidMessageError,
    InvalidRangeError,
    LeafMovedError,
    MessageNotFoundError,
    NotADatabaseError,
    NotFoundError,
    OverlayNotFoundError,
    SchemaVersionError,
    SessionNotFoundError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from .messages import Message, ToolCall, ToolResult, assistant, calls, results, tool_call, tool_result, user
from .overlays import Overlay
from .records import (
    Check,
    Deletion,
    Event,
    Hit,
    Hits,
    Ingested,
    Lineage,
    Outline,
    Problem,
    Recent,
    SessionInfo,
    StoreInfo,
    Totals,
    Usage,
)

if TYPE_CHECKING:
    from ._async.session import AsyncSession
    from ._async.store import AsyncStore, open_async

__version__ = "0.1.0"

__all__ = [
    "AsyncSession",
    "AsyncStore",
    "Check",
    "ConflictError",
    "CorruptMessageError",
    "Deletion",
    "Event",
    "ForkedStoreError",
    "GlassineError",
    "Hit",
    "Hits",
    "Ingested",
    "InvalidError",
    "InvalidIdError",
    "InvalidMessageError",
    "InvalidRangeError",
    "LeafMovedError",
    "Lineage",
    "Message",
    "MessageNotFoundError",
    "NotADatabaseError",
    "NotFoundError",
    "Outline",
    "Overlay",
    "OverlayNotFoundError",
    "Problem",
    "Recent",
    "SchemaVersionError",
    "Session",
    "SessionInfo",
    "SessionNotFoundError",
    "Store",
    "StoreBusyError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreInfo",
    "StoreReadOnlyError",
    "ToolCall",
    "ToolResult",
    "Totals",
    "Usage",
    "assistant",
    "calls",
    "open",
    "open_async",
    "results",
    "tool_call",
    "tool_result",
    "user",
]


def __getattr__(name: str) -> Any:
    # asyncio alone takes longer to import than all of this package; it is loaded for those who use it.
    if name in ("AsyncSession", "AsyncStore", "open_async"):
        from ._async.session import AsyncSession
        from ._async.store import AsyncStore, open_async

        globals().update(AsyncSession=AsyncSession, AsyncStore=AsyncStore, open_async=open_async)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))
