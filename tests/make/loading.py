"""Writes ``irlint/schemas/onnxruntime_loading.txt``: which breaches ONNX Runtime refuses in a branch that never runs.

Every broken model of the cases, and every sound one with an axis that is out of range, is put into a branch that a
constant keeps from running, and the installed ONNX Runtime is asked to load it. A row is written where all models of a
rule, an operator, its version and the input at fault are refused: shape inference has seen the breach, whatever runs.
It is run with ``PYTHONPATH=tests``, after a release of ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
from cases.models import document
from cases.notation import Operator, Text, cases, files, lines
from make.measuring.asked import answers, of_onnxruntime
from onnx import TensorProto, helper, numpy_helper

from irlint.inference.loading import row
from irlint.inference.walk import inferred
from irlint.parsers import read

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "irlint" / "schemas" / "onnxruntime_loading.txt"

#: An axis that no tensor of the cases has.
OUTSIDE = 99

#: What has no size: of these outputs nothing is asked.
STRUCTURED = {
    schema.name
    for schema in onnx.defs.get_all_schemas_with_history()
    if any("(" in each and not each.startswith("tensor(") for output in schema.outputs for each in output.types)
}


def broken() -> Iterator[onnx.ModelProto]:
    """The ONNX models of the cases, and those with an axis out of range."""
    for path in files():
        for _, line in lines(path):
            for case in cases(line) if line.startswith("onnx") else ():
                for model in (case.model, *_outside(case.model)) if isinstance(case.model, (Operator, Text)) else ():
                    try:
                        yield onnx.load_from_string(document(model)[1])
                    except (TypeError, ValueError, KeyError, AttributeError):
                        continue


def _outside(model: object) -> Iterator[Operator]:
    if not isinstance(model, Operator):
        return
    for name, value in model.attributes.items():
        if name.endswith("axis"):
            yield replace(model, attributes={**model.attributes, name: OUTSIDE})
        if name.endswith("axes") and isinstance(value, list):
            yield replace(model, attributes={**model.attributes, name: [OUTSIDE] * len(value)})
    for at, given in enumerate(model.inputs):
        if given is not None and given.values is not None and given.dtype == "int64" and len(given.values) < 3:
            other = replace(given, values=(OUTSIDE,) * len(given.values))
            yield replace(model, inputs=(*model.inputs[:at], other, *model.inputs[at + 1 :]))


def dead(model: onnx.ModelProto) -> bytes:
    """The model with its graph in a branch that never runs; the branch reads the size of whatever its nodes make."""
    graph = model.graph
    never, other = onnx.GraphProto(name="never"), onnx.GraphProto(name="other")
    never.node.extend(graph.node)
    never.value_info.extend(graph.value_info)
    never.initializer.extend(graph.initializer)
    made = [name for node in graph.node if node.op_type not in STRUCTURED for name in node.output if name]
    for at, name in enumerate(made):
        never.node.append(helper.make_node("Size", [name], [f"size_{at}"]))
        never.output.append(helper.make_tensor_value_info(f"size_{at}", TensorProto.INT64, []))
        other.node.append(helper.make_node("Constant", [], [f"one_{at}"], value=numpy_helper.from_array(np.array(1))))
        other.output.append(helper.make_tensor_value_info(f"one_{at}", TensorProto.INT64, []))
    around = onnx.GraphProto(name="around")
    stored = {each.name for each in graph.initializer}
    around.input.extend(each for each in graph.input if each.name not in stored)
    around.initializer.append(numpy_helper.from_array(np.array(False), "taken"))
    results = [f"result_{at}" for at in range(len(made))]
    around.node.append(helper.make_node("If", ["taken"], results, then_branch=never, else_branch=other))
    around.output.extend(helper.make_tensor_value_info(name, TensorProto.INT64, []) for name in results)
    wrapped = onnx.ModelProto()
    wrapped.CopyFrom(model)
    wrapped.graph.CopyFrom(around)
    return wrapped.SerializeToString()


def rows() -> list[str]:
    """The rows of the table, sorted."""
    asked: dict[str, bytes] = {}
    about: dict[str, str] = {}
    for at, model in enumerate(broken()):
        known = inferred(read("m.onnx", model.SerializeToString()))
        errors = [each for each in (*known.model.problems, *known.problems) if each.is_error]
        if len(errors) == 1 and errors[0].by_rule and errors[0].node is not None and not errors[0].graph:
            found = row(errors[0].fault, known.calls.get(errors[0].node))
            if found and model.graph.node:
                asked[str(at)], about[str(at)] = dead(model), found
    _, _, ask = of_onnxruntime()
    refused: dict[str, list[bool]] = {}
    for key, text in answers(list(asked.items()), ask).items():
        refused.setdefault(about[key], []).append("nfer" in text)
    return sorted(each for each, outcomes in refused.items() if all(outcomes))


def table() -> str:
    """The file's text."""
    head = (
        "Breaches that ONNX Runtime refuses in branches that never run: rule, domain and operator, version, input at "
        "fault"
    )
    return "\n".join([head, *rows(), ""])


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="ascii", newline="\n")
    print(f"wrote {TABLE.relative_to(ROOT)}")
