"""Rules about whole graphs, held against the ONNX checker and ONNX Runtime where these judge them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from cases import models
from onnx import TensorProto, helper, numpy_helper
from oracles import engines

import irlint
from irlint.findings.faults import Severity

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

BRANCH = (
    "g (float[2,3] x, bool c) => (float[2,3] y) {{ z = Relu (x) y = If (c) <then_branch = t () => {}, "
    "else_branch = e () => (float[2,3] b) {{ b = Neg (z) }}> }}"
)

#: Bodies of a graph, the rules that they break (in order), and whether ONNX Runtime loads them.
CASES = [
    ("g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }", [], True),
    ("g (float[2,3] x) => (float[2,3] y) { y = Add (x, q) }", ["IRL101"], False),
    ("g (float[2,3] x) => (float[2,3] y, float[1] w) { y = Relu (x) }", ["IRL101"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Relu (x) y = Neg (x) }", ["IRL102"], False),
    ("g (float[2,3] x) => (float[2,3] x) { x = Relu (x) }", ["IRL102"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Relu (z) z = Neg (x) }", ["IRL104"], True),
    ("g (float[2,3] x) => (float[2,3] y) { z = Add (x, y) y = Relu (z) }", ["IRL103"], False),
    ("g (float[2,3] x) => (float[2,3] y) { z = Add (x, w) w = Relu (z) y = Neg (w) }", ["IRL103"], False),
    ("g (float[2,3] x) => (float[2,3] y) { [n] z = Relu (x) [n] y = Neg (z) }", ["IRL109"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Add (x) }", ["IRL507"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Relu (x, x) }", ["IRL507"], False),
    ('g (float[2,3] x) => (float[2,3] y) { y = Add (x, "") }', ["IRL507"], False),
    ('g (float[2,3] x) => (float[2,3] y) { y = Relu (x, "") }', ["IRL507"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y, z = Relu (x) }", ["IRL508"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Foo (x) }", ["IRL501"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = other.Foo (x) }", ["IRL801"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }", ["IRL509"], False),
    ("g (float[2,3] x) => (float[2,3] y) { y = Relu <foo = 1> (x) }", ["IRL503"], False),
    ("g (float[2,3] x) => (float[2,6] y) { y = Concat <axis = 1.0> (x, x) }", ["IRL505"], False),
    ("g (float[2,3] x) => (float[2,6] y) { y = Concat (x, x) }", ["IRL504"], False),
    ("g (float[2,3] x) => (float[2,4] y) { y = Relu (x) }", ["IRL601"], True),
    ("g (float[2,3] x) => (float[2,3,1] y) { y = Relu (x) }", ["IRL601"], True),
    ("g (float[2,3] x) => (int64[2,3] y) { y = Relu (x) }", ["IRL602"], False),
    ("g (float[2,3] x) => (float[2,3] y) <float[2,4] z> { z = Relu (x) y = Neg (z) }", ["IRL601"], True),
    ("g (float[2,3] x) => (float[2,3] y) <int32[2,3] z> { z = Relu (x) y = Neg (z) }", ["IRL602"], False),
    ("g (float[2,3] x) => (float[2,4] y) <float[2,4] z> { z = Relu (x) y = Neg (z) }", ["IRL601"], True),
    ("g (float[N,3] x) => (float[M,3] y) { y = Relu (x) }", [], True),
    ("g (float[2,3] x) => (float[K,L] y) { y = Relu (x) }", [], True),
    ("g (float[2,3] x, float[4] b) => (float[2,3] y) { y = Add (x, b) z = Relu (y) w = Neg (z) }", ["IRL201"], False),
    ("g (int32[2,3] x) => (int32[2,3] y) { y = Sigmoid (x) }", ["IRL401"], False),
    (BRANCH.format("(float[2,3] a) { a = Relu (x) }"), [], True),
    (BRANCH.format("(float[2,3] x) { }"), ["IRL112"], False),
    (BRANCH.format("(float[2,3] a) { a = Relu (q) q = Neg (x) }"), ["IRL104"], False),
    (BRANCH.format("(float[2,3] z) { z = Relu (x) }"), ["IRL102"], False),
    (BRANCH.format("(float[2,4] a) { a = Relu (x) }"), ["IRL601"], True),
    ("g (float[2,3] x, int32[3] b) => (float[2,3] y) { y = Add (x, b) }", ["IRL402"], False),
]


def codes(model: onnx.ModelProto, folder: Path) -> list[str]:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return [finding.rule.code for finding in irlint.check(path).folded().findings]


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "expected", "loads"), CASES, ids=range(len(CASES)))
def test_graph(text: str, expected: list[str], loads: bool, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD + text)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    findings = irlint.check(path).folded().findings
    assert [finding.rule.code for finding in findings] == expected
    assert isinstance(engines.onnxruntime_verdict(model), str) is not loads
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    assert bool(errors) is not loads


def small_model(*initializers: onnx.TensorProto, inputs: tuple[onnx.ValueInfoProto, ...] = ()) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node("Add", ["x", "b"], ["y"])], "g", [x, *inputs], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def bias(size: int = 3, claimed: int = 3, raw: bool = True) -> onnx.TensorProto:
    array = np.zeros(size, np.float32)
    tensor = numpy_helper.from_array(array, "b") if raw else helper.make_tensor("b", 1, [size], array)
    tensor.dims[0] = claimed
    return tensor


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (bias(), []),
        (bias(5, 3), ["IRL703"]),
        (bias(2, 3), ["IRL703"]),
        (bias(5, 3, raw=False), ["IRL703"]),
        (bias(2, 3, raw=False), ["IRL703"]),
        (bias(3, -3), ["IRL704"]),
    ],
)
def test_initializer_size(tensor: onnx.TensorProto, expected: list[str], tmp_path: Path) -> None:
    model = small_model(tensor)
    assert codes(model, tmp_path) == expected
    assert isinstance(engines.onnxruntime_verdict(model), str) is bool(expected)


@pytest.mark.oracle
def test_initializer_against_the_input_of_its_name(tmp_path: Path) -> None:
    def declared(*dims: int | str, dtype: int = TensorProto.FLOAT) -> onnx.ModelProto:
        return small_model(bias(), inputs=(helper.make_tensor_value_info("b", dtype, dims),))

    for model, expected in [
        (declared(3), []),
        (declared("N"), []),
        (declared(4), ["IRL601"]),
        (declared(1, 3), ["IRL601"]),
        (declared(3, dtype=TensorProto.INT64), ["IRL602"]),
    ]:
        assert codes(model, tmp_path) == expected
        assert isinstance(engines.onnxruntime_verdict(model), str) is bool(expected)


@pytest.mark.oracle
def test_two_initializers_of_one_name_are_a_warning(tmp_path: Path) -> None:
    model = small_model(bias(), bias())
    assert codes(model, tmp_path) == ["IRL102"]
    assert not isinstance(engines.onnxruntime_verdict(model), str)


@pytest.mark.parametrize(
    ("length", "offset", "size", "expected"),
    [(12, 0, 12, []), (12, 0, None, []), (8, 0, 12, ["IRL702"]), (20, 12, 12, ["IRL702"]), (None, 0, 12, ["IRL701"])],
)
def test_external_data(length: int | None, offset: int, size: int | None, expected: list[str], tmp_path: Path) -> None:
    tensor = bias()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": "b.data", "offset": offset, "length": size}
    for key, value in entries.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    if length is not None:
        (tmp_path / "b.data").write_bytes(bytes(length))
    assert codes(small_model(tensor), tmp_path) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(("source", "result"), [(0, 1), (1, 0), (0, 0)])
def test_element_type_missing(source: int, result: int, tmp_path: Path) -> None:
    x, y = helper.make_tensor_value_info("x", source, [2]), helper.make_tensor_value_info("y", result, [2])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert set(codes(model, tmp_path)) == {"IRL403"}
    assert isinstance(engines.onnxruntime_verdict(model), str)


def test_many_constants_of_one_missing_file_are_one_finding(tmp_path: Path) -> None:
    tensors = []
    for position in range(5):
        tensor = bias()
        tensor.name = "b" if not position else f"b{position}"
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="gone.data")
        tensors.append(tensor)
    (finding,) = irlint.check(_written(small_model(*tensors), tmp_path)).folded().findings
    assert finding.rule.code == "IRL701"
    assert "5 constants" in finding.message
    assert "gone.data" in finding.message


def _written(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.oracle
def test_versions(tmp_path: Path) -> None:
    model = small_model(bias())
    model.ClearField("ir_version")
    assert codes(model, tmp_path) == ["IRL802"]
    assert isinstance(engines.onnxruntime_verdict(model), str)
    model = small_model(bias())
    model.opset_import[0].version = 999
    assert codes(model, tmp_path) == ["IRL803"]
    model = small_model(bias())
    model.opset_import[0].domain = "ai.onnx.ml"
    model.opset_import[0].version = 3
    findings = irlint.check(_written(model, tmp_path)).folded().findings
    assert [(f.rule.code, f.severity) for f in findings] == [("IRL801", Severity.WARNING)]
    assert not isinstance(engines.onnxruntime_verdict(model), str)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def ir(tmp_path: Path, xml: bytes, weights: bytes = b"") -> list[str]:
    path = tmp_path / "model.xml"
    path.write_bytes(xml)
    if weights:
        path.with_suffix(".bin").write_bytes(weights)
    return [finding.rule.code for finding in irlint.check(path).folded().findings]


def relu_chain(*declared: tuple[int, ...], parameter: tuple[int, ...] = (2, 3)) -> bytes:
    """A Parameter and a chain of Relu layers whose output ports declare the given dims."""
    layers = [_layer(0, "Parameter", f'<data shape="{",".join(map(str, parameter))}" element_type="f32"/>', (2, 3), 0)]
    layers += [_layer(at, "Relu", "", dims, 1) for at, dims in enumerate(declared, 1)]
    end = len(layers)
    layers.append(f'<layer id="{end}" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>')
    edges = "".join(
        f'<edge from-layer="{at}" from-port="{1 if at else 0}" to-layer="{at + 1}" to-port="0"/>' for at in range(end)
    )
    return f'<net name="g" version="11"><layers>{"".join(layers)}</layers><edges>{edges}</edges></net>'.encode()


def _layer(index: int, kind: str, data: str, dims: tuple[int, ...], inputs: int) -> str:
    ports = '<input><port id="0"/></input>' if inputs else ""
    text = "".join(f"<dim>{dim}</dim>" for dim in dims)
    output = f'<output><port id="{inputs}" precision="FP32">{text}</port></output>'
    return f'<layer id="{index}" name="n{index}" type="{kind}" version="opset1">{data}{ports}{output}</layer>'


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ([(2, 3), (2, 3)], []),
        ([(2, -1), (-1, 3)], []),
        ([(2, 4), (2, 3)], ["IRL601"]),
        ([(2, 4), (2, 4), (2, 4)], ["IRL601"]),
        ([(2, 4), (2, 5), (2, 5)], ["IRL601", "IRL601"]),
        ([(2, 3, 1)], ["IRL601"]),
        ([()], []),
    ],
)
def test_declared_dims_of_an_ir(declared: list[tuple[int, ...]], expected: list[str], tmp_path: Path) -> None:
    assert ir(tmp_path, relu_chain(*declared)) == expected


def test_parameter_that_contradicts_its_port(tmp_path: Path) -> None:
    assert ir(tmp_path, relu_chain((2, 3), parameter=(2, 4))) == ["IRL601"]


@pytest.mark.parametrize(("stored", "expected"), [(12, []), (8, ["IRL702"]), (0, ["IRL701"]), (16, ["IRL720"])])
def test_weights_of_an_ir(stored: int, expected: list[str], tmp_path: Path) -> None:
    xml, _ = models.ir_document("Relu", "opset1", [np.zeros(3, np.float32)])
    assert ir(tmp_path, xml, bytes(stored)) == expected


def test_constant_smaller_than_its_shape(tmp_path: Path) -> None:
    xml, weights = models.ir_document("Relu", "opset1", [np.zeros(3, np.float32)])
    assert ir(tmp_path, xml.replace(b'size="12"', b'size="8"'), weights) == ["IRL703"]
    assert ir(tmp_path, xml.replace(b'size="12"', b'size="16"'), weights + bytes(4)) == []


@pytest.mark.oracle
def test_names_and_shapes_of_the_interface(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD + BRANCH.format("(float[2,3] a) { a = Relu (x) }"))
    next(iter(model.graph.node[1].attribute)).g.name = ""
    assert codes(model, tmp_path) == ["IRL114"]
    assert isinstance(engines.onnxruntime_verdict(model), str)
    for text in ("(float[] x) => (float[2,3] y)", "(float[2,3] x) => (float[] y)", "(float[2,3] x) => (y)"):
        model = onnx.parser.parse_model(f"{HEAD}g {text} {{ y = Relu (x) }}")
        assert codes(model, tmp_path) == ["IRL118"]
        assert not isinstance(engines.onnxruntime_verdict(model), str)
        with pytest.raises(onnx.checker.ValidationError):
            onnx.checker.check_model(model)


NAMES = [
    ("z = Relu (x) y = Neg (zz)", "define 'zz', or connect an unused value: 'z'"),
    ("conv_out = Relu (x) y = Neg (conv_ouut)", "did you mean `conv_out`?"),
    (
        "b1_conv = Relu (x) b3_conv = Relu (x) y = Add (b2_conv, b1_conv)",
        "connect an unused value: 'b3_conv'",
    ),
    ("y = Add (x, b)", "define 'b', or connect another value"),
    ("skip = Relu (x) w = Neg (skip) y = Add (skipp, w)", "did you mean `skip`?"),
    (
        "norm_weight = Relu (x) w = Neg (norm_weight) y = Add (norm_scale, w)",
        "define 'norm_scale', or connect another value",
    ),
    ("enc_b1_Gather = Relu (x) w = Neg (enc_b1_Gather) y = Add (b1_Gather, w)", "did you mean `enc_b1_Gather`?"),
    ("convolved = MatMul (x, w32) y = Add (x, convolvd)", "define 'convolvd', or connect another value"),
    (
        "z = Mul (x, l1_norm_bias) y = Add (l1_norm_weight, z)",
        "missing: restore it (float32[3] fits where it is used), or export the model again",
    ),
    (
        "z = Mul (x, l1_cls_weight) y = Add (l1_reg_weight, z)",
        "missing: restore it (float32[3] fits where it is used), or export the model again",
    ),
]

STORED = {
    "l1_norm_bias": "float[1] l1_norm_bias = {1}",
    "l1_cls_weight": "float[1] l1_cls_weight = {1}",
    "w32": "float[3,2] w32 = {1, 2, 3, 4, 5, 6}",
}


@pytest.mark.parametrize(("nodes", "help"), NAMES, ids=range(len(NAMES)))
def test_what_is_meant_by_a_name_that_nothing_defines(nodes: str, help: str, tmp_path: Path) -> None:
    stored = ", ".join(text for name, text in STORED.items() if name in nodes)
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (float[2,3] y) <{stored}> {{ {nodes} }}")
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL101"]
    assert found.help.endswith(help)


#: Outputs and nodes of a graph with the input x, of which the first output is not defined, and the help.
OUTPUTS = [
    ("float[N,4] out, float[N,4] z", "outt = Relu (x) z = Neg (outt)", "did you mean `outt`?"),
    ("float[N,4] key_3, float[N,4] key", "key = Relu (x)", "define 'key_3', or remove this output"),
    ("float[N,4] out, float[N,4] z", "outt = Shape (x) z = Neg (x)", "define 'out', or remove this output"),
    ("float[N,4] x_1, float[N,4] z", "z = Neg (x)", "define 'x_1', or remove this output"),
    (
        "float[N,4] y, float[N,4] z",
        "z = Neg (x) total = Exp (x)",
        "define 'y', give its name to an unused value ('total'), or remove this output",
    ),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("outputs", "nodes", "help"), OUTPUTS, ids=range(len(OUTPUTS)))
def test_an_undefined_output_is_no_other_output(outputs: str, nodes: str, help: str) -> None:
    model = onnx.parser.parse_model(f"{HEAD}g (float[N,4] x) => ({outputs}) {{ {nodes} }}")
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL101"]
    assert found.help == help
    assert isinstance(engines.onnxruntime_verdict(model), str)
    if help.endswith("remove this output"):
        del model.graph.output[0]
        assert not isinstance(engines.onnxruntime_verdict(model), str)


#: The results of the layers of a model of which only the first is there, and the inputs that the last result needed.
LAYERS = [
    (["key", "value", "key_3", "value_3"], "`past_1_k`, `past_1_v`"),
    (
        ["present_0_k", "present_0_v", "present_1_k", "present_1_v", "present_2_k", "present_2_v"],
        "`past_2_k`, `past_2_v`",
    ),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("outputs", "needed"), LAYERS)
def test_outputs_of_a_removed_layer_are_removed_with_its_inputs(outputs: list[str], needed: str) -> None:
    past = [f"past_{at}_{each}" for at in range(len(outputs) // 2) for each in "kv"]
    nodes = " ".join(f"{name} = Concat <axis = 2> ({each}, x)" for name, each in zip(outputs[:2], past))
    declared = ", ".join(f"float[N,2,s{at},4] {name}" for at, name in enumerate(outputs))
    inputs = ", ".join(f"float[N,2,p,4] {name}" for name in past)
    model = onnx.parser.parse_model(f"{HEAD}g (float[N,2,s,4] x, {inputs}) => ({declared}) {{ {nodes} }}")
    assert isinstance(engines.onnxruntime_verdict(model), str)
    found = [each for each in irlint.check(model).findings if each.rule.code == "IRL101"]
    assert found[-1].help == (
        f"if its layer was removed, remove this output and the unused inputs {needed}; otherwise define {outputs[-1]!r}"
    )
    del model.graph.output[2:], model.graph.input[3:]
    assert not isinstance(engines.onnxruntime_verdict(model), str)


@pytest.mark.oracle
def test_a_body_may_mean_the_only_input_of_the_model() -> None:
    branches = "then_branch = t () => (float[2,3] a) { a = Relu (hidden) }, "
    branches += "else_branch = e () => (float[2,3] b) { b = Neg (fed) }"
    text = f"{HEAD}g (float[2,3] fed) => (float[2,3] y) <bool c = {{1}}> {{ y = If (c) <{branches}> }}"
    model = onnx.parser.parse_model(text)
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL101"]
    assert found.help == "define 'hidden', or connect `fed`, the only input of the model"
    assert isinstance(engines.onnxruntime_verdict(model), str)
    repaired = onnx.parser.parse_model(text.replace("(hidden)", "(fed)"))
    assert not isinstance(engines.onnxruntime_verdict(repaired), str)


def test_few_names_are_searched_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("irlint.findings.wording.closest", lambda name, names, *_: asked.append(name))
    nodes = " ".join(f"v{index} = Relu (missing{index}x)" for index in range(40))
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (float[2,3] v0) {{ {nodes} }}")
    assert codes(model, tmp_path) == ["IRL101"] * 40
    assert len(set(asked)) == 3


#: Sound graphs, and the notes on what nothing uses.
UNUSED = [
    ("(float[2,3] x) => (float[2,3] y) <float[1] u = {1}, float[1] v = {1}> { y = Relu (x) }", ["IRL901"]),
    ("(float[2,3] x, float[1] u, float[1] v) => (float[2,3] y) { y = Relu (x) }", ["IRL902"]),
    ("(float[2,3] x) => (float[2,3] y) { y = Relu (x) a = Neg (x) b = Abs (a) c = Exp (y) }", ["IRL905"]),
    ("(float[2,3] x) => (float[2,3] y) { y, k = Dropout (x) }", []),
    (
        "(float[2,3] x) => (float[2,3] y) { a, b = Split <axis = 1, num_outputs = 2> (x) y = Relu (x) z = Neg (a) }",
        ["IRL905"],
    ),
    ("(float[2,3] x) => (float[2,3] y) <float[9] p, float[8] q> { y = Relu (x) }", ["IRL906"]),
    (BRANCH.format("(float[2,3] a) <float[1] u = {1}> { a = Relu (x) d = Neg (x) }")[2:], ["IRL901", "IRL905"]),
    (BRANCH.format("(float[2,3] a) { a = Relu (z) }")[2:].replace("=> (float[2,3] y)", "=> (float[2,3] y)", 1), []),
    ("(float[2,3] x) => (float[2,3] y) <float[1] u = {1}> { y = Add (x, q) }", ["IRL101"]),
    ("(float[2,3] x, float[4] w) => (float[2,3] y) <float[1] u = {1}> { y = Add (x, w) }", ["IRL201"]),
    ("(float[2,3] x) => (float[2,3] y) <float[1] u = {1}, float[1] u = {2}> { y = Add (x, u) }", ["IRL102"]),
]


@pytest.mark.parametrize(("text", "expected"), UNUSED, ids=range(len(UNUSED)))
def test_what_nothing_uses(text: str, expected: list[str], tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD.replace("17", "18") + "g " + text)
    assert codes(model, tmp_path) == expected


def test_imports_and_functions_that_nothing_uses(tmp_path: Path) -> None:
    function = '<domain: "f", opset_import: ["" : 17]> F (a) => (b) { b = Neg (a) }'
    graph = "g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }"
    for imports, more, expected in (
        ('"" : 17, "my" : 1, "com.microsoft" : 1', "", ["IRL904"]),
        ('"" : 17, "f" : 1', function, ["IRL903"]),
        ('"ai.onnx" : 17', "", []),
    ):
        model = onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]>\n{graph}\n{more}")
        assert codes(model, tmp_path) == expected
