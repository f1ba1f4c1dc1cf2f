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

from . import openvino_forms, openvino_nodes, openvino_rules
from .openvino_rules import Answers

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
    found += openvino_forms.models()
    for domain, version in DOMAINS.items():
        for op in sorted({*official_names(domain), *OWN.get(domain, ())}):
            if domain:
                found.append((f"onnx {domain}:{op} {version}", (_onnx(op, domain, {"": 17, domain: version}), b"")))
                continue
            versions = official_versions(op, "")
            for opset in (*versions, versions[0] - 1) if versions[0] > 1 else versions:
                found.append((f"onnx :{op} {opset}", (_onnx(op, "", {"": opset}), b"")))
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
    has = {fact.split()[1] for fact, error in answers.items() if fact.startswith("onnx ") and not ABSENT.search(error)}
    nodes = [(f"node {at}", (data, b"")) for at, (name, data, _) in enumerate(openvino_nodes.nodes()) if name in has]
    return nodes + [(f"graph {at}", (data, b"")) for at, data in enumerate(openvino_nodes.graphs())]


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release: what is read, what operations there are whatever else is wrong with the layer,
    and which nodes of an operator are refused."""
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
    groups: dict[str, list[tuple[Set[str], str]]] = {}
    listed = openvino_nodes.nodes()
    errors = {data: answers.get(f"node {at}") for at, (_, data, _) in enumerate(listed)}
    for (name, has), (_, data, base) in zip(openvino_nodes.traits_of_nodes(), listed):
        error = errors[data]
        if error and openvino_rules.normalized(errors.get(base) or "") == openvino_rules.normalized(error):
            continue
        if error is None or _is_absent(name, error) or ZERO_SIZE in error:
            continue
        groups.setdefault(name, []).append((has, error))
    doubtful = _doubtful([each for nodes in groups.values() for each in nodes])
    for name, nodes in groups.items():
        read = frozenset[str]().union(*(has for has, error in nodes if not error))
        if name in WITH_BODIES:
            continue
        if read:
            yield f"onnx-reads {name} node"
        yield from (f"onnx-reads {name} {each[2:]}" for each in read if each.startswith("e:"))
        found = openvino_rules.rules(Answers(nodes, _scalars(name), doubtful))
        yield from (f"onnx-refuses {name} {'&'.join(rule)}" for rule in found if rule != ("any",) or name[0] == ":")


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
    yield from (f"onnx-reads {code}" for code, read in normalized.items() if sum(read) >= max(2, 0.7 * len(read)))
