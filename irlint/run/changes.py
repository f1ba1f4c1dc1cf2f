"""Chooses the models of a git repository that differ from a revision. Their weights and external data count."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from irlint import parsers
from irlint.folders import is_configuration
from irlint.model import Constant, Model
from irlint.model.order import graphs
from irlint.parsers.opening import opened
from irlint.records import record
from irlint.run.git import Git, NoRevision
from irlint.run.search import SUFFIXES, WEIGHTS


@record
class Differences:
    """The differences of a work tree from a revision. Paths are relative to ``root``."""

    root: str
    #: The files that differ or are untracked.
    changed: frozenset[str]
    #: The files that the revision has.
    of_revision: frozenset[str]

    def has(self, path: str) -> bool:
        """Whether a file, or the submodule that contains it, differs."""
        return not self.changed.isdisjoint(_with_folders(_name(path, self.root)))

    def has_model(self, path: str) -> bool:
        """Whether the file of a model differs, or whether the revision does not have it."""
        return self.has(path) or self.of_revision.isdisjoint(_with_folders(_name(path, self.root)))

    def has_below(self, folder: str) -> bool:
        """Whether a file in a folder or below it differs."""
        name = _name(folder, self.root)
        inside = "" if name.split("/")[0] in (".", "..") else f"{name}/"
        return any(name.startswith(inside) for name in self.changed)

    def has_beside(self, path: str) -> bool:
        """Whether a file that is not a model differs in the folder of a model or below it."""
        folder = os.path.dirname(_name(path, self.root))
        inside = f"{folder}/" if folder else ""
        return any(name.startswith(inside) and not name.lower().endswith(SUFFIXES) for name in self.changed)


#: Options with which ``git diff`` lists all differing files and submodules, whatever the repository configures.
NAMES = ("--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--ignore-submodules=none")


class Changes:
    """Chooses the models that differ from a revision.

    The revision is the merge base of HEAD and ``ref`` or, if there is none, ``ref``. A change of a file in ``deciding``
    counts as a change of every model in the repository of this file.
    """

    def __init__(self, ref: str, deciding: Collection[str] = ()) -> None:
        self.ref = ref
        self.deciding = deciding
        #: The number of files that were not chosen.
        self.unchanged = 0
        self._differences: dict[str, Differences] = {}
        self._roots: dict[str, str] = {}

    def among(self, files: Sequence[str]) -> list[str]:
        """Those of ``files`` that differ. Raises NoRevision."""
        chosen = [file for file in files if self._differs(os.path.abspath(file))]
        self.unchanged += len(files) - len(chosen)
        return chosen

    def _differs(self, path: str) -> bool:
        """Whether a model differs: its file, its weights, its external data, or a deciding file.

        A configuration differs if any file in the folder above its own folder, or below that, differs.
        """
        places = {path, os.path.realpath(path)}
        if any(self._of(each).has_model(each) for each in places) or self._decided(path):
            return True
        if is_configuration(path):
            return self._of(path).has_below(os.path.dirname(os.path.dirname(path)))
        for suffix, other in WEIGHTS:
            if path.lower().endswith(other):
                return self._of(path).has(path[: -len(other)] + suffix)
        if not any(self._of(each).has_beside(each) for each in places):
            return False
        try:
            files = [os.path.join(os.path.dirname(path), name) for name in data_files(parsers.read(path))]
        except OSError:
            return True
        return any(self._of(path).has(each) for file in files for each in (file, os.path.realpath(file)))

    def _decided(self, path: str) -> bool:
        """Whether a deciding file in the repository of a path differs."""
        root = self._root(os.path.dirname(path))
        deciding = map(os.path.abspath, self.deciding)
        return any(self._of(path).has(each) for each in deciding if self._root(os.path.dirname(each)) == root)

    def _of(self, path: str) -> Differences:
        """The differences of the repository that contains a file. Raises NoRevision."""
        root = self._root(os.path.dirname(path))
        if not root:
            raise NoRevision(f"{path} is in no git repository")
        if root not in self._differences:
            self._differences[root] = differences(root, self.ref)
        return self._differences[root]

    def _root(self, folder: str) -> str:
        """The root of the work tree that contains a folder; "" if there is none."""
        if folder not in self._roots:
            above = os.path.dirname(folder)
            is_root = os.path.exists(os.path.join(folder, ".git")) and not _is_submodule(folder)
            self._roots[folder] = folder if is_root else self._root(above) if above != folder else ""
        return self._roots[folder]


def differences(root: str, ref: str) -> Differences:
    """The differences of a work tree from the merge base of HEAD and ``ref``.

    If there is no merge base, the differences from ``ref``. Raises NoRevision.
    """
    git = Git(root)
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if not commit:
        raise NoRevision(
            f"{root} has no revision {ref}; in CI fetch it first, as actions/checkout does with `fetch-depth: 0`"
        )
    merge_base = git("merge-base", commit[0].strip(), "HEAD")
    base = (merge_base or commit)[0].strip()
    changed = git("diff", *NAMES, base, "--") or []
    untracked = git("ls-files", "--others", "--exclude-standard", "-z") or []
    of_revision = git("ls-tree", "-r", "-z", "--name-only", "--full-tree", base) or []
    return Differences(root, frozenset(filter(None, (*changed, *untracked))), frozenset(of_revision))


def _is_submodule(folder: str) -> bool:
    try:
        with opened(os.path.join(folder, ".git")) as file:
            return "/modules/" in os.fsdecode(file.read(4096).partition(b"\n")[0]).replace(os.sep, "/")
    except OSError:
        return False


def _with_folders(name: str) -> Iterator[str]:
    """A path and all folders that contain it."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _name(path: str, root: str) -> str:
    """The path of a file relative to the root of its repository, with ``/``."""
    return os.path.relpath(path, root).replace(os.sep, "/")


def data_files(model: Model) -> set[str]:
    """The external data files of a model, relative to its folder."""
    return {each.stored.file for each in _constants(model) if each.stored is not None and each.stored.file}


def _constants(model: Model) -> Iterator[Constant]:
    for graph in graphs(model):
        found = [*graph.constants.values()]
        found += [a.value for node in graph.nodes for a in node.attributes.values() if isinstance(a.value, Constant)]
        yield from found
        yield from (part for each in found for part in each.parts)
