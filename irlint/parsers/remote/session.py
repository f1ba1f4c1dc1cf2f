"""Limits the remote files that a check may open: a model and its data files, or the folder of a configuration.

A shown URL is a URL without its secret parts.
"""

from __future__ import annotations

import errno
import os
import posixpath
from types import TracebackType
from typing import Any

from irlint.parsers.opening import NotListed
from irlint.parsers.remote.locations import Located, inside, is_web, shown, sibling
from irlint.parsers.remote.ranges import Ranges
from irlint.parsers.remote.stores import IgnoresRanges, Store, store, with_retries

#: The stores by (process, scheme and host). A forked process cannot use the stores of its parent.
_STORES: dict[tuple[int, str], Store] = {}

#: The open sessions, the innermost last.
_sessions: list[Session] = []


class Session:
    """A ``with`` block that limits which remote files can be opened.

    These are ``files`` and, if ``model`` is a configuration, all files in or below ``folder``, a shown URL.
    """

    def __init__(self, model: Located, folder: str | None = None) -> None:
        self.model = model
        self.folder = folder
        #: The files by their shown URLs.
        self.files: dict[str, Ranges] = {str(model): Ranges(store_of(model.url), model)}
        #: The results of ``listing`` by folder.
        self.listings: dict[str, dict[str, bool]] = {}

    def __enter__(self) -> Session:
        _sessions.append(self)
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        _sessions.remove(self)
        for file in self.files.values():
            file.finish()

    def admit(self, name: str) -> Ranges:
        """Adds the file ``name`` in or below the model's folder to ``files``, and returns it."""
        found = Located(sibling(self.model.url, name))
        key = beside(str(self.model), name)
        if key not in self.files:
            self.files[key] = Ranges(store_of(found.url), found)
        return self.files[key]

    def contains(self, url: str) -> bool:
        """Whether a shown URL is ``folder`` or below it."""
        return self.folder is not None and f"{url}/".startswith(f"{self.folder}/") and ".." not in url.split("/")

    def located(self, url: str) -> Located:
        """The file with a shown URL. It must be in or below ``folder``."""
        return Located(inside(self.model.url, url))

    @property
    def ignores_ranges(self) -> bool:
        """Whether a server has sent a complete file instead of a range."""
        return any(file.ignores_ranges for file in self.files.values())


def store_of(url: str) -> Store:
    """The store for a URL. Raises NotInstalled."""
    scheme, _, rest = url.partition("://")
    key = os.getpid(), f"{scheme}://{rest.partition('/')[0]}"
    if key not in _STORES:
        _STORES[key] = store(url)
    return _STORES[key]


def opened(url: str) -> Any:
    """The file with a shown URL, at its beginning.

    Raises OSError if no open session allows the URL, or if the size of the file is unavailable.
    """
    for session in reversed(_sessions):
        if url in session.files:
            file = session.files[url]
            file.seek(0)
            assert file.size >= 0
            return file
        if session.contains(url):
            found = session.located(url)
            session.files[url] = Ranges(store_of(found.url), found)
            return opened(url)
    if not _sessions:
        raise OSError(errno.EINVAL, "only `irlint check` reads models behind URLs; download the model", shown(url))
    raise OSError(errno.EACCES, "irlint opens a URL only if you name it", shown(url))


def session_of(url: str) -> Session:
    """A new session for a model in the folder of a configuration. Raises OSError if no open session contains it."""
    return Session(_containing(url).located(url))


def exists(url: str) -> bool:
    """Whether a file in the folder of a configuration exists.

    Raises OSError if no open session contains the file, or if its server does not answer.
    """
    found = _containing(url).located(url)
    try:
        size(Ranges(store_of(found.url), found))
    except FileNotFoundError:
        return False
    return True


def listing(folder: str) -> dict[str, bool]:
    """Whether each entry of a folder is a folder, by its name.

    Raises NotListed if the server lists no folders, FileNotFoundError for a missing folder, and OSError if no open
    session contains the folder or the server does not answer.
    """
    session = _containing(folder)
    if folder not in session.listings:
        session.listings[folder] = _listed(session, folder)
    return session.listings[folder]


def _containing(url: str) -> Session:
    """The innermost session that contains a shown URL. Raises OSError if there is none."""
    for session in reversed(_sessions):
        if session.contains(url):
            return session
    raise OSError(errno.EACCES, "irlint opens a URL only if you name it", shown(url))


def _listed(session: Session, folder: str) -> dict[str, bool]:
    url = session.located(folder).url
    filesystem = store_of(url).filesystem
    path = filesystem._strip_protocol(f"{folder}/" if is_web(url) else url)
    try:
        entries = with_retries(lambda: filesystem.ls(path, detail=True), url)
    except FileNotFoundError:
        if is_web(url):
            raise NotListed(errno.ENOENT, "the server does not list the folder", folder) from None
        raise
    found = {_name(entry["name"], url): entry.get("type") == "directory" for entry in entries}
    folder_of_model, _, name = str(session.model).rpartition("/")
    if folder_of_model == folder and name not in found:
        raise NotListed(errno.ENOENT, "the server does not list the folder", folder)
    return found


def _name(path: str, url: str) -> str:
    """The name of an entry in a listing, from its path. A web server lists entries by their URLs."""
    name = path.partition("?")[0].rstrip("/").rpartition("/")[2]
    if not is_web(url):
        return name
    from urllib.parse import unquote

    return unquote(name)


def beside(model: str, name: str) -> str:
    """The shown URL of a file beside a model."""
    return f"{model.rpartition('/')[0]}/{name}"


def examined(model: str, name: str) -> tuple[int | None, str | None, str | None]:
    """(size of a data file or None, why it cannot be read or None, None: a remote file is never a refused link)."""
    if "://" in name or name.startswith(("//", "/", "\\")):
        return None, f"{name} is a URL or an absolute path, which irlint does not open from a model", None
    inside = posixpath.normpath(name.replace("\\", "/"))
    if inside.split("/")[0] == "..":
        return None, f"{name} is outside of the model's folder", None
    session = next((session for session in reversed(_sessions) if str(session.model) == model), None)
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
    """The size of a file from its status or, if the server ignores ranges, from a stream. Raises OSError."""
    if file.known is None:
        try:
            file.known = file.store.status(file.url)
        except IgnoresRanges:
            return file.size
    return file.known.size
