"""Reads Git LFS pointers, and finds the files to which they refer in the LFS store of a repository."""

from __future__ import annotations

import os

from irlint.parsers.weights import is_lfs_pointer
from irlint.records import record

#: A pointer has fewer bytes than this.
LONGEST = 1024


@record
class Pointer:
    """A Git LFS pointer."""

    #: The SHA-256 hash of the file to which the pointer refers.
    oid: str
    #: The size of that file in bytes.
    size: int


def pointer_in(head: bytes) -> Pointer | None:
    """The pointer in a file that begins with ``head``; None if the file is not a valid pointer."""
    if not is_lfs_pointer(head):
        return None
    entries = dict(line.split(" ", 1) for line in head.decode("utf-8", "replace").splitlines() if " " in line)
    oid, size = entries.get("oid", "").removeprefix("sha256:").lower(), entries.get("size", "")
    if (
        len(oid) != 64
        or not set(oid) <= set("0123456789abcdef")
        or not (size.isascii() and size.isdigit() and len(size) < 20)
    ):
        return None
    return Pointer(oid, int(size))


def stored(pointer: Pointer, *folders: str) -> str | None:
    """The path of the file to which ``pointer`` refers; None if it is not stored.

    Searches the LFS stores of the repositories that contain ``folders``.
    """
    for folder in folders:
        repository = _git_folder(os.path.abspath(folder))
        if repository is None:
            continue
        path = os.path.join(repository, "lfs", "objects", pointer.oid[:2], pointer.oid[2:4], pointer.oid)
        if os.path.isfile(path) and os.path.getsize(path) == pointer.size:
            return path
    return None


def _git_folder(folder: str) -> str | None:
    """The Git folder of the repository that contains ``folder``, or None."""
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.isdir(entry):
            return entry
        if os.path.isfile(entry):
            return _linked_git_folder(entry)
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None


def _linked_git_folder(entry: str) -> str | None:
    """The Git folder that the file ``.git`` of a work tree or a submodule names; None for any other file."""
    line = _first_line(entry)
    if not line.startswith("gitdir: "):
        return None
    folder = os.path.join(os.path.dirname(entry), line.removeprefix("gitdir: "))
    common = os.path.join(folder, "commondir")
    return os.path.normpath(os.path.join(folder, _first_line(common))) if os.path.isfile(common) else folder


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.readline(4096).strip()
