"""Finds and lists files and folders, on this machine or behind a URL."""

from __future__ import annotations

import os

from irlint.parsers.opening import NotListed, is_url


def joined(folder: str, *names: str) -> str:
    """The path of a file or folder below another folder."""
    return "/".join((folder, *names)) if is_url(folder) else os.path.join(folder, *names)


def absolute(folder: str) -> str:
    """The folder as an absolute path or URL, without a slash at the end."""
    return folder.rstrip("/") if is_url(folder) else os.path.abspath(folder or os.curdir)


def parent(folder: str) -> str:
    """The folder that contains a folder, as an absolute path or URL."""
    return os.path.dirname(absolute(folder))


def names_in(folder: str) -> list[str]:
    """The names of the files and folders in a folder, sorted. Raises OSError."""
    if is_url(folder):
        return sorted(_listing(folder))
    return sorted(os.listdir(folder or os.curdir))


def folders_in(folder: str) -> list[str]:
    """The names of the folders in a folder, sorted. Raises OSError."""
    if is_url(folder):
        return sorted(name for name, is_folder in _listing(folder).items() if is_folder)
    return sorted(each.name for each in os.scandir(folder or os.curdir) if each.is_dir())


def is_folder(path: str) -> bool:
    """Whether a folder exists. Raises OSError for a URL whose server lists no folders."""
    if is_url(path):
        return _is_folder_entry(path) is True
    return os.path.isdir(path)


def is_file(path: str) -> bool:
    """Whether a file exists. Raises OSError for a URL whose server does not answer."""
    if not is_url(path):
        return os.path.isfile(path)
    from irlint.parsers.remote.session import exists

    try:
        return _is_folder_entry(path) is False
    except NotListed:
        return exists(path)


def size_of(path: str) -> int:
    """The size of a file in bytes. Raises OSError."""
    if not is_url(path):
        return os.path.getsize(path)
    from irlint.parsers.opening import opened, size

    with opened(path) as file:
        return size(file)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is inside a folder. Links are followed, except behind URLs."""
    if is_url(path):
        return ".." not in path.split("/") and path.startswith(joined(folder, ""))
    root = os.path.realpath(folder or os.curdir)
    return os.path.realpath(path).startswith(os.path.join(root, ""))


def _is_folder_entry(url: str) -> bool | None:
    """Whether the entry at a URL is a folder; None if there is no entry, or if the path contains ``..``.

    Raises NotListed, an OSError, if the server lists no folders.
    """
    folder, _, name = url.rstrip("/").rpartition("/")
    if ".." in url.split("/"):
        return None
    try:
        return _listing(folder).get(name)
    except FileNotFoundError:
        return None


def _listing(url: str) -> dict[str, bool]:
    from irlint.parsers.remote.session import listing

    return listing(url)
