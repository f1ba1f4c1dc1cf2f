"""Which of two edges into one port is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import irlint

NET = """<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="z" type="Parameter" version="opset1"><data shape="5" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>5</dim></port></output></layer>
<layer id="2" name="r" type="ReLU" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="y" type="Result" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input>\
</layer>
</layers><edges>{edges}<edge from-layer="2" from-port="1" to-layer="3" to-port="0"/></edges></net>"""

X, Z = (f'<edge from-layer="{id}" from-port="0" to-layer="2" to-port="0"/>' for id in (0, 1))


@pytest.mark.parametrize("edges", [X + Z, Z + X], ids=["first", "second"])
def test_the_edge_that_gives_what_the_port_declares_stays(edges: str, tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(NET.format(edges=edges))
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL107"]
    assert found.help == (
        "remove the edge from layer 1, or connect it to another port: port 0 declares [2, 3], the shape of layer 0"
    )
    assert "into which the edge from layer" in found.message
