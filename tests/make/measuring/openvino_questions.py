"""What is asked of a release of OpenVINO, and what its answers say: of IRs, and of its front end for ONNX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper

from irlint.ops import index
from irlint.schemas import official, official_names, official_versions

from . import harmless, openvino_forms, openvino_nodes, openvino_rules
from .openvino_rules import Answers
from .stating import condition

#: Operators that have no trait but their presence: their bodies count.
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
    "com.microsoft.nchwc": 1,
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

#: How a reader says that it has no such operation, or no converter of it.
ABSENT = re.compile(
    r"unsupported opset|doesn't contain the operation|does not support the following ONNX operations|No conversion "
    r"rule found"
)

#: How 2023.1 says that an input of the model has a size of 0, whatever nodes it goes to.
ZERO_SIZE = "has zero dimension which is not allowed"


#: What becomes an Interpolate of float64.
RESIZE = """<ir_version: 8, opset_import: ["" : 13]> g (double[1,1,4,4] x) => (double[1,1,8,8] y)
<float[4] s = {1, 1, 2, 2}> { y = Resize (x, , s) }"""


def models() -> list[tuple[str, Any]]:
    """Models by what they ask."""
    found: list[tuple[str, Any]] = []
    for version in range(1, NEWEST_IR + 1):
        found.append((f"ir {version}", (_ir("Relu", "opset1", version=version), b"")))
    empty = _ir("Relu", "opset1").replace(b'shape="2,3"', b'shape="0,3"')
    found.append(("refuses opset:parameter gives-zero-size 0", (empty, b"")))
    resize = onnx.parser.parse_model(RESIZE).SerializeToString()
    found.append(("refuses opset:interpolate type 0 float64", (resize, b"")))
    for name in TYPES:
        found.append((f"type {name}", (_ir("ShapeOf", "opset1", element_type=name), b"")))
    for op in sorted(index.OPENVINO):
        for opset in range(1, NEWEST_OPSET + 1):
            found.append((f"op opset:{op.lower()} {opset}", (_ir(op, f"opset{opset}"), b"")))
    found += openvino_forms.models()
    for domain, version in DOMAINS.items():
        for op in sorted({*official_names(domain), *OWN.get(domain, ())}):
            if domain:
                found.append((f"op {domain}:{op} *", (_onnx(op, domain, {"": 17, domain: version}), b"")))
                continue
            versions = official_versions(op, "")
            for opset in (*versions, versions[0] - 1) if versions[0] > 1 else versions:
                found.append((f"op :{op} {opset}", (_onnx(op, "", {"": opset}), b"")))
    return found


def _ir(op: str, opset: str, *, version: int = 11, element_type: str = "f32") -> bytes:
    """A Parameter, a layer and a Result."""
    dims = "<dim>2</dim><dim>3</dim>"
    layer = (
        f'<layer id="1" name="y" type="{op}" version="{opset}"><input><port id="0">{dims}</port></input>'
        f'<output><port id="1" precision="FP32">{dims}</port></output></layer>'
    )
    edges = (
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" '
        'to-layer="2" to-port="0"/>'
    )
    return (
        f'<net name="n" version="{version}"><layers><layer id="0" name="x" type="Parameter" version="opset1">'
        f'<data shape="2,3" element_type="{element_type}"/><output><port id="0" '
        f'precision="FP32">{dims}</port></output></layer>{layer}'
        '<layer id="2" name="r" type="Result" version="opset1"><input><port '
        f'id="0">{dims}</port></input></layer></layers>'
        f"<edges>{edges}</edges></net>"
    ).encode()


def _onnx(op: str, domain: str, opsets: dict[str, int | None], ir_version: int = 8) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = onnx.ValueInfoProto(name="y")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain=domain)], "g", [x], [y])
    return openvino_forms.saved(graph, opsets, ir_version)


def more(answers: dict[str, str]) -> list[tuple[str, Any]]:
    """What is asked next: nodes of the operators that the release has a converter of, and graphs."""
    rows = ((fact.split()[1], error) for fact, error in answers.items() if fact.startswith("op "))
    has = {name for name, error in rows if not _is_absent(name, error)}
    nodes = [(f"node {at}", (data, b"")) for at, (name, data, _) in enumerate(openvino_nodes.nodes()) if name in has]
    return nodes + [(f"graph {at}", (data, b"")) for at, data in enumerate(openvino_nodes.graphs())]


#: Element types that IRs name otherwise.
_NAMES = {
    "boolean": "bool",
    "bf16": "bfloat16",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e8m0": "float8_e8m0",
    "f4e2m1": "float4_e2m1",
    "f6e2m3": "float6_e2m3",
    "f6e3m2": "float6_e3m2",
}

#: How a table names the families of rules of which one answer is about every breach: of types, and of what a node has.
FAMILIES = {"4": "element-types", "5": "operators"}


def facts_of_ir(found: dict[str, Any]) -> Iterator[str]:
    """The facts about IRs that hold for a release: an operation is there whatever else is wrong with the layer."""
    for fact, error in found["answers"].items():
        kind, *rest = fact.split(" ")
        if kind == "op" and rest[0].startswith("opset:") and not (error and ABSENT.search(error)):
            yield fact
        elif kind == "type" and not error:
            spelled = re.sub(r"^u(?=\d)", "uint", re.sub(r"^i(?=\d)", "int", rest[0]))
            yield f"value {_NAMES.get(rest[0], spelled)}"
        elif (kind == "ir" and not error) or (fact.startswith("refuses opset:") and error):
            yield fact


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts about ONNX models that hold for a release: element types, converters, and what is refused."""
    answers = found["answers"]
    for fact, error in answers.items():
        kind, *rest = fact.split(" ")
        if kind == "op" and not rest[0].startswith("opset:") and not _is_absent(rest[0], error):
            yield fact
        elif kind == "value" and not error:
            yield from (f"{place} {rest[0]}" for place in ("input", "initializer", "value"))
    yield from openvino_forms.facts(answers)
    yield from _of_nodes(answers)
    yield from _of_graphs(answers)


def _of_nodes(answers: dict[str, str]) -> Iterator[str]:
    """Under which conditions the nodes of an operator are refused, and which are read though the check calls them
    wrong, where rows state those that are not; a row of which one harmless variant is read is none."""
    groups = _groups(answers)
    doubtful = _doubtful([(has, error) for nodes in groups.values() for has, error, _ in nodes])
    for name, nodes in groups.items():
        read = frozenset[str]().union(*(has for has, error, _ in nodes if not error))
        yield from (f"reads {name} {each}" for each in FAMILIES.values() if read)
        left = [has for has, error, _ in nodes if error]
        for stated, rule in _rules(name, nodes, doubtful):
            yield f"refuses {name} {stated}"
            count = len(left)
            left = [has for has in left if not openvino_rules.fits(rule, has)]
            print(f"  {name} {stated}: states {count - len(left)} variants")
        refused = {frozenset(each for each in has if each.startswith("e:")) for has in left}
        yield from (f"reads {name} {each[2:]}" for each in read if each.startswith("e:") and {each} not in refused)


def _groups(answers: dict[str, str]) -> dict[str, list[tuple[Set[str], str, bytes]]]:
    """By operator the nodes that a release has a converter for: their traits, the error, and the model."""
    groups: dict[str, list[tuple[Set[str], str, bytes]]] = {}
    listed = openvino_nodes.nodes()
    errors = {data: answers.get(f"node {at}") for at, (_, data, _) in enumerate(listed)}
    for (name, has), (_, data, base) in zip(openvino_nodes.traits_of_nodes(), listed):
        error = errors[data]
        if error and openvino_rules.normalized(errors.get(base) or "") == openvino_rules.normalized(error):
            continue
        if error is not None and not _is_absent(name, error) and ZERO_SIZE not in error and name not in WITH_BODIES:
            groups.setdefault(name, []).append((has, error, data))
    for name, data in {(each[0], each[1]): None for each in _asked_again(groups)}:
        error = answers.get(f"again {name} {openvino_nodes.digest(data)}")
        if error is not None:
            groups[name].append((openvino_nodes.traits_of(data), error, data))
    return groups


def _rules(
    name: str, nodes: list[tuple[Set[str], str, bytes]], doubtful: Set[str] = frozenset()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rows of an operator, each with the traits that it states."""
    pairs = [(has, error) for has, error, _ in nodes]
    for rule in openvino_rules.rules(Answers(pairs, _scalars(name), doubtful)):
        of_errors = any(each.startswith("e:") for each in rule)
        stated = [condition(each) for each in rule if of_errors or each[0] != "!" or each[1] not in "zmu"]
        if None not in stated:
            yield " & ".join(str(each) for each in stated), rule


def again(answers: dict[str, str]) -> list[tuple[str, Any]]:
    """What is asked last: harmless variants of nodes that rows explain."""
    asked = _asked_again(_groups(answers))
    return [(f"again {name} {openvino_nodes.digest(data)}", (data, b"")) for name, data in asked]


def _asked_again(groups: dict[str, list[tuple[Set[str], str, bytes]]]) -> Iterator[tuple[str, bytes]]:
    """Variants of the first nodes with each message that an operator is refused with."""
    for name, nodes in groups.items():
        first: dict[str, bytes] = {}
        for has, error, data in nodes:
            if error and not any(each.startswith("e:") for each in has):
                first.setdefault(openvino_rules.normalized(error), data)
        for data in first.values():
            yield from ((name, each) for each in harmless.variants(data))


def _is_absent(name: str, error: str) -> bool:
    """Whether a release has no converter of an operator itself."""
    absent = ABSENT.search(error)
    op = name.rpartition(":")[2]
    return absent is not None and re.search(rf"\b{op}\b", error[absent.start() :]) is not None


def _doubtful(nodes: list[tuple[Set[str], str]]) -> Set[str]:
    """The errors with which more than a few nodes are read."""
    counts: dict[str, list[int]] = {}
    for has, error in nodes:
        for each in has:
            if each.startswith("e:"):
                counts.setdefault(each, [0, 0])[not error] += 1
    return {each for each, (refused, read) in counts.items() if read * 20 > refused}


def _scalars(name: str) -> Set[str]:
    """The attributes of an operator that hold one number or text, of every version."""
    domain, _, op = name.partition(":")
    schemas = (official(op, version, domain) for version in official_versions(op, domain))
    given = (each for schema in schemas if schema is not None for each in schema.attributes.items())
    return {each for each, (kind, _) in given if kind in ("INT", "FLOAT", "STRING")}


def _of_graphs(answers: dict[str, str]) -> Iterator[str]:
    """The errors of graphs as a whole for which models are not refused that have no other."""
    normalized: dict[str, list[bool]] = {}
    for at, codes in enumerate(openvino_nodes.errors_of_graphs()):
        if len(codes) == 1:
            normalized.setdefault(codes[0], []).append(not answers.get(f"graph {at}", "-"))
    yield from (f"reads {code}" for code, read in normalized.items() if sum(read) >= max(2, 0.7 * len(read)))
