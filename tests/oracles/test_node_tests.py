"""ONNX's own node tests: sound models that are found sound, and outputs whose shapes are those of the real arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from oracles.engines import all_node_cases, irlint_on_onnx, node_case_difference, node_cases

import irlint.parsers.onnx as parser
from irlint.checks import problems
from irlint.findings.faults import Severity
from irlint.inference.walk import inferred

#: Cases of whose outputs not everything can be known, by what their names begin with, and why.
UNDECIDABLE = {
    "test_identity_sequence": "the model declares no shape for the sequence's elements",
    "test_image_decoder_": "the size stands in the bytes of the image",
    "test_nonmaxsuppression_": "the number of boxes that are left depends on their places",
    "test_nonzero_example": "the number of elements that are not zero depends on them",
    "test_sequence_map_identity_1_sequence": "the model declares a name for the elements' size",
    "test_string_split_": "the number of pieces depends on the strings",
    "test_strnormalizer_export_monday_": "the number of strings that are no stop words depends on them",
    "test_unique_sorted_with_": "the number of elements that differ depends on them",
}

#: Cases that cannot be known where sizes are names, and why.
UNDECIDABLE_WITH_NAMES = UNDECIDABLE | {
    "test_causal_conv_with_state_": "the state is cut from the end, and d3 + d8 may be less than d4 - 1",
    "test_compress_": "conditions past the end of the axis do not count",
    "test_gathernd_example_": "the size of the indices' last axis decides the rank",
    "test_resize_": "a named size times a scale that is not exact, or the smallest of several ratios",
    "test_split_to_sequence_1": "the last piece is smaller where d6 is odd",
}


pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def _rules_that_raise_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRLINT_DEBUG", "1")


def findings(case: Any) -> Iterator[str]:
    """The errors and warnings of a node test's model as it is shipped."""
    model = parser.read("model.onnx", case.model.SerializeToString())
    known = inferred(model)
    for problem in (*model.problems, *known.problems, *problems(known)):
        severity = problem.fault.severity
        # The newest of them have versions that no ONNX Runtime takes yet.
        # ONNX Runtime has no kernel for the batchwise layout of recurrent operators.
        batchwise = problem.fault.attribute == "layout" and severity is Severity.WARNING
        if severity is not Severity.NOTE and problem.fault.rule.family != "versions" and not batchwise:
            yield f"{problem.fault.rule.code} {problem.fault.message}"


def test_cases_are_all_there() -> None:
    assert len(all_node_cases()) >= 1800


def test_models_as_shipped_have_no_finding() -> None:
    found = {case.name: list(findings(case)) for case in all_node_cases()}
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    ("symbolic", "undecidable", "least"),
    [(False, UNDECIDABLE, 0.98), (True, UNDECIDABLE_WITH_NAMES, 0.96)],
    ids=["sizes", "names"],
)
def test_shapes_are_those_of_the_arrays(symbolic: bool, undecidable: dict[str, str], least: float) -> None:
    """Nothing is wrong, nothing is unknown but what cannot be known; and no reason is given in vain."""
    found = {case.name: node_case_difference(case, symbolic) for case in all_node_cases()}
    different = {name: text for name, text in found.items() if text is not None}
    reasons = {name: max((r for r in undecidable if name.startswith(r)), key=len, default="") for name in different}
    assert {name: text for name, text in different.items() if text.startswith("wrong") or not reasons[name]} == {}
    assert set(undecidable) - set(Counter(reasons.values())) == set()
    assert 1 - len(different) / len(all_node_cases()) >= least


def test_boxes_that_are_chosen_are_not_counted() -> None:
    found = {case.name: irlint_on_onnx(case.model) for case in node_cases("NonMaxSuppression")}
    assert len(found) >= 10 and set(map(str, found.values())) == {str([("int64", (None, 3))])}
