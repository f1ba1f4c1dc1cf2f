"""Sound ONNX models with one thing changed: irlint's errors against what ONNX Runtime refuses, at random and case by
case."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from make.fixtures import ROOT
from oracles import engines
from oracles.differences import FALSE, MISSED, NO_FAULT
from oracles.mutations import mutants
from oracles.onnxruntime_worker import Outcome, outcome, outcomes

from irlint.findings.faults import Severity
from irlint.findings.report import Finding
from irlint.run.one_file import inspected

pytestmark = pytest.mark.oracle

SEED = 20
MODELS = 140
MUTANTS = 4

#: The newest versions that the runtime under test knows; models that state newer ones are taken back to these.
NEWEST_OPSET, NEWEST_IR = 21, 10


def without_newer_versions(model: onnx.ModelProto) -> onnx.ModelProto:
    model.ir_version = min(model.ir_version, NEWEST_IR)
    for opset in model.opset_import:
        if opset.domain == "":
            opset.version = min(opset.version, NEWEST_OPSET)
    return model


def sources(random: Random) -> list[tuple[onnx.ModelProto, dict[str, Any]]]:
    """Small models with arrays for their inputs: ONNX's node tests, half of them with constants, and two fixtures."""
    cases = [case for case in engines.all_node_cases() if case.data_sets and len(case.model.graph.node) < 30]
    found = []
    for case in random.sample(cases, MODELS):
        arrays = case.data_sets[0][0]
        given = {info.name: np.asarray(array) for info, array in zip(case.model.graph.input, arrays) if is_array(array)}
        constants = random.random() < 0.5
        model = engines.without_output_shapes(case) if constants else onnx.ModelProto.FromString(bytes_of(case.model))
        found.append((without_newer_versions(model), given))
    larger = [onnx.load(ROOT / "onnx" / "good" / f"{name}.onnx") for name in ("attention-block", "small-detector")]
    return found + [(model, {}) for model in larger for _ in range(5)]


def is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def bytes_of(model: onnx.ModelProto) -> bytes:
    return model.SerializeToString(deterministic=True)


def errors(model: bytes) -> list[Finding]:
    return [finding for finding in inspected("model.onnx", model)[1] if finding.severity is Severity.ERROR]


def difference(name: str, model: bytes, outcome: Outcome) -> str | None:
    """Where irlint and ONNX Runtime differ about a mutant, and neither list has the reason."""
    stage, text = outcome
    found = errors(model)
    if stage == "load" and not found and not NO_FAULT.search(text) and not any(part in text for part in MISSED):
        return f"missed: {name}: {text}"
    if stage == "ok" and found and found[0].rule.code not in FALSE:
        return f"false: {name}: {found[0].rule.code} {found[0].message}"
    return None


def test_mutants(tmp_path: Path) -> None:
    random = Random(SEED)
    bases = sources(random)
    sound = outcomes([(bytes_of(model), given) for model, given in bases], tmp_path)
    drawn = [
        (name, bytes_of(mutant), given)
        for (model, given), (stage, _) in zip(bases, sound)
        if stage == "ok"
        for name, mutant in islice(mutants(model, random), MUTANTS)
    ]
    assert len(drawn) > 350
    outcome = outcomes([(mutant, given) for _, mutant, given in drawn], tmp_path)
    assert sum(stage == "load" for stage, _ in outcome) > 150
    assert sum(stage == "ok" for stage, _ in outcome) > 50
    found = [difference(name, mutant, answer) for (name, mutant, _), answer in zip(drawn, outcome)]
    assert [text for text in found if text is not None] == []


# --- case by case -----------------------------------------------------------------------------------------------------

LOOP = """g (int64 m, bool{given} k, float[2] x) => (float[2] y) {{ y = Loop (m, k, x) <body = b (int64 i, bool{declared} c,
float[2] v) => (bool{declared} o, float[2] w) {{ o = Identity (c) w = Relu (v) }}> }}"""

SCAN = """g (float[2] s, float[3,2] xs) => (float[2] t) {{ t = Scan <num_scan_inputs = 1, body = b (float{state} i, float{part} x)
=> (float[2] o) {{ o = Add (i, x) }}> (s, xs) }}"""

IF = """g (float[2] x{condition}) => (float[2] y) <{constants}> {{ y = If (k) <then_branch = t () => (float[2] a) {{ {then} }},
else_branch = e () => (float[2] b) {{ b = Relu (x) }}> }}"""

DEAD, LIVE, OPEN = ("bool k = {0}", ""), ("bool k = {1}", ""), ("", ", bool k")


def branch(then: str, kind: tuple[str, str]) -> str:
    return IF.format(then=then, constants=kind[0], condition=kind[1])


#: Graphs, their IR version and opset, the rule and severity that irlint finds (None: nothing), and how ONNX Runtime
#: ends.
CASES = [
    # a Loop's condition
    (LOOP.format(given="", declared=""), 8, 17, None, "ok"),
    (LOOP.format(given="[1]", declared="[1]"), 8, 17, None, "ok"),
    (LOOP.format(given="[1]", declared="[N]"), 8, 17, None, "ok"),
    (LOOP.format(given="[1]", declared=""), 8, 17, "IRL391 error", "load"),
    (LOOP.format(given="", declared="[1]"), 8, 17, "IRL391 error", "load"),
    (LOOP.format(given="[N]", declared=""), 8, 8, "IRL391 error", "load"),
    (LOOP.format(given="[1,1]", declared="[1]"), 8, 21, "IRL391 error", "load"),
    (LOOP.replace("int64 m", "int64[1] m").format(given="", declared=""), 8, 17, None, "ok"),
    (LOOP.replace("int64 m", "int64[1,1] m").format(given="", declared=""), 8, 17, None, "ok"),
    # what a Scan gives to its body
    (SCAN.format(state="[2]", part="[2]"), 8, 17, None, "ok"),
    (SCAN.format(state="[N]", part="[M]"), 8, 17, None, "ok"),
    (SCAN.format(state="[1,2]", part="[2]"), 8, 17, "IRL391 error", "load"),
    (SCAN.format(state="[2]", part="[3]"), 8, 17, "IRL391 error", "load"),
    # initializers that are no inputs
    ("g (float[2] x) => (float[2] y) <float[2] b = {1, 2}> { y = Relu (x) }", 3, 8, "IRL113 error", "load"),
    ("g (float[2] x) => (float[2] y) <float[2] b = {1, 2}> { y = Add (x, b) }", 3, 8, "IRL113 warning", "ok"),
    ("g (float[2] x) => (float[2] y, float[2] b) <float[2] b = {1, 2}> { y = Relu (x) }", 3, 8, "IRL113 warning", "ok"),
    ("g (float[2] x, float[2] b) => (float[2] y) <float[2] b = {1, 2}> { y = Relu (x) }", 3, 8, None, "ok"),
    ("g (float[2] x) => (float[2] y) <float[2] b = {1, 2}> { y = Relu (x) }", 4, 8, None, "ok"),
    (branch("a = Add (x, c)", ("float[2] c = {1, 2}", ", bool k")), 3, 8, "IRL113 error", "load"),
    # initializers that nothing uses
    ("g (float[2] x) => (float[2] y) <float[2] b = {1}> { y = Relu (x) }", 8, 17, "IRL703 warning", "ok"),
    ("g (float[2] x) => (float[2] y) <float[2] b = {1}> { y = Add (x, b) }", 8, 17, "IRL703 error", "load"),
    # division of whole numbers by 0
    ("g (int32[2] x) => (int32[2] y) <int32 b = {0}> { y = Div (x, b) }", 8, 17, "IRL706 error", "load"),
    ("g (uint8[2] x) => (uint8[2] y) <uint8[2] b = {1, 0}> { y = Mod (x, b) }", 8, 17, "IRL706 error", "load"),
    ("g (int64[0] x) => (int64[0] y) <int64 b = {0}> { y = Mod <fmod = 1> (x, b) }", 8, 17, "IRL706 error", "load"),
    ("g (int64[2] x) => (int64[2] y) <int64 c = {0}> { b = Neg (c) y = Div (x, b) }", 8, 17, "IRL706 error", "run"),
    ("g (float[2] x) => (float[2] y) <float[2] b = {1, 0}> { y = Div (x, b) }", 8, 17, "IRL732 warning", "ok"),
    # dead branches
    (branch("a = Foo (x)", LIVE), 8, 17, "IRL501 error", "load"),
    (branch("a = Foo (x)", OPEN), 8, 17, "IRL501 error", "load"),
    (branch("a = Foo (x)", DEAD), 8, 17, "IRL501 error", "load"),
    (branch("z = Concat <axis = 0> (x, x, x) a = Add (x, z)", DEAD), 8, 17, "IRL201 error", "load"),
    (branch("s = Constant <value_ints = [5]> () a = Reshape (x, s)", DEAD), 8, 17, "IRL330 warning", "ok"),
    (branch("s = Constant <value_ints = [5]> () a = Reshape (x, s)", LIVE), 8, 17, "IRL330 error", "run"),
    (
        branch("a = Foo (x)", ("int64 n = {7}", "")).replace("y = If", "l = Size (x) k = Equal (l, n) y = If"),
        8,
        17,
        "IRL501 error",
        "load",
    ),
    # inputs and outputs
    ('g (float[2] x) => (float[2] y) { y = Max ("", x) }', 8, 17, "IRL507 error", "load"),
    ('g (float[2] x) => (float[2] y) { y = Sum (x, "") }', 8, 17, "IRL507 error", "crash"),
    ('g (float[2] x) => (float[4] y) { y = Concat <axis = 0> (x, x, "") }', 8, 17, "IRL507 error", "run"),
    ('g (float[2] x) => (float[2] y) { "" = Neg (x) y = Relu (x) }', 8, 17, "IRL508 error", "load"),
    ("g (float[2] x) => (float[2] y) { = Neg (x) y = Relu (x) }", 8, 17, "IRL508 error", "load"),
    # attributes
    ("g (float[2] x) => (float[4] y) { y = Concat <axis = 0, axis = 0> (x, x) }", 8, 17, "IRL519 error", "load"),
    ("g () => (int64 y) { y = Constant <value_int = 1, value_int = 1> () }", 8, 17, "IRL519 warning", "ok"),
    ("g () => (int64 y) { y = Constant <value_int = 1, value_float = 1.0> () }", 8, 17, "IRL360 warning", "ok"),
    ("g () => (int64 y) { y = Constant <value_int = 1, foo = 1> () }", 8, 17, "IRL503 warning", "ok"),
    (branch("a = Constant <value_floats = [1.0, 2.0], foo = 1> ()", OPEN), 8, 17, "IRL503 error", "load"),
    ("g (int64[2] x) => (int64[2] y) { y = Mod <fmod = 2> (x, x) }", 8, 17, "IRL510 error", "load"),
    ("g (float[2] x) => (float[2] y) { y = Mod (x, x) }", 8, 17, "IRL510 warning", "run"),
    ('g (uint8[2] x) => (uint8[2] y) { y = BitShift <direction = "UP"> (x, x) }', 8, 17, "IRL506 error", "load"),
    ('g (float[2] x) => (int64[2] y) { y = Cast <to = 7, round_mode = "a"> (x) }', 10, 24, "IRL506 error", "load"),
    ("g (float[2] x) => (int64[2] y) { y = Cast <to = 7, saturate = 0> (x) }", 9, 19, "IRL510 warning", "load"),
    ("g (float[1,3,4] x) => (float[1,3,4] y) { y = LRN <size = 3, alpha = -1.0> (x) }", 8, 17, "IRL510 error", "load"),
    (
        'g (float[3] x, int64[1] i, float[1] u) => (float[3] y) { y = ScatterElements <reduction = "max"> (x, i, u) }',
        8,
        16,
        "IRL506 warning",
        "ok",
    ),
    (
        'g (float[3,5] x, int64[3] t) => (float y) { y = NegativeLogLikelihoodLoss <reduction = "avg"> (x, t) }',
        8,
        17,
        "IRL506 warning",
        "ok",
    ),
    (
        "g (float[2,3] x, float[2,3] z, float[3] w) => (float[2,3] y) { y = com.microsoft.SkipLayerNormalization "
        "<epsilon = 1> (x, z, w) }",
        8,
        17,
        "IRL505 error",
        "load",
    ),
    (
        "g (float[2,3] x, float[2,3] z, float[3] w) => (float[2,3] y) { y = com.microsoft.SkipLayerNormalization "
        "<other = 1> (x, z, w) }",
        8,
        17,
        "IRL503 error",
        "load",
    ),
]


@pytest.mark.parametrize(("text", "ir_version", "opset", "expected", "stage"), CASES, ids=range(len(CASES)))
def test_case(text: str, ir_version: int, opset: int, expected: str | None, stage: str, tmp_path: Path) -> None:
    head = f'<ir_version: {ir_version}, opset_import: ["" : {opset}, "com.microsoft" : 1]>\n'
    model = bytes_of(onnx.parser.parse_model(head + text))
    found = [each for each in inspected("model.onnx", model)[1] if each.rule.family not in ("hygiene", "versions")]
    assert [f"{finding.rule.code} {finding.severity.value}" for finding in found] == ([expected] if expected else [])
    assert (outcomes([(model, {})], tmp_path) if stage == "crash" else [outcome(model, {})])[0][0] == stage


def test_a_function_that_runs_is_no_dead_one(tmp_path: Path) -> None:
    """One function, called in a branch that never runs and then in earnest: its fault is an error, reported once."""
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (float[2] x) => (float[2] y) <bool k = {0}> {
  z = If (k) <then_branch = t () => (float[2] a) { a = f.wrong (x) }, else_branch = e () => (float[2] b) { b = Relu (x) }>
  w = f.wrong (x) y = Add (z, w) }
<domain: "f", opset_import: ["" : 17]> wrong (v) => (u) { s = Constant <value_ints = [5]> () u = Reshape (v, s) }"""
    model = bytes_of(onnx.parser.parse_model(text))
    found = [finding for finding in inspected("model.onnx", model)[1] if not finding.because]
    assert [(finding.rule.code, finding.severity) for finding in found] == [("IRL330", Severity.ERROR)]
    assert outcome(model, {})[0] == "run"
