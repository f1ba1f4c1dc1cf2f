"""What an initializer holds counts, whatever the file declares of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from cases.dynamo_models import MODELS, edited
from cases.models import Input, ir_document
from onnx import helper, numpy_helper
from oracles import engines

import irlint
from irlint.findings.faults import Severity

#: Edits that leave a model that works: what is stored is broadcast, or reshaped as one axis that follows.
WORKING = ("attention: e.weight nested", "attention: val_0 nested")

FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE

#: Of a matrix that is multiplied by one of [2, 3]: what is stored, what is declared, and the findings where
#: ``value_info`` declares it and where an input does.
DECLARED = {
    "sound": ((np.float32, (3, 4)), (FLOAT, (3, 4)), [], []),
    "names": ((np.float32, (3, 4)), (FLOAT, ("a", "b")), [], []),
    "no rank": ((np.float32, (3, 4)), (FLOAT, None), [], []),
    "stale size": ((np.float32, (3, 4)), (FLOAT, (3, 5)), ["warning IRL601"], ["error IRL601"]),
    "stale rank": ((np.float32, (3, 4)), (FLOAT, (12,)), ["warning IRL601"], ["error IRL601"]),
    "stale type": ((np.float32, (3, 4)), (DOUBLE, (3, 4)), ["warning IRL602"], ["error IRL602"]),
    "one name": ((np.float32, (3, 4)), (FLOAT, ("a", "a")), ["warning IRL601"], ["warning IRL601"]),
    "more axes": ((np.float32, (1, 3, 4)), (FLOAT, (3, 4)), ["warning IRL601"], ["error IRL601"]),
    "transposed": ((np.float32, (4, 3)), (FLOAT, (3, 4)), ["error IRL320"], ["error IRL601"]),
    "transposed, names": ((np.float32, (4, 3)), (FLOAT, ("a", "b")), ["error IRL320"], ["error IRL320"]),
    "double": ((np.float64, (3, 4)), (FLOAT, (3, 4)), ["error IRL402"], ["error IRL602"]),
    "both wrong": (
        (np.float32, (4, 3)),
        (FLOAT, (5, 5)),
        ["error IRL320", "warning IRL601"],
        ["error IRL320", "error IRL601"],
    ),
}

PLACES = (
    "value_info",
    "value_info of a body",
    "sparse",
    "input",
    "input before IR version 4",
    "value_info before IR version 4",
)


def declaring(
    stored: tuple[type, tuple[int, ...]], declared: tuple[int, tuple[object, ...] | None], place: str
) -> onnx.ModelProto:
    """A matrix product with an initializer that is declared at ``place``."""
    array = np.zeros(stored[1], stored[0])
    weights = numpy_helper.from_array(array, "w")
    x, y = (helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in (("x", [2, 3]), ("y", ["p", "q"])))
    w = helper.make_tensor_value_info("w", *declared)
    if np.prod(stored[1]) and len(stored[1]) == 3:
        y.type.tensor_type.shape.dim.add(dim_param="r")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "n")
    ir_version = 3 if "before" in place else 10
    opset = [helper.make_opsetid("", 9 if "before" in place else 17)]
    if "body" in place:
        inner = helper.make_graph([node], "t", [], [y], [weights], value_info=[w])
        other = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["z"])], "e", [], [helper.make_tensor_value_info("z", FLOAT, None)]
        )
        choice = helper.make_node("If", ["c"], ["v"], "i", then_branch=inner, else_branch=other)
        inputs = [x, helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])]
        graph = helper.make_graph([choice], "g", inputs, [helper.make_tensor_value_info("v", FLOAT, None)])
        return helper.make_model(graph, opset_imports=opset, ir_version=ir_version)
    inputs = [x, w] if "input" in place else [x]
    infos = [] if "input" in place else [w]
    graph = helper.make_graph([node], "g", inputs, [y], [weights], value_info=infos)
    if place == "sparse":
        del graph.initializer[:]
        values = numpy_helper.from_array(np.ones(1, stored[0]), "w")
        indices = numpy_helper.from_array(np.zeros(1, np.int64), "indices")
        graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, stored[1]))
    return helper.make_model(graph, opset_imports=opset, ir_version=ir_version)


def found(model: onnx.ModelProto) -> list[str]:
    """The errors and warnings that follow from no other, without those about the place and about unknown ranks."""
    findings = irlint.check(model).folded().findings
    return sorted(
        f"{each.severity.value} {each.rule.code}"
        for each in findings
        if each.severity is not Severity.NOTE and each.rule.code not in ("IRL113", "IRL118", "IRL715")
    )


def refused(model: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime does not load a model, or fails with zeros."""
    if isinstance(engines.onnxruntime_verdict(model), str):
        return True
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}
    feeds = {
        each.name: np.zeros([dim if isinstance(dim, int) else 1 for dim in each.shape], kinds[each.type])
        for each in session.get_inputs()
    }
    try:
        session.run(None, feeds)
    except Exception:
        return True
    return False


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", DECLARED)
def test_what_is_stored_counts(case: str, place: str) -> None:
    stored, declared, of_a_value, of_an_input = DECLARED[case]
    expected = of_an_input if "input" in place or "before" in place else of_a_value
    assert found(declaring(stored, declared, place)) == expected


@pytest.mark.oracle
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", DECLARED)
def test_onnxruntime_refuses_what_is_an_error(case: str, place: str) -> None:
    stored, declared, _, _ = DECLARED[case]
    model = declaring(stored, declared, place)
    assert refused(model) is any(each.startswith("error") for each in found(model))


@pytest.mark.parametrize("name", MODELS)
def test_what_exporters_write_is_sound(name: str) -> None:
    assert not irlint.check(MODELS[name]()).findings


def test_an_edited_constant_is_one_error() -> None:
    for name, model in edited():
        report = irlint.check(model).folded()
        errors = [each.rule.code for each in report.findings if each.severity is Severity.ERROR]
        assert len(errors) == (name not in WORKING), name
        assert [each.severity for each in report.findings] == [
            Severity.WARNING if name in WORKING else Severity.ERROR
        ], name


@pytest.mark.oracle
def test_onnxruntime_refuses_edited_constants() -> None:
    assert [name for name, model in edited() if not refused(model)] == list(WORKING)


#: Edits of the Const of an IR that holds float32[3,4]: the findings as a chain of causes, and whether OpenVINO reads
#: the model.
CONSTS = [
    ("", "", [], True),
    ('shape="3,4"', 'shape="4,3"', ["IRL601", "IRL320"], False),
    ('shape="3,4"', 'shape="1,3,4"', ["IRL601"], True),
    ("<dim>3</dim><dim>4</dim>", "<dim>4</dim><dim>3</dim>", ["IRL601"], True),
    ('element_type="f32" shape="3,4"', 'element_type="i32" shape="3,4"', ["IRL402", "IRL602"], False),
    ('precision="f32"><dim>3</dim>', 'precision="i32"><dim>3</dim>', ["IRL602"], True),
]


def of_an_ir(old: str, new: str) -> tuple[bytes, bytes]:
    """A product of float32[2,3] and a Const, with one text of its document changed."""
    xml, weights = ir_document("MatMul", "opset1", [Input("float32", 2, 3), np.ones((3, 4), np.float32)])
    return xml.decode().replace(old, new).encode() if old else xml, weights


@pytest.mark.parametrize(("old", "new", "codes", "reads"), CONSTS)
def test_the_attributes_of_a_const_count(old: str, new: str, codes: list[str], reads: bool, tmp_path: Path) -> None:
    xml, weights = of_an_ir(old, new)
    (tmp_path / "m.xml").write_bytes(xml)
    (tmp_path / "m.bin").write_bytes(weights)
    findings = irlint.check(tmp_path / "m.xml").findings
    roots = [each.rule.code for each in findings if not each.because]
    assert roots + [each.rule.code for each in findings if each.because] == codes
    assert len(roots) == bool(codes)


@pytest.mark.oracle
@pytest.mark.parametrize(("old", "new", "codes", "reads"), CONSTS)
def test_openvino_reads_the_attributes_of_a_const(old: str, new: str, codes: list[str], reads: bool) -> None:
    assert isinstance(engines.openvino_verdict(*of_an_ir(old, new)), str) is not reads


def test_the_errors_of_several_users_are_one() -> None:
    model = MODELS["perceptron"]()
    model.graph.node.append(helper.make_node("Gemm", ["view", "l.0.weight"], ["again"], "node_again", transB=1))
    stored = next(each for each in model.graph.initializer if each.name == "l.0.weight")
    stored.CopyFrom(numpy_helper.from_array(np.ones((6, 8), np.float32), stored.name))
    findings = irlint.check(model).findings
    roots = [each for each in findings if not each.because]
    assert [(each.rule.code, each.node) for each in roots] == [("IRL320", "node_linear")]
    assert sorted(each.rule.code for each in findings) == ["IRL320", "IRL320", "IRL601"]


def test_a_constant_whose_users_work_is_stored_as_declared() -> None:
    model = MODELS["attention"]()
    stored = model.graph.initializer[0]
    stored.CopyFrom(numpy_helper.from_array(np.ones((20, 6)), stored.name))
    (root,) = irlint.check(model).folded().findings
    assert (root.severity, root.rule.code, root.value) == (Severity.ERROR, "IRL602", "e.weight")
    assert root.help == "convert the initializer to float32, the type of 2 others, or declare float64"
    stored.CopyFrom(numpy_helper.from_array(np.ones((20, 7), np.float32), stored.name))
    (root,) = irlint.check(model).folded().findings
    assert (root.severity, root.rule.code, root.value) == (Severity.ERROR, "IRL601", "e.weight")
    assert root.help == "store it as declared, which MatMul 'node_MatMul_1' accepts"
