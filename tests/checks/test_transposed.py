"""Sizes that depend on data and that a Transpose brings to the channels of a convolution."""

from __future__ import annotations

import numpy
import onnx.parser
import pytest

import irlint

ONES = {count: ", ".join(["1"] * count) for count in (20, 24)}
GRAPH = f"""<ir_version: 8, opset_import: ["" : 17]>
g (float[N,2,T] x, bool[T] m) => (float[N,5,n] y) <int64[1] first = {{0}}, float[4,2,3] v = {{{ONES[24]}}},
  float[5,4,1] w = {{{ONES[20]}}}> {{ k = NonZero (m) i = Squeeze (k, first) g = Gather <axis = 2> (x, i)
  c = Conv (BEFORE, v) t = Transpose <perm = [0,2,1]> (c) y = Conv (NEXT, w) }}"""

#: What the first convolution reads, what the second one reads, and the rules of the findings.
CASES = [("g", "t", ["IRL608"]), ("g", "c", []), ("x", "c", [])]


def model(before: str, following: str) -> onnx.ModelProto:
    """A model whose time axis has as many elements as the mask has marks."""
    return onnx.parser.parse_model(GRAPH.replace("BEFORE", before).replace("NEXT", following))


@pytest.mark.oracle
@pytest.mark.parametrize(("before", "following", "rules"), CASES)
def test_a_transposed_size_of_data_fixes_it(before: str, following: str, rules: list[str]) -> None:
    import onnxruntime

    sized = model(before, following)
    found = [each for each in irlint.check(sized, ignore=["IRL9"]).findings if each.severity.value != "note"]
    assert [each.rule.code for each in found] == rules
    if rules:
        assert found[0].message.endswith("which depends on data, but only 4 works")
        assert found[0].suggestion.startswith("connect `c`")
    session = onnxruntime.InferenceSession(sized.SerializeToString())
    for marks in (6, 8):
        mask = numpy.arange(10) < marks
        fed = {"x": numpy.zeros((1, 2, 10), "float32"), "m": mask}
        if rules and marks == 8:
            with pytest.raises(Exception, match="channels"):
                session.run(None, fed)
        else:
            session.run(None, fed)
