"""At how low an opset and IR version a model can be saved as it is."""

from __future__ import annotations

import pytest
from targets.matrices import FLOATS, known, of

from irlint.schemas import official_versions
from irlint.targets.restamping import _conditions_of_steps, lowest

REFERENCES = (
    ("Relu", f"{FLOATS} {{ y = Relu (x) }}", 24, 7),
    ("types", "(int32[2] x) => (int32[2] y) { y = Relu (x) }", 24, 14),
    ("attributes", "(float[2] x, int64[2] s) => (float[2] y) { y = Reshape <allowzero = 1> (x, s) }", 24, 14),
    ("inputs", "(float[2,3] x, int64[1] a) => (float y) { y = ReduceSum (x, a) }", 24, 13),
    ("meaning", f"{FLOATS} {{ y = Softmax (x) }}", 24, 13),
    ("default", f"{FLOATS} {{ y = Hardmax (x) }}", 24, 13),
    ("Cast", "(float[2] x) => (int64[2] y) { y = Cast <to = 7> (x) }", 28, 7),
    ("a type of version 28", "(float[2] x) => (float6e2m3[2] y) { y = Cast <to = 27> (x) }", 28, 28),
    ("Mod", "(int64[2] x) => (int64[2] y) { y = Mod (x, x) }", 28, 10),
    ("Mod of floats", f"{FLOATS} {{ y = Mod <fmod = 1> (x, x) }}", 28, 10),
    ("Mod of floats, rounded down", f"{FLOATS} {{ y = Mod (x, x) }}", 28, 28),
    ("QuantizeLinear", "(float[2] x, float s, uint8 z) => (uint8[2] y) { y = QuantizeLinear (x, s, z) }", 28, 13),
    ("SpaceToDepth", "(float[1,1,2,2] x) => (float[1,4,1,1] y) { y = SpaceToDepth <blocksize = 2> (x) }", 28, 7),
    ("first version", f"{FLOATS} {{ y = Gelu (x) }}", 24, 20),
    ("negative axis", f"{FLOATS} {{ y = Concat <axis = -2> (x) }}", 24, 11),
    ("positive axis", f"{FLOATS} {{ y = Concat <axis = 0> (x) }}", 24, 7),
    ("value of an attribute", '(float[1,1,8] x, int64[6] p) => (float y) { y = Pad <mode = "wrap"> (x, p) }', 24, 19),
    ("body", "(bool c) => (float y) { y = If (c) <then_branch = t () => (float a) { a = Constant <value_float = 1.0> "
        "() b = "
     "Gelu (a) }, else_branch = e () => (float b) { b = Constant <value_float = 1.0> () }> }", 24, 20),
)  # fmt: skip


@pytest.mark.parametrize(("graph", "opset", "low"), [row[1:] for row in REFERENCES], ids=[row[0] for row in REFERENCES])
def test_lowest_opset(graph: str, opset: int, low: int) -> None:
    stamp = lowest(known(of(opset, graph, ir_version=12)))
    assert stamp is not None
    assert stamp.opset == low


def test_ir_versions() -> None:
    def version(text: str) -> int:
        stamp = lowest(known(text))
        assert stamp is not None
        return stamp.ir_version

    assert version(of(21, f"{FLOATS} {{ y = Relu (x) }}", ir_version=13)) == 3
    assert version(of(21, "(int32[2] x) => (int32[2] y) { y = Relu (x) }", ir_version=13)) == 7
    assert version(of(21, "(float[2] x) => (float[2] y) <float[2] c = {1, 2}> { y = Mul (x, c) }", ir_version=13)) == 4
    assert version(of(21, "(int4[2] x) => (int4[2] y) { y = Identity (x) }", ir_version=13)) == 10


def test_steps_are_those_of_operators() -> None:
    for (op, since), _ in _conditions_of_steps().items():
        assert since in official_versions(op, "")
