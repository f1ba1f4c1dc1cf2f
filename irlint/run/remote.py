"""Lists and checks models behind URLs."""

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
from irlint.run.deadline import DEFAULT_SECONDS
from irlint.run.files import Outcome, Settings, outcome
from irlint.run.search import SUFFIXES, Excluded, MissingPaths

#: The default number of remote files that are checked at once.
AT_ONCE = 16


class NotListed(ValueError):
    """A folder or a glob of a store that cannot be listed."""


def located_files(urls: Iterable[str], excluded: Excluded, force_exclude: bool = False) -> Iterator[Located]:
    """The models and configurations behind URLs, each once.

    A file that a URL names is excluded only with ``force_exclude``. Raises MissingPaths, NotListed, and NotInstalled.
    """
    seen: set[int] = set()
    for url in urls:
        is_file = _names_one_file(url)
        for file in [Located(url)] if is_file else _files_at(url):
            key = hash(file.url)
            if not is_file and excluded.configurations and is_configuration(str(file)):
                continue
            if key not in seen and not ((force_exclude or not is_file) and excluded(str(file))):
                seen.add(key)
                yield file


def _names_one_file(url: str) -> bool:
    path = url.partition("?")[0] if is_web(url) else url
    if _is_glob(path) or path.endswith("/"):
        return False
    return is_web(url) or path.lower().endswith(SUFFIXES)


def _is_glob(path: str) -> bool:
    """Whether a path has wildcards. In a web address, ``[`` is no wildcard."""
    return "*" in path or ("[" in path and not is_web(path))


@record
class _Folder:
    """A folder of a store."""

    url: str
    #: The path inside the store.
    path: str

    def file(self, path: str, entry: Mapping[str, Any]) -> Located:
        """The file at a path in the store. ``entry`` is its entry in a listing. Its URL has the folder's query."""
        if is_url(path):
            url = path
        else:
            address, question, query = self.url.partition("?")
            url = f"{address.rstrip('/')}{path.removeprefix(self.path.rstrip('/'))}{question}{query}"
        size = entry.get("size")
        return Located(url, None if size is None else int(size), "" if size is None else stamp(entry))

    def models(self, entries: Mapping[str, Any], beside: Iterable[str] = ()) -> Iterator[Located]:
        """The models and configurations in the listing ``entries``, without hidden files.

        A file with a name in COMMON is a configuration only if its folder, or the subfolder ``onnx``, has a model. The
        model must be in ``entries`` or ``beside``.
        """
        folders = _folders_of_models((*entries, *beside))
        for path in sorted(entries):
            is_wanted = path.lower().endswith(SUFFIXES) or _is_configuration(path, folders)
            if is_wanted and not self.hides(path) and entries[path].get("type") != "directory":
                yield self.file(path, entries[path])

    def hides(self, path: str) -> bool:
        """Whether a part of a path below this folder begins with a dot."""
        return any(part.startswith(".") for part in path.removeprefix(self.path).split("/"))


def _folders_of_models(paths: Iterable[str]) -> set[str]:
    """The folders that have models in them or in their subfolder ``onnx``."""
    found = {path.rpartition("/")[0] for path in paths if path.lower().endswith(SUFFIXES)}
    return found | {folder.removesuffix("/onnx") for folder in found}


def _is_configuration(path: str, folders_of_models: set[str]) -> bool:
    path = path.partition("?")[0]
    folder, _, name = path.rpartition("/")
    return is_configuration(path) and (name not in COMMON or folder in folders_of_models)


def _folder(store: Store, url: str) -> _Folder:
    """The folder at a URL. If the URL is a glob, the folder before its first wildcard."""
    if _is_glob(url):
        url = url[: min(url.find(mark) % (len(url) + 1) for mark in "*[")].rpartition("/")[0]
    return _Folder(url, store.filesystem._strip_protocol(url))


def _files_at(url: str) -> Iterator[Located]:
    """The models and configurations at the URL of a folder or a glob."""
    store, folder = store_of(url), _folder(store_of(url), url)
    filesystem = store.filesystem
    path = filesystem._strip_protocol(url)
    options: dict[str, Any] = {"on_error": partial(_raise_if_late, url)} if is_web(url) else {}
    if is_web(url):
        # fsspec skips a folder that it cannot list, even the folder at the URL. Listing it here raises the error.
        _with_retries(url, lambda: filesystem.ls(folder.path, detail=False))
    if _is_glob(path):
        yield from folder.models(_with_retries(url, lambda: filesystem.glob(path, detail=True, **options)))
        return
    if is_web(url):
        yield from folder.models(_with_retries(url, lambda: filesystem.find(path, detail=True, **options)))
        return
    entry = _with_retries(url, lambda: filesystem.info(path))
    if entry.get("type") == "directory":
        yield from _files_in(filesystem, folder)
    else:
        yield folder.file(path, entry)


def _raise_if_late(url: str, error: Exception) -> None:
    """Raises OSError if the error is a timeout."""
    if "Timeout" in type(error).__name__:
        raise denied(errno.EIO, "the server did not answer in time", url)


def _files_in(filesystem: Any, folder: _Folder) -> Iterator[Located]:
    """The models and configurations in a folder and below it. Each subfolder is listed only when it is reached."""
    entries = _with_retries(folder.url, lambda: filesystem.ls(folder.path, detail=True))
    for entry in sorted(entries, key=lambda each: f"{each['name']}{'/' * (each['type'] == 'directory')}"):
        name = entry["name"]
        if entry["type"] != "directory":
            yield from folder.models({name: entry}, (each["name"] for each in entries))
        elif not folder.hides(name):
            below = _with_retries(folder.url, lambda path=name: filesystem.find(path, detail=True))
            yield from folder.models(below)


def _with_retries(url: str, listing: Any) -> Any:
    """The result of ``listing``, called again after transient failures. Raises MissingPaths and NotListed."""

    def listing_in_time() -> Any:
        try:
            return listing()
        except Exception as error:
            _raise_if_late(url, error)
            raise

    try:
        return with_retries(listing_in_time if is_web(url) else listing, url)
    except FileNotFoundError:
        raise MissingPaths([shown(url)]) from None
    except OSError as error:
        raise NotListed(f"{shown(url)} cannot be listed: {error.strerror}") from None
    except Exception as error:
        raise NotListed(f"{shown(url)} cannot be listed: {classified(error, url)}") from None


def _readable_folder(configuration: str) -> str:
    """The folder in which the check of a configuration may open files.

    It is the folder of the configuration. For Triton, it is the model repository.
    """
    folder = configuration.rpartition("/")[0]
    return folder.rpartition("/")[0] if configuration.endswith("/config.pbtxt") else folder


def outcome_of(settings: Settings, file: Located) -> Outcome:
    """The outcome of one remote file. Its check always has a time limit, because a server may be slow."""
    timeout = DEFAULT_SECONDS if settings.timeout is None else settings.timeout
    folder = _readable_folder(str(file)) if is_configuration(str(file)) else None
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
            entry = replaced(entry, size=model.known.size, stamp=model.known.stamp or file.stamp)
        return replaced(found, file=entry)
