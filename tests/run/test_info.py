"""``irlint info``: forms, folders, and what names in a model cannot do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import onnx.parser
import pytest
from command.process import FIXTURES, run

import irlint
from irlint.dims import symbol
from irlint.dims.rounding import figure, rounded, sizes_text

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"
IR = FIXTURES / "openvino" / "good" / "IRL204-pdpd-broadcast-mismatch.xml"
TRUNCATED = FIXTURES / "onnx" / "bad" / "IRL003-truncated-file.onnx"
N, H = symbol("N", 1), symbol("H", 1)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (9999, "9999"),
        (10_000, "10.0K"),
        (12_345, "12.3K"),
        (999_949, "1.00M"),
        (1_230_000, "1.23M"),
        (31_997_952, "32.0M"),
        (289_829_292_736, "290G"),
        (-20_000, "-20.0K"),
    ],
)
def test_figures(count: int, text: str) -> None:
    assert figure(count) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (12 * N + 20_000 * H * H, "20.0K*H*H + 12*N"),
        (N - 70_000 * H, "-70.0K*H + N"),
        (30_000 * (H // 3), "30.0K*(H//3)"),
        (N * N * H + N * H + N + H + 1 + N * N, "H*N*N + H*N + N*N + H + 2 smaller terms"),
    ],
)
def test_rounded_sizes(size: object, text: str) -> None:
    assert rounded(size) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "text"), [(0, ""), (2, "a = 0, b = 1"), (8, "a = 0, b = 1, c = 2, d = 3, e = 4, f = 5 and 2 more")]
)
def test_text_of_sizes(count: int, text: str) -> None:
    assert sizes_text({name: at for at, name in enumerate("abcdefgh"[:count])}) == text


def test_json_is_what_python_returns() -> None:
    result = run("info", DETECTOR, "--format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert found == irlint.info(DETECTOR)
    assert found["schema"] == "irlint-info-1"
    assert found["by_operator"]["Conv"] == {
        "nodes": 3,
        "macs": "216*N*((H + 1)//2)*((W + 1)//2) + 1920*N*((H + 3)//4)*((W + 3)//4)",
        "parameters": 1592,
    }
    assert [each["node"] for each in found["dearest"]] == ["c2", "c1", "heads"]
    assert [each["condition"] for each in found["requires"]] == ["H % 4 in (0, 3)", "W % 4 in (0, 3)"]


#: Inputs, a node, and the sizes for which costs are compared.
SIZES = [
    ("float[N, 3, H, W] x, float[4, 3, 3, 3] w", "Conv (x, w)", {"N": 1, "H": 224, "W": 224}),
    ("float[N, C, H, W] x, float[4, 3, 3, 3] w", "Conv (x, w)", {"N": 1, "H": 224, "W": 224}),
    ("float[N, 3, H, W] x, float[4, 3, 300, 9] w", "Conv (x, w)", {"N": 1, "H": 320, "W": 320}),
    ("float[N, 3, H, W] x, float[4, 3, 700, 9] w", "Conv (x, w)", {"N": 1, "H": 700, "W": 224}),
    ("float[N, H] x, float[M, K] w", "Gemm <transB = 1> (x, w)", {"N": 1, "H": 64, "M": 1}),
    ("float[2, 3, H, W] x, float[4, 3, 3, 3] w", "Conv (x, w)", {"H": 224, "W": 224}),
    ("float[N, H, W, 3] x, float[3, 8] w", "MatMul (x, w)", {"N": 1, "H": 224, "W": 224}),
    ("float[N, H, 99, 3] x, float[3, 8] w", "MatMul (x, w)", {"N": 1, "H": 64}),
    ("float[3, H, W] x, float[W, 8] w", "MatMul (x, w)", {"H": 64, "W": 64}),
    ("float[batch, sequence, 16] x, float[16, 8] w", "MatMul (x, w)", {"batch": 1, "sequence": 64}),
    ("float[batch, 4, past, 16] x, float[16, 8] w", "MatMul (x, w)", {"batch": 1, "past": 64}),
    ("float[9, 8] x, float[8, 2] w", "MatMul (x, w)", {}),
]


def of_node(inputs: str, node: str) -> onnx.ModelProto:
    header = '<ir_version: 8, opset_import: ["" : 17]>'
    model = onnx.parser.parse_model(f"{header} g ({inputs}) => (float y) {{ y = {node} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


@pytest.mark.parametrize(("inputs", "node", "sizes"), SIZES)
def test_the_sizes_for_which_costs_are_compared(inputs: str, node: str, sizes: dict[str, int]) -> None:
    from irlint.reporters.info import markdown, rendered

    info = irlint.info(of_node(inputs, node))
    assert (info["sizes"], list(info["sizes"])) == (sizes, list(sizes))
    stated = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    for text in (rendered(info), markdown(info)):
        assert (f"most expensive nodes at {stated}\n" in text, f"first at {stated}\n" in text) == (bool(sizes),) * 2
        assert "100 %" in text


#: At 64x64, the product is the most expensive node.
CLASSIFIER = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[N, 3, H, W] x, float[8, 3, 3, 3] w, float[8, 100000] v) => (float[N, 100000] y) {
        c = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w)
        p = ReduceMax <axes = [2, 3], keepdims = 0> (c)
        y = MatMul (p, v)
    }"""


def test_the_order_at_realistic_sizes(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(CLASSIFIER), path)
    info = irlint.info(path)
    assert [each["node"] for each in info["dearest"]] == ["c", "y"]
    printed = run("info", path).stdout
    assert "MACs         216*N*((H + 1)//2)*((W + 1)//2) + 800K*N" in printed
    assert "Conv: 216*N*((H + 1)//2)*((W + 1)//2) MACs, 77 %" in printed
    (tmp_path / "irlint.toml").write_text('[[models]]\nfile = "m.onnx"\nmax-macs = "1M"\n', "utf-8")
    report = " ".join(run("m.onnx", cwd=tmp_path).stdout.split())
    assert "is 216*N*((H + 1)//2)*((W + 1)//2) + 800K*N, and `max-macs` is 1M" in report
    assert "most expensive at N = 1, H = 224, W = 224: c (216*N" in report


def test_counts_of_one() -> None:
    from irlint.reporters.info import rendered

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 1] x) => (float[2, 1] y) '
        "<float[1, 1] w = {2}> { y = MatMul (x, w) }"
    )
    assert "MatMul: 2 MACs, 100 %, 1 parameter\n" in rendered(irlint.info(model))


def test_parameters_that_no_node_uses() -> None:
    from irlint.reporters.info import rendered

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 1] x) => (float[2, 1] y, float[3] r) '
        "<float[1, 1] w = {2}, float[3] r = {1, 2, 3}, float[2] lost = {1, 2}>"
        "{ low = Constant <value_float = 0.0> () y = MatMul (x, w) }"
    )
    info = irlint.info(model)
    assert (info["parameters"], info["parameters_without_node"]) == (7, 6)
    assert "parameters   7: 7 float32 (no node uses 6 of them)\n" in rendered(info)


@pytest.mark.parametrize("path", [*FIXTURES.glob("*/good/IRL7*.onnx"), *FIXTURES.glob("*/good/IRL7*.xml")], ids=str)
def test_parameters_are_the_sum_of_those_of_operators(path: Path) -> None:
    info = irlint.info(path)
    counts = [each["parameters"] for each in info["by_operator"].values()]
    assert info["parameters"] == sum(counts) + info["parameters_without_node"]


def test_sizes_give_numbers() -> None:
    found = json.loads(run("info", DETECTOR, "--format", "json", "--shape", "images=1,3,640,640").stdout)
    assert (found["macs"], found["peak_memory"]) == (71270400, 19660800)


def test_a_folder_is_a_table(tmp_path: Path) -> None:
    for source, name in ((DETECTOR, "a.onnx"), (IR, "b.xml"), (TRUNCATED, "c.onnx")):
        shutil.copy(source, tmp_path / name)
    (tmp_path / "config.pbtxt").write_text('name: "a"')
    result = run("info", ".", cwd=tmp_path)
    lines = result.stdout.splitlines()
    assert (result.returncode, len(lines), lines[0].split()[:3]) == (0, 4, ["model", "format", "nodes"])
    assert lines[1].split()[:4] == ["a.onnx", "onnx", "7", "1592"]
    found = json.loads(run("info", ".", "--format", "json", cwd=tmp_path).stdout)
    assert found["schema"] == "irlint-infos-1"
    assert [("error" in each, each["path"]) for each in found["models"]] == [
        (False, "a.onnx"),
        (False, "b.xml"),
        (True, "c.onnx"),
    ]
    assert run("info", ".", "--format", "markdown", cwd=tmp_path).stdout.startswith("| model | format |")


def test_a_wrong_input_of_an_ir_names_each_input_once() -> None:
    names = [each["name"] for each in irlint.info(IR)["inputs"]]
    result = run("info", IR, "--shape", "nope=1")
    assert result.returncode == 2
    assert result.stderr.splitlines()[0].endswith(f"no input named nope; the model's inputs are {', '.join(names)}")


def test_a_folder_without_models(tmp_path: Path) -> None:
    result = run("info", tmp_path)
    assert (result.returncode, "this folder has no models" in result.stderr) == (2, True)


def test_an_unreadable_model_ends_with_status_2() -> None:
    assert run("info", TRUNCATED).returncode == 2


def test_names_are_escaped() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
    )
    model.graph.input[0].name = model.graph.node[0].input[0] = "x\x1b[31m\n::error::"
    model.producer_name = "a\x1b[2J`*"
    from irlint.reporters.info import markdown, rendered

    info = irlint.info(model)
    assert "\x1b" not in rendered(info) + markdown(info)
    assert "\n::" not in rendered(info) + markdown(info)
