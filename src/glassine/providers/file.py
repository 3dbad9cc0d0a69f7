"""A block whose text is a file, on this machine or in a bucket."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from .. import skills
from ..errors import ProviderError
from . import _files, _objects


class FileContext:
    """A read-only provider: the text of one file, read each time it is asked for.

    `path_or_url` is a path, or the URL of an object: s3://bucket/soul.md, gs://…, az://…, https://…, file:///…
    With `store`, a store of obstore, it is the object's path in there. Buckets need the extra `buckets`; the other
    `options` are obstore's (`endpoint`, `access_key_id`, `region`, `client_options`, …).

    A file that is not there gives `default`; without one (None), and for whatever else goes wrong, `get` raises
    ProviderError. The file is UTF-8 and has at most 1 MiB.
    """

    def __init__(
        self,
        path_or_url: str | os.PathLike[str],
        *,
        default: str | None = None,
        store: Any = None,
        **options: Any,
    ) -> None:
        given = os.fspath(path_or_url)
        self.default = default
        self.source = _objects.shown(given) if _objects.is_url(given) else given
        self._url: str | None = None
        self._store, self._options = store, options
        if store is not None:
            self._name = given
        elif _objects.is_url(given) and not given.startswith("file://"):
            self._url, self._name = _objects.parted(given)
        else:
            self._name = unquote(urlsplit(given).path) if given.startswith("file://") else given
        if options and self._url is None:
            raise TypeError(f"{next(iter(options))!r} is an option of a bucket's URL")

    def __repr__(self) -> str:
        return f"FileContext({self.source!r})"

    def get(self) -> str:
        """The text of the file. Raises ProviderError."""
        try:
            data = self._from_file() if self._store is None and self._url is None else self._from_bucket()
        except FileNotFoundError:
            if self.default is not None:
                return self.default
            raise ProviderError("the file is not there", source=self.source) from None
        try:
            return skills.decoded(data)
        except ValueError as error:
            raise ProviderError(str(error), source=self.source) from None

    def _from_file(self) -> bytes:
        try:
            return _files.read(Path(self._name))
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ProviderError(error.strerror or str(error), source=self.source) from error
        except ValueError as error:  # also a NUL in the path
            raise ProviderError(str(error), source=self.source) from error

    def _from_bucket(self) -> bytes:
        if self._store is None and self._url is not None:
            self._store = _objects.opened(self._url, self._options, self.source)
        with _objects.translated(self.source):
            try:
                found = self._store.get(self._name)
            except FileNotFoundError as error:
                if not _objects.is_missing(error):
                    raise
                found = None
            if found is not None:
                size = found.meta["size"]
                if size > skills.SKILL_BYTES:
                    raise ProviderError(skills.too_large(size), source=self.source)
                return bytes(found.bytes())
        raise FileNotFoundError(self.source)
