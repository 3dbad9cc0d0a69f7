"""Skills in a folder of this machine."""

from __future__ import annotations

import builtins
import os
import secrets
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from .. import front_matter, skills
from ..errors import InvalidIdError, ProviderError
from ..skills import SKILL_FILE, Skill
from . import _files

_DEEPEST = 5
_NO_SKILLS = ("node_modules", "__pycache__")


class _Found(NamedTuple):
    """Where a skill is. `folder` is its own folder, None for a plain file."""

    file: Path
    folder: Path | None


class SkillDirectory:
    """Skills in a folder, loaded when the model asks for them.

    A skill is a folder with a SKILL.md, whose key is the folder's path below `path`; other files in it are loaded by
    that key and their own path (`deploy/references/regions.md`). A file `name.md` directly in `path` is a skill too.
    What is hidden (a leading dot), and what links lead out of `path`, is not there for a model. `keys` limits the
    skills that are listed, loaded and written. With `writable` the model may add and change skills.

    A skill that cannot be read is left out and named in `warnings()`; so are those that break the rules of the format,
    which are used all the same. The folder is read anew each time.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, writable: bool = False, keys: Iterable[str] | None = None
    ) -> None:
        self.path = Path(path)
        self.writable = writable
        self._keys = skills.AllowedKeys(keys)
        self._writing = threading.Lock()

    def __repr__(self) -> str:
        return f"SkillDirectory({str(self.path)!r}, writable={self.writable})"

    def get(self) -> str:
        """One line `- key: description` for each skill, in the order of the keys."""
        return skills.listing(self.list())

    def list(self) -> builtins.list[Skill]:
        """The skills, in the order of their keys."""
        return self._read()[0]

    def warnings(self) -> builtins.list[str]:
        """What is wrong with the skills, each as `file: reason`."""
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
            body = front_matter.read(self._text(skill.file)).body
            return skills.with_files(body, self._other_files(normal, skill))
        for above in skills.parents(normal):
            skill = found.get(above)
            if skill is not None and skill.folder is not None:
                try:
                    file = _files.find(skill.folder, normal[len(above) + 1 :].split("/"))
                except OSError as error:
                    raise ProviderError(_reason(error), source=normal) from error
                real = _files.inside(self.path, file) if file is not None else None
                return self._text(real) if real is not None and real.is_file() else None
        return None

    def set(self, key: str, content: str, description: str | None = None) -> bool:
        """Write a skill: SKILL.md in a folder of its own, or the file where it is already. Says whether it was there.

        Its front matter is kept, unless `content` brings one. Raises InvalidIdError for a key that cannot be one,
        InvalidError for a content that is too large, ProviderError for what else prevents it.
        """
        with self._changing(key) as (normal, found):
            skill = found.get(normal)
            if skill is None:
                self._check_new(normal, found)
            old = self._text(skill.file) if skill is not None else None
            name = normal.rpartition("/")[2]
            if description is None and old is None and "description" not in front_matter.read(content).fields:
                description = skills.first_line(front_matter.read(content).body)
            try:
                line = skills.one_line(description) if description is not None else None
                text = front_matter.updated(old, content, name, line)
            except ValueError as error:
                raise ProviderError(f"the skill {normal!r} was not written: {error}", source=str(self.path)) from None
            data = skills.encoded(text)
            file = skill.file if skill is not None else self.path.joinpath(*normal.split("/"), SKILL_FILE)
            self.path.mkdir(parents=True, exist_ok=True)
            there = next(above for above in file.parents if above.exists())
            if _files.inside(self.path, there) is None:
                raise ProviderError(f"{normal}: a link leads out of the folder", source=str(self.path))
            file.parent.mkdir(parents=True, exist_ok=True)
            _files.write(file, data)
            return skill is not None

    def remove(self, key: str) -> bool:
        """Remove a skill, with all files of its folder. Says whether there was one."""
        with self._changing(key) as (normal, found):
            skill = found.get(normal)
            if skill is None:
                return False
            listed = skill.folder or skill.file
            if listed.is_symlink() or skill.folder is None:
                listed.unlink()
            else:
                # Renamed first: gone at once, even if the rest is cut short.
                away = listed.with_name(f".{secrets.token_hex(8)}.removed")
                listed.rename(away)
                import shutil  # not needed by those who only read

                shutil.rmtree(away)
            return True

    @contextmanager
    def _changing(self, key: str) -> Iterator[tuple[str, dict[str, _Found]]]:
        source = str(self.path)
        if not self.writable:
            raise ProviderError("it was opened for reading only; give writable=True", source=source)
        normal = skills.checked_key(key)
        if normal not in self._keys:
            raise ProviderError(f"the key {normal!r} is not among the allowed ones", source=source)
        with self._writing:
            try:
                yield normal, self._find()[0]
            except OSError as error:
                raise ProviderError(f"{normal}: {error.strerror or error}", source=source) from error

    def _check_new(self, key: str, found: dict[str, _Found]) -> None:
        """Refuse a new key that would not be found again as what it is."""
        skills.check_new_key(key)
        skills.check_file_key(key)
        folded = key.casefold()
        if any(part in _NO_SKILLS for part in key.split("/")) or key.count("/") >= _DEEPEST:
            raise InvalidIdError("entry", key, "is the path of a folder that is not looked into")
        for other in found:
            if other.casefold() == folded:
                raise InvalidIdError("entry", key, f"differs from the skill {other!r} in its case only")
            if folded.startswith(f"{other.casefold()}/"):
                raise InvalidIdError("entry", key, f"is inside of the skill {other!r}")
            if other.casefold().startswith(f"{folded}/"):
                raise InvalidIdError("entry", key, f"is a folder with the skill {other!r} in it")
        there = _files.find(self.path, [*key.split("/"), SKILL_FILE])
        if there is not None:
            raise InvalidIdError("entry", key, "is the path of something that is no skill")

    def _read(self) -> tuple[builtins.list[Skill], builtins.list[str]]:
        found, warnings = self._find()
        listed = []
        for key, skill in sorted(found.items()):
            if key not in self._keys:
                continue
            where = self._shown(skill.file)
            try:
                data = _files.read(skill.file)
                changed = skill.file.stat().st_mtime
                description = skills.description_of(key, skills.decoded(data), in_folder=skill.folder is not None)
            except (OSError, ValueError) as error:
                warnings.append(f"{where}: {_reason(error)}; the skill is left out")
                continue
            warnings += [f"{where}: {warning}" for warning in description.warnings]
            listed.append(Skill(key, description.text, len(data), datetime.fromtimestamp(changed, UTC)))
        return listed, warnings + self._keys.missing(found)

    def _find(self) -> tuple[dict[str, _Found], builtins.list[str]]:
        """All skills by key, allowed or not, and warnings about those that cannot be."""
        found: dict[str, _Found] = {}
        warnings: builtins.list[str] = []

        def add(key: str, skill: _Found) -> None:
            where = self._shown(skill.file)
            normal = skills.normal_key(key)
            if normal is None:
                warnings.append(f"{where}: its name can be no key; the skill is left out")
            elif _files.inside(self.path, skill.file) is None:
                warnings.append(f"{where}: a link leads out of the folder, or nowhere; the skill is left out")
            elif normal in found:
                warnings.append(f"{where}: {self._shown(found[normal].file)} has its key; the skill is left out")
            else:
                found[normal] = skill

        def walk(folder: Path, prefix: str, depth: int) -> None:
            for entry in sorted(_files.entries(folder), key=lambda entry: not _files.is_folder(entry)):
                path = Path(entry.path)
                if _files.is_folder(entry):
                    try:
                        look(path, f"{prefix}{entry.name}", depth, entry.is_symlink())
                    except OSError as error:
                        warnings.append(f"{self._shown(path)}: {_reason(error)}; it is left out")
                elif not prefix and _is_skill_file(entry.name):
                    warnings.append(f"{entry.name}: the folder itself is a skill; give the folder above it")
                elif not prefix and entry.name.lower().endswith(".md"):
                    add(entry.name[:-3], _Found(path, None))

        def look(folder: Path, key: str, depth: int, linked: bool) -> None:
            if folder.name in _NO_SKILLS:
                return
            if _files.inside(self.path, folder) is None:
                warnings.append(f"{self._shown(folder)}: a link leads out of the folder; it is left out")
                return
            files = [entry.name for entry in _files.entries(folder) if _is_skill_file(entry.name)]
            if files:
                add(key, _Found(folder / (SKILL_FILE if SKILL_FILE in files else files[0]), folder))
            elif depth < _DEEPEST and not linked:  # a link can lead to a folder above
                walk(folder, f"{key}/", depth + 1)

        try:
            walk(self.path, "", 1)
        except FileNotFoundError:
            if not self.writable:  # the first skill that is written makes it
                raise ProviderError("the folder is not there", source=str(self.path)) from None
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            raise ProviderError(_reason(error), source=str(self.path)) from error
        return found, warnings

    def _other_files(self, key: str, skill: _Found) -> builtins.list[str]:
        if skill.folder is None:
            return []
        keys = [
            unicodedata.normalize("NFC", f"{key}/{name}")
            for name in _files.below(skill.folder)
            if name != skill.file.name and _files.inside(self.path, skill.folder / name) is not None
        ]
        return sorted(found for found in keys if skills.normal_key(found) is not None)

    def _text(self, file: Path) -> str:
        try:
            return skills.decoded(_files.read(file))
        except (OSError, ValueError) as error:
            raise ProviderError(_reason(error), source=self._shown(file)) from error

    def _shown(self, path: Path) -> str:
        """The path below the folder, as it may stand in a message."""
        return "".join([ch if ch.isprintable() else "�" for ch in os.path.relpath(path, self.path)])


def _is_skill_file(name: str) -> bool:
    return name.lower() == SKILL_FILE.lower()


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
