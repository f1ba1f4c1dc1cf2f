"""Reads the value of each kind of key from a TOML document, and refuses invalid values."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from irlint.dims import Shape
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.parsers.opening import within
from irlint.policy.complaints import complaint, did_you_mean, value_text
from irlint.policy.keys import Key
from irlint.policy.shape_options import ModelShapes
from irlint.policy.suppressions import FileIgnores, Suppression, severities

if TYPE_CHECKING:
    from datetime import date

    from irlint.costs.budgets import Budget
    from irlint.model.tensor import Tensor
    from irlint.ops.signed import Declared
    from irlint.policy.toml_places import Path, Places

A_RULE = "a rule is a code (IRL201), the first letters of codes (IRL2) or a name; `irlint rules` lists them"
A_DATE = "a date such as 2027-01-31"
A_COUNT = 'an integer, or a text such as "5M" with K, M or G after a number,'

#: A number with an optional suffix: K multiplies by 1000, M by 1000 twice, and G by 1000 three times.
COUNT = r"(\d{1,18}(?:\.\d{1,9})?)([KMG]?)"
SUFFIXES = ("", "K", "M", "G")


class Reader:
    """Reads the configuration under ``prefix`` in a document. Its methods raise ConfigError for invalid values."""

    def __init__(self, text: str, file: str, prefix: Path) -> None:
        self.text = text
        self.file = file
        self.prefix = prefix
        self._places: Places | None = None
        self._line_ends: list[int] = []

    def values(self, table: Any, keys: Sequence[Key], path: Path) -> dict[str, Any]:
        """The value of each key in a table."""
        self.table(table, path)
        allowed = [key.name for key in keys]
        for name in table:
            if name not in allowed:
                message = f"unknown key `{name}`{did_you_mean(name, allowed)}"
                self.fail(message, (*path, name), f"keys allowed here: {', '.join(sorted(allowed))}", key=True)
        for key in keys:
            if key.needed and key.name not in table:
                reason = f"every [[{path[0]}]] needs one: {key.help[:1].lower()}{key.help[1:]}"
                self.fail(f"this entry of `{path[0]}` has no `{key.name}`", path, reason, key=True)
        return {key.name: self.value(table, key, path) for key in keys}

    def value(self, table: Mapping[str, Any], key: Key, path: Path) -> Any:
        """The value of a key in ``table``. If the key is absent, the default of its kind."""
        read, absent = KINDS[key.kind]
        return read(self, table[key.name], key, (*path, key.name)) if key.name in table else absent

    # --- places and errors --------------------------------------------------------------------------------------------

    def fail(self, message: str, path: Path, *helps: str, key: bool = False) -> NoReturn:
        """Raises a ConfigError at the value with this path, or at its ``key``."""
        start, end = self.span(path, key)
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        length = len(self.text[start:end].split("\n")[0])
        raise complaint(message, self.file, self.text, line, column, length=length, helps=helps)

    def fail_within(self, message: str, path: Path, text: str, *, at: int, length: int) -> NoReturn:
        """Raises a ConfigError at a part of the value with this path. The value is the text ``text``.

        If the document writes the text with escapes, the error points to the complete value.
        """
        start, end = self.span(path, key=False)
        inside = self.text.find(text, start, end)
        if inside < 0:
            self.fail(message, path)
        line = self.text.count("\n", 0, inside + at) + 1
        column = inside + at - (self.text.rfind("\n", 0, inside + at) + 1) + 1
        raise complaint(message, self.file, self.text, line, column, length=length)

    def place(self, path: Path) -> str:
        """The file and the line of an entry: ``irlint.toml:12``."""
        start, _ = self.span(path, key=True)
        from bisect import bisect_left

        if not self._line_ends:
            self._line_ends = [at for at, character in enumerate(f"{self.text}\n") if character == "\n"]
        return f"{self.file}:{bisect_left(self._line_ends, start) + 1}"

    def span(self, path: Path, key: bool) -> tuple[int, int]:
        """(start, end) of a value or its key in the text."""
        from irlint.policy.toml_places import Places

        self._places = self._places or Places(self.text)
        return self._places.span((*self.prefix, *path), key=key)

    # --- kinds of values ----------------------------------------------------------------------------------------------

    def table(self, value: Any, path: Path, what: str = "a table") -> None:
        if not isinstance(value, dict):
            self.fail(f"{_name(path)} is {value_text(value)}, where {what} is expected", path)

    def texts(self, value: Any, path: Path, what: str) -> list[str]:
        if not isinstance(value, list):
            hint = f'write ["{value}"]' if isinstance(value, str) and value.strip() else 'write ["…"]'
            self.fail(f"{_name(path)} is {value_text(value)}, where a list of {what} is expected", path, hint)
        for index, entry in enumerate(value):
            if not isinstance(entry, str) or not entry.strip():
                self.fail(f"{_name(path)} holds {value_text(entry)}, where a text is expected", (*path, index))
        return value

    def targets(self, value: Any, key: Key, path: Path) -> tuple[str, ...]:
        from irlint.targets.verdicts import target

        names = self.texts(value, path, "targets")
        for index, name in enumerate(names):
            try:
                target(name)
            except ValueError as error:
                self.fail(str(error), (*path, index))
        if key.filled and not names:
            self.fail(f"{_name(path)} is empty: no target is named", path, "remove the key")
        return tuple(names)

    def globs(self, value: Any, key: Key, path: Path) -> tuple[str, ...]:
        return tuple(self.texts(value, path, "globs"))

    def text_of(self, value: Any, key: Key, path: Path) -> str:
        if not isinstance(value, str) or not value.strip():
            self.fail(f"{_name(path)} is {value_text(value)}, where a text is expected", path)
        return value

    def file_below(self, value: Any, key: Key, path: Path) -> str:
        """The name of a file below the folder of the configuration. Links must not lead out of this folder."""
        name = self.text_of(value, key, path)
        folder = os.path.dirname(os.path.abspath(self.file))
        try:
            file, root = (os.path.normcase(os.path.realpath(place)) for place in (os.path.join(folder, name), folder))
        except ValueError as error:
            self.fail(f"{_name(path)} is no path: {error}", path)
        if not within(file, [root]):
            advice = f"name a file below this folder, or give --{key.name} on the command line"
            self.fail(f"{_name(path)} is outside of the folder of the configuration", path, advice)
        return name

    def choice(self, value: Any, key: Key, path: Path) -> str:
        if not isinstance(value, str) or value not in key.values:
            suggestion = did_you_mean(value, key.values) if isinstance(value, str) else ""
            allowed = ", ".join(f'"{choice}"' for choice in key.values)
            self.fail(f"{_name(path)} is {value_text(value)}{suggestion}", path, f"values allowed here: {allowed}")
        return value

    def switch(self, value: Any, key: Key, path: Path) -> bool:
        if not isinstance(value, bool):
            self.fail(f"{_name(path)} is {value_text(value)}, where true or false is expected", path)
        return value

    def rules(self, value: Any, key: Key, path: Path) -> tuple[str, ...]:
        names = self.texts(value, path, "rules")
        for index, name in enumerate(names):
            self.rule(name, (*path, index))
        if key.filled and not names:
            hint = "without the key, every rule is selected"
            self.fail(f"{_name(path)} is empty, so it selects no rule", path, hint)
        return tuple(names)

    def rule(self, name: str, path: Path, key: bool = False) -> frozenset[str]:
        """The codes of the rules that a name selects."""
        from irlint.policy.rulebook import codes, every_rule

        found = codes(name)
        if not found:
            suggestion = did_you_mean(name, [text for rule in every_rule() for text in (rule.code, rule.name)])
            self.fail(f"unknown rule `{name}`{suggestion}", path, A_RULE, key=key)
        return found

    def rule_or_glob(self, value: Any, key: Key, path: Path) -> frozenset[str]:
        """The codes of the rules that a name or a glob selects."""
        from fnmatch import fnmatchcase

        from irlint.policy.globs import closed, is_literal
        from irlint.policy.rulebook import every_rule

        name = self.text_of(value, key, path)
        if is_literal(name):
            return self.rule(name, path)
        glob = closed(name)
        fitting = [r.code for r in every_rule() if fnmatchcase(r.code, glob.upper()) or fnmatchcase(r.name, glob)]
        if not fitting:
            self.fail(f"no rule has a code or name that matches `{name}`", path, A_RULE)
        return frozenset(fitting)

    def levels(self, value: Any, key: Key, path: Path) -> dict[str, str]:
        """The levels of rules, by code."""
        self.table(value, path, "a table with RULE = LEVEL")
        for name in value:
            self.rule(name, (*path, name), key=True)
            if value[name] == "off":
                self.fail(f'{_name(path)} has no level "off"', (*path, name), f'write ignore = ["{name}"]')
            self.choice(value[name], key, (*path, name))
        return severities(value.items())

    def rules_by_glob(self, value: Any, key: Key, path: Path) -> tuple[FileIgnores, ...]:
        self.table(value, path, "a table with GLOB = [RULES]")
        result = []
        for glob, entry in value.items():
            names = self.texts(entry, (*path, glob), "rules")
            found = [self.rule(name, (*path, glob, at)) for at, name in enumerate(names)]
            result.append(FileIgnores(glob, frozenset().union(*found), self.place((*path, glob))))
        return tuple(result)

    def date_of(self, value: Any, key: Key, path: Path) -> date:
        from datetime import date, datetime

        if isinstance(value, str) and len(value) == 10 and value[4::3] == "--":
            try:
                return date.fromisoformat(value)
            except ValueError:
                pass
        if not isinstance(value, date) or isinstance(value, datetime):
            self.fail(f"`{key.name}` is {value_text(value)}, where {A_DATE} is expected", path)
        return value

    def shapes(self, value: Any, key: Key, path: Path) -> dict[str, Shape]:
        self.table(value, path, "a table with INPUT = DIMS")
        return {name: self.shape(name, text, (*path, name)) for name, text in value.items()}

    def shape(self, name: str, text: Any, path: Path) -> Shape:
        from irlint.policy.shape_options import parsed_shapes

        if not isinstance(text, str):
            self.fail(
                f'the shape of `{name}` is {value_text(text)}, where a text such as "N,3,640,640" is expected', path
            )
        try:
            return parsed_shapes([f"{name or '?'}={text}"])[name or "?"]
        except ValueError as error:
            self.fail(f"the shape of `{name}`: {error}", path)

    def entries(self, value: Any, key: Key, path: Path) -> list[dict[str, Any]]:
        """The values of each entry's keys, and its file and line as ``place``."""
        if not isinstance(value, list):
            self.fail(f"`{key.name}` is {value_text(value)}, where tables [[{key.name}]] are expected", path, key=True)
        result = []
        for index, entry in enumerate(value):
            at = (*path, index)
            parts = self.values(entry, key.parts, at)
            if key.one_of and not any(name in entry for name in key.one_of):
                *first, last = [f"`{name}`" for name in key.one_of]
                self.fail(key.without, at, f"add {', '.join(first)} or {last}", key=True)
            result.append({**parts, "place": self.place(at)})
        return result

    def types(self, value: Any, key: Key, path: Path) -> dict[str, Tensor]:
        from irlint.checks.pinned import tensor
        from irlint.ops.signed import SignatureError

        self.table(value, path, "a table with NAME = TYPE")
        found = {}
        for name, text in value.items():
            at = (*path, name)
            if not isinstance(text, str) or not text.strip():
                self.fail(
                    f'the type of `{name}` is {value_text(text)}, where a text such as "float32[N, 3]" is expected', at
                )
            try:
                found[name] = tensor(text)
            except SignatureError as error:
                self.fail_within(f"the type of `{name}`: {error}", at, text, at=error.at, length=error.length)
        return found

    def conditions(self, value: Any, key: Key, path: Path) -> tuple[str, ...]:
        import re

        from irlint.contracts.assumptions import assumed
        from irlint.dims.expressions import NAME

        texts = self.texts(value, path, "conditions")
        for index, text in enumerate(texts):
            try:
                assumed(text, re.findall(NAME, text))
            except ValueError as error:
                self.fail(str(error).replace("is not an assumption", "is not a condition"), (*path, index))
        return tuple(texts)

    def models(self, value: Any, key: Key, path: Path) -> tuple[ModelShapes, ...]:
        return tuple(_model_shapes(entry) for entry in self.entries(value, key, path))

    def count(self, value: Any, key: Key, path: Path) -> tuple[int, str]:
        """(number, its text) of the limit that an integer or a text such as ``5M`` states."""
        import re
        from decimal import Decimal

        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value, str(value)
        match = re.fullmatch(COUNT, value) if isinstance(value, str) else None
        if match is None:
            self.fail(f"{_name(path)} is {value_text(value)}, where {A_COUNT} is expected", path)
        return int(Decimal(match[1]) * 1000 ** SUFFIXES.index(match[2])), value

    def signature(self, value: Any, key: Key, path: Path) -> str:
        from irlint.ops.signed import SignatureError, parameters

        text = self.text_of(value, key, path)
        try:
            parameters(text)
        except SignatureError as error:
            self.fail_within(f"`signature`: {error}", path, text, at=error.at, length=error.length)
        return text

    def operators(self, value: Any, key: Key, path: Path) -> tuple[Declared, ...]:
        from irlint.ops.signed import Declared

        entries = self.entries(value, key, path)
        return tuple(Declared(entry["domain"], entry["name"], entry["signature"]) for entry in entries)

    def suppressions(self, value: Any, key: Key, path: Path) -> tuple[Suppression, ...]:
        return tuple(Suppression(codes=entry.pop("rule"), **entry) for entry in self.entries(value, key, path))


#: The prefix of keys that limit costs.
BUDGET = "max-"


def _model_shapes(entry: Mapping[str, Any]) -> ModelShapes:
    limits = {name: value for name, value in entry.items() if name.startswith(BUDGET) and value is not None}
    return ModelShapes(
        **{name: value for name, value in entry.items() if not name.startswith(BUDGET)},
        budgets=_budgets(limits, entry["place"]) if limits else (),
    )


def _budgets(limits: Mapping[str, tuple[int, str]], place: str) -> tuple[Budget, ...]:
    from irlint.costs.budgets import Budget

    return tuple(Budget(name, most, text, place) for name, (most, text) in limits.items())


def _name(path: Path) -> str:
    """The path of a value in messages: ``severity.IRL201``."""
    names = [part for part in path if isinstance(part, str)]
    return f"`{'.'.join(names)}`" if names else "the configuration"


#: The function that reads each kind of value, and the value of an absent key.
KINDS: Mapping[str, tuple[Callable[[Reader, Any, Key, Path], Any], Any]] = {
    "choice": (Reader.choice, None),
    "switch": (Reader.switch, None),
    "text": (Reader.text_of, ""),
    "glob": (Reader.text_of, ""),
    "file": (Reader.file_below, ""),
    "globs": (Reader.globs, ()),
    "targets": (Reader.targets, ()),
    "rules": (Reader.rules, None),
    "rule or glob": (Reader.rule_or_glob, None),
    "levels": (Reader.levels, {}),
    "rules by glob": (Reader.rules_by_glob, ()),
    "date": (Reader.date_of, None),
    "shapes": (Reader.shapes, {}),
    "count": (Reader.count, None),
    "models": (Reader.models, ()),
    "signature": (Reader.signature, ""),
    "types": (Reader.types, {}),
    "conditions": (Reader.conditions, ()),
    "operators": (Reader.operators, ()),
    "suppressions": (Reader.suppressions, ()),
}
