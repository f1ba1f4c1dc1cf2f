"""Limits the remote files that one check may open.

These are the model that the user named and the data files in its folder, or a configuration and the files that it is
about.
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

#: The stores that this process uses, by process id and by scheme and host.
_STORES: dict[tuple[int, str], Store] = {}

_sessions: list[Session] = []


class Session:
    """A block within which the model can be opened by its shown URL.

    Files in its folder can be opened after ``admit``. In the session of a configuration, all files in ``folder`` and
    below can be opened. No other URL can be, whatever the model names.
    """

    def __init__(self, model: Located, folder: str | None = None) -> None:
        self.model = model
        self.folder = folder
        self.files: dict[str, Ranges] = {str(model): Ranges(store_of(model.url), model)}
        self.listings: dict[str, dict[str, bool]] = {}

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

    def holds(self, url: str) -> bool:
        """Whether the file or folder with this shown URL is in ``folder``, so that it can be opened."""
        return self.folder is not None and f"{url}/".startswith(f"{self.folder}/") and ".." not in url.split("/")

    def located(self, url: str) -> Located:
        """A file that the session ``holds``."""
        return Located(inside(self.model.url, url))

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
        if session.holds(url):
            found = session.located(url)
            session.files[url] = Ranges(store_of(found.url), found)
            return opened(url)
    if not _sessions:
        raise OSError(errno.EINVAL, "only `irlint check` reads models behind URLs; download the model", shown(url))
    raise OSError(errno.EACCES, "irlint opens a URL only if you name it", shown(url))


def session_of(url: str) -> Session:
    """A session for a model that a configuration is about, so that its data files can be opened.

    Raises OSError if no configuration in a session is about it.
    """
    return Session(_holding(url).located(url))


def exists(url: str) -> bool:
    """Whether a file that a configuration is about exists. Raises OSError if its server does not answer."""
    found = _holding(url).located(url)
    try:
        size(Ranges(store_of(found.url), found))
    except FileNotFoundError:
        return False
    return True


def listing(folder: str) -> dict[str, bool]:
    """The names in a folder of the files that a configuration is about; True for each folder.

    Raises NotListed if its server lists no folders, FileNotFoundError for a missing folder, and OSError if the server
    does not answer.
    """
    session = _holding(folder)
    if folder not in session.listings:
        session.listings[folder] = _listed(session, folder)
    return session.listings[folder]


def _holding(url: str) -> Session:
    session = next((each for each in reversed(_sessions) if each.holds(url)), None)
    if session is None:
        raise OSError(errno.EACCES, "irlint opens a URL only if you name it", shown(url))
    return session


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
    own, _, name = str(session.model).rpartition("/")
    if own == folder and name not in found:
        raise NotListed(errno.ENOENT, "the server does not list the folder", folder)
    return found


def _name(path: str, url: str) -> str:
    """The name of an entry of a listing, which is a URL on the web."""
    name = path.partition("?")[0].rstrip("/").rpartition("/")[2]
    if not is_web(url):
        return name
    from urllib.parse import unquote

    return unquote(name)


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
