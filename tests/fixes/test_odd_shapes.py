"""Notes on weights that cause an error because their shapes differ from those of their twins in other blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy
import onnx.helper
import onnx.numpy_helper
import pytest

import irlint
from irlint.findings.report import Finding

#: The shapes of the weights of a block: projections to 4 heads of 8, with 2 heads of 8 in the key and the value.
SHAPES = {"q": (32, 32), "k": (32, 16), "v": (32, 16), "o": (32, 32)}


def attention(blocks: int, changed: Mapping[str, tuple[int, ...]]) -> onnx.ModelProto:
    """Blocks with a query of 4 heads, and a key and a value of 2 heads that are repeated. Some weights are changed."""
    lists = {"heads": [0, 0, -1, 8], "parts": [0, -1, 1, 8, 5], "pairs": [1, 1, 2, 1, 1], "flat": [0, 5, -1]}
    lists["joined"] = [0, -1, 8, 5]
    weights = [onnx.numpy_helper.from_array(numpy.array(each), name) for name, each in lists.items()]
    nodes, before = [], "x"
    for at in range(blocks):
        place = f"/layers.{at}"

        def node(op: str, name: str, *inputs: str, place: str = place, **attributes: object) -> str:
            made = onnx.helper.make_node(
                op, list(inputs), [f"{place}/{name}_out"], f"{place}/{name}/{op}", **attributes
            )
            nodes.append(made)
            return made.output[0]

        made = {}
        for name, shape in SHAPES.items():
            shape = changed.get(f"{at}.{name}", shape)
            weights.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), f"w{at}{name}"))
        for name in "qkv":
            product = node("MatMul", name, before, f"w{at}{name}")
            made[name] = node("Reshape", f"{name}_heads", product, "heads")
            made[name] = node("Transpose", f"{name}_moved", made[name], perm=[0, 2, 3, 1])
        for name in "kv":
            parts = node("Reshape", f"{name}_parts", made[name], "parts")
            made[name] = node("Reshape", f"{name}_joined", node("Tile", f"{name}_twice", parts, "pairs"), "joined")
        moved = node("Transpose", "q_last", made["q"], perm=[0, 1, 3, 2])
        scores = node("Softmax", "softmax", node("MatMul", "scores", moved, made["k"]), axis=-1)
        values = node("Transpose", "v_last", made["v"], perm=[0, 1, 3, 2])
        mixed = node("Transpose", "mixed_moved", node("MatMul", "mixed", scores, values), perm=[0, 2, 1, 3])
        out = node("MatMul", "o", node("Reshape", "flat", mixed, "flat"), f"w{at}o")
        before = node("Add", "residual", out, before)
    x = onnx.helper.make_tensor_value_info("x", 1, ["N", 5, 32])
    y = onnx.helper.make_tensor_value_info(before, 1, ["N", 5, 32])
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def notes(findings: tuple[Finding, ...]) -> list[str]:
    """The notes of the findings that name the twin of a weight."""
    return [note for each in findings if each.detail for note in each.detail.notes if "its twin in" in note]


@pytest.mark.oracle
@pytest.mark.parametrize("blocks", [2, 3])
@pytest.mark.parametrize("name", ["0.v", "1.v", "1.k"])
def test_a_note_names_the_weight_that_differs_from_its_twins(blocks: int, name: str) -> None:
    import onnxruntime

    given = {"x": numpy.ones((1, 5, 32), "float32")}
    onnxruntime.InferenceSession(attention(blocks, {}).SerializeToString()).run(None, given)
    broken = attention(blocks, {name: (32, 32)})
    with pytest.raises(Exception, match=r"FAIL|RUNTIME_EXCEPTION|INVALID_ARGUMENT"):
        onnxruntime.InferenceSession(broken.SerializeToString()).run(None, given)
    block, weight = name.split(".")
    (note,) = notes(irlint.check(broken).findings)
    assert note.startswith(f"`w{block}{weight}`, input 1 of MatMul[")
    assert note.endswith(f"is [32, 32]; its twin in `/layers.{1 if block == '0' else 0}` is [32, 16], which fixes this")


def test_two_weights_that_cause_an_error_together_are_both_named() -> None:
    found = notes(irlint.check(attention(3, {"1.k": (32, 48), "1.v": (32, 48)})).findings)
    assert [each.split(",")[0] for each in found] == ["`w1k`", "`w1v`"]
    assert found[1].endswith("is [32, 16]; both together fix this")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        # All blocks have the mistake.
        {"0.v": (32, 32), "1.v": (32, 32), "2.v": (32, 32)},
        # The other blocks differ from each other.
        {"0.v": (32, 8), "1.v": (32, 32)},
        # The whole block has other sizes.
        {"1.q": (32, 64), "1.k": (32, 48), "1.v": (32, 48)},
    ],
)
def test_no_note_without_twins_that_agree(changed: Mapping[str, tuple[int, ...]]) -> None:
    assert notes(irlint.check(attention(3, changed)).findings) == []


def test_no_note_for_a_weight_that_does_not_cause_the_error() -> None:
    model = attention(3, {"1.q": (32, 64), "1.o": (64, 32), "1.k": (32, 32), "1.v": (32, 32)})
    assert [each for each in irlint.check(model).findings if each.severity.value == "error"] == []
    for node in model.graph.node:
        if node.name == "/layers.1/residual/Add":
            node.op_type = "MatMul"
    assert notes(irlint.check(model).findings) == []
