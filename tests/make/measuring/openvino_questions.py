"""What is asked of a release of OpenVINO, and what its answers say: of IRs, and of its front end for ONNX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper

from irlint.model.tensor import NUMBERED_TYPES
from irlint.ops import index
from irlint.schemas import official, official_names, official_versions

from . import openvino_nodes, openvino_rules
from .openvino_rules import Answers

#: Operators of which nothing is said but that they are there: what is in their bodies counts.
WITH_BODIES = (":If", ":Loop", ":Scan", ":SequenceMap")

#: Opsets and versions up to these are tried.
NEWEST_OPSET = 19
NEWEST_IR = 14

#: The domains of ONNX that the front end is asked about, with the version that a model imports.
DOMAINS = {
    "": None,
    "ai.onnx.ml": 3,
    "ai.onnx.preview": 1,
    "com.microsoft": 1,
    "ai.onnx.preview.training": 1,
    "org.openvinotoolkit": 1,
}

#: Operators of the front end's own, which no schema lists.
OWN = {
    "org.openvinotoolkit": [
        "DeformableConv2D",
        "DetectionOutput",
        "ExperimentalDetectronDetectionOutput",
        "ExperimentalDetectronGenerateProposalsSingleImage",
        "ExperimentalDetectronGroupNorm",
        "ExperimentalDetectronPriorGridGenerator",
        "ExperimentalDetectronROIFeatureExtractor",
        "ExperimentalDetectronTopKROIs",
        "FakeQuantize",
        "GenerateProposals",
        "GroupNorm",
        "Normalize",
        "PriorBox",
        "PriorBoxClustered",
        "Swish",
    ],
}

#: Element types as IRs name them.
TYPES = [
    "boolean",
    "bf16",
    "f16",
    "f32",
    "f64",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "u1",
    "u2",
    "u3",
    "u4",
    "u6",
    "u8",
    "u16",
    "u32",
    "u64",
    "nf4",
    "f4e2m1",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "string",
    "dynamic",
    "undefined",
    "i2",
    "f6e2m3",
    "f6e3m2",
    "complex64",
]

#: Forms of ONNX operators that not every release reads though it has the converter: the opset, and a model.
FORMS = {
    "Resize.f64": (
        13,
        "(double[1,1,4,4] x) => (double[1,1,8,8] y) <float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }",
    ),
    "QuantizeLinear.16": (21, "(float[2] x, float s, uint16 z) => (uint16[2] y) { y = QuantizeLinear (x, s, z) }"),
    "DequantizeLinear.f16": (
        19,
        "(uint8[2] x, float16 s, uint8 z) => (float16[2] y) { y = DequantizeLinear (x, s, z) }",
    ),
    "LayerNormalization.outputs": (
        17,
        "(float[2,4] x, float[4] s) => (float[2,4] y, float[2,1] m) { y, m = LayerNormalization (x, s) }",
    ),
    "GridSample.linear": (
        20,
        '(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y) { y = GridSample <mode = "linear"> (x, g) }',
    ),
    "Resize.tf_crop_and_resize": (
        13,
        "(float[1,1,4,4] x) => (float[1,1,3,3] y) "
        "<float[8] roi = {0.0, 0.0, 0.4, 0.6, 1.0, 1.0, 0.6, 0.8}, int64[4] sizes = {1, 1, 3, 3}> "
        '{ y = Resize <coordinate_transformation_mode = "tf_crop_and_resize", mode = "linear"> (x, roi, , sizes) }',
    ),
    "GridSample.5d": (
        20,
        "(float[1,1,2,4,4] x, float[1,2,2,2,3] g) => (float[1,1,2,2,2] y) { y = GridSample (x, g) }",
    ),
    "Dropout.open-training": (
        13,
        "(float[2] x, bool t) => (float[2] y) <float r = {0.5}> { y = Dropout (x, r, t) }",
    ),
    "Dropout.training": (
        13,
        "(float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> { y = Dropout (x, r, t) }",
    ),
    "STFT.open-frame-step": (
        17,
        "(float[1,128,1] x, int64 s, float[16] w) => (float[1,15,9,2] y) { y = STFT (x, s, w) }",
    ),
    "SkipLayerNormalization.outputs": (
        17,
        "(float[1,2,4] x, float[1,2,4] k, float[4] g, float[4] b) => (float[1,2,4] y, float[1,2,4] z) "
        "{ y, , , z = com.microsoft.SkipLayerNormalization (x, k, g, b) }",
    ),
    "EmbedLayerNormalization.outputs": (
        17,
        "(int32[1,2] i, int32[1,2] s) => (float[1,2,4] y, int32[1] m, float[1,2,4] z) <float[3,4] w = {"
        + ", ".join(["0"] * 12)
        + "}, float[3,4] p = {"
        + ", ".join(["0"] * 12)
        + "}, float[3,4] q = {"
        + ", ".join(["0"] * 12)
        + "}, float[4] g = {1, 1, 1, 1}, float[4] b = {0, 0, 0, 0}> "
        "{ y, m, z = com.microsoft.EmbedLayerNormalization (i, s, w, p, q, g, b) }",
    ),
    "BatchNormalization.training": (
        15,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y, float[3] o, float[3] p) "
        "{ y, o, p = BatchNormalization <training_mode = 1> (x, s, b, m, v) }",
    ),
    "Scan.outer": (
        17,
        "(float[2] i, float[3,2] x, float[2] z) => (float[2] o, float[3,2] y) { o, y = Scan <num_scan_inputs = 1, "
        "body = b (float[2] a, float[2] e) => (float[2] c, float[2] d) { c = Add (a, e) d = Add (e, z) }> (i, x) }",
    ),
    "Resize.scales-f64": (
        13,
        "(float[1,1,4,4] x, double[4] s) => (float[1,1,?,?] y) { y = Resize (x, , s) }",
    ),
    "Resize.scales-int": (
        13,
        "(float[1,1,4,4] x, int64[4] s) => (float[1,1,?,?] y) { y = Resize (x, , s) }",
    ),
    "DequantizeLinear.f64": (
        13,
        "(uint8[2] x, double s, uint8 z) => (double[2] y) { y = DequantizeLinear (x, s, z) }",
    ),
    "DequantizeLinear.int": (
        13,
        "(uint8[2] x, int32 s, uint8 z) => (int32[2] y) { y = DequantizeLinear (x, s, z) }",
    ),
    "QuantizeLinear.f8": (
        19,
        "(float[2] x, float s, float8e4m3fn z) => (float8e4m3fn[2] y) { y = QuantizeLinear (x, s, z) }",
    ),
    "BatchNormalization.outputs": (
        9,
        "(float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y, float[3] o, float[3] p) "
        "{ y, o, p = BatchNormalization (x, s, b, m, v) }",
    ),
    "GridSample.linear-early": (
        16,
        '(float[1,1,4,4] x, float[1,2,2,2] g) => (float[1,1,2,2] y) { y = GridSample <mode = "linear"> (x, g) }',
    ),
    "Shape.part": (
        15,
        "(float[2,3,4] x, float[2] z) => (float[2] y) { s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }",
    ),
    "Shape.part-early": (
        13,
        "(float[2,3,4] x, float[2] z) => (float[2] y) { s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }",
    ),
    "Mod.float": (13, "(float[2] x, float[2] d) => (float[2] y) { y = Mod (x, d) }"),
    "ScatterND.reduction": (
        16,
        '(float[4] x, int64[2,1] i, float[2] u) => (float[4] y) { y = ScatterND <reduction = "add"> (x, i, u) }',
    ),
}

#: How a reader says that it has no such operation, or no converter of it.
ABSENT = re.compile(
    r"unsupported opset|doesn't contain the operation|does not support the following ONNX operations|No conversion rule found"
)

#: How 2023.1 says that an input of the model has a size of 0, whatever nodes it goes to.
ZERO_SIZE = "has zero dimension which is not allowed"


def models() -> list[tuple[str, Any]]:
    """Models by what they ask."""
    found: list[tuple[str, Any]] = []
    for version in range(1, NEWEST_IR + 1):
        found.append((f"ir-version {version}", (_ir("Relu", "opset1", version=version), b"")))
    found.append(("ir-form zero-size", (_ir("Relu", "opset1").replace(b'shape="2,3"', b'shape="0,3"'), b"")))
    for name in TYPES:
        found.append((f"type {name}", (_ir("ShapeOf", "opset1", element_type=name), b"")))
    for op in sorted(index.OPENVINO):
        for opset in range(1, NEWEST_OPSET + 1):
            found.append((f"ir {op.lower()} opset{opset}", (_ir(op, f"opset{opset}"), b"")))
    found += _forms()
    for domain, version in DOMAINS.items():
        for op in sorted({*official_names(domain), *OWN.get(domain, ())}):
            if domain:
                found.append((f"onnx {domain}:{op} {version}", (_onnx(op, domain, {"": 17, domain: version}), b"")))
                continue
            versions = official_versions(op, "")
            for opset in (*versions, versions[0] - 1) if versions[0] > 1 else versions:
                found.append((f"onnx :{op} {opset}", (_onnx(op, "", {"": opset}), b"")))
    return found


def _forms() -> Iterator[tuple[str, Any]]:
    """Models by the element type, and by the form of an operator, that they have."""
    for number, name in enumerate(NUMBERED_TYPES, 1):
        x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in "xy")
        z = helper.make_tensor_value_info("z", number, [2])
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x, z], [y])
        yield f"onnx-type {name}", (_saved(graph, {"": 17}), b"")
    for name, (opset, text) in FORMS.items():
        more = ', "com.microsoft" : 1' if "com.microsoft" in text else ""
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}{more}]> g {text}')
        yield f"onnx-form {name}", (bytes(model.SerializeToString()), b"")
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[2] x) => (float[2] y) { y = f.Twice (x) }
<domain: "f", opset_import: ["" : 17]> Twice (a) => (b) { b = Add (a, a) }"""
    yield "onnx-form local-function", (bytes(onnx.parser.parse_model(text).SerializeToString()), b"")


def _saved(graph: onnx.GraphProto, opsets: dict[str, int | None], ir_version: int = 8) -> bytes:
    imports = [helper.make_opsetid(name, version) for name, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = ir_version
    return bytes(model.SerializeToString())


def _ir(op: str, opset: str, *, version: int = 11, element_type: str = "f32") -> bytes:
    """A Parameter, a layer and a Result."""
    dims = "<dim>2</dim><dim>3</dim>"
    layer = (
        f'<layer id="1" name="y" type="{op}" version="{opset}"><input><port id="0">{dims}</port></input>'
        f'<output><port id="1" precision="FP32">{dims}</port></output></layer>'
    )
    edges = '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>'
    return (
        f'<net name="n" version="{version}"><layers><layer id="0" name="x" type="Parameter" version="opset1">'
        f'<data shape="2,3" element_type="{element_type}"/><output><port id="0" precision="FP32">{dims}</port></output></layer>{layer}'
        f'<layer id="2" name="r" type="Result" version="opset1"><input><port id="0">{dims}</port></input></layer></layers>'
        f"<edges>{edges}</edges></net>"
    ).encode()


def _onnx(op: str, domain: str, opsets: dict[str, int | None], ir_version: int = 8) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = onnx.ValueInfoProto(name="y")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain=domain)], "g", [x], [y])
    return _saved(graph, opsets, ir_version)


def more(answers: dict[str, str]) -> list[tuple[str, Any]]:
    """What is asked next: nodes of the operators that the release has a converter of, and graphs."""
    has = {fact.split()[1] for fact, error in answers.items() if fact.startswith("onnx ") and not ABSENT.search(error)}
    nodes = [(f"node {at}", (data, b"")) for at, (name, data) in enumerate(openvino_nodes.nodes()) if name in has]
    return nodes + [(f"graph {at}", (data, b"")) for at, data in enumerate(openvino_nodes.graphs())]


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release: what is read, what operations there are whatever else is wrong with the layer, and
    which nodes of an operator are refused."""
    answers = {key: error for key, error in found["answers"].items() if not key.startswith(("node ", "graph "))}
    for fact, error in answers.items():
        asks_for_operator = fact.startswith(("ir ", "onnx "))
        if (
            not error
            or (asks_for_operator and error != "the engine died" and not ABSENT.search(error))
            or (asks_for_operator and error == "the engine died")
        ):
            yield fact
    yield from _of_nodes(found["answers"])
    yield from _of_graphs(found["answers"])


def _of_nodes(answers: dict[str, str]) -> Iterator[str]:
    """By which traits the nodes of an operator are refused, and which are read though the check calls them wrong."""
    groups: dict[str, list[tuple[Set[str], bool]]] = {}
    for at, (name, has) in enumerate(openvino_nodes.traits_of_nodes()):
        error = answers.get(f"node {at}")
        if error is None or ABSENT.search(error):
            continue
        if ZERO_SIZE in error:
            has = {each for each in has if each[0] == "z"}
        groups.setdefault(name, []).append((has, not error))
    doubtful = _doubtful([each for nodes in groups.values() for each in nodes])
    for name, nodes in groups.items():
        read = frozenset[str]().union(*(has for has, reads in nodes if reads))
        if name in WITH_BODIES:
            continue
        if read:
            yield f"onnx-reads {name} node"
        yield from (f"onnx-reads {name} {each[2:]}" for each in read if each.startswith("e:"))
        found = openvino_rules.rules(Answers(nodes, _scalars(name), doubtful))
        yield from (f"onnx-refuses {name} {'&'.join(rule)}" for rule in found if rule != ("any",) or name[0] == ":")


def _doubtful(nodes: list[tuple[Set[str], bool]]) -> Set[str]:
    """The errors with which more than a few nodes are read."""
    counts: dict[str, list[int]] = {}
    for has, reads in nodes:
        for each in has:
            if each.startswith("e:"):
                counts.setdefault(each, [0, 0])[reads] += 1
    return {each for each, (refused, read) in counts.items() if read * 20 > refused}


def _scalars(name: str) -> Set[str]:
    """The attributes of an operator that hold one number or text, of every version."""
    domain, _, op = name.partition(":")
    schemas = (official(op, version, domain) for version in official_versions(op, domain))
    given = (each for schema in schemas if schema is not None for each in schema.attributes.items())
    return {each for each, (kind, _) in given if kind in ("INT", "FLOAT", "STRING")}


def _of_graphs(answers: dict[str, str]) -> Iterator[str]:
    """The errors of graphs as a whole for which models are not refused that have no other."""
    said: dict[str, list[bool]] = {}
    for at, codes in enumerate(openvino_nodes.errors_of_graphs()):
        if len(codes) == 1:
            said.setdefault(codes[0], []).append(not answers.get(f"graph {at}", "-"))
    yield from (f"onnx-reads {code}" for code, read in said.items() if sum(read) >= max(2, 0.7 * len(read)))
