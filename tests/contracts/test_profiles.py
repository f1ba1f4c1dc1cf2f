"""The sizes that a model takes as tools want them: what is printed says no more than what fits, and can be run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import onnx.helper
import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from hypothesis import given, settings
from hypothesis import strategies as st

import irlint
from irlint.contracts.contract import Condition, Contract, contract_of
from irlint.contracts.formulas import Formula
from irlint.contracts.profiles import Progression, profile_of, progression, sizes_near
from irlint.contracts.sizes import Sizes, joined, met, solved
from irlint.dims import symbol
from irlint.findings.statements import Relation, Requirement
from irlint.inference.known import Demand
from irlint.records import replaced
from irlint.reporters.profiles import rendered
from irlint.run.contract import profile_for
from irlint.run.listing import inferred_file

DETECTOR = (
    "g (float[N,1,H,W] images, float[4] mean) => (y) <float[1,1,3,3] w = {0,0,0,0,0,0,0,0,0}, int64[1] i = {0}> { "
    "a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (images, w) b = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (a, "
    "w) "
    "u = ConvTranspose <strides = [2, 2], kernel_shape = [2, 2]> (b, v) y = Concat <axis = 1> (a, u) v = Constant "
    "<value = float[1,1,2,2] {0,0,0,0}> () }"
)


THREE = "g (float[A] x, float[B] y, float[C] z) => (a) { a = Relu (x) }"


def written(text: str, folder: Path, tool: str, *assumptions: str) -> str:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + text).SerializeToString())
    return rendered(profile_for(str(path), tool, assumptions), tool)


class Dim:
    """torch's, as far as the text uses it: the sizes that one stands for, of which torch looks at no root below 2."""

    AUTO: Any = None

    def __init__(self, name: str, *, min: int = 0, max: int | None = None) -> None:
        assert name.isidentifier()
        assert max is None or max > min
        self.name = name
        self.sizes = {root: root for root in range(min, (200 if max is None else max) + 1)}

    def scaled(self, factor: int, number: int) -> Dim:
        found = Dim(self.name)
        found.sizes = {root: factor * size + number for root, size in self.sizes.items()}
        assert min(found.sizes.values()) >= 0, "torch takes no derived size below 0"
        return found

    def __rmul__(self, factor: int) -> Dim:
        return self.scaled(factor, 0)

    def __add__(self, number: int) -> Dim:
        return self.scaled(1, number)

    def __sub__(self, number: int) -> Dim:
        return self.scaled(1, -number)


class Auto:
    """A size that torch finds out, within bounds."""

    def __call__(self, *, min: int = 1, max: int | None = None) -> Auto:
        assert max is None or max > min
        return self


Dim.AUTO = Auto()


def dynamic_shapes(text: str) -> tuple[dict[int, Any] | None, ...]:
    known: dict[str, Any] = {"Dim": Dim}
    exec(text.replace("from torch.export import Dim\n", ""), known)
    found: tuple[dict[int, Any] | None, ...] = known["dynamic_shapes"]
    assert isinstance(found, tuple)
    return found


@pytest.mark.parametrize("name", [name for name in MODELS if name != "branch"])
def test_torch_exports_only_sizes_that_fit(name: str, tmp_path: Path) -> None:
    text = written(MODELS[name][0], tmp_path, "torch")
    shapes = dynamic_shapes(text)
    contract = irlint.contract(tmp_path / "m.onnx")
    assert len(shapes) == len(contract["inputs"])
    by_root: dict[str, dict[int, dict[str, int]]] = {}
    for each, axes in zip(contract["inputs"], shapes):
        for axis, dim in (axes or {}).items():
            if isinstance(dim, Dim):
                for root, size in dim.sizes.items():
                    by_root.setdefault(dim.name, {}).setdefault(root, {})[each["shape"][axis]] = size
    for condition in contract["requires"]:
        names = _names(condition["condition"])
        for points in by_root.values():
            for root, sizes in points.items():
                if root and names <= sizes.keys():
                    assert eval(condition["condition"], dict(sizes))


def _names(text: str) -> set[str]:
    return set(compile(text, "condition", "eval").co_names) - {"min", "max"}


def test_torch(tmp_path: Path) -> None:
    text = written(DETECTOR.replace("float[4] mean", "float[N,4] mean"), tmp_path, "torch", "H <= 1280", "W == 64")
    assert text == (
        "from torch.export import Dim\n\n"
        'H = 4 * Dim("H_by_4", min=1, max=320)  # narrower than the contract: H <= 1280 and H % 4 in (0, 3)\n'
        'N = Dim("N")\n'
        "# W is 64\n"
        "# by position, because a model file does not contain the argument names of forward: write None "
        "for an argument that is not\n"
        "# a tensor, and nest the tensors of a tuple, a dict or a cache as in the argument\n"
        "dynamic_shapes = (\n"
        "    {0: N, 2: H},  # images\n"
        "    {0: N},  # mean\n"
        ")\n"
        "# example inputs have at least H = 8, N = 2: torch.export treats sizes of 0 and 1 as constants\n"
    )


def test_sizes_that_follow_from_another_are_derived_from_its_dim(tmp_path: Path) -> None:
    text = written(MODELS["resize twice"][0], tmp_path, "torch", "M <= 100", "H % 3 == 0")
    assert 'H = 3 * Dim("H_by_3", min=1, max=16)\nM = 2 * H\n' in text
    assert "has to hold" not in text
    assert 'H = Dim("H_size", min=1)\nM = 2 * H\n' in written(MODELS["resize twice"][0], tmp_path, "torch")


@pytest.mark.parametrize(
    ("assumption", "line", "note"),
    [
        ("A == B + 1", "A = B + 1", ""),
        ("A + 3 == B", "B = A + 3", ""),
        ("3*A == B + 2", "B = 3 * A - 2", ""),
        ("A + B == 7", "A = Dim.AUTO", "A + B == 7"),
        ("2*A == 3*B", "A = Dim.AUTO", "2*A == 3*B"),
        ("A == B or B == 1", "A = Dim.AUTO", "A == B or B == 1"),
        ("A*B == 12", "A = Dim.AUTO", "A*B == 12"),
        ("A + B == C", "C = Dim.AUTO", "A + B == C"),
        ("A >= B", 'A = Dim("A")', "A >= B"),
    ],
)
def test_what_torch_can_say_of_several_sizes(assumption: str, line: str, note: str, tmp_path: Path) -> None:
    found = written(THREE, tmp_path, "torch", assumption)
    assert f"{line}\n" in found
    assert [each for each in found.splitlines() if each.endswith("has to hold too")] == [
        f"# {each} has to hold too" for each in (note,) if each
    ]
    dynamic_shapes(found)


def test_a_dim_that_follows_from_one_of_auto_is_auto(tmp_path: Path) -> None:
    found = written(THREE, tmp_path, "torch", "A == 2*B", "A*C == 12")
    assert [line for line in found.splitlines() if line.endswith("= Dim.AUTO")] == [
        "A = Dim.AUTO",
        "B = Dim.AUTO",
        "C = Dim.AUTO",
    ]


def test_a_dim_begins_where_no_size_inside_is_1(tmp_path: Path) -> None:
    """torch refuses ``Dim("H", min=7)`` for a window of 7, and ``Dim("H")`` for two convolutions of stride 2."""
    assert 'H = Dim("H", min=8)  # of H >= 7; if it is 7, ' in written(MODELS["window"][0], tmp_path, "torch")
    strided = (
        "g (float[N,1,H] x, float[1,1,3] w) => (b) { a = Conv <strides = [2], pads = [1, 1]> (x, w) b = Conv "
        "<strides = [2], pads = [1, 1]> (a, w) }"
    )
    assert 'H = Dim("H", min=5)  # of any size' in written(strided, tmp_path, "torch")
    assert 'H = 2 * Dim("H_by_2", min=1)\n' in written(strided, tmp_path, "torch", "H % 2 == 0")


def test_names_that_the_text_uses_are_other_names(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    names = ("Dim", "class", "Dim_", "H_by_2", "H")
    inputs = [onnx.helper.make_tensor_value_info(f"x{at}", 1, [name]) for at, name in enumerate(names)]
    node = onnx.helper.make_node("Relu", ["x0"], ["y"])
    graph = onnx.helper.make_graph([node], "g", inputs, [onnx.helper.make_tensor_value_info("y", 1, None)])
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    found = rendered(profile_for(str(path), "torch", ["H % 2 == 0"]), "torch")
    shapes = dynamic_shapes(found)
    assert len({axes[0].name for axes in shapes if axes}) == len(names)


def test_equal_sizes_are_one_for_torch(tmp_path: Path) -> None:
    text = written(MODELS["concatenated"][0], tmp_path, "torch")
    x, b = dynamic_shapes(text)
    assert x is not None and b is not None
    assert x[0] is b[0]
    assert "cannot say" not in text
    assert "# N == M must also be true, but a range cannot express that" in written(
        MODELS["concatenated"][0], tmp_path, "openvino"
    )


def test_onnxruntime_fixes_only_what_the_contract_fixes(tmp_path: Path) -> None:
    text = written(DETECTOR, tmp_path, "onnxruntime", "H % 32 == 0", "W == 64")
    assert '\noptions.add_free_dimension_override_by_name("W", 64)\n' in text
    assert '\n# options.add_free_dimension_override_by_name("H", 32)  # of H % 32 == 0\n' in text
    assert '\n# options.add_free_dimension_override_by_name("N", 1)  # of any size\n' in text
    assert "# with the smallest sizes: onnxruntime_perf_test -I -f H:32 -f N:1 -f W:64 " in text


def test_openvino(tmp_path: Path) -> None:
    text = written(DETECTOR, tmp_path, "openvino", "H % 32 == 0", "H <= 1290", "W == 64", "N <= 8")
    assert '    "images": [ov.Dimension(1, 8), 1, ov.Dimension(32, 1280), 64],\n' in text
    assert "# H <= 1280 and H % 32 == 0 must be true, but the range also contains other sizes\n" in text


def test_trtexec(tmp_path: Path) -> None:
    text = written(DETECTOR, tmp_path, "trtexec", "H % 32 == 0", "H <= 1290", "W == 64")
    words = shlex.split(text.replace("\\\n", ""), comments=True)
    assert words[0] == "trtexec"
    assert words[2:] == [
        "--minShapes=images:1x1x32x64",
        "--optShapes=images:8x1x640x64",
        "--maxShapes=images:16x1x1280x64",
    ]
    assert "# N has no upper end of its own; 16 is a guess" in text
    assert "# H has" not in text


def test_trtexec_builds_each_branch(tmp_path: Path) -> None:
    text = written(MODELS["branch"][0], tmp_path, "trtexec")
    assert "--minShapes=x:1x3" in text and "--maxShapes=x:1x3" in text
    assert "--minShapes=x:4x3" not in text
    with pytest.raises(ValueError, match="no sizes fit all branches, and trtexec builds all branches: "):
        written(MODELS["branch"][0], tmp_path, "trtexec", "N >= 2")


def test_sizes_whose_product_is_fixed_are_found(tmp_path: Path) -> None:
    text = (
        "g (float[N,H,W] x, float[1,197] p) => (y) <int64[2] s = {0, -1}, float[1,1] c = {0}> "
        "{ i = Unsqueeze (x, a) a = Constant <value_ints = [1]> () m = MaxPool <kernel_shape = [16, 16], strides = "
        "[16, 16]> (i) "
        "r = Reshape (m, s) u = Shape <end = 1> (x) o = Constant <value_ints = [1]> () q = Concat <axis = 0> (u, o) "
        "e = Expand (c, q) t = Concat <axis = 1> (e, r) y = Concat <axis = 0> (t, p) }"
    )
    found = written(text, tmp_path, "trtexec")
    assert "--minShapes=x:1x224x224" in found


def examples(text: str) -> dict[str, int]:
    """The sizes of example inputs that the text for torch names."""
    return {name: int(size) for name, size in re.findall(r"(\w+) = (\d+)(?=[,:])", text.splitlines()[-1])}


@pytest.mark.parametrize("name", MODELS)
def test_examples_for_torch_meet_the_conditions(name: str, tmp_path: Path) -> None:
    known = examples(written(MODELS[name][0], tmp_path, "torch"))
    assert all(size >= 2 for size in known.values())
    for each in irlint.contract(tmp_path / "m.onnx")["requires"]:
        if "when" not in each and Formula(each["condition"]).names <= known.keys():
            assert eval(each["condition"], dict(known))


@pytest.mark.parametrize(
    ("assumption", "expected"),
    [
        ("C >= A + B", {"A": 2, "B": 2, "C": 4}),
        ("C == A + B", {"A": 2, "B": 2, "C": 4}),
        ("C == 3*A", {"A": 2, "B": 2, "C": 6}),
        ("A*B == C and A + C >= 9", {"A": 3, "B": 2, "C": 6}),
        ("A == B", {"A": 2, "C": 2}),
    ],
)
def test_examples_for_torch(assumption: str, expected: dict[str, int], tmp_path: Path) -> None:
    assert examples(written(THREE, tmp_path, "torch", assumption)) == expected


def test_tools_prefer_the_same_sizes(tmp_path: Path) -> None:
    text = MODELS["one or a range"][0]
    assert 'H = Dim("H", min=64, max=71)' in written(text, tmp_path, "torch")
    assert "--optShapes=x:1x1x67" in written(text, tmp_path, "trtexec")


@pytest.mark.parametrize("name", MODELS)
def test_sizes_of_trtexec_go_together(name: str, tmp_path: Path) -> None:
    words = shlex.split(written(MODELS[name][0], tmp_path, "trtexec").replace("\\\n", ""), comments=True)
    contract = irlint.contract(tmp_path / "m.onnx")
    points = []
    for word in words[2:]:
        known: dict[str, int] = {}
        fed = dict(re.findall(r"(\w+):([\dx]+)", word))
        for each in contract["inputs"]:
            sizes = fed.get(each["name"], "").split("x") if each["name"] in fed else []
            known |= {dim: int(size) for dim, size in zip(each["shape"], sizes) if isinstance(dim, str)}
        assert all(eval(each["condition"], dict(known)) for each in contract["requires"] if "when" not in each)
        points.append(known)
    low, middle, high = points
    assert all(low[dim] <= middle[dim] <= high[dim] for dim in low)


@pytest.mark.parametrize(
    ("assumption", "stated"),
    [
        ("K <= 3", "'K', which is not a size of an input; the dynamic sizes are H, N, W"),
        ("H = 3", "'H = 3' is not an assumption"),
        ("H <= 3.5", "is not an assumption"),
        ("open('x')", "is not an assumption"),
        ("H % 4 == 2", "no sizes fit: H % 4 in (0, 3) and H % 4 == 2"),
        ("H == 6 or H == 9", "no sizes fit: H % 4 in (0, 3) and (H == 6 or H == 9)"),
        ("H < 3", "no sizes fit: "),
        ("H * W == 2", "no sizes fit: "),
        ("H * W == 26", "no sizes were found that fit: "),
    ],
)
def test_an_assumption_that_cannot_be(assumption: str, stated: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(stated)):
        written(DETECTOR, tmp_path, "torch", assumption)


@pytest.mark.parametrize(
    ("assumption", "least", "greatest"),
    [
        ("32 <= H <= 64", 32, 64),
        ("H in (8, 11)", 8, 11),
        ("H == 8 or H == 40", 8, 40),
        ("8 < H and H < 20", 11, 19),
        ("2*H + 1 <= 21 and H != 8 and H >= 8", None, None),
        ("H // 2 == 20 and H != W", 40, 40),
    ],
)
def test_assumptions(assumption: str, least: int | None, greatest: int | None, tmp_path: Path) -> None:
    if least is None:
        with pytest.raises(ValueError, match="no sizes fit"):
            written(DETECTOR, tmp_path, "trtexec", assumption)
        return
    text = written(DETECTOR, tmp_path, "trtexec", assumption)
    found = [int(size) for size in re.findall(r"images:\d+x1x(\d+)x", text)]
    assert (found[0], found[-1]) == (least, greatest)


residues = st.builds(
    lambda by, rest, least: met(
        solved([Relation("%", symbol("H") + rest, by)]), solved([Relation(">=", symbol("H"), least)])
    ),
    st.integers(1, 8),
    st.integers(0, 7),
    st.integers(1, 60),
)
ranges = st.builds(
    lambda least, count: met(
        solved([Relation(">=", symbol("H"), least)]), solved([Relation(">=", least + count, symbol("H"))])
    ),
    st.integers(1, 60),
    st.integers(0, 20),
)


@settings(max_examples=40)
@given(st.lists(residues | ranges, min_size=1, max_size=3))
def test_a_progression_lies_within_its_sizes(parts: list[Any]) -> None:
    sizes = parts[0]
    for part in parts[1:]:
        sizes = joined(sizes, part)
    found = progression(sizes)
    within = [size for size in range(1, 400) if size in found]
    assert within
    assert all(size in sizes for size in within)
    assert found.is_complete == (within == list(sizes.elements(399)))


def test_a_progression_without_sizes_far_behind_its_start() -> None:
    sizes = Sizes(2, (((1, None),), ((250, 255),)))
    assert progression(sizes) == Progression(2, 2, None, is_complete=False)
    assert progression(Sizes(2, (((1, None),), ()))).is_complete


@pytest.mark.parametrize(("names", "key"), [('names="images,data"', '"images": [-1, 3],'), ("", "0: [-1, 3],  # in")])
def test_inputs_of_an_ir_are_called_as_openvino_knows_them(names: str, key: str, tmp_path: Path) -> None:
    dims = "<dim>-1</dim><dim>3</dim></port>"
    (tmp_path / "m.xml").write_text(
        '<?xml version="1.0"?><net name="n" version="11"><layers>'
        '<layer id="0" name="in" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/>'
        f'<output><port id="0" precision="FP32" {names}>{dims}</output></layer>'
        '<layer id="1" name="out" type="Result" version="opset1"><input><port id="0" '
        f'precision="FP32">{dims}</input></layer>'
        '</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
    )
    assert key in rendered(profile_for(str(tmp_path / "m.xml"), "openvino"), "openvino")


def test_a_size_of_an_input_that_is_an_expression() -> None:
    """As the exporter of torch writes sizes of inputs that follow from others."""
    n, m = symbol("N", 1), symbol("M", 1)
    inputs = (("x", (n, 3)), ("y", (2 * n + 1, m)), ("z", (m // 2, 4)))
    contract = Contract((), {}, True, (), ())
    profile = profile_of("m.onnx", inputs, contract, {}, named=True)
    text = rendered(profile, "torch")
    assert 'N = Dim("N_size", min=1)\n' in text and "M = Dim.AUTO\n" in text
    assert "    {0: 2 * N + 1, 1: M},  # y\n    {0: Dim.AUTO},  # z\n" in text
    dynamic_shapes(text)
    assert "--optShapes=x:8x3,y:17x8,z:4x4" in rendered(profile, "trtexec")
    assert '"y": [-1, -1],' in rendered(profile, "openvino")


@pytest.mark.parametrize("tool", ["torch", "openvino", "trtexec", "onnxruntime"])
def test_an_input_of_which_not_even_the_axes_are_known(tool: str, tmp_path: Path) -> None:
    inputs = [onnx.helper.make_tensor_value_info("x", 1, None), onnx.helper.make_tensor_value_info("y", 1, ["N"])]
    nodes = [onnx.helper.make_node("Relu", ["x"], ["u"]), onnx.helper.make_node("Relu", ["y"], ["z"])]
    outputs = [onnx.helper.make_tensor_value_info(name, 1, None) for name in ("u", "z")]
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", inputs, outputs)).SerializeToString())
    text = rendered(profile_for(str(path), tool), tool)
    if tool == "torch":
        assert dynamic_shapes(text)[0] is None
        assert "    None,  # x: its number of axes is unknown\n    {0: N},  # y\n" in text
    else:
        assert text.count("x:") == text.count("# x: the number of axes is not declared") == (tool != "onnxruntime")


@pytest.mark.parametrize("tool", ["torch", "openvino"])
def test_names_of_an_ir_end_no_comment(tool: str, tmp_path: Path) -> None:
    dims = "<dim>-1</dim><dim>3</dim></port>"
    (tmp_path / "m.xml").write_text(
        '<?xml version="1.0"?><net name="n" version="11"><layers>'
        '<layer id="0" name="in&#10;import os&#10;" type="Parameter" version="opset1"><data shape="?,3" '
        'element_type="f32"/>'
        f'<output><port id="0" precision="FP32">{dims}</output></layer>'
        '<layer id="1" name="out" type="Result" version="opset1"><input><port id="0" '
        f'precision="FP32">{dims}</input></layer>'
        '</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
    )
    text = rendered(profile_for(str(tmp_path / "m.xml"), tool), tool)
    assert "# in\\nimport os\\n\n" in text
    assert "\nimport os\n" not in text


def test_an_end_that_is_far_away_is_no_end_of_a_profile(tmp_path: Path) -> None:
    found = written(THREE, tmp_path, "trtexec", "A <= 1000000000", "B <= 4000000", "B % 3 == 1")
    assert "--maxShapes=x:16,y:16,z:16" in found
    assert "# A has no upper end of its own; 16 is a guess" in found
    assert 'A = Dim("A", max=1000000000)\nB = 3 * Dim("B_by_3", min=0, max=1333333) + 1\n' in written(
        THREE, tmp_path, "torch", "A <= 1000000000", "B <= 4000000", "B % 3 == 1"
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_nearest_sizes_are_accepted(name: str) -> None:
    known = inferred_file("m.onnx", onnx.parser.parse_model(HEAD + MODELS[name][0]).SerializeToString())
    contract = contract_of(known)
    if not contract.satisfiable:
        pytest.skip("no sizes fit")
    names = {dim for each in contract.conditions for dim in Formula(each.text).names}
    for wanted in (1, 7, 64):
        sizes = sizes_near(names, contract, [dict.fromkeys(names, wanted)])
        assert all(Formula(each.text).holds(sizes) for each in contract.conditions if not each.when), sizes


def test_sizes_that_divide_by_0_are_not_accepted() -> None:
    text = "g (float[N] x) => (y) { y = Relu (x) }"
    known = inferred_file("m.onnx", onnx.parser.parse_model(HEAD + text).SerializeToString())
    found = contract_of(known)
    assert known.model.graph is not None
    condition = Condition("8 % (N - 4) == 0", Demand("", known.model.graph.nodes[0], Requirement((), "")))
    limited = replaced(found, conditions=(condition,))
    assert sizes_near((), limited, [{"N": 4}, {"N": 6}]) == {"N": 6}
