"""What is asked of a release of Qualcomm's provider for ONNX Runtime, and what its answers say.

It is asked about single nodes, as exporters write them: those of ``qnn_nodes.txt``, and of other element types and
ranks, with static and with dynamic sizes. Many nodes stand in one model, since the answer lists those that stay on the
CPU; where the compiler refuses the model, each is asked by itself. ``RULES`` are graphs of several nodes, each with the
row that holds where its node stays on the CPU or is taken.

A row of the table states conditions that hold for nodes which stay on the CPU (``leaves``) or are refused
(``refuses``), and for none that runs on the NPU.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import onnx
import onnx.compose
import onnx.defs
import onnx.parser

from irlint.inference.walk import inferred
from irlint.model.tensor import NUMBERED_TYPES, Tensor
from irlint.parsers.onnx import read
from irlint.targets.conditions import conditions_in, hold
from irlint.targets.operators import name as operator
from irlint.targets.uses import OMITTED, Use, is_static, uses

from .asked import ON_CPU

TESTS = Path(__file__).resolve().parents[2]
LINES = Path(__file__).with_name("qnn_nodes.txt")

#: So many nodes stand in one model.
TOGETHER = 24

#: Element types that stand in the place of others.
TYPES = (
    {"float32": "float16"},
    {"float32": "float64"},
    {"float32": "int32", "float16": "int32"},
    {"int64": "int32"},
    {"float32": "uint8"},
    {"float32": "int64"},
    {"int64": "float32"},
)

#: Ranks that are tried of operators with one input.
RANKS = (1, 2, 3, 4, 5, 6)

#: How an answer begins that the provider does not compile a model.
COMPILING = "EP_FAIL"

#: What a provider does with a node.
NPU, LEFT, REFUSED = "npu", "left", "refused"

#: What exporters write for Gelu.
GELU = (
    "(float[1,4] x) => (float[1,4] y) <float r = {1.4142135}, float one = {1}, float half = {0.5}> "
    "{ [n] a = Div (x, r) b = Erf (a) c = Add (b, one) d = Mul (x, c) y = Mul (d, half) }"
)

#: The rows that hold where the node ``n`` stays on the CPU (``leaves``), or is taken (``op``).
RULES = {
    "leaves :QuantizeLinear graph-input": (
        13, "(float[1,4] x) => (float[1,4] y) <float s = {0.1}, uint8 z = {128}> { [n] q = QuantizeLinear (x, s, z) "
        "d = DequantizeLinear (q, s, z) r = Relu (d) p = QuantizeLinear (r, s, z) y = DequantizeLinear (p, s, z) }"),
    "leaves :DequantizeLinear graph-output": (
        13, "(float[1,4] x) => (float[1,4] y) <float s = {0.1}, uint8 z = {128}> { q = QuantizeLinear (x, s, z) "
        "d = DequantizeLinear (q, s, z) r = Relu (d) p = QuantizeLinear (r, s, z) "
        "[n] y = DequantizeLinear (p, s, z) }"),
    "op :QuantizeLinear *": (
        13, "(float[1,4] x) => (float[1,4] y) <float s = {0.1}, uint8 z = {128}> { q = QuantizeLinear (x, s, z) "
        "d = DequantizeLinear (q, s, z) r = Relu (d) [n] p = QuantizeLinear (r, s, z) "
        "y = DequantizeLinear (p, s, z) }"),
    "op :DequantizeLinear *": (
        13, "(float[1,4] x) => (float[1,4] y) <float s = {0.1}, uint8 z = {128}> { q = QuantizeLinear (x, s, z) "
        "[n] d = DequantizeLinear (q, s, z) r = Relu (d) p = QuantizeLinear (r, s, z) "
        "y = DequantizeLinear (p, s, z) }"),
    "op :Gelu *": (17, GELU),
}  # fmt: skip


@cache
def nodes() -> tuple[tuple[str, bytes], ...]:
    """Models of one node by a name."""
    found: dict[bytes, str] = {}
    for line in LINES.read_text("utf-8").splitlines():
        for at, data in enumerate(_of_line(line)):
            found.setdefault(data, f"{line} / {at}")
    found |= {_dynamic(data): f"{name} / dynamic" for data, name in found.items()}
    return tuple((name, data) for data, name in found.items())


def _dynamic(data: bytes) -> bytes:
    """The model with a name for each size of its inputs; itself where they have none."""
    model = onnx.ModelProto.FromString(data)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            dim.dim_param = f"size_{dim.dim_value}"
    if not any(value.type.tensor_type.shape.dim for value in model.graph.input):
        return data
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return bytes(model.SerializeToString(deterministic=True))


def _of_line(line: str) -> Iterator[bytes]:
    """The model of a line, and those of other element types and ranks."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    from cases import notation

    texts = dict.fromkeys([line, *_other_types(line), *_other_ranks(line)])
    for text in texts:
        try:
            data = _typed(next(notation.cases(f"{text} -> sound")).model)
        except (AssertionError, ValueError, TypeError, OverflowError):
            continue
        if data is not None:
            yield data


def _other_types(line: str) -> Iterator[str]:
    for types in TYPES:
        text = line
        for old, new in types.items():
            text = (
                text.replace(f" {old}[", f" {new}[").replace(f" {old}=", f" {new}=").replace(f" {old}{{", f" {new}{{")
            )
        yield text


def _other_ranks(line: str) -> Iterator[str]:
    head, _, attributes = line.partition(" ; ")
    parts = head.split(" ")
    if len(parts) != 3 or attributes or "[" not in parts[2]:
        return
    kind = parts[2].partition("[")[0]
    for rank in RANKS:
        yield f"{parts[0]} {parts[1]} {kind}[{','.join(['2'] * rank)}]"


def _typed(case: Any) -> bytes | None:
    """A sound model with the types of its outputs, all of static shape; None for another one."""
    from cases.models import document

    data = document(case)[1]
    known = inferred(read("m.onnx", data))
    if any(each.is_error for each in (*known.model.problems, *known.problems)):
        return None
    model = onnx.ModelProto.FromString(data)
    types = {value.name: type for value, type in known.types.items()}
    for output in model.graph.output:
        type = types.get(output.name)
        if not isinstance(type, Tensor) or type.dtype not in NUMBERED_TYPES or type.shape is None:
            return None
        if not all(isinstance(size, int) for size in type.shape):
            return None
        made = onnx.helper.make_tensor_type_proto(NUMBERED_TYPES.index(type.dtype) + 1, type.shape)
        output.type.CopyFrom(made)
    model.ir_version = 8
    return bytes(model.SerializeToString(deterministic=True))


@cache
def _groups() -> list[list[int]]:
    """The nodes that stand in one model: those of one opset, all with static or all with dynamic sizes."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for at, (name, data) in enumerate(nodes()):
        opsets = [(each.domain, each.version) for each in onnx.ModelProto.FromString(data).opset_import]
        found[(*opsets, name.endswith("dynamic"))].append(at)
    return [each[at : at + TOGETHER] for each in found.values() for at in range(0, len(each), TOGETHER)]


def _joined(places: Sequence[int]) -> bytes:
    """Several models of one node as one; each node is named for its place."""
    whole = onnx.ModelProto.FromString(nodes()[places[0]][1])
    graph = whole.graph
    for each in (graph.node, graph.input, graph.output, graph.initializer):
        del each[:]
    for at in places:
        part = onnx.compose.add_prefix(onnx.ModelProto.FromString(nodes()[at][1]), f"{at}/")
        part.graph.node[-1].name = str(at)
        graph.node.extend(part.graph.node)
        graph.input.extend(part.graph.input)
        graph.output.extend(part.graph.output)
        graph.initializer.extend(part.graph.initializer)
    return bytes(whole.SerializeToString(deterministic=True))


def models() -> list[tuple[str, Any]]:
    """Models by what they ask."""
    groups = [(f"group {at}", _joined(each)) for at, each in enumerate(_groups())]
    return groups + [(row, _of_text(opset, graph)) for row, (opset, graph) in RULES.items()]


def _of_text(opset: int, graph: str) -> bytes:
    """The model of a graph in ONNX's text syntax."""
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}'
    return bytes(onnx.parser.parse_model(text).SerializeToString())


def more(answers: dict[str, str]) -> list[tuple[str, Any]]:
    """What is asked next: the nodes of the models that were refused, each by itself."""
    return [
        (f"node {at}", _joined([at]))
        for number, group in enumerate(_groups())
        if _is_refused(answers[f"group {number}"])
        for at in group
    ]


def _is_refused(answer: str) -> bool:
    return bool(answer) and not answer.startswith(ON_CPU)


def outcomes(answers: dict[str, str]) -> dict[int, str]:
    """What was done with each node; those that ONNX Runtime itself refuses are left out."""
    found: dict[int, str] = {}
    for number, group in enumerate(_groups()):
        answer = answers[f"group {number}"]
        for at in group:
            own = answers.get(f"node {at}", answer) if _is_refused(answer) else answer
            if not _is_refused(own):
                names = {name for name, _ in json.loads(own.removeprefix(ON_CPU) or "[]")}
                found[at] = LEFT if str(at) in names else NPU
            elif COMPILING in own:
                found[at] = REFUSED
    return found


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release: the operators of which it takes nodes, which nodes it leaves on the CPU, and
    which it does not compile."""
    answers = found["answers"]
    for row in RULES:
        names = [name for name, _ in json.loads(answers[row][len(ON_CPU) :])] if answers[row].startswith(ON_CPU) else []
        if not _is_refused(answers[row]) and ("n" in names) == row.startswith("leaves "):
            yield row
    groups: dict[str, list[tuple[Use, str]]] = defaultdict(list)
    for at, outcome in outcomes(answers).items():
        use = _use(nodes()[at][1])
        groups[operator(use)].append((use, outcome))
    for name, asked in groups.items():
        if any(outcome != LEFT for _, outcome in asked):
            yield f"op {name} *"
            yield from _rows(name, asked)


def _use(data: bytes) -> Use:
    known = inferred(read("m.onnx", data))
    return uses(known)[-1]


def _rows(name: str, asked: list[tuple[Use, str]]) -> Iterator[str]:
    """Conditions that hold for nodes with an outcome alone, as few as state all of these nodes. Every node of dynamic
    size that is not refused stays on the CPU."""
    dynamic = [(use, REFUSED if outcome == REFUSED else NPU) for use, outcome in asked if not is_static(use)]
    yield from _outcomes(name, [each for each in asked if is_static(each[0])])
    if dynamic and all(outcome == REFUSED for _, outcome in dynamic):
        yield f"refuses {name} dynamic"
    else:
        more = _opsets(name, dynamic)
        yield from (f"{row} & dynamic{more}" for row in _outcomes(name, dynamic) if row.startswith("refuses "))


def _opsets(name: str, asked: list[tuple[Use, str]]) -> str:
    """The opsets that refused nodes of an operator were asked at, where ONNX Runtime may put a function in its place,
    which differs from opset to opset; "" for other operators."""
    domain, _, op = name.partition(":")
    if domain or not onnx.defs.has(op) or not onnx.defs.get_schema(op).has_function:
        return ""
    opsets = [use.version for use, outcome in asked if outcome == REFUSED and isinstance(use.version, int)]
    return f" & opset-from {min(opsets)} & opset-below {max(opsets) + 1}" if opsets else ""


def _outcomes(name: str, asked: list[tuple[Use, str]]) -> Iterator[str]:
    """The rows about nodes that stay on the CPU or are refused."""
    pool = sorted({each for use, _ in asked for each in _conditions(use)})
    held = {row: {at for at, (use, _) in enumerate(asked) if hold(conditions_in(row), use)} for row in pool}
    left = {at for at, (_, outcome) in enumerate(asked) if outcome == LEFT}
    refused = {at for at, (_, outcome) in enumerate(asked) if outcome == REFUSED}
    yield from (f"leaves {name} {row}" for row in _covering(held, left, set(range(len(asked))) - left))
    yield from (f"refuses {name} {row}" for row in _covering(held, refused, set(range(len(asked))) - left - refused))


def _covering(held: dict[str, set[int]], wanted: set[int], others: set[int]) -> Iterator[str]:
    """Rows that hold for wanted nodes and for none of the others, those that hold for most first. A row names the
    element type where its nodes have one: others were not asked about in this form."""
    left = set(wanted)
    singles = {row: each for row, each in held.items() if each & wanted}
    pairs = {
        f"{one} & {two}": singles[one] & singles[two]
        for one, two in combinations(sorted(singles), 2)
        if singles[one] & singles[two] & wanted and singles[one] & others and singles[two] & others
    }
    for rows in (singles, pairs):
        pure = {row: each & wanted for row, each in rows.items() if not each & others}
        while left and pure:
            best = min(pure, key=lambda row: (-len(pure[row] & left), _rank(row), row))
            if not pure[best] & left:
                break
            types = [row for row in singles if row.startswith("type 0 ") and pure[best] <= singles[row]]
            yield " & ".join([best, *(row for row in types if "type 0 " not in best)])
            left -= pure[best]
    if left:
        print(f"  {len(left)} of {len(wanted)} nodes are stated by no row: {sorted(left)[:5]}")


#: Conditions in the order in which they are preferred.
PREFERRED = ("type", "gives", "rank-above", "rank", "not-constant", "constant", "input", "no-input", "output")


def _rank(row: str) -> int:
    kinds = [each.split(" ")[0] for each in row.split(" & ")]
    return sum(PREFERRED.index(each) if each in PREFERRED else len(PREFERRED) for each in kinds)


def _conditions(use: Use) -> Iterator[str]:
    """The conditions that hold for a node and may be the reason of an answer."""
    for at, type in enumerate(use.inputs[:6]):
        if type == OMITTED or type is None:
            yield f"no-input {at}"
            continue
        yield f"type {at} {type}"
        yield f"input {at}"
        known = use.types.get(use.node.inputs[at])
        if isinstance(known, Tensor) and known.rank is not None:
            yield f"rank {at} {known.rank}"
            yield from (f"rank-above {at} {rank}" for rank in range(known.rank))
        yield f"{'constant' if use.node.inputs[at] in use.constants else 'not-constant'} {at}"
    for at, type in enumerate(use.outputs[:3]):
        if type:
            yield f"gives {at} {type}"
            if at:
                yield f"output {at}"
    for key, attribute in use.node.attributes.items():
        value = attribute.value.decode() if isinstance(attribute.value, bytes) else str(attribute.value)
        if len(value) < 20 and " " not in value and "." not in value:
            yield f"attribute-is {key} {value}"
