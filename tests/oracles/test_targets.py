"""What irlint says of a release and what the installed one does: models at several opsets, IR versions and element
types."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from make.measuring import joining, onnxruntime_questions
from onnx import TensorProto
from oracles.engines import all_node_cases

from irlint.fixes.explaining import every_problem
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model.order import graphs
from irlint.parsers.onnx import read
from irlint.targets import tables
from irlint.targets.restamping import lowest
from irlint.targets.tables import short
from irlint.targets.verdicts import REFUSED, RUNS, UNKNOWN, message, passes, reasons, refused, verdict

pytestmark = pytest.mark.oracle

OPSETS = tuple(range(7, 29))
TYPES = (TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16, TensorProto.INT32, TensorProto.INT8)

#: Of so many cases one is tried.
STEP = 8


def variants() -> Iterator[tuple[str, bytes]]:
    """Node tests as they are, with an early IR version, at other opsets, and with another element type."""
    chance = random.Random(12)
    for case in all_node_cases()[::STEP]:
        yield case.name, case.model.SerializeToString()
        yield f"{case.name} IR 8", stamped(case.model, None)
        for opset in chance.sample(OPSETS, 2):
            yield f"{case.name} opset {opset}", stamped(case.model, opset)
        number = chance.choice(TYPES)
        yield f"{case.name} type {number}", stamped(case.model, None, number)


def stamped(model: onnx.ModelProto, opset: int | None, number: int = TensorProto.FLOAT) -> bytes:
    """A model of IR version 8, with another opset, and another element type for float32 at its inputs and outputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.ir_version = 8
    for entry in copy.opset_import:
        if entry.domain == "" and opset is not None:
            entry.version = opset
    for value in (*copy.graph.input, *copy.graph.output):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = number
    return bytes(copy.SerializeToString())


def judged(known: Known, runtime: str, column: int) -> tuple[str, str]:
    """What irlint says that a release does, and why, as ``irlint targets`` does."""
    found = [each for each in reasons(known, runtime, 1 << column) if each.releases]
    errors = [
        each for each in every_problem(known) if each.is_error and each.fault.rule.code not in ("IRL803", "IRL805")
    ]
    outcome = verdict(found)
    errors = [each for each in errors if not passes(known, runtime, each) >> column & 1]
    if any(each >> column & 1 for each in refused(known, runtime, errors)):
        outcome = REFUSED
    elif errors and outcome == RUNS:
        outcome = UNKNOWN
    return outcome, "; ".join([*map(message, found), *(each.fault.message for each in errors)])


def column_of(runtime: str, version: str) -> int:
    """The column of a release; one that has none yet is to be measured first."""
    releases = [short(each) for each in tables.releases(runtime)]
    if short(version) not in releases:
        pytest.skip(f"{runtime} {version} was not measured: tests/make/targets.py adds it")
    return releases.index(short(version))


def test_the_tables_have_what_the_installed_onnxruntime_says_of_itself() -> None:
    import onnxruntime
    from make.measuring.asked import of_onnxruntime

    column = column_of("onnxruntime", onnxruntime.__version__)
    _, registry, _ = of_onnxruntime()
    says = set(onnxruntime_questions.facts({**registry, "answers": {}}))
    kinds = ("op ", "schema ", "attribute ", "counts ")
    stated = {
        fact: {column} if mask >> column & 1 else set()
        for kind in ("opset ", *kinds)
        for text, mask in tables.facts("onnxruntime", kind)
        for fact in joining.apart(kind + text)
    }
    has = {fact for fact, releases in (joining.implied(stated) | stated).items() if releases and fact.startswith(kinds)}
    inlined = set(onnxruntime_questions.INLINED)
    assert has - inlined == {fact for each in says if each.startswith(kinds) for fact in joining.apart(each)}


@pytest.mark.slow
def test_what_the_installed_onnxruntime_loads() -> None:
    import onnxruntime

    column = column_of("onnxruntime", onnxruntime.__version__)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    onnxruntime.set_default_logger_severity(4)
    counts: Counter[str] = Counter()
    wrong, unnamed = [], []
    for name, data in variants():
        outcome, why = judged(inferred(read("m.onnx", data)), "onnxruntime", column)
        counts["all"] += 1
        counts["unknown"] += outcome == UNKNOWN
        try:
            onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            counts["refused"] += 1
            counts["named"] += outcome == REFUSED
            kernel = re.search(r"Could not find an implementation for (\w+)\(", str(error))
            if kernel is not None:
                counts["kernels"] += 1
                counts["kernels named"] += bool(re.search(rf"\b{kernel[1]}\b", why))
            if outcome == RUNS:
                unnamed.append(f"{name}: {error}")
        else:
            if outcome == REFUSED:
                wrong.append(f"{name}: {why}")
    assert not wrong
    assert counts["named"] >= 0.97 * counts["refused"], unnamed
    assert counts["kernels"]
    assert counts["kernels named"] >= 0.95 * counts["kernels"]
    assert counts["unknown"] <= 0.03 * counts["all"], counts


@pytest.mark.slow
def test_what_the_installed_openvino_reads(tmp_path: Path) -> None:
    """A file: bytes of a model go through another reader."""
    import openvino

    column = column_of("openvino", openvino.__version__.split("-")[0])
    core = openvino.Core()
    counts: Counter[str] = Counter()
    wrong, unnamed = [], []
    path = tmp_path / "m.onnx"
    for name, data in variants():
        known = inferred(read("m.onnx", data))
        outcome, why = judged(known, "openvino", column)
        path.write_bytes(data)
        counts["all"] += 1
        counts["unknown"] += outcome == UNKNOWN
        try:
            core.read_model(path)
        except Exception as error:
            counts["refused"] += 1
            counts["named"] += outcome == REFUSED
            absent = re.search(r"No conversion rule found for operations: (?:[\w.]+(?:::|\.))?(\w+)", str(error))
            if absent is not None and absent[1] in {node.op for graph in graphs(known.model) for node in graph.nodes}:
                counts["absent"] += 1
                counts["absent named"] += bool(re.search(rf"\b{absent[1]}\b", why))
            if outcome == RUNS:
                unnamed.append(f"{name}: {error}")
        else:
            if outcome == REFUSED:
                wrong.append(f"{name}: {why}")
    assert not wrong
    assert counts["named"] >= 0.97 * counts["refused"], (counts, unnamed)
    assert counts["absent"]
    assert counts["absent named"] >= 0.95 * counts["absent"], counts
    assert counts["unknown"] <= 0.03 * counts["all"], counts


#: Nodes close to ones that are refused, or to ones that are read: the runtime, the opset and the graph.
DISPUTED = (
    ("openvino", 10, "(uint8[1,1,5,5] x, uint8[1,1,2,2] w) => (int32[1,1,3,3] y) "
     "{ y = ConvInteger <dilations = [2,2]> (x, w) }"),
    ("openvino", 14, "(bool[3,3] x) => (bool[3,3] y) { y = Trilu (x) }"),
    ("openvino", 17, "(float[2,3] x) => (float[4,3] y) "
     "{ s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }"),
    ("openvino", 17, "(float[2,3] x) => (seq(float[2,3]) y) { y = SequenceConstruct (x) }"),
    ("openvino", 17, "(int64 n, bool c, float[2] a) => (float[2] y) { y = Loop (n, c, a) <body = b "
     "(int64 i, bool ci, float[2] ai) => (bool ci, float[2] ao) { ao = Add (ai, ai) }> }"),
    ("openvino", 17, "(float[N,128,1] x, float[16] w) => (float[N,15,9,2] y) <int64 s = {8}> { y = STFT (x, s, w) }"),
    ("openvino", 17, "(float[N,128] x, float[16] w) => (float[N,15,9,2] y) <int64 s = {8}> { y = STFT (x, s, w) }"),
    ("openvino", 17, "(float[N,128] x, float[16] w) => (float[N,15,9,2] y) <int64 s = {8}, int64 l = {16}> "
     "{ y = STFT (x, s, w, l) }"),
    ("openvino", 17, "(float[1,128,1] x) => (float[1,15,9,2] y) <int64 s = {8}, int64 l = {16}> "
     '{ y = STFT (x, s, "", l) }'),
    ("openvino", 21, "(uint8[4,2,2] x, float[2,2,2] s) => (float[4,2,2] y) "
     "{ y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }"),
    ("openvino", 21, "(uint8[4,2] x, float[2,2] s) => (float[4,2] y) "
     "{ y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }"),
    ("openvino", 17, "(float[N,128] x, float[16] w) => (y) <int64 s = {8}, int64 l = {16}> "
     "{ y = STFT <onesided = 0> (x, s, w, l) }"),
    ("openvino", 17, "(float[1,128,1] x, float[16] w) => (y) <int64 s = {8}> { y = STFT <onesided = 0> (x, s, w) }"),
    ("openvino", 17, "(float[1,128,2] x, float[16] w) => (y) <int64 s = {8}> { y = STFT <onesided = 0> (x, s, w) }"),
    ("openvino", 17, "(float[1,2,K] x) => (y) { y = MaxPool <kernel_shape = [3,3]> (x) }"),
    ("openvino", 17, "(float[1,2,8] x) => (y) { y = MaxPool <kernel_shape = [3]> (x) }"),
    ("openvino", 17, "(float[1,2,8,8] x, float[2,2,3,3] w) => (y) { y = Conv <dilations = [1]> (x, w) }"),
    ("openvino", 17, "(float[1,2,8] x, float[2,2,3,3] w) => (y) { y = ConvTranspose (x, w) }"),
    ("openvino", 17, "(float[1,2,8,8] x, float[2,2,3,3] w, float[3] b) => (y) { y = Conv (x, w, b) }"),
    ("openvino", 17, "(float[1,2,8,8] x, float[2,2,3,3] w) => (y) { y = Conv <dilations = 1> (x, w) }"),
    ("openvino", 17, "(float[N,4,2,8] x, float[N,8,8,4] z) => (y) { y = MatMul (x, z) }"),
    ("openvino", 17, "(float[2,3] x) => (y) <int64[3] s = {0, -1, 4}> { y = Reshape (x, s) }"),
    ("openvino", 17, "(float[2,3] x) => (y) <int64[1] s = {7}> { y = Reshape (x, s) }"),
    ("openvino", 13, "(float[2,3] x) => (y) { y = Softmax <axis = 3> (x) }"),
    ("openvino", 13, "(float[2,3] x, int64 i) => (y) { y = Gather <axis = -3> (x, i) }"),
    ("openvino", 13, "(float[2,3] x) => (y) <int64[1] a = {5}> { y = Unsqueeze (x, a) }"),
    ("onnxruntime", 17, "(float[1,2,8] x) => (y) { y = MaxPool <kernel_shape = [3,3]> (x) }"),
    ("onnxruntime", 17, "(float[1,2,8] x) => (y) { y = MaxPool <kernel_shape = [3]> (x) }"),
    ("onnxruntime", 17, "(double[4] x) => (double[4] y) { y = com.microsoft.FastGelu (x) }"),
    ("onnxruntime", 17, "(double[4] x) => (double[4] y) { y = com.microsoft.QuickGelu (x) }"),
    ("onnxruntime", 17, "(double[4] x) => (double[4] y) { y = com.microsoft.Gelu (x) }"),
)  # fmt: skip


#: Nodes with an error that is refused of nodes close to them.
ACCEPTED = (
    ("openvino", 17, "(float[1,2,8,8] x, float[2,2,3,3] w, float[1] b) => (y) { y = Conv (x, w, b) }"),
    ("openvino", 17, "(float[1,2,8,8] x, float[2,2,3,3] w) => (y) { y = Conv <kernel_shape = [3]> (x, w) }"),
    ("openvino", 17, "(float[1,2,8,8] x) => (y) { y = MaxPool <kernel_shape = [3,3], pads = [1,1]> (x) }"),
    ("openvino", 17, "(float[1,2,8,8] x, float[1,2,3,3] w, float[3] b) => (y) { y = Conv (x, w, b) }"),
    ("openvino", 17, "(float[2,3] x) => (y) <int64[2] s = {0, 4}> { y = Reshape (x, s) }"),
    ("openvino", 9, "(float[2,3] x) => (y) { y = Softmax <axis = 3> (x) }"),
)


@pytest.mark.parametrize(("runtime", "opset", "graph"), [*DISPUTED, *ACCEPTED])
def test_disputed_nodes(runtime: str, opset: int, graph: str, tmp_path: Path) -> None:
    import onnx.parser
    import onnxruntime
    import openvino

    text = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]> g {graph}'
    data = onnx.parser.parse_model(text).SerializeToString()
    version = onnxruntime.__version__ if runtime == "onnxruntime" else openvino.__version__.split("-")[0]
    outcome, why = judged(inferred(read("m.onnx", data)), runtime, column_of(runtime, version))
    try:
        if runtime == "onnxruntime":
            onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        else:
            (tmp_path / "m.onnx").write_bytes(data)
            openvino.Core().read_model(tmp_path / "m.onnx")
    except Exception:
        assert outcome == REFUSED, why
    else:
        assert outcome == RUNS or (outcome == UNKNOWN and (runtime, opset, graph) in ACCEPTED), why


#: Operators whose results differ from run to run.
CHANCE = ("bernoulli", "dropout", "multinomial", "random")


@pytest.mark.slow
def test_a_model_gives_the_same_with_the_lowest_versions() -> None:
    import numpy as np

    compared = 0
    for case in all_node_cases()[::STEP]:
        known = inferred(read("m.onnx", case.model.SerializeToString()))
        stamp = lowest(known)
        if stamp is None or stamp.opset >= known.model.opsets[""] or any(word in case.name for word in CHANCE):
            continue
        copy = onnx.ModelProto()
        copy.CopyFrom(case.model)
        copy.ir_version = stamp.ir_version
        for entry in copy.opset_import:
            if entry.domain == "":
                entry.version = stamp.opset
        onnx.checker.check_model(copy)
        for given, _ in case.data_sets or ():
            feed = dict(zip([each.name for each in copy.graph.input], given))
            wanted, found = run(case.model, feed), run(copy, feed)
            for one, other in zip(wanted or (), found or ()):
                if isinstance(one, np.ndarray) and one.dtype.kind in "fiub":
                    compared += 1
                    assert np.allclose(one.astype(float), other.astype(float), 1e-3, 1e-4, equal_nan=True), case.name
    assert compared > 100


def run(model: Any, feed: dict[str, Any]) -> list[Any] | None:
    """What ONNX Runtime gives, None where it refuses the model or what is fed."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feed)  # type: ignore[no-any-return]
    except Exception:
        return None
