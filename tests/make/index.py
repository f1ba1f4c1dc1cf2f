"""Writes where each operator and each rule stands: ``irlint/ops/index.py`` and ``irlint/policy/rule_index.py``."""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "irlint"


def modules(folder: Path) -> Iterator[Path]:
    """The modules below a folder of the package."""
    yield from sorted(folder.rglob("*.py"))


def dotted(path: Path) -> str:
    """``ops.math.linear`` for that module of the package."""
    return ".".join(part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__")


def operator_index() -> str:
    """The text of ``irlint/ops/index.py``."""
    from irlint import ops

    for path in modules(PACKAGE / "ops"):
        import_module(f"irlint.{dotted(path)}")
    onnx, openvino = ops.registered()
    by_name = {f"{domain}:{op}": _home(f"{domain}:{op}", versions) for (domain, op), versions in onnx.items()}
    return (
        '"""Which module has the rules of an operator; written by ``tests/make/index.py``."""\n\n'
        "#: By domain and name.\n"
        f"ONNX = {_literal(by_name)}\n\n"
        "#: By the name in lower case.\n"
        f"OPENVINO = {_literal({op: _home(op, versions) for op, versions in openvino.items()})}\n"
    )


def _home(name: str, versions: Collection[object]) -> str:
    found = {operator.function.__module__.removeprefix("irlint.ops.") for operator in versions}  # type: ignore[attr-defined]
    if len(found) > 1:
        raise SystemExit(f"{name} stands in {' and '.join(sorted(found))}: its versions belong into one module")
    return found.pop()


def rule_index() -> str:
    """The text of ``irlint/policy/rule_index.py``."""
    found = {code: dotted(path) for path in modules(PACKAGE) for code in _codes(path)}
    return (
        '"""Which module has a rule; written by ``tests/make/index.py``."""\n\n'
        "#: By the rule's code.\n"
        f"RULES = {_literal(found)}\n"
    )


def _codes(path: Path) -> Iterator[str]:
    """The codes of the rules that a module states."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule" and node.args:
            code = node.args[0]
            if isinstance(code, ast.Constant) and isinstance(code.value, str):
                yield code.value


def _literal(table: Mapping[str, str]) -> str:
    return "{\n" + "".join(f'    "{name}": "{table[name]}",\n' for name in sorted(table)) + "}"


def free_codes() -> list[str]:
    """The next free code of each family."""
    from irlint.policy.rule_index import RULES

    families = sorted({code[:4] for code in RULES})
    return [
        next(code for number in range(1, 100) if (code := f"{family}{number:02}") not in RULES) for family in families
    ]


#: What is written, and by what.
WRITTEN = {
    PACKAGE / "ops" / "index.py": operator_index,
    PACKAGE / "policy" / "rule_index.py": rule_index,
}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for path, text in WRITTEN.items():
        path.write_text(text(), encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"the next free codes: {', '.join(free_codes())}")
