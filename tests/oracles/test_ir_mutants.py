"""Sound IRs with one thing changed: irlint's errors against what OpenVINO refuses, and how many findings one change
gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from cases.models import Input
from lxml import etree
from make.fixtures import ROOT
from oracles.engines import assert_same_verdict
from oracles.ir_mutations import mutants
from oracles.openvino_worker import Outcome, outcomes

from irlint import parsers
from irlint.findings.faults import Severity
from irlint.fixes.explaining import every_problem
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Problem
from irlint.model.tensor import Tensor

pytestmark = pytest.mark.oracle

SEED = 8
MUTANTS = 10

#: Refusals that irlint answers with a warning or not at all, as a part of OpenVINO's text, and why.
UNSEEN = (
    ("unsupported opset: (extension|$)", "an extension may register the operation"),
    (
        r"node\.cpp:581:\nnode index",
        "a port without an edge is a warning where the operation may fill in its last inputs",
    ),
    ("have collisions", "names of tensors in IR 10 are no part of what irlint judges"),
    ("can't be lower than zero", "a negative size in Broadcast's target is a warning, as a Const of it is loaded"),
    ("larger than the data shape after padding", "strides below 1 are a warning, and their sizes are not followed"),
)

#: Errors about contradictions in a file, or about what OpenVINO ignores, where it runs.
CONTRADICTIONS = frozenset(["IRL106", "IRL503", "IRL504", "IRL506", "IRL507", "IRL508", "IRL601", "IRL602", "IRL703"])


def convolutional() -> Any:
    import openvino
    from openvino import opset13 as ops

    x = ops.parameter([-1, 3, 16, 16], np.float32, name="x")
    y = ops.convolution(x, np.ones((8, 3, 3, 3), np.float32), [2, 2], [1, 1], [1, 1], [1, 1])
    y = ops.relu(ops.add(y, np.ones((1, 8, 1, 1), np.float32)))
    y = ops.max_pool(y, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    y = ops.group_convolution(y, np.ones((4, 2, 2, 1, 1), np.float32), [1, 1], [0, 0], [0, 0], [1, 1])
    y = ops.reduce_mean(y, np.array([2, 3]), keep_dims=False)
    y = ops.matmul(y, np.ones((5, 8), np.float32), False, True)
    return openvino.Model(
        [ops.softmax(y, 1).output(0), ops.topk(y, np.array(2), 1, "max", "value").output(0)], [x], "convolutional"
    )


def attention() -> Any:
    import openvino
    from openvino import opset13 as ops

    x = ops.parameter([-1, -1, 16], np.float32, name="x")
    heads = [ops.transpose(ops.reshape(x, np.array([0, 0, 4, 4]), True), np.array([0, 2, 1, 3])) for _ in range(3)]
    scores = ops.softmax(ops.matmul(heads[0], heads[1], False, True), -1)
    y = ops.transpose(ops.matmul(scores, heads[2], False, False), np.array([0, 2, 1, 3]))
    length = ops.gather(ops.shape_of(x), np.array([0, 1]), np.array(0))
    y = ops.reshape(y, ops.concat([length, np.array([16])], 0), False)
    y = ops.mvn(ops.add(y, x), np.array([-1]), True, 1e-5, "inside_sqrt")
    parts = ops.split(y, np.array(2), 2)
    y = ops.multiply(ops.swish(parts.output(0)), parts.output(1))
    return openvino.Model([ops.slice(y, np.array([0]), np.array([4]), np.array([2]), np.array([2]))], [x], "attention")


def stateful() -> Any:
    import openvino
    from openvino import opset13 as ops

    x = ops.parameter([2, 3], np.float32, name="x")
    start = ops.constant(np.zeros((2, 3), np.float32))
    kept = ops.read_value(start, "kept", np.float32, openvino.PartialShape([2, 3]))
    total = ops.add(x, kept)
    wide = ops.pad(ops.unsqueeze(total, np.array(0)), np.array([0, 1, 0]), np.array([0, 0, 1]), "constant")
    return openvino.Model([ops.result(wide)], [ops.assign(total, "kept")], [x], "stateful")


def branching() -> Any:
    import openvino
    from openvino import opset13 as ops

    condition, x = ops.parameter([], bool, name="c"), ops.parameter([2, 3], np.float32, name="x")
    inner, other = ops.parameter([2, 3], np.float32), ops.parameter([2, 3], np.float32)
    then_body = openvino.Model([ops.add(inner, np.ones((1, 3), np.float32))], [inner], "then")
    else_body = openvino.Model([ops.multiply(other, np.ones((2, 1), np.float32))], [other], "else")
    choice = ops.if_op(condition)
    choice.set_then_body(then_body)
    choice.set_else_body(else_body)
    choice.set_input(x.output(0), inner, other)
    chosen = choice.set_output(then_body.results[0], else_body.results[0])
    return openvino.Model([ops.concat([chosen, x], 1)], [condition, x], "branching")


MODELS: tuple[Callable[[], Any], ...] = (convolutional, attention, stateful, branching)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The good IRs of the fixtures that OpenVINO reads, and those that its own builder writes."""
    import openvino

    folder = tmp_path_factory.mktemp("bases")
    written = [folder / f"{build.__name__}.xml" for build in MODELS]
    for build, path in zip(MODELS, written):
        openvino.save_model(build(), path, compress_to_fp16=False)
    fixtures = sorted((ROOT / "openvino" / "good").glob("*.xml"))
    read = [
        path for path, (stage, _, _) in zip(fixtures, outcomes(fixtures)) if stage == "ok" and not path.name < "IRL1"
    ]
    return written * 5 + read


def changed(bases: list[Path], folder: Path) -> Iterator[tuple[str, Path]]:
    """The mutants of each base: what was changed in which, and where they stand."""
    for position, base in enumerate(bases):
        weights = base.with_suffix(".bin")
        stored = weights.read_bytes() if weights.exists() else b""
        root = etree.parse(str(base)).getroot()
        for at, (what, (document, entries)) in enumerate(
            islice(mutants(root, stored, Random(SEED + position)), MUTANTS)
        ):
            path = folder / f"{position}-{at}.xml"
            path.write_bytes(etree.tostring(document))
            if weights.exists():
                path.with_suffix(".bin").write_bytes(entries)
            yield f"{base.stem}: {what}", path


def judged(path: Path) -> tuple[Known, list[Problem]]:
    known = inferred(parsers.read(path))
    return known, [problem for problem in every_problem(known) if problem.because is None]


def message(problems: list[Problem]) -> str:
    return "; ".join(f"{each.fault.rule.code} {each.fault.message}" for each in problems) or "nothing"


def shapes(known: Known) -> dict[str, Any]:
    """The sizes that irlint knows of what each Result takes."""
    found: dict[str, Any] = {}
    graph = known.model.graph
    for node in graph.nodes if graph is not None else ():
        type = known.types.get(node.inputs[0]) if node.op == "Result" and node.inputs and node.inputs[0] else None
        if isinstance(type, Tensor) and type.shape is not None:
            found[node.name] = [dim if isinstance(dim, int) else None for dim in type.shape]
    return found


def disagreement(known: Known, problems: list[Problem], read: Outcome, path: Path) -> str:
    """What irlint and OpenVINO see differently, "" for nothing."""
    stage, text, theirs = read
    errors = [each for each in problems if each.is_error]
    if stage in ("load", "crash"):
        return "" if errors or any(re.search(part, text) for part, _ in UNSEEN) else f"missed: {text[-300:]}"
    if errors:
        if any(each.fault.rule.code in CONTRADICTIONS for each in errors):
            return ""
        return f"false: {message(errors)}" if outcomes([path], runs=True)[0][0] == "ok" else ""
    if any(each.fault.severity is Severity.WARNING for each in problems):
        return ""
    for name, ours in shapes(known).items():
        other = theirs.get(name)
        if other is not None and (
            len(other) != len(ours) or any(None not in (a, b) and a != b for a, b in zip(ours, other))
        ):
            return f"shapes: {ours} against {other}"
    return ""


def test_mutants(bases: list[Path], tmp_path: Path) -> None:
    """Of each change irlint says what OpenVINO does, and of most of them one thing."""
    found = list(changed(bases, tmp_path))
    differences, counts = [], []
    for (what, path), read in zip(found, outcomes([path for _, path in found])):
        known, problems = judged(path)
        counts.append(sum(each.fault.severity is not Severity.NOTE for each in problems))
        difference = disagreement(known, problems, read, path)
        if difference:
            differences.append(f"{path.name} {what}: {difference} (irlint reports {message(problems)})")
    assert len(found) > 300
    assert not differences, "\n".join(differences)
    reported = [count for count in counts if count]
    assert sum(count == 1 for count in reported) > 0.7 * len(reported)
    assert sum(count > 2 for count in reported) < 0.12 * len(reported)


@pytest.mark.parametrize("build", MODELS, ids=lambda build: build.__name__)
def test_the_models_are_sound(build: Callable[[], Any], tmp_path: Path) -> None:
    import openvino

    path = tmp_path / "model.xml"
    openvino.save_model(build(), path, compress_to_fp16=False)
    _, problems = judged(path)
    assert message(problems) == "nothing"
    assert outcomes([path], runs=True)[0][0] == "ok"


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes", "outputs"),
    [
        ("Gather", "opset8", [Input("float32", 4, 5), Input("int64", 3), np.array(0)], {"batch_dims": -3}, 1),
        ("Gather", "opset8", [Input("float32", 4, 5), Input("int64"), np.array(0)], {"batch_dims": -1}, 1),
        ("Gather", "opset7", [Input("float32", 4, 5), Input("int64", 3), np.array(0)], {"batch_dims": -100}, 1),
        ("ExperimentalDetectronTopKROIs", "opset6", [Input("float32", 9, 4), Input("float32", 9)], {"max_rois": -1}, 1),
        ("ExperimentalDetectronTopKROIs", "opset6", [Input("float32", 9, 4), Input("float32", 9)], {"max_rois": -2}, 1),
        ("Broadcast", "opset3", [Input("float32", 1, 1), np.array([2, -1])], {"mode": "numpy"}, 1),
    ],
)
def test_a_number_below_0(op: str, version: str, inputs: list[Any], attributes: dict[str, Any], outputs: int) -> None:
    assert_same_verdict(op, version, inputs, attributes, outputs)
