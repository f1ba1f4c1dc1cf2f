"""Models behind URLs: lists the models of a folder or a glob, and checks a model."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from irlint.folders import COMMON, is_configuration
from irlint.parsers.opening import is_url
from irlint.parsers.remote.locations import Located, is_web, shown
from irlint.parsers.remote.session import Session, store_of
from irlint.parsers.remote.stores import Store, classified, denied, stamp, with_retries
from irlint.records import record, replaced
from irlint.run.deadline import USUAL
from irlint.run.files import Outcome, Settings, outcome
from irlint.run.search import SUFFIXES, Excluded, MissingPaths

#: The default number of remote files that are checked at once. Most of the time, a check waits for a server.
AT_ONCE = 16


class NotListed(ValueError):
    """A folder or a glob of a store that cannot be listed."""


def listed(urls: Iterable[str], excluded: Excluded, force_exclude: bool = False) -> Iterator[Located]:
    """The models and configurations behind URLs, each once.

    A named file is excluded only with ``force_exclude``. In folders and globs, the suffix or the name decides whether a
    file is a model or a configuration. Raises MissingPaths, NotListed, and NotInstalled.
    """
    seen: set[int] = set()
    for url in urls:
        is_file = _is_named(url)
        for file in [Located(url)] if is_file else _found(url):
            key = hash(file.url)
            if not is_file and excluded.configurations and is_configuration(str(file)):
                continue
            if key not in seen and not ((force_exclude or not is_file) and excluded(str(file))):
                seen.add(key)
                yield file


def _is_named(url: str) -> bool:
    """Whether a URL names a file, and not a folder or several files."""
    path = url.partition("?")[0] if is_web(url) else url
    if _is_glob(path) or path.endswith("/"):
        return False
    return is_web(url) or path.lower().endswith(SUFFIXES)


def _is_glob(path: str) -> bool:
    """Whether a path has wildcards. On the web, brackets are part of an address."""
    return "*" in path or ("[" in path and not is_web(path))


@record
class _Place:
    """A folder of a store: its URL, and its path inside the store."""

    url: str
    path: str

    def file(self, path: str, entry: Mapping[str, Any]) -> Located:
        """The file at a path in the store, in the folder or below, from its entry in a listing.

        The URL of the file has the query of the folder's URL.
        """
        if is_url(path):
            url = path
        else:
            address, question, query = self.url.partition("?")
            url = f"{address.rstrip('/')}{path.removeprefix(self.path.rstrip('/'))}{question}{query}"
        size = entry.get("size")
        return Located(url, None if size is None else int(size), "" if size is None else stamp(entry))

    def models(self, entries: Mapping[str, Any], beside: Iterable[str] = ()) -> Iterator[Located]:
        """The models and configurations in a listing, without hidden files.

        A name that other programs also use is a configuration only if the listing, or ``beside``, has a model for it.
        """
        folders = _folders_of_models((*entries, *beside))
        for path in sorted(entries):
            wanted = path.lower().endswith(SUFFIXES) or _is_about_models(path, folders)
            if wanted and not self.hides(path) and entries[path].get("type") != "directory":
                yield self.file(path, entries[path])

    def hides(self, path: str) -> bool:
        """Whether a part of a path below this folder begins with a dot."""
        return any(part.startswith(".") for part in path.removeprefix(self.path).split("/"))


def _folders_of_models(paths: Iterable[str]) -> set[str]:
    """The folders with models, and the folders with a folder ``onnx`` with models."""
    found = {path.rpartition("/")[0] for path in paths if path.lower().endswith(SUFFIXES)}
    return found | {folder.removesuffix("/onnx") for folder in found}


def _is_about_models(path: str, folders: set[str]) -> bool:
    """Whether a file is a configuration of models; a name in COMMON counts only in one of the ``folders`` of models."""
    path = path.partition("?")[0]
    folder, _, name = path.rpartition("/")
    return is_configuration(path) and (name not in COMMON or folder in folders)


def _place(store: Store, url: str) -> _Place:
    """The folder at a URL; for a glob, the deepest folder without wildcards, which contains all matches."""
    if _is_glob(url):
        url = url[: min(url.find(mark) % (len(url) + 1) for mark in "*[")].rpartition("/")[0]
    return _Place(url, store.filesystem._strip_protocol(url))


def _found(url: str) -> Iterator[Located]:
    """The models and configurations at the URL of a folder or a glob."""
    store, place = store_of(url), _place(store_of(url), url)
    filesystem = store.filesystem
    path = filesystem._strip_protocol(url)
    options: dict[str, Any] = {"on_error": partial(_raise_if_late, url)} if is_web(url) else {}
    if is_web(url):
        # fsspec skips a folder that it cannot list, even the first one.
        _asked(url, lambda: filesystem.ls(place.path, detail=False))
    if _is_glob(path):
        yield from place.models(_asked(url, lambda: filesystem.glob(path, detail=True, **options)))
        return
    if is_web(url):
        yield from place.models(_asked(url, lambda: filesystem.find(path, detail=True, **options)))
        return
    entry = _asked(url, lambda: filesystem.info(path))
    if entry.get("type") == "directory":
        yield from _in_folder(filesystem, place)
    else:
        yield place.file(path, entry)


def _raise_if_late(url: str, error: Exception) -> None:
    """Raises OSError for the error of a server that does not list a folder in time; ignores other errors."""
    if "Timeout" in type(error).__name__:
        raise denied(errno.EIO, "the server did not answer in time", url)


def _in_folder(filesystem: Any, place: _Place) -> Iterator[Located]:
    """The models and configurations in a folder and below; each folder in it is listed when it is reached."""
    entries = _asked(place.url, lambda: filesystem.ls(place.path, detail=True))
    for entry in sorted(entries, key=lambda each: f"{each['name']}{'/' * (each['type'] == 'directory')}"):
        name = entry["name"]
        if entry["type"] != "directory":
            yield from place.models({name: entry}, (each["name"] for each in entries))
        elif not place.hides(name):
            yield from place.models(_asked(place.url, lambda inside=name: filesystem.find(inside, detail=True)))


def _asked(url: str, ask: Any) -> Any:
    """The result of ``ask``, which lists a folder, with retries. Raises MissingPaths and NotListed."""

    def asked() -> Any:
        try:
            return ask()
        except Exception as error:
            _raise_if_late(url, error)
            raise

    try:
        return with_retries(asked if is_web(url) else ask, url)
    except FileNotFoundError:
        raise MissingPaths([shown(url)]) from None
    except OSError as error:
        raise NotListed(f"{shown(url)} cannot be listed: {error.strerror}") from None
    except Exception as error:
        raise NotListed(f"{shown(url)} cannot be listed: {classified(error, url)}") from None


def _folder_of(configuration: str) -> str:
    """The folder whose files the check of a configuration may open: its own or, for Triton, the model repository."""
    folder = configuration.rpartition("/")[0]
    return folder.rpartition("/")[0] if configuration.endswith("/config.pbtxt") else folder


def outcome_of(settings: Settings, file: Located) -> Outcome:
    """The outcome of one remote file. Its check always has a time limit, because a server may be slow."""
    timeout = USUAL if settings.timeout is None else settings.timeout
    folder = _folder_of(str(file)) if is_configuration(str(file)) else None
    with Session(file, folder) as session:
        found = outcome(replaced(settings, stamped=False, timeout=timeout), str(file))
        model = session.files[str(file)]
        notices = found.file.notices
        if session.ignores_ranges:
            host = "/".join(str(file).split("/")[:3])
            notices = (
                *notices,
                f"{host} ignores ranges, so each model is read from its start up to the last byte that is needed",
            )
        entry = replaced(found.file, notices=notices)
        if settings.stamped and folder is None and model.known is not None and found.error is None:
            known = model.known
            stamp = known.stamp or file.stamp
            entry = replaced(entry, size=known.size, stamp=stamp)
        return replaced(found, file=entry)
