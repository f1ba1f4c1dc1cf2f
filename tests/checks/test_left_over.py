"""Bytes behind the last constant of an IR, and layers that lead to no result."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.ir_documents import BASES, SMALL, WEIGHTS, written
from oracles.openvino_worker import outcomes

import irlint


def reported(path: Path) -> list[str]:
    return [each.message for each in irlint.check(path).findings if each.rule.code == "IRL720"]


def test_bytes_that_no_constant_uses(tmp_path: Path) -> None:
    assert reported(written(tmp_path, BASES["const"], WEIGHTS[:24])) == []
    assert reported(written(tmp_path, BASES["const"], WEIGHTS)) == [
        "m.bin has 32 bytes, and the constants of the model end at byte 24"
    ]


def test_a_model_without_constants(tmp_path: Path) -> None:
    assert reported(written(tmp_path, SMALL, b"\0")) == []


def test_weights_that_are_too_short_are_reported_alone(tmp_path: Path) -> None:
    assert reported(written(tmp_path, BASES["const"], WEIGHTS[:20])) == []


@pytest.mark.oracle
def test_a_removed_layer_leaves_layers_over(tmp_path: Path) -> None:
    import numpy
    import openvino
    from openvino import opset13 as op

    x = op.parameter([-1, 3], numpy.float32, name="x")
    sizes = op.concat([op.constant(numpy.array([1])), op.relu(op.constant(numpy.array([0])))], 0, name="sizes")
    padded = op.pad(op.relu(x, name="r"), op.constant(numpy.array([0, 0])), sizes, "constant", name="padded")
    path = tmp_path / "m.xml"
    model = openvino.Model([op.result(op.exp(padded), name="y")], [x], "m")
    openvino.serialize(model, path, path.with_suffix(".bin"))
    assert not irlint.check(path).findings
    text = path.read_text()
    places = {name: text.rindex("<layer ", 0, text.index(f'name="{name}"')) for name in ("r", "sizes", "padded")}
    ids = {name: text[at:].partition('id="')[2].partition('"')[0] for name, at in places.items()}
    at = places["padded"]
    lines = (text[:at] + text[text.index("</layer>", at) + len("</layer>") :]).splitlines()
    kept = "\n".join(each for each in lines if f'to-layer="{ids["padded"]}"' not in each)
    lost = f'from-layer="{ids["padded"]}" from-port="3"'
    assert lost in kept
    path.write_text(kept.replace(lost, f'from-layer="{ids["r"]}" from-port="1"'))
    assert outcomes([path])[0][0] == "ok"
    (found,) = irlint.check(path, ignore=["IRL720"]).findings
    assert (found.rule.code, found.severity.value) == ("IRL905", "note")
    assert f'Concat layer {ids["sizes"]} "sizes"' in found.message
    assert found.help.startswith(f"restore layer {ids['padded']}, which is missing and probably used")
