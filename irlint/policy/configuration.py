"""The configuration: ``irlint.toml``, ``.irlint.toml`` or ``[tool.irlint]`` in ``pyproject.toml``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from irlint.dims import Shape
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from irlint.policy.options import FAIL_ON, FORMATS, LEVELS, POINTERS
from irlint.policy.shape_options import ModelShapes
from irlint.policy.suppressions import FileIgnores, Suppression, severities
from irlint.records import record
from irlint.reporters.plain import safe

if TYPE_CHECKING:
    from datetime import date

    from irlint.policy.suppressions import Selection
    from irlint.policy.toml_places import Path, Places

CHOICES: Mapping[str, tuple[str, ...]] = {"fail-on": FAIL_ON, "output-format": FORMATS, "lfs-pointers": POINTERS}
LISTS = ("select", "ignore", "extend-select")
KEYS = (*LISTS, "severity", "per-file-ignores", "exclude", *CHOICES, "baseline", "models", "suppress")
MODEL_KEYS = ("file", "shapes")
SUPPRESS_KEYS = ("file", "rule", "node", "reason", "expires")

A_RULE = "a rule is a code (IRL201), the first letters of codes (IRL2) or a name; `irlint rules` lists them"
A_DATE = "a date such as 2027-01-31"

#: The lines of an error are at most so long where they can be broken.
WIDTH = 100

Entry = TypeVar("Entry")


@record
class Config:
    """What a configuration file says; None and "" where it says nothing. Globs and ``baseline`` start from ``root``.

    ``severity`` holds levels by the codes of rules.
    """

    file: str
    root: str
    selection: Selection
    severity: Mapping[str, str]
    file_ignores: tuple[FileIgnores, ...]
    exclude: tuple[str, ...]
    fail_on: str | None
    output_format: str | None
    lfs_pointers: str | None
    baseline: str
    models: tuple[ModelShapes, ...]
    suppress: tuple[Suppression, ...]


class ConfigError(Exception):
    """A configuration that cannot be used; its text has the place, the line and the caret, and what is allowed."""


def loaded(file: str) -> Config | None:
    """The configuration in a file, None for a ``pyproject.toml`` without a table for irlint.

    Raises ConfigError, and OSError where the file cannot be opened.
    """
    with open(file, "rb") as stream:
        data = stream.read()
    shown = file.replace(os.sep, "/")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(_told("the file is no UTF-8 text", shown, None, line, 1, 1, ())) from None
    document = _parsed(text, shown)
    if os.path.basename(file) != "pyproject.toml":
        return _Reader(text, shown, ()).config(document, file)
    tool = document.get("tool")
    if not isinstance(tool, dict) or "irlint" not in tool:
        return None
    return _Reader(text, shown, ("tool", "irlint")).config(tool["irlint"], file)


def _parsed(text: str, shown: str) -> dict[str, Any]:
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).rpartition(" (at ")
        numbers = [int(part) for part in where.replace(",", " ").replace(")", " ").split() if part.isdigit()]
        lines = text.split("\n")
        end = max(at for at, line in enumerate(lines, 1) if line.strip() or at == 1)
        line, column = numbers if len(numbers) == 2 else (end, len(lines[end - 1]) + 1)
        told = f"the file is no sound TOML: {message[:1].lower()}{message[1:]}"
        raise ConfigError(_told(told, shown, text, line, column, 1, ())) from None


def _told(message: str, shown: str, text: str | None, line: int, column: int, length: int, helps: Sequence[str]) -> str:
    """The message with its place, the line before it and its own with a caret, and what helps."""
    from textwrap import wrap

    result = [f"irlint: error: {safe(message)}", f"   --> {safe(shown)}:{line}:{column}"]
    if text is not None:
        lines = text.split("\n")
        width = max(3, len(str(line)))
        bar = f"{'':>{width}} |"
        around = [at for at in (line - 1, line) if at == line or (at >= 1 and lines[at - 1].strip())]
        result += [bar, *(f"{at:>{width}} | {_line(lines[at - 1])}".rstrip() for at in around)]
        result.append(f"{bar} {' ' * len(_line(lines[line - 1][: column - 1]))}{'^' * max(1, length)}")
    for each in helps:
        result += wrap(f"= help: {safe(each)}", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 12)
    return "\n".join([*result, "Nothing was linted.", ""])


def _line(text: str) -> str:
    return safe(text.replace("\t", "    "))


class _Reader:
    """Turns one document into a configuration, and says where it cannot."""

    def __init__(self, text: str, shown: str, prefix: Path) -> None:
        self.text = text
        self.shown = shown
        self.prefix = prefix
        self._places: Places | None = None

    def config(self, document: Any, file: str) -> Config:
        """The configuration in a document; raises ConfigError."""
        self.known(document, KEYS, ())
        choices = {name: self.choice(document, name, allowed) for name, allowed in CHOICES.items()}
        return Config(
            file=self.shown,
            root=os.path.dirname(os.path.abspath(file)),
            selection=self.selection(document),
            severity=self.severity(document),
            file_ignores=self.file_ignores(document),
            exclude=tuple(self.texts(document.get("exclude", []), ("exclude",), "globs")),
            fail_on=choices["fail-on"],
            output_format=choices["output-format"],
            lfs_pointers=choices["lfs-pointers"],
            baseline=self.text_of(document, "baseline", ()),
            models=tuple(self.each(document, "models", self.model)),
            suppress=tuple(self.each(document, "suppress", self.suppression)),
        )

    def fail(self, message: str, path: Path, *helps: str, key: bool = False) -> NoReturn:
        """Raises the ConfigError at a value or, with ``key``, at the key before it."""
        start, end = self.span(path, key)
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        length = len(self.text[start:end].split("\n")[0])
        raise ConfigError(_told(message, self.shown, self.text, line, column, length, helps))

    def place(self, path: Path) -> str:
        """``irlint.toml:12``: where an entry begins."""
        start, _ = self.span(path, key=True)
        return f"{self.shown}:{self.text.count(chr(10), 0, start) + 1}"

    def span(self, path: Path, key: bool) -> tuple[int, int]:
        """Where a key or a value stands in the text; of one that cannot be found, the innermost table around it."""
        from irlint.policy.toml_places import places

        self._places = found = self._places or places(self.text)
        first, second = (found.keys, found.values) if key else (found.values, found.keys)
        full = (*self.prefix, *path)
        while full and full not in first and full not in second:
            full = full[:-1]
        return first.get(full) or second.get(full) or (0, 1)

    def table(self, value: Any, path: Path, what: str = "a table") -> None:
        if not isinstance(value, dict):
            self.fail(f"{_name(path)} is {_kind(value)}, where {what} is expected", path)

    def known(self, table: Any, allowed: Sequence[str], path: Path) -> None:
        self.table(table, path)
        for key in table:
            if key not in allowed:
                keys = ", ".join(sorted(allowed))
                self.fail(
                    f"unknown key `{key}`{_meant(key, allowed)}",
                    (*path, key),
                    f"keys allowed here: {keys}",
                    key=True,
                )

    def texts(self, value: Any, path: Path, what: str) -> list[str]:
        if not isinstance(value, list):
            told = f'write ["{value}"]' if isinstance(value, str) and value.strip() else 'write ["…"]'
            self.fail(f"{_name(path)} is {_kind(value)}, where a list of {what} is expected", path, told)
        for index, entry in enumerate(value):
            if not isinstance(entry, str) or not entry.strip():
                self.fail(f"{_name(path)} holds {_kind(entry)}, where a text is expected", (*path, index))
        return value

    def text_of(self, table: Mapping[str, Any], key: str, path: Path) -> str:
        if key not in table:
            return ""
        value = table[key]
        if not isinstance(value, str) or not value.strip():
            self.fail(f"{_name((*path, key))} is {_kind(value)}, where a text is expected", (*path, key))
        return value

    def choice(self, table: Mapping[str, Any], key: str, allowed: Sequence[str]) -> str | None:
        return self.one_of(table[key], (key,), allowed) if key in table else None

    def one_of(self, value: Any, path: Path, allowed: Sequence[str]) -> str:
        told = ", ".join(f'"{each}"' for each in allowed)
        if not isinstance(value, str) or value not in allowed:
            meant = _meant(value, allowed) if isinstance(value, str) else ""
            self.fail(f"{_name(path)} is {_kind(value)}{meant}", path, f"values allowed here: {told}")
        return value

    def selection(self, document: Mapping[str, Any]) -> Selection:
        from irlint.policy.suppressions import selection

        for key in LISTS:
            for index, name in enumerate(self.texts(document.get(key, []), (key,), "rules")):
                self.rule(name, (key, index))
        select = document.get("select")
        if select == []:
            self.fail(
                "`select` is empty: no rule would be left", ("select",), "without the key, every rule is selected"
            )
        return selection(select, document.get("ignore", ()), document.get("extend-select", ()))

    def rule(self, name: str, path: Path, key: bool = False) -> frozenset[str]:
        """The codes that the name of a rule stands for."""
        from irlint.policy.rulebook import codes, every_rule

        found = codes(name)
        if not found:
            meant = _meant(name, [text for rule in every_rule() for text in (rule.code, rule.name)])
            self.fail(f"unknown rule `{name}`{meant}", path, A_RULE, key=key)
        return found

    def severity(self, document: Mapping[str, Any]) -> dict[str, str]:
        table = document.get("severity", {})
        self.table(table, ("severity",), "a table with RULE = LEVEL")
        for name in table:
            self.rule(name, ("severity", name), key=True)
            self.one_of(table[name], ("severity", name), LEVELS)
        return severities(table.items())

    def file_ignores(self, document: Mapping[str, Any]) -> tuple[FileIgnores, ...]:
        table = document.get("per-file-ignores", {})
        self.table(table, ("per-file-ignores",), "a table with GLOB = [RULES]")
        result = []
        for glob, names in table.items():
            path = ("per-file-ignores", glob)
            found = [self.rule(name, (*path, at)) for at, name in enumerate(self.texts(names, path, "rules"))]
            result.append(FileIgnores(glob, frozenset().union(*found)))
        return tuple(result)

    def each(self, document: Mapping[str, Any], key: str, read: Callable[[Any, Path], Entry]) -> list[Entry]:
        entries = document.get(key, [])
        if not isinstance(entries, list):
            self.fail(f"`{key}` is {_kind(entries)}, where tables [[{key}]] are expected", (key,), key=True)
        return [read(entry, (key, index)) for index, entry in enumerate(entries)]

    def model(self, entry: Any, path: Path) -> ModelShapes:
        self.known(entry, MODEL_KEYS, path)
        self.required(entry, MODEL_KEYS, path)
        table = entry["shapes"]
        self.table(table, (*path, "shapes"), "a table with INPUT = DIMS")
        shapes = {name: self.shape(name, text, (*path, "shapes", name)) for name, text in table.items()}
        return ModelShapes(self.text_of(entry, "file", path), shapes, self.place(path))

    def shape(self, name: str, text: Any, path: Path) -> Shape:
        from irlint.policy.shape_options import parsed_shapes

        if not isinstance(text, str):
            self.fail(f'the shape of `{name}` is {_kind(text)}, where a text such as "N,3,640,640" is expected', path)
        try:
            return parsed_shapes([f"{name or '?'}={text}"])[name or "?"]
        except ValueError as error:
            self.fail(f"the shape of `{name}`: {error}", path)

    def suppression(self, entry: Any, path: Path) -> Suppression:
        self.known(entry, SUPPRESS_KEYS, path)
        self.required(entry, ("reason",), path)
        file, rule, node, reason = (self.text_of(entry, key, path) for key in SUPPRESS_KEYS[:4])
        if not (file or rule or node):
            self.fail(
                "this entry would hide every finding", path, "say which ones, by `file`, `rule` or `node`", key=True
            )
        codes = self.fitting(rule, (*path, "rule")) if rule else None
        return Suppression(file, codes, node, reason, self.expires(entry, path), self.place(path))

    def fitting(self, rule: str, path: Path) -> frozenset[str]:
        """The codes of a rule's name, or of all rules whose code or name a glob fits."""
        from fnmatch import fnmatchcase

        from irlint.policy.globs import is_literal
        from irlint.policy.rulebook import every_rule

        if is_literal(rule):
            return self.rule(rule, path)
        fitting = [r.code for r in every_rule() if fnmatchcase(r.code, rule.upper()) or fnmatchcase(r.name, rule)]
        if not fitting:
            self.fail(f"the code and the name of no rule fit `{rule}`", path, A_RULE)
        return frozenset(fitting)

    def expires(self, entry: Mapping[str, Any], path: Path) -> date | None:
        from datetime import date, datetime

        value = entry.get("expires")
        if isinstance(value, str) and len(value) == 10 and value[4::3] == "--":
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            self.fail(f"`expires` is {_kind(value)}, where {A_DATE} is expected", (*path, "expires"))
        return value

    def required(self, entry: Mapping[str, Any], keys: Sequence[str], path: Path) -> None:
        for key in keys:
            if key not in entry:
                told = "say why the findings may stay" if key == "reason" else f"every [[{path[0]}]] needs one"
                self.fail(f"this entry of `{path[0]}` has no `{key}`", path, told, key=True)


def _name(path: Path) -> str:
    names = [part for part in path if isinstance(part, str)]
    return f"`{'.'.join(names)}`" if names else "the configuration"


def _meant(name: str, names: Sequence[str]) -> str:
    from irlint.policy.rulebook import closest

    close = closest(name, names)
    return f", did you mean `{close}`?" if close else ""


def _kind(value: Any) -> str:
    """What a value is, in TOML's words."""
    if isinstance(value, str):
        return f'"{value}"' if value.strip() else "an empty text"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return str(value)
