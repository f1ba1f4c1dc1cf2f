"""What is asked of a release of ONNX Runtime, and what its answers say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper

from irlint.model.tensor import BITS, NUMBERED_TYPES
from irlint.schemas import NHWC, type_name

from . import onnxruntime_forms

#: Versions up to these are tried.
NEWEST_IR = 25
NEWEST_OPSETS = {
    "": 40,
    "ai.onnx.ml": 10,
    "ai.onnx.training": 4,
    "ai.onnx.preview": 4,
    "ai.onnx.preview.training": 4,
    "com.microsoft": 4,
    "com.microsoft.experimental": 4,
    "com.microsoft.nchwc": 4,
    NHWC: 40,
    "org.pytorch.aten": 4,
}


def models() -> list[tuple[str, Any]]:
    """Models by the fact that holds where they are loaded."""
    found = [(f"ir {version}", _relu(version, {"": 13})) for version in range(NEWEST_IR + 1)]
    for domain, newest in NEWEST_OPSETS.items():
        for version in range(1, newest + 1):
            opsets = {"": version} if domain == "" else {"": 13, domain: version}
            found.append((f"opset {domain} {version}", _relu(8, opsets)))
    for number, name in enumerate(NUMBERED_TYPES, 1):
        found.append((f"input {name}", _with_input(number)))
        found.append((f"initializer {name}", _with_initializer(name, number)))
    found += ((fact, _inlined(fact)) for fact in INLINED)
    return found + list(onnxruntime_forms.models())


#: Operators of ONNX Runtime's own that functions stand for where a kernel does not take the element type.
INLINED = tuple(f"op com.microsoft:{op} 1 T=float64" for op in ("FastGelu", "QuickGelu"))


def _inlined(fact: str) -> bytes:
    op = fact.partition(":")[2].split(" ")[0]
    text = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (double[4] x) => (double[4] y)'
    model = onnx.parser.parse_model(f"{text} {{ y = com.microsoft.{op} (x) }}")
    return bytes(model.SerializeToString())


def _relu(ir_version: int, opsets: dict[str, int]) -> bytes:
    return _model(_graph(), ir_version, opsets)


def _graph() -> onnx.GraphProto:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    return helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])


def _model(graph: onnx.GraphProto, ir_version: int, opsets: dict[str, int]) -> bytes:
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = ir_version
    return bytes(model.SerializeToString())


def _with_input(number: int) -> bytes:
    graph = _graph()
    graph.input.append(helper.make_tensor_value_info("z", number, [2]))
    return _model(graph, 8, {"": 13})


def _with_initializer(name: str, number: int) -> bytes:
    """A model with an initializer of a type that only leaves it as an output."""
    graph = _graph()
    tensor = TensorProto(name="c", data_type=number, dims=[8])
    if name == "string":
        tensor.string_data.extend([b"a"] * 8)
    else:
        tensor.raw_data = bytes(BITS.get(name, 8))
    graph.initializer.append(tensor)
    graph.output.append(helper.make_tensor_value_info("c", number, [8]))
    return _model(graph, 8, {"": 13})


def facts(found: dict[str, Any]) -> Iterator[str]:
    """The facts that hold for a release; it reads every opset up to the greatest that it takes. Nothing is judged by
    the kernels and schemas of its domain for channels last, which it writes itself."""
    taken = [fact for fact, error in found["answers"].items() if not error]
    yield from (fact for fact in taken if not fact.startswith("opset ") and fact not in onnxruntime_forms.FACTS)
    if found["answers"]:
        yield from onnxruntime_forms.facts(found["answers"])
    yield "doubts :StringNormalizer locale"
    for domain in NEWEST_OPSETS:
        yield from (f"opset {domain} {each}" for each in range(1, _greatest(taken, f"opset {domain} ") + 1))
    for domain, op, since, until, constraints in found["kernels"]:
        if domain == NHWC:
            continue
        types = " ".join(
            f"{name}={';'.join(sorted(map(type_name, each)))}" for name, each in sorted(constraints.items())
        )
        versions = f"{since}-{until}" if since < until < 1 << 30 else str(since)
        yield f"op {domain}:{op} {versions} {types}".rstrip()
    for domain, op, since, deprecated, attributes, counts in found["schemas"]:
        if domain != NHWC:
            yield f"schema {domain}:{op} {since} {int(deprecated)}"
        if domain not in ("", "ai.onnx.ml", NHWC):
            yield from (f"attribute {domain}:{op} {name}" for name in attributes)
            yield f"counts {domain}:{op} {' '.join(map(str, counts))}"


def newest(release: str, table: Mapping[str, Collection[str]]) -> str:
    """The text of ``irlint/targets/newest.py``."""
    held = [fact for fact, releases in table.items() if release in releases]
    ir_version = max(int(fact.split()[1]) for fact in held if fact.startswith("ir "))
    opsets = {domain: _greatest(held, f"opset {domain} ") for domain in NEWEST_OPSETS}
    rows = "".join(f'    "{domain}": {version},\n' for domain, version in opsets.items() if version)
    return f'''"""The newest ONNX Runtime that was measured; written by ``tests/make/targets.py``."""

#: The release, its newest IR version, and its newest opset of each domain. It accepts any opset of other domains.
RUNTIME = "{".".join(release.split(".")[:2])}"
RUNTIME_IR_VERSION = {ir_version}
RUNTIME_OPSETS = {{
{rows}}}
'''


def _greatest(held: list[str], start: str) -> int:
    return max((int(fact.removeprefix(start)) for fact in held if fact.startswith(start)), default=0)
