"""Providers that come with glassine: files, and skills in folders and buckets.

They are plain objects that do their work when they are called; a session calls them, an async one in a worker thread.
"""

from .bucket import SkillBucket
from .directory import SkillDirectory
from .file import FileContext

__all__ = ["FileContext", "SkillBucket", "SkillDirectory"]
