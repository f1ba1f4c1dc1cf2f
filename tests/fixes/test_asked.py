"""What is asked for beside fixes: sizes in the file, annotations, and versions that a target takes; engines load the
results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from cases.ir_documents import edge, layer, net, parameter, result, written
from onnx import parser, printer
from oracles.openvino_worker import outcomes

from irlint.policy.shape_options import named_shapes
from irlint.run.files import Settings
from irlint.run.fixing import Fixed, Wish, fixed

pytestmark = pytest.mark.oracle

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[N,3] x, float[N,3] z) => (float[N,3] y)'
BODY = "{ a = Relu (x) b = Add (a, z) y = Neg (b) }"
STATIC = HEAD.replace("N", "2")
IF = HEAD.replace("x,", "x, bool c,") + (
    "{ q = If (c) <then_branch = t () => (float[N,3] a) { a = Relu (x) }, else_branch = e () => (float[N,3] b) { d = "
    "Abs (z) b = Neg (d) }> "
    "y = Neg (q) }"
)


def asked(model: str | bytes, wish: Wish, *, targets: tuple[str, ...] = (), **shapes: tuple[int | str, ...]) -> Fixed:
    """What becomes of a model, which another run leaves as it is."""
    data = model if isinstance(model, bytes) else parser.parse_model(model).SerializeToString()
    name = "m.xml" if data.startswith(b"<?xml") else "m.onnx"
    settings = Settings(named_shapes(shapes), targets=targets)
    found = fixed(name, settings, data, [wish])
    again = fixed(name, settings, b"".join(found.blocks()), [wish])
    assert again.asked == ()
    return found


def text_of(found: Fixed) -> str:
    return " ".join(printer.to_text(onnx.load_from_string(b"".join(found.blocks()))).split())


def runs(found: Fixed, **feeds: np.ndarray) -> list[np.ndarray]:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(b"".join(found.blocks()), providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))


def texts(found: Fixed) -> list[str]:
    return [edit.text for edit in found.asked]


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [HEAD + BODY, STATIC + BODY, HEAD.replace("N", "") + BODY, HEAD + "<float[N,3] a, float[N,3] b>" + BODY]
)
def test_sizes_are_written_with_what_follows_from_them(text: str) -> None:
    text = text.replace("[,", "[?,")
    found = asked(text, "freeze", x=(4, 3), z=(4, "any"))
    assert "g (float[4,3] x, float[4,3] z) => (float[4,3] y)" in text_of(found)
    assert "float[N" not in text_of(found)
    rows = np.full((4, 3), 2, np.float32)
    assert runs(found, x=rows, z=rows)[0].tolist() == (-2 * rows).tolist()


def test_sizes_in_bodies() -> None:
    found = asked(IF, "freeze", x=(4, 3), z=(4, 3))
    assert text_of(found).count("float[4,3]") == 5
    assert len(runs(found, x=np.ones((4, 3), np.float32), z=np.ones((4, 3), np.float32), c=np.array(True))) == 1


def test_what_an_axis_denotes_stays() -> None:
    model = parser.parse_model(HEAD + BODY)
    model.graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    found = asked(model.SerializeToString(), "freeze", x=(4, 3), z=(4, 3))
    (dim, _) = onnx.load_from_string(b"".join(found.blocks())).graph.input[0].type.tensor_type.shape.dim
    assert (dim.dim_value, dim.dim_param, dim.denotation) == (4, "", "DATA_BATCH")


@pytest.mark.parametrize("sizes", [{"x": (4, 3), "z": (5, 3)}, {"x": (4, 2), "z": (4, 2)}])
def test_sizes_that_do_not_fit_are_not_written(sizes: dict[str, tuple[int, ...]]) -> None:
    model = HEAD + "<float[3,3] w = {1,2,3,4,5,6,7,8,9}> { a = MatMul (x, w) y = Add (a, z) }"
    found = asked(model, "freeze", **sizes)
    assert found.after is found.before
    assert [text[:44] for text in found.refused] == ["--freeze was not applied: it would cause IRL"]


def test_another_rank_is_not_written() -> None:
    found = asked(HEAD + BODY, "freeze", x=(4, 3, 2))
    assert (found.after is found.before, found.refused) == (True, ("--freeze was not applied: x has 2 axes, not 3",))


def document(rows: str) -> str:
    layers = [
        parameter(0, "x", f"{rows.replace('-1', '?')},3"),
        layer(1, "Relu", "0", "1"),
        layer(2, "Abs", "0", "1"),
        result(3),
    ]
    text = net(layers, [edge(0, 0, 1, 0), edge(1, 1, 2, 0), edge(2, 1, 3, 0)])
    return text.replace("<dim>2</dim>", f"<dim>{rows}</dim>")


@pytest.mark.parametrize("rows", ["-1", "2"])
def test_sizes_of_an_ir(rows: str, tmp_path: Path) -> None:
    found = asked(document(rows).encode(), "freeze", x=(7, 3))
    assert b"".join(found.blocks()) == document("7").encode()
    ((stage, _, shapes),) = outcomes([written(tmp_path, b"".join(found.blocks()))], runs=True)
    assert (stage, shapes) == ("ok", {"r": [7, 3]})


# --- annotations ------------------------------------------------------------------------------------------------------


def test_annotations_of_inferred_types() -> None:
    found = asked(
        HEAD
        + "{ a = Relu (x) s = Shape (a) c = Concat <axis = 1> (a, z) n = NonZero (c) y = Neg (a) k = Neg (n) w = Abs "
        "(s) }",
        "annotate",
    )
    assert texts(found)[:3] == [
        "declare `a` as float32[N, 3]",
        "declare `s` as int64[2]",
        "declare `c` as float32[N, 6]",
    ]
    assert not {'declare "n"', 'declare "k"', 'declare "y"'} & {text.partition(" as")[0] for text in texts(found)}
    loaded = onnx.load_from_string(b"".join(found.blocks()))
    onnx.checker.check_model(loaded, full_check=True)
    assert [each.name for each in loaded.graph.value_info] == ["a", "s", "c", "w"]
    rows = np.ones((2, 3), np.float32)
    assert runs(found, x=rows, z=rows)[0].tolist() == (-rows).tolist()


def test_annotations_in_bodies_and_names_as_the_file_has_them() -> None:
    found = asked(IF.replace("N,", "past-n,").replace("past-n", "N"), "annotate")
    assert texts(found) == ["declare `q` as float32[N, 3]", "declare `d` as float32[N, 3]"]
    model = parser.parse_model(HEAD + BODY)
    for each in (*model.graph.input, *model.graph.output):
        each.type.tensor_type.shape.dim[0].dim_param = "batch size"
    found = asked(model.SerializeToString(), "annotate")
    assert texts(found) == ["declare `a` as float32[batch size, 3]", "declare `b` as float32[batch size, 3]"]


def test_an_ir_has_no_annotations() -> None:
    found = asked(document("-1").encode(), "annotate")
    assert (found.after is found.before, found.refused) == (True, ())


# --- versions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("versions", "target", "edits"),
    [
        ((8, 17), "onnxruntime@1.16", []),
        ((11, 17), "onnxruntime@1.16", ["set ir_version = 8"]),
        ((10, 21), "onnxruntime@1.16", ["import opset 19 of ai.onnx", "set ir_version = 9"]),
        ((10, 21), "openvino", []),
    ],
)
def test_versions_of_a_target(versions: tuple[int, int], target: str, edits: list[str]) -> None:
    text = STATIC.replace("ir_version: 8", f"ir_version: {versions[0]}").replace("17", str(versions[1])) + BODY
    found = asked(text, "target", targets=(target,))
    assert texts(found) == edits
    rows = np.ones((2, 3), np.float32)
    assert runs(found, x=rows, z=rows)[0].tolist() == (-2 * rows).tolist()


def test_versions_stay_where_the_meaning_does_not() -> None:
    """Gelu came with opset 20."""
    text = STATIC.replace("17", "20").replace("version: 8", "version: 9") + "{ a = Gelu (x) y = Add (a, z) }"
    found = asked(text, "target", targets=("onnxruntime@1.16",))
    assert found.after is found.before


def test_a_model_that_every_release_refuses() -> None:
    """Without a target, too; an opset that nobody knows yet stays."""
    model = parser.parse_model((STATIC + BODY).replace("version: 8", "version: 99"))
    found = asked(model.SerializeToString(), "target")
    assert [edit.text for edit in found.edits] == ["set ir_version = 8"]
    assert len(runs(found, x=np.ones((2, 3), np.float32), z=np.ones((2, 3), np.float32))) == 1
    found = asked((STATIC + BODY).replace("17", "99").replace("version: 8", "version: 14"), "target")
    assert (found.edits, [each.fix for each in found.before.outcome.findings]) == ((), [None])
