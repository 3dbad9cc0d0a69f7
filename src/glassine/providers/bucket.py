"""Skills in a bucket: S3, R2, GCS, Azure, or any other store that obstore knows."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from .. import front_matter, skills
from ..errors import InvalidIdError, ProviderError
from ..skills import SKILL_FILE, Skill
from . import _metadata, _objects

CONCURRENT: Final = 16
"""Requests at a time when skills are listed."""
_CONTENT_TYPE = "text/markdown; charset=utf-8"


class _Object(NamedTuple):
    """An object that is a skill. `files` are the paths of the other objects in its folder, None if it has no folder."""

    path: str
    size: int
    updated_at: datetime
    version: tuple[object, ...]
    files: dict[str, str] | None


class _Current(NamedTuple):
    """An object as it is. `version` is what a condition names it by, empty where the store has no versions."""

    text: str
    version: dict[str, str]
    attributes: dict[str, str]


class SkillBucket:
    """Skills in a bucket, loaded when the model asks for them.

    `url_or_store` is a URL (s3://bucket/path, gs://…, az://…, memory:///, file:///…) or a store of obstore. `options`
    go with a URL: `endpoint`, `access_key_id`, `secret_access_key`, `region`, `client_options`, … Needs the extra
    `buckets`.

    Each object below `prefix` is a skill; its key is its path there, without a final `.md`. `name/SKILL.md` is the
    skill `name`; the other objects below `name/` are files of it. A description stands in the object's metadata as
    `description`, or in the front matter. `keys` limits the skills that are listed, loaded and written.

    With `writable` the model may add and change skills. Where the store knows conditions (S3, R2, GCS, Azure do), two
    writers at the same time are noticed, and one of them gets a ProviderError.
    """

    def __init__(
        self,
        url_or_store: Any,
        *,
        prefix: str = "",
        keys: Iterable[str] | None = None,
        writable: bool = False,
        **options: Any,
    ) -> None:
        self.prefix = prefix.strip("/")
        if self.prefix:
            skills.checked_key(self.prefix)
        self.writable = writable
        self._keys = skills.AllowedKeys(keys)
        self._url = url_or_store if isinstance(url_or_store, str) else None
        if options and self._url is None:
            raise TypeError(f"{next(iter(options))!r} is an option of a bucket's URL")
        self._store = None if self._url is not None else url_or_store
        self._options = options
        self._opening = threading.Lock()
        # What objects say of themselves, as long as they are the same: a listing brings no metadata.
        self._known: dict[str, tuple[tuple[object, ...], skills.Description]] = {}
        where = _objects.shown(self._url) if self._url is not None else type(url_or_store).__name__
        self.source = f"{where.rstrip('/')}/{self.prefix}" if self.prefix else where

    def __repr__(self) -> str:
        return f"SkillBucket({self.source!r}, writable={self.writable})"

    def get(self) -> str:
        """One line `- key: description` for each skill, in the order of the keys."""
        return skills.listing(self.list())

    def list(self) -> builtins.list[Skill]:
        """The skills, in the order of their keys. Raises ProviderError when the bucket cannot be listed whole."""
        return self._read()[0]

    def warnings(self) -> builtins.list[str]:
        """What is wrong with the skills, each as `object: reason`."""
        return self._read()[1]

    def load(self, key: str) -> str | None:
        """The text of a skill, without its front matter, and the keys of its other files; or one of those files.

        None when there is none of this key. Raises ProviderError for one that cannot be read.
        """
        normal = skills.normal_key(key)
        if normal is None or normal not in self._keys:
            return None
        found, _ = self._find()
        if skill := found.get(normal):
            if (text := self._text(skill.path)) is None:
                return None
            return skills.with_files(front_matter.read(text).body, sorted(skill.files or ()))
        for above in skills.parents(normal):
            if above in found and (path := (found[above].files or {}).get(normal)):
                return self._text(path)
        return None

    def set(self, key: str, content: str, description: str | None = None) -> bool:
        """Write a skill: an object with its key as its path, or the object where it is already. Says whether it was
        there.

        The object's metadata and front matter are kept, unless `content` brings front matter. Raises InvalidIdError for
        a key that cannot be one, InvalidError for a content that is too large, ProviderError for what else prevents it.
        """
        normal = self._checked(key)
        found, _ = self._find()
        skill = found.get(normal)
        if skill is not None:
            current = self._get(skill.path)
            if current is None:
                reason = "somebody else removed it at the same time; nothing was written"
                raise ProviderError(reason, source=f"{self.source}: {skill.path}")
            self._put(skill.path, normal, current, content, description)
            return True
        skills.check_new_key(normal)
        for above in skills.parents(normal):
            if above in found and found[above].files is not None:
                raise InvalidIdError("entry", normal, f"is inside of the skill {above!r}")
        self._put(f"{self.prefix}/{normal}" if self.prefix else normal, normal, None, content, description)
        return False

    def remove(self, key: str) -> bool:
        """Remove a skill, with all files of its folder. Says whether there was one."""
        normal = self._checked(key)
        skill = self._find()[0].get(normal)
        if skill is None:
            return False
        with _objects.translated(f"{self.source}: {skill.path}"):
            self._open().delete(skill.path)  # first, so that it is gone even if the rest is cut short
            if skill.files:
                self._open().delete(builtins.list(skill.files.values()))
        return True

    def _checked(self, key: str) -> str:
        if not self.writable:
            raise ProviderError("it was opened for reading only; give writable=True", source=self.source)
        normal = skills.checked_key(key)
        if normal not in self._keys:
            raise ProviderError(f"the key {normal!r} is not among the allowed ones", source=self.source)
        return normal

    def _put(self, path: str, key: str, current: _Current | None, content: str, description: str | None) -> None:
        """Write an object over the current one, None: a new one. The description goes into its metadata, and into the
        front matter where there is one, or where the metadata cannot take it."""
        description = skills.one_line(description) if description else None
        given = front_matter.read(content)
        old = current.text if current is not None else None
        attributes = dict(current.attributes) if current is not None else {"Content-Type": _CONTENT_TYPE}
        fits = _metadata.put(attributes, description or skills.one_line(given.fields.get("description", "")) or None)
        fenced = bool(given.raw) or (old is not None and bool(front_matter.read(old).raw))
        mode: Any = "create" if current is None else current.version or "overwrite"
        # A store that is told to do without conditions refuses them; local files have no metadata, and no condition but
        # that a file is new.
        tries: builtins.list[tuple[bool, dict[str, str] | None, Any]] = [
            (fenced or not fits, attributes, mode),
            (fenced or not fits, attributes, "overwrite"),
            (True, None, "create" if current is None else "overwrite"),
        ]
        name = key.rpartition("/")[2]
        for count, (inside, kept, how) in enumerate(tries, 1):
            try:
                text = front_matter.updated(old, content, name, description if inside else None)
            except ValueError as error:
                raise ProviderError(f"{key}: it was not written: {error}", source=self.source) from None
            data = skills.encoded(text)
            with _objects.translated(f"{self.source}: {path}"):
                try:
                    self._open().put(path, data, attributes=kept, mode=how, use_multipart=False)
                    return
                except NotImplementedError:
                    if count == len(tries):
                        raise

    def _read(self) -> tuple[builtins.list[Skill], builtins.list[str]]:
        found, warnings = self._find()
        allowed = {key: skill for key, skill in sorted(found.items()) if key in self._keys}
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(CONCURRENT, "glassine-skills") as pool:
            told = builtins.list(pool.map(self._told, allowed, allowed.values()))
        listed = []
        for (key, skill), (description, problem) in zip(allowed.items(), told, strict=True):
            if problem:
                warnings.append(f"{skill.path}: {problem}")
            if description is not None:
                warnings += [f"{skill.path}: {warning}" for warning in description.warnings]
                listed.append(Skill(key, description.text, skill.size, skill.updated_at))
        current = {skill.path for skill in found.values()}
        self._known = {path: known for path, known in self._known.items() if path in current}
        return listed, warnings + self._keys.missing(found)

    def _told(self, key: str, skill: _Object) -> tuple[skills.Description | None, str | None]:
        """What a skill says of itself (None: it is left out), and what went wrong. What is not reached is still listed
        by its key."""
        known = self._known.get(skill.path)
        if known is not None and known[0] == skill.version:
            return known[1], None
        if skill.size > skills.SKILL_BYTES:
            return None, f"{skills.too_large(skill.size)}; the skill is left out"
        try:
            with _objects.translated(skill.path):
                store = self._open()
                text = _metadata.get(store.get(skill.path, options={"head": True}).attributes)
                start = b"" if text or not skill.size else _start(store, skill)
        except ProviderError as error:
            if isinstance(error.__cause__, Exception) and _objects.is_missing(error.__cause__):
                return None, None  # removed since the listing
            return skills.Description("", []), f"its description could not be read: {error.reason}"
        try:
            if text:
                description = skills.Description(text, [])
            else:
                description = skills.description_of(
                    key, skills.decoded(start, whole=len(start) == skill.size), in_folder=skill.files is not None
                )
        except ValueError as error:
            return None, f"{error}; the skill is left out"
        self._known[skill.path] = (skill.version, description)
        return description, None

    def _find(self) -> tuple[dict[str, _Object], builtins.list[str]]:
        """All skills by key, allowed or not, and warnings about those that cannot be."""
        with _objects.translated(self.source):
            chunks = self._open().list(prefix=self.prefix or None)
            objects = {self._relative(meta["path"]): meta for chunk in chunks for meta in chunk}
        folders = {path[: -len(SKILL_FILE) - 1] for path in objects if path.endswith(f"/{SKILL_FILE}")}
        folders = {folder for folder in folders if not any(above in folders for above in skills.parents(folder))}
        inside: dict[str, dict[str, str]] = {folder: {} for folder in folders}
        found: dict[str, _Object] = {}
        warnings: builtins.list[str] = []
        # A skill in a folder comes before an object of the same key, and one without an ending before one with .md.
        for path, meta in sorted(objects.items(), key=lambda item: (not item[0].endswith(f"/{SKILL_FILE}"), item[0])):
            if not path or any(part.startswith(".") for part in path.split("/")):
                continue
            folder = next((above for above in skills.parents(path) if above in folders), None)
            if folder is not None and path != f"{folder}/{SKILL_FILE}":
                if normal := skills.normal_key(path):
                    inside[folder][normal] = meta["path"]
                continue
            if path == SKILL_FILE:
                warnings.append(f"{meta['path']}: the prefix itself is a skill; give the prefix above it")
                continue
            key = skills.normal_key(folder if folder is not None else path.removesuffix(".md"))
            if key is None:
                warnings.append(f"{meta['path']!r}: its name can be no key; the skill is left out")
            elif key in found:
                warnings.append(f"{meta['path']}: {found[key].path} has its key; the skill is left out")
            else:
                version = (meta["e_tag"], meta["last_modified"], meta["size"])
                files = inside[folder] if folder is not None else None
                found[key] = _Object(meta["path"], meta["size"], meta["last_modified"], version, files)
        return found, warnings

    def _relative(self, path: str) -> str:
        return path[len(self.prefix) + 1 :] if self.prefix else path

    def _text(self, path: str) -> str | None:
        current = self._get(path)
        return current.text if current is not None else None

    def _get(self, path: str) -> _Current | None:
        """An object whole, None if it is not there any more."""
        source = f"{self.source}: {path}"
        with _objects.translated(source):
            try:
                found = self._open().get(path)
            except FileNotFoundError as error:
                if not _objects.is_missing(error):
                    raise
                return None
            if found.meta["size"] > skills.SKILL_BYTES:
                raise ProviderError(skills.too_large(found.meta["size"]), source=source)
            text, meta = skills.decoded(bytes(found.bytes())), found.meta
            version = {name: meta[name] for name in ("e_tag", "version") if meta["e_tag"] and meta[name]}
            return _Current(text, version, dict(found.attributes))

    def _open(self) -> Any:
        with self._opening:
            if self._store is None and self._url is not None:
                self._store = _objects.opened(self._url, self._options, self.source)
            return self._store


def _start(store: Any, skill: _Object) -> bytes:
    length = min(skill.size, 4 * front_matter.FRONT_MATTER_LIMIT)  # of at most 4 bytes each
    return bytes(store.get_range(skill.path, start=0, length=length))
