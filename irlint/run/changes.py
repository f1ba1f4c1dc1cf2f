"""Which models of a git repository differ from a revision, in their own files, their weights or their external data."""

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
    """The files of a repository that ``changed`` since a revision or are untracked, and the files of the revision.

    The latter are in ``known``. All paths are relative to ``root``.
    """

    root: str
    changed: frozenset[str]
    known: frozenset[str]

    def has(self, path: str) -> bool:
        """Whether a file, or the submodule that contains it, differs."""
        return not self.changed.isdisjoint(_with_folders(_name(path, self.root)))

    def has_model(self, path: str) -> bool:
        """Whether the file of a model differs, or is not in the revision."""
        return self.has(path) or self.known.isdisjoint(_with_folders(_name(path, self.root)))

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


#: Options for git to list differing files, and differing submodules whatever the repository configures.
NAMES = ("--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--ignore-submodules=none")


class Changes:
    """Chooses the models that differ from the commit where the current branch and the revision ``ref`` branched.

    Without such a commit, models are compared with ``ref``. A change of a file in ``deciding`` counts as a change of
    every model of its repository. ``unchanged`` counts the models that were not chosen.
    """

    def __init__(self, ref: str, deciding: Collection[str] = ()) -> None:
        self.ref = ref
        self.deciding = deciding
        self.unchanged = 0
        self._found: dict[str, Differences] = {}
        self._roots: dict[str, str] = {}

    def among(self, files: Sequence[str]) -> list[str]:
        """The files that differ. Raises NoRevision."""
        chosen = [file for file in files if self._differs(os.path.abspath(file))]
        self.unchanged += len(files) - len(chosen)
        return chosen

    def _differs(self, path: str) -> bool:
        """Whether a model or configuration, its weights or its external data differ, or a deciding file does."""
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
        inside = (each for each in self.deciding if self._root(os.path.dirname(os.path.abspath(each))) == root)
        return any(self._of(path).has(os.path.abspath(each)) for each in inside)

    def _of(self, path: str) -> Differences:
        """The differences of the repository that contains a file. Raises NoRevision."""
        root = self._root(os.path.dirname(path))
        if not root:
            raise NoRevision(f"{path} is in no git repository")
        if root not in self._found:
            self._found[root] = differences(root, self.ref)
        return self._found[root]

    def _root(self, folder: str) -> str:
        """The root of the work tree that contains a folder; "" if there is none."""
        if folder not in self._roots:
            above = os.path.dirname(folder)
            is_root = os.path.exists(os.path.join(folder, ".git")) and not _is_submodule(folder)
            self._roots[folder] = folder if is_root else self._root(above) if above != folder else ""
        return self._roots[folder]


def differences(root: str, ref: str) -> Differences:
    """The differences of a work tree from the commit where its branch and ``ref`` branched, or from ``ref``.

    Raises NoRevision.
    """
    git = Git(root)
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if not commit:
        raise NoRevision(
            f"{root} has no revision {ref}; in CI fetch it first, as actions/checkout does with `fetch-depth: 0`"
        )
    branched = git("merge-base", commit[0].strip(), "HEAD")
    base = (branched or commit)[0].strip()
    changed = git("diff", *NAMES, base, "--") or []
    new = git("ls-files", "--others", "--exclude-standard", "-z") or []
    known = git("ls-tree", "-r", "-z", "--name-only", "--full-tree", base) or []
    return Differences(root, frozenset(filter(None, (*changed, *new))), frozenset(known))


def _is_submodule(folder: str) -> bool:
    """Whether a folder is the work tree of a submodule, so that the revision is in the repository around it."""
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
