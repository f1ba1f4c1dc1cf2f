"""The sizes that a model takes as tools want them: what is printed says no more than what fits, and can be run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import onnx.parser
import pytest
from contracts.models import HEAD, MODELS
from hypothesis import given, settings
from hypothesis import strategies as st

import irlint
from irlint.contracts.profiles import progression
from irlint.contracts.sizes import joined, met, solved
from irlint.dims import symbol
from irlint.findings.statements import Relation
from irlint.reporters.profiles import rendered
from irlint.run.contract import fitted

DETECTOR = (
    "g (float[N,1,H,W] images, float[4] mean) => (y) <float[1,1,3,3] w = {0,0,0,0,0,0,0,0,0}, int64[1] i = {0}> { "
    "a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (images, w) b = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (a, w) "
    "u = ConvTranspose <strides = [2, 2], kernel_shape = [2, 2]> (b, v) y = Concat <axis = 1> (a, u) v = Constant <value = float[1,1,2,2] {0,0,0,0}> () }"
)


def written(text: str, folder: Path, tool: str, *assumptions: str) -> str:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD + text).SerializeToString())
    return rendered(fitted(str(path), tool, assumptions), tool)


class Dim:
    """torch's, as far as the text uses it: the sizes that one stands for."""

    def __init__(self, name: str, *, min: int = 0, max: int | None = None) -> None:
        self.name, self.sizes = name, set(range(min, (200 if max is None else max) + 1))

    def __rmul__(self, factor: int) -> Dim:
        self.sizes = {factor * size for size in self.sizes}
        return self

    def __add__(self, number: int) -> Dim:
        self.sizes = {size + number for size in self.sizes}
        return self


def dynamic_shapes(text: str) -> dict[str, dict[int, Dim]]:
    known: dict[str, Any] = {"Dim": Dim}
    exec(text.replace("from torch.export import Dim\n", ""), known)
    found: dict[str, dict[int, Dim]] = known["dynamic_shapes"]
    return found


@pytest.mark.parametrize("name", [name for name in MODELS if name != "branch"])
def test_torch_exports_only_sizes_that_fit(name: str, tmp_path: Path) -> None:
    shapes = dynamic_shapes(written(MODELS[name][0], tmp_path, "torch"))
    contract = irlint.contract(tmp_path / "m.onnx")
    alone = [each["condition"] for each in contract["requires"] if len(_names(each["condition"])) == 1]
    for each in contract["inputs"]:
        for axis, dim in enumerate(each["shape"]):
            found = shapes[each["name"]].get(axis)
            if found is None:
                continue
            about = [text for text in alone if _names(text) == {dim}]
            assert all(eval(text, {dim: size}) for text in about for size in found.sizes if 0 < size <= 200)


def _names(text: str) -> set[str]:
    return set(compile(text, "condition", "eval").co_names)


def test_torch(tmp_path: Path) -> None:
    text = written(DETECTOR.replace("float[4] mean", "float[N,4] mean"), tmp_path, "torch", "H <= 1280", "W == 64")
    assert text == (
        "from torch.export import Dim\n\n"
        'H = 4 * Dim("H_by_4", min=1, max=320)  # of H <= 1280 and H % 4 in (0, 3)\n'
        'N = Dim("N")\n'
        "# W is 64\n"
        "dynamic_shapes = {\n"
        '    "images": {0: N, 2: H},\n'
        '    "mean": {0: N},\n'
        "}\n"
    )


def test_equal_sizes_are_one_for_torch(tmp_path: Path) -> None:
    text = written(MODELS["concatenated"][0], tmp_path, "torch")
    shapes = dynamic_shapes(text)
    assert shapes["x"][0] is shapes["b"][0]
    assert "cannot say" not in text
    assert "# N == M has to hold too, and a range cannot say that" in written(
        MODELS["concatenated"][0], tmp_path, "openvino"
    )


def test_onnxruntime(tmp_path: Path) -> None:
    text = written(DETECTOR, tmp_path, "onnxruntime", "H % 32 == 0", "W == 64")
    assert 'override_by_name("H", 32)  # of H % 32 == 0\n' in text
    assert 'override_by_name("W", 64)\n' in text
    assert 'override_by_name("N", 1)  # of any size\n' in text


def test_openvino(tmp_path: Path) -> None:
    text = written(DETECTOR, tmp_path, "openvino", "H % 32 == 0", "H <= 1290", "W == 64", "N <= 8")
    assert '    "images": [ov.Dimension(1, 8), 1, ov.Dimension(32, 1280), 64],\n' in text
    assert "# H <= 1280 and H % 32 == 0 has to hold, and a range takes more\n" in text


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
    ("assumption", "said"),
    [
        ("K <= 3", "'K', which is no size of an input; those that are open are H, N, W"),
        ("H = 3", "'H = 3' is no assumption"),
        ("H <= 3.5", "is no assumption"),
        ("open('x')", "is no assumption"),
        ("H % 4 == 2", "no sizes fit: "),
        ("H < 3", "no sizes fit: "),
        ("H * W == 2", "no sizes fit: "),
        ("H * W == 26", "no sizes were found that fit: "),
    ],
)
def test_an_assumption_that_cannot_be(assumption: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
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
    assert found.whole == (within == list(sizes.elements(399)))


@pytest.mark.parametrize(("names", "key"), [('names="images,data"', '"images": [-1, 3],'), ("", "0: [-1, 3],  # in")])
def test_inputs_of_an_ir_are_called_as_openvino_knows_them(names: str, key: str, tmp_path: Path) -> None:
    dims = "<dim>-1</dim><dim>3</dim></port>"
    (tmp_path / "m.xml").write_text(
        '<?xml version="1.0"?><net name="n" version="11"><layers>'
        '<layer id="0" name="in" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/>'
        f'<output><port id="0" precision="FP32" {names}>{dims}</output></layer>'
        f'<layer id="1" name="out" type="Result" version="opset1"><input><port id="0" precision="FP32">{dims}</input></layer>'
        '</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>'
    )
    assert key in rendered(fitted(str(tmp_path / "m.xml"), "openvino"), "openvino")
