"""Models that were made untidy at random: after their safe fixes ONNX Runtime and OpenVINO compute what they did
before, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.helper as make
import onnx.numpy_helper
import pytest
from lxml import etree
from oracles.openvino_worker import outcomes

import irlint

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "onnx" / "good").glob("*.onnx"))

#: Rules whose findings safe fixes take away whole.
FIXED = {"IRL104", "IRL109", "IRL120", "IRL901", "IRL904", "IRL905", "IRL906"}

SEEDS = range(3)


def _shuffled(model: onnx.ModelProto, chance: random.Random) -> None:
    nodes = list(model.graph.node)
    chance.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _same_names(model: onnx.ModelProto, chance: random.Random) -> None:
    for node in model.graph.node:
        node.name = chance.choice(["n", "n_1", "other"])


def _unused_weights(model: onnx.ModelProto, chance: random.Random) -> None:
    # Before IR version 4 an initializer is an input.
    for number in range(chance.randint(1, 3) if model.ir_version > 3 else 0):
        array = numpy.arange(chance.randint(1, 5000), dtype=numpy.float32)
        at = chance.randint(0, len(model.graph.initializer))
        model.graph.initializer.insert(at, onnx.numpy_helper.from_array(array, f"unused_{number}"))


def _unused_nodes(model: onnx.ModelProto, chance: random.Random) -> None:
    array = onnx.numpy_helper.from_array(numpy.ones(3, numpy.float32), "of_unused")
    nodes = [make.make_node("Constant", [], ["idle"], value=array), make.make_node("Neg", ["idle"], ["idler"])]
    for node in nodes[: chance.randint(1, 2)]:
        model.graph.node.insert(chance.randint(0, len(model.graph.node)), node)


def _stray(model: onnx.ModelProto, chance: random.Random) -> None:
    model.graph.value_info.append(make.make_tensor_value_info("nothing_has_this_name", 1, [1, 2]))


def _metadata(model: onnx.ModelProto, chance: random.Random) -> None:
    for value in ("first", "second"):
        model.metadata_props.add(key="twice", value=value)


def _unused_import(model: onnx.ModelProto, chance: random.Random) -> None:
    if all(each.domain != "ai.onnx.ml" for each in model.opset_import):
        model.opset_import.append(make.make_opsetid("ai.onnx.ml", 3))


CHANGES: list[Callable[[onnx.ModelProto, random.Random], None]] = [
    _unused_weights,
    _unused_nodes,
    _stray,
    _metadata,
    _unused_import,
    _shuffled,
    _same_names,
]


def _untidy(model: onnx.ModelProto, chance: random.Random) -> onnx.ModelProto:
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for change in CHANGES:
        if chance.random() < 0.6:
            change(result, chance)
    return result


def _outputs(model: onnx.ModelProto) -> list[bytes] | None:
    """What ONNX Runtime computes of ones, None where it does not."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    types = {
        "tensor(float)": numpy.float32,
        "tensor(int64)": numpy.int64,
        "tensor(bool)": numpy.bool_,
        "tensor(int32)": numpy.int32,
    }
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        feeds = {
            each.name: numpy.ones([size if isinstance(size, int) else 2 for size in each.shape], types[each.type])
            for each in session.get_inputs()
        }
        found = session.run(None, feeds)
    except Exception:
        return None
    return [each.tobytes() if isinstance(each, numpy.ndarray) else repr(each).encode() for each in found]


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_untidy_models_compute_the_same_when_they_are_fixed(seed: int) -> None:
    chance = random.Random(seed)
    asked = 0
    for path in FIXTURES:
        model = onnx.load(path)
        if irlint.check(path).findings:
            continue
        expected = _outputs(model)
        fixed = irlint.fix(_untidy(model, chance), name=path.with_name("untidy.onnx"))
        assert not {each.rule.code for each in fixed.report.findings} & FIXED, path.name
        assert irlint.fix(fixed.data).data == fixed.data, path.name
        if expected is not None:
            asked += 1
            assert _outputs(onnx.load_from_string(fixed.data)) == expected, path.name
    assert asked > 70


def _stale(root: Any, chance: random.Random) -> bool:
    """Makes ports of a value stale that is no input and no output of the model; whether there is one."""
    layers = {layer.get("id"): layer for layer in root.iterfind("layers/layer")}
    outer = {id for id, layer in layers.items() if layer.get("type") in ("Parameter", "Result")}
    edges = [
        tuple(map(edge.get, ("from-layer", "from-port", "to-layer", "to-port"))) for edge in root.iterfind("edges/edge")
    ]
    leaving = {edge[:2] for edge in edges if edge[2] in outer}
    ends = [
        (layers[source].find(f'output/port[@id="{out}"]'), layers[target].find(f'input/port[@id="{into}"]'))
        for source, out, target, into in edges
        if source not in outer and (source, out) not in leaving
    ]
    ports = [ports for ports in ends if all(port.find("dim") is not None for port in ports)]
    if not ports:
        return False
    out, into = chance.choice(ports)
    match chance.randrange(3):
        case 0:
            out.set("precision", "I32" if out.get("precision") != "I32" else "FP32")
        case 1:
            out.find("dim").text = str(int(out.find("dim").text) + 3)
        case _:
            into.find("dim").text = str(int(into.find("dim").text) + 3)
    return True


def _stale_ports(report: irlint.Report) -> list[irlint.Finding]:
    return [each for each in report.findings if each.rule.code in ("IRL601", "IRL602")]


@pytest.mark.oracle
@pytest.mark.slow
def test_irs_with_stale_ports_compute_the_same_when_they_are_fixed(tmp_path: Path) -> None:
    import openvino

    chance = random.Random(0)
    pairs: list[tuple[Path, Path]] = []
    left = 0
    for path in FIXTURES[::3]:
        before, after = (tmp_path / f"{len(pairs)}{side}.xml" for side in "ab")
        try:
            openvino.save_model(openvino.convert_model(path), before, compress_to_fp16=False)
        except Exception:
            continue
        root = etree.parse(before).getroot()
        drawn = any(layer.get("type") in ("RandomUniform", "Multinomial") for layer in root.iter("layer"))
        if drawn or not irlint.check(before).ok or not _stale(root, chance):
            continue
        before.write_bytes(etree.tostring(root))
        if not _stale_ports(irlint.check(before)):
            continue
        fixed = irlint.fix(before)
        left += bool(_stale_ports(fixed.report))
        after.write_bytes(fixed.data)
        after.with_suffix(".bin").write_bytes(before.with_suffix(".bin").read_bytes())
        assert irlint.fix(after).data == fixed.data, path.name
        pairs.append((before, after))
    found = outcomes([each for pair in pairs for each in pair], values=True)
    assert found[::2] == found[1::2]
    assert left < len(pairs) / 5, "what may have another reason"
    assert sum(stage == "ok" for stage, _, _ in found) > 30
