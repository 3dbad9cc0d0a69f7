"""glassine: a session and memory layer for agents.

The conversation is stored once and never destroyed; everything a model sees is a view laid over it.
"""

from importlib import import_module as _load
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import errors as errors
    from . import messages as messages
    from . import models as models
    from . import rules as rules
    from . import tokens as tokens
    from ._async.context import AsyncTool
    from ._async.session import AsyncSession
    from ._async.store import AsyncStore, open_async
    from ._sync.context import Tool
    from ._sync.session import Session
    from ._sync.store import Store, open
    from .binding import SearchableEntries, SkillTable
    from .blocks import Block
    from .calibration import Calibration
    from .compaction import CompactionPlan, NothingToDo, plan_compaction
    from .compactor import Compaction, Compactor, Recovery, Summary
    from .copying import CopyProblem, CopyReport
    from .dialects import from_ai_sdk, from_anthropic, from_gemini, from_openai, from_openai_responses
    from .entries import Entry, EntryInfo
    from .errors import (
        BlockNotFoundError,
        BudgetExceededError,
        ConflictError,
        CorruptMessageError,
        DriverMissingError,
        ForkedStoreError,
        GlassineError,
        InvalidError,
        InvalidIdError,
        InvalidMessageError,
        InvalidRangeError,
        InvalidSpecError,
        LeafMovedError,
        MessageNotFoundError,
        NoCompactorError,
        NotADatabaseError,
        NotFoundError,
        OverlayNotFoundError,
        ProviderError,
        ReadOnlyBlockError,
        SchemaVersionError,
        SessionNotFoundError,
        StoreBusyError,
        StoreClosedError,
        StoreError,
        StoreFullError,
        StorePermissionError,
        StoreReadOnlyError,
        StoreUnavailableError,
    )
    from .explaining import Explanation
    from .extracting import extractive_summary
    from .formats._common import Note
    from .hints import CacheHints
    from .loading import Loaded
    from .messages import Message, ToolCall, ToolResult, assistant, calls, results, tool_call, tool_result, user
    from .models import Model
    from .origins import Line
    from .overflow import Overflow, is_context_overflow
    from .overlays import Overlay
    from .prompt import Freezing, Prompt
    from .providers import FileContext, SkillBucket, SkillDirectory
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
        StoredBlock,
        StoreInfo,
        Totals,
        Usage,
    )
    from .showing import ViewEntry
    from .spec import SessionSpec
    from .summarisers import summarize_with_anthropic, summarize_with_openai
    from .summarising import SummaryPrompt
    from .tools import ToolDefinition
    from .truncation import truncate_older
    from .view import View

__version__ = "0.1.0"

__all__ = [
    "AsyncSession",
    "AsyncStore",
    "AsyncTool",
    "Block",
    "BlockNotFoundError",
    "BudgetExceededError",
    "CacheHints",
    "Calibration",
    "Check",
    "Compaction",
    "CompactionPlan",
    "Compactor",
    "ConflictError",
    "CopyProblem",
    "CopyReport",
    "CorruptMessageError",
    "Deletion",
    "DriverMissingError",
    "Entry",
    "EntryInfo",
    "Event",
    "Explanation",
    "FileContext",
    "ForkedStoreError",
    "Freezing",
    "GlassineError",
    "Hit",
    "Hits",
    "Ingested",
    "InvalidError",
    "InvalidIdError",
    "InvalidMessageError",
    "InvalidRangeError",
    "InvalidSpecError",
    "LeafMovedError",
    "Line",
    "Lineage",
    "Loaded",
    "Message",
    "MessageNotFoundError",
    "Model",
    "NoCompactorError",
    "NotADatabaseError",
    "NotFoundError",
    "Note",
    "NothingToDo",
    "Outline",
    "Overflow",
    "Overlay",
    "OverlayNotFoundError",
    "Problem",
    "Prompt",
    "ProviderError",
    "ReadOnlyBlockError",
    "Recent",
    "Recovery",
    "SchemaVersionError",
    "SearchableEntries",
    "Session",
    "SessionInfo",
    "SessionNotFoundError",
    "SessionSpec",
    "Skill",
    "SkillBucket",
    "SkillDirectory",
    "SkillTable",
    "Store",
    "StoreBusyError",
    "StoreClosedError",
    "StoreError",
    "StoreFullError",
    "StoreInfo",
    "StorePermissionError",
    "StoreReadOnlyError",
    "StoreUnavailableError",
    "StoredBlock",
    "Summary",
    "SummaryPrompt",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Totals",
    "Usage",
    "View",
    "ViewEntry",
    "assistant",
    "calls",
    "extractive_summary",
    "from_ai_sdk",
    "from_anthropic",
    "from_gemini",
    "from_openai",
    "from_openai_responses",
    "is_context_overflow",
    "open",
    "open_async",
    "plan_compaction",
    "results",
    "summarize_with_anthropic",
    "summarize_with_openai",
    "tool_call",
    "tool_result",
    "truncate_older",
    "user",
]

# Where each name lives. A module is loaded when something of it is first asked for: an agent's own program should
# start at once, and asyncio alone takes longer to import than all of this package.
_HOMES = {
    "_async.context": ("AsyncTool",),
    "_async.session": ("AsyncSession",),
    "_async.store": ("AsyncStore", "open_async"),
    "_sync.context": ("Tool",),
    "_sync.session": ("Session",),
    "_sync.store": ("Store", "open"),
    "binding": ("SearchableEntries", "SkillTable"),
    "blocks": ("Block",),
    "dialects": (
        "from_ai_sdk",
        "from_anthropic",
        "from_gemini",
        "from_openai",
        "from_openai_responses",
    ),
    "explaining": ("Explanation",),
    "formats._common": ("Note",),
    "hints": ("CacheHints",),
    "models": ("Model",),
    "truncation": ("truncate_older",),
    "calibration": ("Calibration",),
    "compaction": ("CompactionPlan", "NothingToDo", "plan_compaction"),
    "compactor": ("Compaction", "Compactor", "Recovery", "Summary"),
    "extracting": ("extractive_summary",),
    "overflow": ("Overflow", "is_context_overflow"),
    "summarisers": ("summarize_with_anthropic", "summarize_with_openai"),
    "summarising": ("SummaryPrompt",),
    "copying": ("CopyProblem", "CopyReport"),
    "entries": ("Entry", "EntryInfo"),
    "loading": ("Loaded",),
    "messages": (
        "Message",
        "ToolCall",
        "ToolResult",
        "assistant",
        "calls",
        "results",
        "tool_call",
        "tool_result",
        "user",
    ),
    "origins": ("Line",),
    "overlays": ("Overlay",),
    "prompt": ("Freezing", "Prompt"),
    "providers": ("FileContext", "SkillBucket", "SkillDirectory"),
    "records": (
        "Check",
        "Deletion",
        "Event",
        "Hit",
        "Hits",
        "Ingested",
        "Lineage",
        "Outline",
        "Problem",
        "Recent",
        "SessionInfo",
        "StoreInfo",
        "StoredBlock",
        "Totals",
        "Usage",
    ),
    "skills": ("Skill",),
    "spec": ("SessionSpec",),
    "tools": ("ToolDefinition",),
    "showing": ("ViewEntry",),
    "view": ("View",),
}
_MODULES = ("errors", "messages", "models", "rules", "tokens")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _load(f".{name}", __name__)
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = "errors"
    value = globals()[name] = getattr(_load(f".{home}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))
