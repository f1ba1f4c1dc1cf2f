"""Limits the remote files that one check may open: the model that the user named, and files in its folder."""

from __future__ import annotations

import errno
import os
import posixpath
from types import TracebackType
from typing import Any

from irlint.parsers.remote.locations import Located, shown, sibling
from irlint.parsers.remote.ranges import Ranges
from irlint.parsers.remote.stores import IgnoresRanges, Store, store

#: The stores that this process uses, by process id and by scheme and host.
_STORES: dict[tuple[int, str], Store] = {}

_sessions: list[Session] = []


class Session:
    """A block within which the model can be opened by its shown URL.

    Files in its folder can be opened after ``admit``. No other URL can be, whatever the model names.
    """

    def __init__(self, model: Located) -> None:
        self.model = model
        self.files: dict[str, Ranges] = {str(model): Ranges(store_of(model.url), model)}

    def __enter__(self) -> Session:
        _sessions.append(self)
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        _sessions.remove(self)
        for file in self.files.values():
            file.finish()

    def admit(self, name: str) -> Ranges:
        """The file ``name`` in the model's folder or below; it can be opened from now on."""
        found = Located(sibling(self.model.url, name))
        key = beside(str(self.model), name)
        if key not in self.files:
            self.files[key] = Ranges(store_of(found.url), found)
        return self.files[key]

    @property
    def ignores_ranges(self) -> bool:
        """Whether the server sends complete files when it is asked for a range."""
        return any(file.ignores_ranges for file in self.files.values())


def store_of(url: str) -> Store:
    """The store for a URL. Raises NotInstalled."""
    scheme, _, rest = url.partition("://")
    key = os.getpid(), f"{scheme}://{rest.partition('/')[0]}"
    if key not in _STORES:
        _STORES[key] = store(url)
    return _STORES[key]


def opened(url: str) -> Any:
    """The admitted file with this shown URL, positioned at its beginning.

    Raises OSError for another URL, or if the size is unavailable.
    """
    for session in reversed(_sessions):
        if url in session.files:
            file = session.files[url]
            file.seek(0)
            assert file.size >= 0
            return file
    raise OSError(errno.EACCES, "irlint opens a URL only if you name it", shown(url))


def beside(model: str, name: str) -> str:
    """The shown URL of a file beside a model."""
    return f"{model.rpartition('/')[0]}/{name}"


def examined(model: str, name: str) -> tuple[int | None, str | None, str | None]:
    """The size of a file that a model names (None if it is missing), the reason why it cannot be read, and None."""
    if "://" in name or name.startswith(("//", "/", "\\")):
        return None, f"{name} is a URL or an absolute path, which irlint does not open from a model", None
    inside = posixpath.normpath(name.replace("\\", "/"))
    if inside.split("/")[0] == "..":
        return None, f"{name} is outside of the model's folder", None
    session = next((each for each in reversed(_sessions) if str(each.model) == model), None)
    if session is None:
        return None, f"{name} is remote", None
    file = session.admit(name)
    try:
        return size(file), None, None
    except FileNotFoundError:
        return None, f"{name} does not exist", None
    except OSError as error:
        return None, f"{name} cannot be read: {error.strerror}", None


def size(file: Ranges) -> int:
    """The size of a file, from its status only if possible. Raises OSError."""
    if file.known is None:
        try:
            file.known = file.store.status(file.url)
        except IgnoresRanges:
            return file.size
    return file.known.size
