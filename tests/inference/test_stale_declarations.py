"""A wrong declaration of a value takes no error away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import pytest
from cases.models import text_model
from cases.notation import FOLDER, Text, cases, lines
from onnx import TensorProto, helper

import irlint
from irlint.findings.faults import Severity

#: Declarations that most values contradict.
WRONG = ((TensorProto.FLOAT, [7, 11, 13]), (TensorProto.FLOAT, []), (TensorProto.INT32, ["stale"]))


def errors(model: onnx.ModelProto) -> set[str]:
    return {each.rule.code for each in irlint.check(model).findings if each.severity is Severity.ERROR}


def undeclared(holder: Any) -> Iterator[tuple[Any, str]]:
    """The values of a graph or a function, and of the bodies in it, that it declares no type of, each with where it
    could."""
    graph = isinstance(holder, onnx.GraphProto)
    ends = {each.name for each in (*holder.input, *holder.output)} if graph else {*holder.input, *holder.output}
    known = ends | {each.name for each in holder.value_info}
    names = [each.name for each in holder.initializer] if graph else []
    names += [name for node in holder.node for name in node.output]
    yield from ((holder, name) for name in dict.fromkeys(names) if name and name not in known)
    for node in holder.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from undeclared(attribute.g)


@pytest.mark.slow
def test_a_wrong_declaration_takes_no_error_away() -> None:
    asked = 0
    for number, line in lines(FOLDER / "graphs" / "onnx.txt"):
        broken = next(cases(line)).model
        assert isinstance(broken, Text)
        model = text_model(broken)
        before = errors(model)
        if not before:
            continue
        for holder, name in [each for root in (model.graph, *model.functions) for each in undeclared(root)]:
            for kind, dims in WRONG:
                holder.value_info.append(helper.make_tensor_value_info(name, kind, dims))
                assert errors(model), f"{number}: {name} declared as {kind} {dims}: {line}"
                holder.value_info.pop()
                asked += 1
    assert asked > 500
