"""Which nodes releases of OpenVINO do not read, by what was asked of each, and what the script finds in such
answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from make.measuring import joining
from make.measuring.openvino_rules import Answers, rules
from make.measuring.stating import condition
from make.measuring.traits import traits
from targets.matrices import FLOATS, known, matrix, of

import irlint
from irlint.run.targets import targets_data
from irlint.targets.conditions import conditions_in
from irlint.targets.runtimes import RUNTIMES
from irlint.targets.tables import uncompressed
from irlint.targets.uses import uses
from irlint.targets.verdicts import REFUSED, RUNS, UNKNOWN

RUNTIME = "openvino"

MEASURED = Path(irlint.__file__).parent / "targets" / "measured"


def test_the_traits_of_a_node() -> None:
    model = known(
        of(17, '(float[2,3] x, int64 k) => (y) <int64[1] a = {1}> { y = TopK <axis = 0, mode = "up"> (x, a) }')
    )
    (use,) = uses(model)
    assert traits(use, (10, 24), ("IRL401",)) == {
        "any", ">9", "<24", "e:IRL401", "o0", "t0=flo"
            "at32", "k0=float", "r0=2", "c1", "t1=int64", "k1=int", "r1=1", "v1=1", "d0,1",
        "n2", "n3", "n4", "n5", "n6", "n7", "axis", "axis=0", "mode", "mode=up",
    }  # fmt: skip


def test_traits_as_conditions() -> None:
    assert [condition(each) for each in ("t0=float64", "mode=linear", "d0,1", "<13", ">12", "!axes", "!n1", "y1")] == [
        "type 0 float64",
        "attribute-is mode linear",
        "types-differ 0 1",
        "opset-below 13",
        "opset-from 13",
        "no-attribute axes",
        "input 1",
        "output 1",
    ]


def test_conditions_in_words() -> None:
    one, other = conditions_in("type 0 float64,int8 & attribute-is mode linear")
    assert (one.text(), other.text()) == ("input 0 of float64, int8", "mode=linear")
    (use,) = uses(known(of(18, "(float[2] x) => (float[2] y) { y = Relu (x) }")))
    assert (one.help(use), other.help(use)) == ("cast input 0 to another element type", "use another mode")


def test_what_refused_nodes_have_in_common() -> None:
    kinds = ("float32", "float64", "int32", "bool")
    nodes = [
        (
            {f"t0={one}", f"t1={other}", *(["d0,1"] if one != other else [])},
            "they differ in type" if one != other else "type bool" if one == "bool" else "",
        )
        for one in kinds
        for other in kinds
    ]
    assert rules(Answers(nodes)) == [("d0,1",), ("t0=bool",)]


def test_one_refusal_with_several_explanations_says_nothing() -> None:
    assert rules(Answers([({"r0=3", "mode=a"}, ""), ({"r0=4", "mode=b"}, "no")])) == []


def test_refusals_with_one_message_have_one_reason() -> None:
    read = [({"any", "t0=float32", "axes", f"r0={rank}"}, "") for rank in (2, 3)]
    typed = [
        ({"any", f"t0={name}", "k0=int", "axes", "r0=2"}, f"Unsupported input type {formatted}")
        for name, formatted in (("int8", "i8"), ("int16", "i16"))
    ]
    bare = [({"any", "t0=float32", f"r0={rank}"}, f"src/op.cpp:12: no axes in 'y{rank}'") for rank in (2, 3)]
    assert rules(Answers([*read, *typed, *bare])) == [("k0=int",), ("!axes",)]


REVERSED = (
    "(float[2,2,2] x, int64[2] n) => (y) {{ y = ReverseSequence <batch_axis = {batch}, time_axis = {time}> (x, n) }}"
)
COLUMNS = "(float[1,5,{2}] x) => (y) <int64[{0}, int64[{1}> {{ y = Col2Im (x, s, b) }}"
GROUPS = "(float[1,4,2,2] x, float[{0}] s, float[{0}] b) => (y) {{ y = GroupNormalization <num_groups = 2> (x, s, b) }}"


@pytest.mark.parametrize(
    ("opset", "graph", "release", "outcome"),
    [
        (17, "(float[2] x, double[2] z) => (y) { y = Add (x, z) }", "2024.0", REFUSED),
        (17, "(float[2] x, float[2] z) => (y) { y = Add (x, z) }", "2024.0", RUNS),
        (17, "(bool[2] x, bool[2] z) => (y) { y = Add (x, z) }", "2026.4", REFUSED),
        (13, "(int64[2,3] x) => (y) { y = Unsqueeze <axes = [0]> (x) }", "2024.0", REFUSED),
        (17, f"{FLOATS} {{ y = Relu <slope = 2> (x) }}", "2024.0", RUNS),
        (13, "(bfloat16[2,3] x) => (y) { y = ReduceMean <axes = [0]> (x) }", "2026.4", RUNS),
        (11, "(bfloat16[2,3] x) => (y) { y = ReduceMean <axes = [0]> (x) }", "2026.4", REFUSED),
        (11, "(float[2,3] x) => (y) { y = ReduceMean <axes = [0]> (x) }", "2026.4", RUNS),
        (18, "(float[2,3] x) => (y) { y = ReduceMax (x, ) }", "2026.4", RUNS),
        (10, REVERSED.format(batch=2, time=0), "2026.4", REFUSED),
        (10, REVERSED.format(batch=1, time=1), "2026.4", REFUSED),
        (10, REVERSED.format(batch=1, time=0), "2026.4", RUNS),
        (18, COLUMNS.format("3] s = {3, 4, 5}", "3] b = {1, 1, 5}", 12), "2026.4", REFUSED),
        (18, COLUMNS.format("2] s = {5, 5}", "2] b = {1, 5}", 5), "2026.4", RUNS),
        (18, "(float[5] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }", "2024.0", REFUSED),
        (18, "(float[5] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }", "2026.4", RUNS),
        (18, "(float[6] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }", "2024.0", RUNS),
        (23, "(int32[1,2,3,4] q) => (y) { y = Attention (q, q, q) }", "2026.4", REFUSED),
        (23, "(float[1,2,3,4] q) => (y) { y = Attention (q, q, q) }", "2026.4", RUNS),
        (21, GROUPS.format(4), "2024.3", REFUSED),
        (18, GROUPS.format(2), "2024.3", RUNS),
        (17, "(float[0,2] x) => (y) { y = Relu (x) }", "2023.1", REFUSED),
        (17, "(float[0,2] x) => (y) { y = Relu (x) }", "2026.4", RUNS),
        (14, "(float[1,1] x) => (y) <int64[0] s = {}> { y = Reshape (x, s) }", "2024.0", REFUSED),
        (14, "(float[2] x) => (y) { y = RandomUniformLike <dtype = 11> (x) }", "2026.4", REFUSED),
        (14, "(float[2] x) => (y) { y = RandomUniformLike <dtype = 1> (x) }", "2026.4", RUNS),
    ],
)
def test_forms_of_nodes_that_were_asked_about(opset: int, graph: str, release: str, outcome: str) -> None:
    found = targets_data("m.onnx", model_bytes(of(opset, graph)))["targets"]
    rows = {each["release"]: each["verdict"] for each in found if each["name"] == RUNTIME}
    assert rows[release] == outcome


def model_bytes(text: str) -> bytes:
    """A model in ONNX's text syntax as a file."""
    import onnx.parser

    return bytes(onnx.parser.parse_model(text).SerializeToString())


PART = "(float[2,3,4] x, float[2] z) => (y) { s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }"


def test_a_part_of_a_shape_that_a_release_takes_for_the_whole() -> None:
    rows = matrix(of(17, PART), RUNTIME)
    assert rows["2023.1"][0] == UNKNOWN
    assert "start or end, which the release ignores, so that it gives the complete shape" in rows["2023.1"][1][0]
    assert rows["2026.4"] == (RUNS, [])


AXES = "(float[2,3] x) => (y) <int64[1] a = {1}> { y = ReduceMean (x, a) }"


def test_axes_that_a_release_passes_over() -> None:
    rows = matrix(of(18, AXES), RUNTIME)
    assert rows["2023.1"][0] == UNKNOWN
    assert "it reduces every axis" in rows["2023.1"][1][0]
    assert rows["2026.4"] == (RUNS, [])


BRANCHES = """(float[2,2] x) => (y) <int64 two = {2}> { s = Shape (x) k = Size (s) c = Equal (k, two)
y = If <then_branch = t () => (a) { a = Identity (x) }, else_branch = e () => (b) { b = Det (x) }> (c) }"""


def test_a_branch_that_never_runs_is_read_by_some_releases() -> None:
    rows = matrix(of(18, BRANCHES), RUNTIME)
    assert rows["2024.0"] == (RUNS, [])
    assert rows["2026.4"][0] == REFUSED
    assert "no converter" in " ".join(rows["2026.4"][1])
    sound = of(18, BRANCHES.replace("Det", "Relu"))
    assert {outcome for outcome, _ in matrix(sound, RUNTIME).values()} == {RUNS}


SCAN = """(float[2] i, float[3,2] x, float[2] z) => (float[2] o, float[3,2] y) {
o, y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] c, float[2] d)
{ c = Add (a, e) d = Add (e, VALUE) }> (i, x) }"""


def test_a_scan_with_values_from_outside() -> None:
    assert {outcome for outcome, _ in matrix(of(17, SCAN.replace("VALUE", "z")), RUNTIME).values()} == {REFUSED}
    assert {outcome for outcome, _ in matrix(of(17, SCAN.replace("VALUE", "a")), RUNTIME).values()} == {RUNS}


def test_an_error_that_no_release_was_asked_about_is_not_known() -> None:
    found = targets_data("m.onnx", model_bytes(of(17, "(float[2] x) => (y) { y = If (x) }")))["targets"]
    assert {each["verdict"] for each in found if each["name"] == RUNTIME} == {UNKNOWN}


def test_facts_in_a_file_say_the_same_with_fewer_lines() -> None:
    facts: dict[str, frozenset[str]] = {
        f"refuses :Op type 0 {one} & gives 0 {other} & attribute-is mode a,b": frozenset("1")
        for one in ("bool", "int8")
        for other in ("string", "int4")
    }
    facts |= {f"op :Op {versions} T={each}": frozenset("12") for versions in ("1-6", "7") for each in ("bool", "int8")}
    facts |= {f"reads :Op {code}": frozenset("2") for code in ("IRL201", "IRL202")}
    found = joining.joined(facts)
    assert set(found) == {
        "refuses :Op type 0 bool,int8 & gives 0 int4,string & attribute-is mode a,b",
        "op :Op 1-6,7 T=bool;int8",
        "reads :Op IRL201,IRL202",
    }
    assert {each: releases for fact, releases in found.items() for each in joining.apart(fact)} == facts


@pytest.mark.parametrize("runtime", sorted({each.table for each in RUNTIMES.values()}))
def test_files_have_no_more_lines_than_they_need(runtime: str) -> None:
    _, lines = uncompressed((MEASURED / f"{runtime}.z").read_bytes())
    stated = dict(line.split("|") for line in lines)
    facts = {each: frozenset([mask]) for fact, mask in stated.items() for each in joining.apart(fact)}
    assert {fact: "".join(mask) for fact, mask in joining.joined(facts).items()} == stated
