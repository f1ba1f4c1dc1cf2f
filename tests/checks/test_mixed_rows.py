"""Reshapes that mix rows: which are reported, and what ONNX Runtime does with them."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import irlint

#: (row, target, sizes of the batch that work, whether rows are mixed).
TARGETS = [
    ("26", "-1, 25", (25, 50), True),
    ("3,4", "-1, 8", (2, 4), True),
    ("12", "-1, 4", (1, 2, 3), False),
    ("3,4", "-1, 3, 3", (3, 6), True),
    ("6", "-1, 2, 6", (2, 4), False),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("row", "target", "works", "mixes"), TARGETS)
def test_rows_that_do_not_fit(row: str, target: str, works: tuple[int, ...], mixes: bool) -> None:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
g (float[N,{row}] x) => (y) {{ s = Constant <value_ints = [{target}]> () y = Reshape (x, s) }}"""
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    found = []
    for batch in range(1, max(works) + 1):
        try:
            session.run(None, {"x": np.zeros((batch, *map(int, row.split(","))), np.float32)})
        except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
            continue
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
            continue
        found.append(batch)
    assert tuple(found) == works
    reported = [each.rule.code for each in irlint.check(model).findings if each.rule.code == "IRL614"]
    assert reported == ["IRL614"] * mixes


def test_the_same_condition_is_reported_once_and_not_for_given_sizes() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
g (float[N,26] x) => (float[M,25] y, float[M,25] z) {
  s = Constant <value_ints = [-1, 25]> () r = Relu (x) y = Reshape (x, s) z = Reshape (r, s) }"""
    )
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL614"]
    assert found.help == "write 26 for 25 in the target, or pass rows of 25 elements"
    assert not [each for each in irlint.check(model, shapes={"x": (25, 26)}).findings if each.rule.code == "IRL614"]
