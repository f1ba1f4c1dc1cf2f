"""The style of messages and help lines, read in the code that raises them."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "irlint"

#: What the headline names already.
OPERATOR = ("node.op", "context.op", "operator.name")


def texts(node: ast.expr) -> list[str]:
    """The texts that an expression may give, a ``{…}`` in place of what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr():
            parts = [p.value if isinstance(p, ast.Constant) else f"{{{ast.unparse(p.value)}}}" for p in node.values]
            return ["".join(map(str, parts))]
        case ast.IfExp():
            return [*texts(node.body), *texts(node.orelse)]
        case ast.BinOp(op=ast.Add()):
            return [left + right for left in texts(node.left) for right in texts(node.right)]
    return []


def faults() -> list[tuple[str, list[str], list[str]]]:
    """Each call of ``fault``: where it stands, its messages, and its help lines."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if ".fault(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "fault":
                helps = [text for word in node.keywords if word.arg == "help" for text in texts(word.value)]
                messages = texts(node.args[0]) if node.args else []
                found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", messages, helps))
    return found


def test_style() -> None:
    found = faults()
    assert len(found) > 300
    assert sum(bool(helps) for _, _, helps in found) > 300
    for place, messages, helps in found:
        for text in [*messages, *helps]:
            assert not text.endswith("."), f"{place}: no full stop ends {text!r}"
        for text in helps:
            assert text[:1] == text[:1].lower(), f"{place}: a help begins in lower case, not {text!r}"
        for text in messages:
            assert not any(f"{{{name}}} " in text for name in OPERATOR), f"{place}: the headline names the operator"
