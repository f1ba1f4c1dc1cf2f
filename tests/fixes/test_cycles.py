"""Cycles: the unused values that may break one are named. ONNX Runtime is asked."""

from __future__ import annotations

import re
from pathlib import Path

import onnx.parser
import pytest
from command.process import run

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,4] x, float[2,4] z'
RING = "{ a = Add (x, d) b = Relu (a) c = Neg (b) d = Tanh (c) y = Add (d, x) }"

#: What follows the first inputs of a model, and behind | the help and the suggestion.
CYCLES = f"""
) => (float[2,4] y) {RING} | connect `z`, which nothing uses, as input 1 of Add 'a' | connect `z` as input 1
, float[2,4] u) => (float[2,4] y) {RING} | connect `z` or `u`, which nothing uses, as input 1 of Add 'a' | connect `z` as input 1, or connect `u` as input 1
, float[2,4] u, float[2,4] v, int64[3] k) => (float[2,4] y) {RING} | connect `z`, `u` or `v`, which nothing uses, as input 1 of Add 'a' |
, float[2,4] u) => (float[2,4] y) {{ a = Exp (z) b = Relu (c) c = Neg (b) y = Add (c, x) }} | connect `u` or `a`, which nothing uses, as input 0 of Relu 'b' | connect `a` as input 0
""".strip().splitlines()  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize("line", CYCLES)
def test_the_unused_values_for_a_cycle(line: str) -> None:
    import onnxruntime

    text, help, suggestion = (part.strip() for part in line.split("|"))
    model = onnx.parser.parse_model(HEAD + text)
    for node in model.graph.node:
        node.name = node.output[0]
    with pytest.raises(Exception, match="not acyclic"):
        onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert (found.rule.code, found.help, found.suggestion or "") == ("IRL103", help, suggestion)
    assert (found.fix is not None) == (bool(suggestion) and ", or" not in suggestion)
    names, port, node = re.search(r"connect (.*), which nothing uses, as input (\d) of \w+ '(\w+)'", help).groups()  # type: ignore[union-attr]
    for name in re.findall("`(.*?)`", names):
        fixed = onnx.ModelProto()
        fixed.CopyFrom(model)
        (user,) = [each for each in fixed.graph.node if each.name == node]
        user.input[int(port)] = name
        onnxruntime.InferenceSession(fixed.SerializeToString())


#: The nodes of a model with several cycles, and the note about the shortest one.
SEVERAL = """
a = Add (x, f) b = Relu (a) c = Neg (b) d = Add (c, b) e = Tanh (d) f = Exp (e) y = Add (f, z) | the shortest cycle has 5 nodes: Add 'a' -> Relu 'b' -> Add 'd' -> Tanh 'e' -> Exp 'f' -> Add 'a'
a = Add (x, f) b = Add (a, c) c = Neg (b) d = Add (c, b) e = Tanh (d) f = Exp (e) y = Add (f, z) | the shortest cycle has 2 nodes: Add 'b' -> Neg 'c' -> Add 'b'
a = Add (x, d) b = Relu (a) c = Neg (b) d = Tanh (c) y = Add (d, z) |
""".strip().splitlines()  # fmt: skip


@pytest.mark.parametrize("line", SEVERAL)
def test_the_shortest_of_several_cycles(line: str, tmp_path: Path) -> None:
    text, note = (part.strip() for part in line.split("|"))
    model = onnx.parser.parse_model(f"{HEAD}) => (float[2,4] y) {{ {text} }}")
    for node in model.graph.node:
        node.name = node.output[0]
    onnx.save(model, tmp_path / "m.onnx")
    shown = " ".join(run("check", tmp_path / "m.onnx").stdout.split())
    assert ("the shortest cycle" in shown) == bool(note)
    assert note in shown
