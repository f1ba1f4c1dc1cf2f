"""What a plain check imports, and what one with a rare, a custom or an unknown operator does: start-up is part of the
product."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import onnx.parser
import pytest

DOMAINS = {"ai.onnx.ml": 3, "com.microsoft": 1, "my.domain": 1}

#: A graph, the modules of operators that a check of it imports, and how many modules of irlint it may import in all.
MODELS = {
    "plain": (
        "(float[2,3] x, float[3,4] w, float[4] b) => (float[2,4] y) { m = MatMul (x, w) s = Add (m, b) y = Relu (s) }",
        "math.elementwise math.linear",
        97,
    ),
    "rare": (
        "(float[2,3] x) => (float[2,3] y) { y = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x) }",
        "ml.encoders",
        98,
    ),
    "of ONNX Runtime": (
        "(float[2,4] x, float[4] b) => (float[2,4] y) { y = com.microsoft.FastGelu (x, b) }",
        "onnxruntime.fused_activation",
        99,
    ),
    "custom": ("(float[2,3] x) => (float[2,3] y) { y = my.domain.Special (x) }", "", 108),
    "experimental in early ONNX": ("(float[2,3] x) => (float[2,3] y) { y = GRUUnit (x) }", "nn.recurrent", 147),
    "misspelled": ("(float[2,3] x) => (float[2,3] y) { y = Relux (x) }", "math.unary", 131),
}

IR = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="y" {layer}><input><port id="0"><dim>2</dim><dim>3</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input>\
</layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>
"""

#: The type and the version of a layer, and as above; a Parameter is one of the operations in ``layout.creation``.
LAYERS = {
    "plain": ('type="Relu" version="opset1"', "layout.creation math.unary", 93),
    "custom": ('type="Special" version="extension"', "layout.creation", 114),
    "misspelled": ('type="Relux" version="opset1"', "layout.creation math.unary", 157),
}

CODE = """import sys
sys.argv = ["irlint", {path!r}]
from irlint.command.entry import main
try:
    main()
except SystemExit:
    pass
print("modules:", *[name for name in sys.modules if name.startswith("irlint") or name in ("lxml", "re", "typing")])
"""


def imported(path: Path) -> list[str]:
    """The modules of irlint that are imported by checking a file, and those of others that take long."""
    command = [sys.executable, "-c", CODE.format(path=str(path))]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.rpartition("modules: ")[2].split()


def of_operators(modules: list[str]) -> set[str]:
    """Those that have rules of operators."""
    folders = [name.removeprefix("irlint.ops.") for name in modules if name.startswith("irlint.ops.")]
    return {name for name in folders if "." in name and not name.startswith("shared.")}


def expect_few(modules: list[str], most: int) -> None:
    """No more modules of irlint than the table above says."""
    count = sum(each.startswith("irlint") for each in modules)
    assert count <= most, (
        f"{count} modules of irlint, where the table of this test has {most}: import late what a plain check can do "
        "without; if each model needs the new one, as each check of a format, raise the numbers"
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_check_imports_the_operators_of_the_model(name: str, tmp_path: Path) -> None:
    graph, operators, most = MODELS[name]
    path = tmp_path / "model.onnx"
    opsets = "".join(f', "{domain}" : {version}' for domain, version in DOMAINS.items() if domain in graph)
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17{opsets}]> g {graph}'), path)
    modules = imported(path)
    assert of_operators(modules) >= set(operators.split())
    assert len(of_operators(modules)) <= 3
    assert bool(of_operators(modules)) == bool(operators)
    expect_few(modules, most)


@pytest.mark.parametrize("name", LAYERS)
def test_a_check_imports_the_operations_of_the_ir(name: str, tmp_path: Path) -> None:
    layer, operators, most = LAYERS[name]
    path = tmp_path / "model.xml"
    path.write_text(IR.format(layer=layer), "utf-8")
    modules = imported(path)
    assert of_operators(modules) == set(operators.split())
    others = [each for each in modules if not each.startswith("irlint")]
    assert name != "plain" or not others
    expect_few(modules, most)


@pytest.mark.parametrize(("graph", "needs"), [("y = Relu (x)", False), ("y = Add (x, w)", True)])
def test_contracts_are_imported_where_sizes_have_to_fit(graph: str, needs: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    text = f'<ir_version: 8, opset_import: ["" : 17]> g (float[N,3] x, float[4,3] w) => (float[P,3] y) {{ {graph} }}'
    onnx.save(onnx.parser.parse_model(text), path)
    assert any(each.startswith("irlint.contracts") for each in imported(path)) is needs
