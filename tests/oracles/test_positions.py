"""Positions that OpenVINO's own operations make, and random ones: nothing is refused that runs, and what is demanded is
needed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from contracts.positions import HEAD

import irlint

pytestmark = pytest.mark.oracle

LARGEST = 20
FAR = 9223372036854775807


def allowed(contract: dict[str, Any], name: str, size: int) -> bool:
    holds = all(eval(each["condition"], {name: size}) for each in contract["requires"])
    return bool(contract.get("satisfiable", True)) and holds


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def positions(o: Any, x: Any, dtype: str = "i64") -> Any:
    count = o.gather(o.shape_of(x), o.constant(np.int64(0)), o.constant(np.int64(0)))
    return o.range(o.constant(np.int64(0)), count, o.constant(np.int64(1)), output_type=dtype)


def table(o: Any, *shape: int) -> Any:
    return o.constant(np.arange(6 * int(np.prod(shape)), dtype=np.float32).reshape(6, *shape))


def taken(o: Any, indices: Any) -> Any:
    return o.gather_elements(table(o), indices, 0)


def strided(o: Any, r: Any, begin: int, step: int) -> Any:
    masks = [0 if begin else 1], [1]
    return o.strided_slice(r, o.constant([begin]), o.constant([0]), o.constant([step]), *masks)


BUILT: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "a StridedSlice": (lambda o, x: taken(o, strided(o, positions(o, x), 2, 1)), 6),
    "a StridedSlice backwards": (lambda o, x: taken(o, strided(o, positions(o, x), 0, -1)), 6),
    "the last three": (
        lambda o, x: taken(o, o.slice(positions(o, x), o.constant([-3]), o.constant([100]), o.constant([1]))),
        6,
    ),
    "an explicit Broadcast": (
        lambda o, x: o.gather_elements(
            o.broadcast(o.unsqueeze(table(o), o.constant(1)), o.constant([6, 2])),
            o.broadcast(
                positions(o, x),
                o.concat([o.shape_of(x), o.constant([2])], 0),
                o.constant([0]),
                broadcast_spec="EXPLICIT",
            ),
            0,
        ),
        6,
    ),
    "a ConvertLike": (
        lambda o, x: taken(o, o.convert_like(o.convert(positions(o, x), "f32"), o.constant(np.int32(0)))),
        6,
    ),
    "a Range of floats": (lambda o, x: taken(o, o.convert(positions(o, x, "f32"), "i64")), 6),
    "a Clamp": (lambda o, x: taken(o, o.clamp(positions(o, x), 1.0, 8.0)), 6),
    "a Divide": (lambda o, x: taken(o, o.divide(positions(o, x), o.constant(np.int64(2)))), 12),
    "a ScatterUpdate": (
        lambda o, x: o.scatter_update(table(o), positions(o, x, "i32"), x, o.constant(np.int64(0))),
        6,
    ),
    "an EmbeddingBagOffsetsSum": (
        lambda o, x: o.embedding_bag_offsets_sum(
            table(o, 2), positions(o, x, "i32"), o.constant(np.array([0], np.int32))
        ),
        6,
    ),
    "an EmbeddingBagPackedSum": (
        lambda o, x: o.embedding_bag_packed_sum(table(o, 2), o.unsqueeze(positions(o, x, "i32"), o.constant(0))),
        6,
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_openvino_takes_exactly_these_sizes(name: str, tmp_path: Path) -> None:
    import openvino
    from openvino import opset15

    build, most = BUILT[name]
    x = opset15.parameter([-1], np.float32)
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([build(opset15, x)], [x]), path, compress_to_fp16=False)
    model = openvino.Core().compile_model(path, "CPU")
    contract = irlint.contract(path)
    ((symbol,),) = [each["shape"] for each in contract["inputs"]]
    for size in range(1, LARGEST):
        assert allowed(contract, symbol, size) is (size <= most)
        try:
            model([np.ones(size, np.float32)])
        except RuntimeError:
            assert size > most
        else:
            assert size <= most


# --- random ones ------------------------------------------------------------------------------------------------------


class Chain:
    """Random operators on positions, of which a table of eleven rows is looked up."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.rank = 1

    def add(self, expression: str) -> str:
        self.lines.append(f"v{len(self.lines)} = {expression}")
        return f"v{len(self.lines) - 1}"

    def number(self, value: int) -> str:
        return self.add(f"Constant <value_int = {value}> ()")

    def numbers(self, *values: int) -> str:
        return self.add(f"Constant <value_ints = [{', '.join(map(str, values))}]> ()")

    def positions(self, length: str) -> str:
        first, step = self.draw.choice([(0, 1)] * 6 + [(1, 1), (2, 1), (0, 2), (3, 2)])
        return self.add(f"Range ({self.number(first)}, {length}, {self.number(step)})")

    def text(self) -> str:
        length = self.add(f"Squeeze ({self.add('Shape <start = 1, end = 2> (x)')})")
        value = self.positions(length)
        for _ in range(self.draw.randint(1, 5)):
            value = self.moved(value) if self.draw.random() < 0.5 else self.computed(value, length)
        self.lines.append(f"y = Gather (p, {value})")
        return f"{HEAD}g (int64[1,S] x, float[11,2] p) => (y) {{ {' '.join(self.lines)} }}"

    def computed(self, value: str, length: str) -> str:
        other = self.draw.randint(-3, 6)
        name = self.draw.choice(
            ["Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "Neg", "Abs", "Clip", "Where", "outer", "back"]
        )
        if name in ("Neg", "Abs"):
            return self.add(f"{name} ({value})")
        if name in ("Div", "Mod"):
            return self.add(f"{name} ({value}, {self.number(self.draw.randint(1, 9))})")
        if name == "Clip":
            return self.add(f"Clip ({value}, {self.number(other)}, {self.number(other + self.draw.randint(0, 9))})")
        if name == "Where":
            condition = self.add(f"Equal ({self.number(0)}, {self.number(self.draw.randint(0, 1))})")
            return self.add(f"Where ({condition}, {value}, {self.number(other)})")
        if name == "back":
            return self.add(f"Sub ({length}, {value})")
        if name != "outer":
            return self.add(f"{name} ({value}, {self.number(other)})")
        if self.rank > 1:
            return value
        self.rank = 2
        rows = self.add(f"Unsqueeze ({value}, {self.numbers(1)})")
        columns = self.add(f"Unsqueeze ({self.positions(length)}, {self.numbers(0)})")
        return self.add(f"{self.draw.choice(['Add', 'Sub'])} ({rows}, {columns})")

    def moved(self, value: str) -> str:
        name = self.draw.choice(
            ["Slice", "Slice", "Unsqueeze", "Transpose", "flat", "Tile", "Concat", "Gather", "Cast"]
        )
        if name == "Slice":
            step = self.draw.choice([1, 1, 2, 3, -1, -2])
            ends = ([0, 1, 2, -1, -3], [FAR, 4, -1, 9]) if step > 0 else ([-1, FAR, 5, -2], [-FAR, 0, 1, -4])
            begin, end = (self.numbers(self.draw.choice(each)) for each in ends)
            axis = self.numbers(self.draw.randrange(self.rank))
            return self.add(f"Slice ({value}, {begin}, {end}, {axis}, {self.numbers(step)})")
        if name == "Unsqueeze":
            self.rank += 1
            return self.add(f"Unsqueeze ({value}, {self.numbers(self.draw.randrange(self.rank))})")
        if name == "flat":
            self.rank = 1
            return self.add(f"Reshape ({value}, {self.numbers(-1)})")
        if name == "Tile":
            return self.add(f"Tile ({value}, {self.numbers(*[self.draw.randint(1, 2) for _ in range(self.rank)])})")
        if name == "Concat":
            return self.add(f"Concat <axis = 0> ({value}, {value})")
        if name == "Gather":
            return self.add(f"Gather ({value}, {self.numbers(*self.draw.choice([(0,), (-1,), (1, 2)]))})")
        if name == "Cast":
            return self.add(f"Cast <to = 7> ({self.add(f'Cast <to = 1> ({value})')})")
        return self.add(f"Transpose ({value})")


@pytest.mark.parametrize("seed", range(60))
def test_nothing_that_runs_is_refused(seed: int, tmp_path: Path) -> None:
    import onnxruntime

    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(Chain(seed).text()).SerializeToString())
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    contract = irlint.contract(path)
    ran = []
    for size in range(LARGEST):
        try:
            session.run(None, {"x": np.zeros((1, size), np.int64), "p": np.zeros((11, 2), np.float32)})
        except Exception:
            continue
        ran.append(size)
    assert all(allowed(contract, "S", size) for size in ran if size)
    assert not ran or not any(each.severity.value == "error" for each in irlint.check(path).findings)
