"""Finds the files that a run checks."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from irlint.findings.report import POINTER_SKIPPED, CheckedFile
from irlint.findings.wording import counted
from irlint.folders import is_beside_models, is_configuration
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model.formats import FORMATS
from irlint.parsers.opening import NO_HANDLES, within
from irlint.records import record

if TYPE_CHECKING:
    from irlint.policy.gitignore import GitIgnores
    from irlint.run.changes import Changes

#: The suffixes of models.
SUFFIXES = tuple(suffix for form in FORMATS for suffix in form.suffixes)

#: (suffix of weights files, suffix of their models).
WEIGHTS = tuple((form.weights, form.suffixes[0]) for form in FORMATS if form.weights)

#: The suffixes of files that are often beside models, and that are not models.
NON_MODELS = (
    *(".md", ".rst", ".txt", ".pdf", ".html", ".htm", ".license", ".log"),
    *(".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv", ".tsv", ".lock", ".mapping"),
    *(".py", ".ipynb", ".sh", ".bat", ".js", ".ts", ".c", ".h", ".cc", ".cpp", ".hpp", ".jinja"),
    *(".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".wav", ".mp3", ".mp4", ".flac"),
    *(".data", ".onnx_data", ".raw", ".npy", ".npz", ".safetensors", ".model", ".vocab", ".tiktoken", ".dvc"),
    *(".sha256", ".sha512", ".md5", ".sig", ".asc"),
)

#: The names, in lower case, of files that are often beside models, and that are not models.
NAMES = ("license", "notice", "readme", "copying", "authors", "changelog", "makefile", "dockerfile", "sha256sums")


#: A message names at most this many links.
LINKS = 3


class MissingPaths(FileNotFoundError):
    """Paths that the user named do not exist."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(f"no such file or folder: {', '.join(paths)}")
        self.paths = tuple(paths)


@record
class Excluded:
    """Decides which files a run does not check."""

    #: Globs relative to the working folder.
    here: tuple[str, ...] = ()
    #: Globs relative to ``root``.
    there: tuple[str, ...] = ()
    root: str = ""
    #: Excludes the files that git ignores.
    git: GitIgnores | None = None
    #: Excludes the models that did not change since a git revision.
    since: Changes | None = None
    #: If not None, collects the links to folders that a search does not follow.
    links: set[str] | None = None
    #: Whether a search of a folder skips the configurations of other tools, such as ``config.pbtxt``.
    configurations: bool = False

    def __call__(self, path: str) -> bool:
        """Whether a glob matches a path."""
        if not self.here and not self.there:
            return False
        from irlint.policy.globs import matches

        return matches(path, self.here) or matches(path, self.there, self.root)

    @property
    def ignored_files(self) -> Mapping[str, str]:
        """The files that were excluded because git ignores them, with the line of ``.gitignore`` for each."""
        return self.git.ignored_files if self.git is not None else {}

    @property
    def unchanged(self) -> int:
        """The number of files that were excluded because they did not change."""
        return self.since.unchanged if self.since is not None else 0

    def unfollowed_links(self) -> Iterator[str]:
        """A line about the links that were not followed, if there are any."""
        if self.links:
            links = (
                f"{counted(len(self.links), 'link')} to folders outside of the named paths ({first_links(self.links)})"
            )
            yield f"not followed: {links}; name a folder to check it"

    def by(self, path: str) -> str:
        """The first glob that matches a path, or ""."""
        from irlint.policy.globs import matches

        here = (glob for glob in self.here if matches(path, [glob]))
        return next(here, "") or next((glob for glob in self.there if matches(path, [glob], self.root)), "")


def discovered(paths: Iterable[str], excluded: Excluded | None = None, force_exclude: bool = False) -> list[str]:
    """The files to check, sorted, each once.

    A path may name a file or a folder, which is searched for models and configurations. The model of a weights file
    replaces it. A subfolder that cannot be read is included, so that the run reports it. A file that a path names is
    excluded only with ``force_exclude``. A link to a folder is followed only if it leads into one of the folders.

    Raises MissingPaths, OSError if a folder in ``paths`` cannot be read, and ValueError if git cannot list changes.
    """
    excluded, paths = excluded or Excluded(), list(paths)
    missing = [path for path in dict.fromkeys(paths) if not os.path.exists(path)]
    if missing:
        raise MissingPaths(missing)
    found: dict[str, str] = {}
    roots = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
    for path in map(_model_of_weights, paths):
        if os.path.isdir(path):
            for file, real in sorted(_files_in(path, excluded, roots).items()):
                found.setdefault(real, file)
        elif not (force_exclude and excluded(path)):
            found.setdefault(os.path.realpath(path), path)
    files = sorted(found.values(), key=lambda path: path.replace(os.sep, "/"))
    return files if excluded.since is None else excluded.since.among(files)


def models(
    paths: Iterable[str], excluded: Excluded | None = None, force_exclude: bool = False, skip_pointers: bool = False
) -> list[str]:
    """The files of ``discovered`` that a run does not skip. Raises like ``discovered``."""
    return [path for path in discovered(paths, excluded, force_exclude) if not _is_skipped(path, skip_pointers)]


def first_links(links: Collection[str]) -> str:
    """The names of the first LINKS links as a text. If there are more, the text ends with ``...``."""
    return ", ".join([*sorted(links)[:LINKS], *(["..."] if len(links) > LINKS else [])])


def links_leading_out(files: Iterable[str], paths: Iterable[str]) -> list[str]:
    """Those of ``files`` that are links to a file outside of ``paths``."""
    roots = [os.path.realpath(path) for path in paths]
    return [file for file in files if not within(os.path.realpath(file), roots)]


def _model_of_weights(path: str) -> str:
    """If ``path`` is a weights file beside its model, the path of the model; else ``path``."""
    for suffix, other in WEIGHTS:
        if path.lower().endswith(suffix) and os.path.isfile(path[: -len(suffix)] + other):
            return path[: -len(suffix)] + other
    return path


def _is_skipped(path: str, skip_pointers: bool) -> bool:
    try:
        return skipped(path, None, skip_pointers, True) is not None
    except OSError:
        return False


def _files_in(folder: str, excluded: Excluded, roots: Sequence[str]) -> dict[str, str]:
    """The models, configurations and unreadable subfolders in a folder and below it: real path by path.

    Links to folders are followed last, and only if they lead into one of ``roots``. Raises OSError if ``folder`` cannot
    be read.
    """
    found: dict[str, str] = {}
    seen: set[tuple[int, int]] = set()
    waiting, links = [(folder, os.path.realpath(folder))], list[tuple[str, str]]()
    while waiting or links:
        at, real = waiting.pop() if waiting else links.pop()
        try:
            status = os.stat(at)
            entries = [] if (status.st_dev, status.st_ino) in seen else list(os.scandir(at))
        except OSError as error:
            if at is folder or error.errno in NO_HANDLES:
                raise
            found[at] = real
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            path = os.path.normpath(entry.path)
            is_folder = os.path.isdir(path)
            if _is_skipped_entry(entry.name, path, is_folder, excluded):
                continue
            is_link = _is_link(entry)
            target = os.path.realpath(path) if is_link else os.path.join(real, entry.name)
            if not is_folder:
                found[path] = target
            elif not is_link:
                waiting.append((path, target))
            elif within(target, roots):
                links.append((path, target))
            elif excluded.links is not None:
                excluded.links.add(path)
    return found


def _is_skipped_entry(name: str, path: str, is_folder: bool, excluded: Excluded) -> bool:
    """Whether an entry of a folder is hidden, excluded, ignored by git, or no folder, model or configuration."""
    is_wanted = is_folder or name.lower().endswith(SUFFIXES)
    if not is_wanted and is_configuration(name) and not excluded.configurations:
        is_wanted = is_beside_models(path)
    if name.startswith(".") or not is_wanted or excluded(path):
        return True
    return excluded.git is not None and excluded.git.ignores(path, is_folder)


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Whether an entry of a folder is a link or, on Windows, a junction."""
    is_junction = getattr(entry, "is_junction", None)
    return entry.is_symlink() or bool(is_junction is not None and is_junction())


def skipped(path: str, data: bytes | None, skip_pointers: bool, skip_non_models: bool) -> CheckedFile | None:
    """The entry of a skipped file; None for a file to check.

    A check skips .xml files without the root element <net>. With ``skip_pointers``, it skips Git LFS pointers. With
    ``skip_non_models``, it skips files that by both name and bytes are no models.
    """
    lowered = path.lower()
    may_be_skipped = skip_non_models and data is None and _has_other_name(lowered) and not is_configuration(path)
    if not lowered.endswith(".xml") and not skip_pointers and not may_be_skipped:
        return None
    from irlint.parsers import HEAD, first_bytes, kind

    head = first_bytes(path) if data is None else data[:HEAD]
    name, found = path.replace(os.sep, "/"), kind(path, head)
    if found == "lfs-pointer" and skip_pointers:
        return CheckedFile(name, None, status="skipped", reason=POINTER_SKIPPED)
    if may_be_skipped and not any(found == form.name for form in FORMATS):
        return CheckedFile(name, None, status="skipped", reason=_reason(path))
    if found != "other-xml" or not lowered.endswith(".xml"):
        return None
    return CheckedFile(name, None, status="skipped", reason="its root element is not <net>: no OpenVINO IR")


def _has_other_name(path: str) -> bool:
    """Whether ``path``, in lower case, has a name in NAMES, or a suffix of files that are no models."""
    if path.endswith(SUFFIXES):
        return False
    weights = tuple(suffix for suffix, _ in WEIGHTS)
    return path.endswith((*NON_MODELS, *weights)) or os.path.basename(path) in NAMES or ".onnx_data" in path


def _reason(path: str) -> str:
    """Why a file that is no model is skipped."""
    for suffix, other in WEIGHTS:
        if path.lower().endswith(suffix):
            return f"weights without a model: there is no {os.path.basename(path)[: -len(suffix)]}{other} beside them"
    return "neither its name nor its bytes are those of a model"
