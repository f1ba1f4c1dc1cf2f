"""The configuration: ``irlint.toml``, ``.irlint.toml`` or ``[tool.irlint]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.parsers.opening import file_bytes
from irlint.policy.complaints import ConfigError, complaint
from irlint.policy.configuration_files import NAMES
from irlint.records import NOTHING, record

if TYPE_CHECKING:
    from irlint.policy.globs import ByGlob
    from irlint.policy.shape_options import ModelShapes
    from irlint.policy.suppressions import FileIgnores, Policy, Selection

#: A dotted key may have at most this many parts.
KEY_PARTS = 100

__all__ = ["Config", "ConfigError", "loaded"]


@record
class Config:
    """The configuration in a file. Its globs, and the path of its baseline, are relative to ``root``."""

    file: str
    root: str
    values: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def selection(self) -> Selection:
        """The rules that the configuration selects."""
        from irlint.policy.suppressions import selection

        return selection(self["select"], self["ignore"] or (), self["extend-select"] or ())

    def policy(self, by_options: Selection, levels: Mapping[str, str] = NOTHING, **baseline: Any) -> Policy:
        """The policy of a run with this configuration and the options of the command line.

        ``by_options`` has the rules that the options select or ignore; it applies after the selection of this
        configuration. ``levels`` override the severities of this configuration. ``baseline`` are the fields of
        Policy about the baseline.
        """
        from irlint.policy import suppressions

        return suppressions.Policy(
            (self.selection, by_options),
            tuple({**self["severity"], **levels}.items()),
            file_ignores=self.file_ignores,
            suppress=suppressions.by_file(suppressions.in_force(self["suppress"]), self.root),
            accepts_pointers=self.skips_pointers,
            source=self.file,
            without_configuration=suppressions.Policy((by_options,), tuple(levels.items())),
            **baseline,
        )

    @property
    def models(self) -> ByGlob[ModelShapes]:
        """The ``[[models]]`` entries, by the globs of their files."""
        return self._by_glob("models", "file")

    @property
    def file_ignores(self) -> ByGlob[FileIgnores]:
        """The rules that are not reported for some files, by the globs of the files."""
        return self._by_glob("per-file-ignores", "glob")

    def _by_glob(self, key: str, field: str) -> ByGlob[Any]:
        from irlint.policy.globs import ByGlob

        return ByGlob((getattr(entry, field) for entry in self[key]), self[key], self.root)

    @property
    def skips_pointers(self) -> bool:
        """Whether Git LFS pointers are skipped."""
        return bool(self["lfs-pointers"] == "skip")


def loaded(file: str) -> Config | None:
    """The configuration in a file; None for a ``pyproject.toml`` without ``tool.irlint``.

    Raises ConfigError for an invalid configuration, and OSError.
    """
    data = file_bytes(file, "configuration")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise complaint("the file is not UTF-8 text", file.replace(os.sep, "/"), None, line, 1) from None
    return of_text(text, file)


def of_text(text: str, file: str) -> Config | None:
    """Like ``loaded``, but the caller has read the ``text`` of ``file``. Raises ConfigError."""
    shown = file.replace(os.sep, "/")
    table: Any = parsed(text, shown)
    prefix = ("tool", "irlint") if os.path.basename(file) == NAMES[-1] else ()
    for part in prefix:
        if not isinstance(table, dict) or part not in table:
            return None
        table = table[part]
    return Config(shown, os.path.dirname(os.path.abspath(file)), values(table, text, shown, prefix))


def line_of(file: str, key: str, index: int) -> int:
    """The line of the entry ``index`` of the list ``key`` in a valid file. Lines count from 1."""
    from irlint.policy.toml_places import Places

    text = file_bytes(file, "configuration").decode("utf-8-sig").replace("\r\n", "\n")
    prefix = ("tool", "irlint") if os.path.basename(file) == NAMES[-1] else ()
    start, _ = Places(text).span((*prefix, key, index), key=False)
    return text.count("\n", 0, start) + 1


def values(table: Any, text: str, file: str, prefix: tuple[str, ...] = ()) -> dict[str, Any]:
    """The value of each key of the configuration in ``table``. ``prefix`` is the path of this table in the document.

    Raises ConfigError.
    """
    from irlint.policy.keys import KEYS
    from irlint.policy.reading import Reader

    return Reader(text, file, prefix).values(table, KEYS, ())


#: tomllib's message about a table whose name already has a value begins with this text. The name follows.
SET_TWICE = "Cannot mutate immutable namespace"


def parsed(text: str, file: str) -> dict[str, Any]:
    """The parsed TOML document. Raises ConfigError."""
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if _has_long_key(text):
        raise complaint(f"it has a key of more than {KEY_PARTS} parts", file, None, 1, 1)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise complaint("its tables and lists are nested too deeply", file, None, 1, 1) from None
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).rpartition(" (at ")
        numbers = [int(part) for part in where.replace(",", " ").replace(")", " ").split() if part.isdigit()]
        lines = text.split("\n")
        end = max(at for at, line in enumerate(lines, 1) if line.strip() or at == 1)
        line, column = numbers if len(numbers) == 2 else (end, len(lines[end - 1]) + 1)
        reason = f"the file is not valid TOML: {message[:1].lower()}{message[1:]}"
        if message.startswith(SET_TWICE):
            key = message[len(SET_TWICE) :].strip(" ('),")
            reason = f"{key!r} is set above, and this table sets it again: remove one of the two"
        raise complaint(reason, file, text, line, column) from None
    except ValueError as error:
        raise complaint(f"it has a number that cannot be read: {error}", file, None, 1, 1) from None


def _has_long_key(text: str) -> bool:
    """Whether a key has more than KEY_PARTS parts. The time of tomllib is quadratic in the number of parts."""
    if text.count(".") <= KEY_PARTS:
        return False
    import re

    part = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
    return re.search(rf"(?m)^[ \t\[]*(?:{part}[ \t]*\.[ \t]*){{{KEY_PARTS}}}", text) is not None
