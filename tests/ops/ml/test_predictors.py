"""Linear models with more coefficients than features: what ONNX Runtime computes, and what irlint says."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import irlint


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("targets", "computed", "reason"),
    [
        (1, [[3.0]], "ONNX Runtime ignores the others"),
        (2, [[3.0, 12.0]], "ONNX Runtime reads those of the further results at wrong places"),
    ],
)
def test_more_coefficients_than_features(targets: int, computed: list[list[float]], reason: str) -> None:
    """The second result should be 4 + 5 + 6 = 15, not 3 + 4 + 5."""
    import onnxruntime

    coefficients = ", ".join(f"{each}.0" for each in range(4 * targets))
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[N,3] x) => (y) {{
  y = ai.onnx.ml.LinearRegressor <coefficients = [{coefficients}], targets = {targets}> (x) }}"""
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    assert session.run(None, {"x": np.ones((1, 3), np.float32)})[0].tolist() == computed
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL517"]
    assert found.severity.value == "warning"
    assert found.message == f"axis 1 of input 0 has 3 features, but there are coefficients for 4; {reason}"
