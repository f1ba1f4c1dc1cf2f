"""How bad a finding is, by its rule and its place; and that a rule's code is written only in the rule."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from irlint.findings.faults import Fault, Rule, Severity
from irlint.inference.levels import MOST_SEVERE, Obstacle, leveled
from irlint.model.formats import ONNX, OPENVINO, Format
from irlint.policy.rulebook import every_rule

PACKAGE = Path(__file__).resolve().parents[2] / "irlint"
CODE = re.compile(r"IRL\d{3,4}")

#: A list of codes that a script writes.
GENERATED = PACKAGE / "policy" / "rule_index.py"

RULES = {rule.code: rule for rule in every_rule()}
BROADCAST, RESHAPE, ARITY, RANK = RULES["IRL201"], RULES["IRL331"], RULES["IRL507"], RULES["IRL339"]
UNDEFINED, OUTPUT, SPARSE, TREE = RULES["IRL101"], RULES["IRL118"], RULES["IRL713"], RULES["IRL518"]

CASES: list[tuple[Rule, tuple[Obstacle, ...], Format, dict[str, bool], str | None]] = [
    (BROADCAST, (), ONNX, {}, "error"),
    (BROADCAST, ("dead",), ONNX, {}, "error"),
    (BROADCAST, ("dead",), ONNX, {"sizes_known": False}, "warning"),
    (BROADCAST, ("dead",), ONNX, {"compared_late": True}, "warning"),
    (BROADCAST, ("dead by size",), ONNX, {"sizes_known": False}, "note"),
    (BROADCAST, ("dead by given size",), ONNX, {}, "note"),
    (BROADCAST, ("dead",), OPENVINO, {}, "warning"),
    (BROADCAST, ("as declared",), ONNX, {}, "error"),
    (BROADCAST, ("as declared",), ONNX, {"sizes_known": False}, None),
    (BROADCAST, ("as declared", "dead by size"), ONNX, {"compared_late": True}, None),
    (BROADCAST, (), ONNX, {"by_given_shapes": True}, "warning"),
    (RANK, ("dead",), ONNX, {"refused_by_inference": True}, "error"),
    (RANK, ("dead",), ONNX, {"refused_by_inference": True, "sizes_known": False}, "warning"),
    (RANK, ("as declared",), ONNX, {"refused_by_inference": True}, None),
    (TREE, ("dead",), ONNX, {}, "warning"),
    (TREE, ("dead by size",), ONNX, {}, "error"),
    (RESHAPE, ("dead",), ONNX, {}, "error"),
    (RESHAPE, ("as declared",), ONNX, {}, None),
    (ARITY, ("dead by size",), ONNX, {"sizes_known": False}, "error"),
    (ARITY, ("uncalled",), ONNX, {}, "error"),
    (ARITY, ("unused",), OPENVINO, {}, "warning"),
    (RANK, ("dead",), ONNX, {}, "warning"),
    (RANK, ("uncalled",), ONNX, {}, "warning"),
    (RANK, ("uncalled", "dead by size"), ONNX, {}, "note"),
    (UNDEFINED, ("uncalled",), ONNX, {}, "warning"),
    (SPARSE, ("unused constant",), ONNX, {}, "error"),
    (UNDEFINED, ("unused constant",), ONNX, {}, "warning"),
    (OUTPUT, ("unused",), ONNX, {}, "warning"),
]


@pytest.mark.parametrize(("rule", "obstacles", "form", "facts", "level"), CASES)
def test_a_fault_is_as_bad_as_its_place(
    rule: Rule, obstacles: tuple[Obstacle, ...], form: Format, facts: dict[str, bool], level: str | None
) -> None:
    found = leveled(rule.fault("text"), obstacles, form, **facts)
    assert (found and found.severity.value) == level


def test_no_place_makes_a_fault_worse() -> None:
    for rule in every_rule():
        for severity in (Severity.NOTE, Severity.WARNING):
            for obstacle in MOST_SEVERE:
                found = leveled(Fault(rule, "text", severity=severity), (obstacle,), ONNX)
                assert found is not None
                assert found.severity.rank <= severity.rank


def _codes_written(path: Path) -> list[str]:
    """The codes of rules that the texts of a module begin with, but for the first argument of a ``Rule``."""
    tree = ast.parse(path.read_text("utf-8"))
    own = {
        id(node.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule" and node.args
    }
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for node in texts
        if id(node) not in own and (match := CODE.match(str(node.value))) and match.group() in RULES
    ]


def test_a_code_is_written_only_in_its_rule() -> None:
    found = [each for path in sorted(PACKAGE.rglob("*.py")) if path != GENERATED for each in _codes_written(path)]
    assert not found, "name the rule object: " + "; ".join(found)
