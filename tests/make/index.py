"""Writes where each operator and each rule stands, ``irlint/ops/index.py`` and ``irlint/policy/rule_index.py``, and
what reading an IR takes from the operations, ``irlint/parsers/openvino/operations.py``."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irlint.ops import Operator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "irlint"

#: Columns of a line behind its first three.
WIDTH = 117


def modules(folder: Path) -> Iterator[Path]:
    """The modules below a folder of the package."""
    yield from sorted(folder.rglob("*.py"))


def dotted(path: Path) -> str:
    """``ops.math.linear`` for that module of the package."""
    return ".".join(part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__")


def _operators() -> tuple[Mapping[tuple[str, str], list[Operator]], Mapping[str, list[Operator]]]:
    """The operators of both formats, without what is written of them."""
    for path in modules(PACKAGE / "ops"):
        import_module(f"irlint.{dotted(path)}")
    from irlint.ops import registered

    return registered()


def operator_index() -> str:
    """The text of ``irlint/ops/index.py``."""
    onnx, openvino = _operators()
    by_name = {f"{domain}:{op}": _home(f"{domain}:{op}", versions) for (domain, op), versions in onnx.items()}
    return (
        '"""Which module has the rules of an operator; written by ``tests/make/index.py``."""\n\n'
        "# fmt: off\n\n"
        "#: By domain and name.\n"
        f"ONNX = {_table(by_name)}\n\n"
        "#: By name.\n"
        f"OPENVINO = {_table({versions[0].name: _home(op, versions) for op, versions in openvino.items()})}\n\n"
        "#: Known operators without a rule, by domain and name.\n"
        f"WITHOUT_RULE = {_table(dict(_without_rule()))}\n"
    )


def _without_rule() -> Iterator[tuple[str, str]]:
    """What modules name by ``without_rule``, with the module."""
    from irlint import ops

    for path in modules(PACKAGE / "ops"):
        for call in _calls(path, "without_rule"):
            domain = [getattr(ops, keyword.value.id) for keyword in call.keywords if keyword.arg == "domain"]
            for name in call.args:
                yield f"{''.join(domain)}:{ast.literal_eval(name)}", dotted(path).removeprefix("ops.")


def _home(name: str, versions: Collection[Operator]) -> str:
    found = {operator.function.__module__.removeprefix("irlint.ops.") for operator in versions}
    if len(found) > 1:
        raise SystemExit(f"{name} stands in {' and '.join(sorted(found))}: its versions belong into one module")
    return found.pop()


def openvino_operations() -> str:
    """The text of ``irlint/parsers/openvino/operations.py``."""
    from irlint.ops.signatures import signature

    filled_in: dict[str, int] = {}
    spellings: dict[str, str] = {}
    for operator in (operator for versions in _operators()[1].values() for operator in versions):
        spellings |= dict.fromkeys(operator.spellings, operator.name)
        if operator.fills_in:
            filled_in[operator.name] = max(filled_in.get(operator.name, 0), len(signature(operator.function).inputs))
    return (
        '"""Facts about operations that reading an IR needs; written by ``tests/make/index.py``."""\n\n'
        "#: The numbers of inputs of operations whose last inputs OpenVINO fills in if they have no edge.\n"
        f"FILLED_IN = {_literal(filled_in)}\n\n"
        "#: Other spellings of operations that OpenVINO accepts.\n"
        f"SPELLINGS = {_literal(spellings)}\n"
    )


def rule_index() -> str:
    """The text of ``irlint/policy/rule_index.py``."""
    found: dict[str, str] = {}
    for path in modules(PACKAGE):
        for code in _codes(path):
            if code in found:
                free = next(line for line in families() if line.startswith(code[:4]))
                raise SystemExit(f"{code} stands in {found[code]} and {dotted(path)}; {free}")
            found[code] = dotted(path)
    return (
        '"""Which module has a rule; written by ``tests/make/index.py``."""\n\n'
        "#: The module of each rule, by the code of the rule.\n"
        f"RULES = {_literal(found)}\n"
    )


def _codes(path: Path) -> Iterator[str]:
    """The codes of the rules that a module states."""
    yield from re.findall(r'^(?:\w+ = )?Rule\(\s*"(\w+)"', path.read_text("utf-8"), re.M)


def _calls(path: Path, function: str) -> Iterator[ast.Call]:
    """Where a module calls a function of that name when it is imported."""
    text = path.read_text("utf-8")
    for statement in ast.parse(text).body if f"{function}(" in text else ():
        for node in () if isinstance(statement, ast.FunctionDef) else ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
                yield node


def _literal(table: Mapping[str, str | int]) -> str:
    return "{\n" + "".join(f'    "{name}": {json.dumps(table[name])},\n' for name in sorted(table)) + "}"


def _table(homes: Mapping[str, str]) -> str:
    """As ``_literal``, with as many entries in a line as fit."""
    lines = [""]
    for name in sorted(homes):
        entry = f' "{name}": "{homes[name]}",'
        if len(lines[-1]) + len(entry) > WIDTH:
            lines.append("")
        lines[-1] += entry
    return "{\n" + "".join(f"   {line}\n" for line in lines) + "}"


#: Codes that a family has: its digit and two more, then three.
CODES = 1000


def families() -> Iterator[str]:
    """For each family of rules the next free code, and how many are used and left."""
    from irlint.policy.rule_index import RULES

    for family in (f"IRL{digit}" for digit in range(10)):
        codes = [f"{family}{number:02}" for number in range(CODES)]
        free = [code for code in codes[1:] if code not in RULES]
        used = sum(code in RULES for code in codes)
        short = sum(len(code) == len(codes[0]) for code in free)
        yield f"{family}xx: the next free code is {free[0]}; {used} used, {short} of three digits left"


#: What is written, and by what.
WRITTEN = {
    PACKAGE / "ops" / "index.py": operator_index,
    PACKAGE / "parsers" / "openvino" / "operations.py": openvino_operations,
    PACKAGE / "policy" / "rule_index.py": rule_index,
}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for path, text in WRITTEN.items():
        path.write_text(text(), encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(ROOT)}")
    print(*families(), sep="\n")
