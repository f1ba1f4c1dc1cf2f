"""Sound models to break, with inputs and the outputs that an engine computes from them."""

from __future__ import annotations

import hashlib
import os
import pickle
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from . import feeds as feeding
from .engines import Arrays, Engine, Name, same_outputs
from .onnx_graph import Change, Graph, values_of
from .onnx_ways import WAYS as ONNX_WAYS

#: Producers of which the corpus holds hand-written tests rather than exports.
TESTS = ("ngraph", "test", "backend", "lotus", "onnx-example", "generator", "converter")

#: A sound model has so many nodes and bytes.
FEWEST, MOST, BYTES = 8, 800, 50_000_000


@dataclass
class Sound:
    """A sound model: its file, which exporter made it, from which file it was taken."""

    name: str
    producer: str
    source: str
    nodes: int
    path: Path = field(default=Path(), compare=False)

    def locate(self, folder: Path) -> None:
        self.path = folder / self.name

    def row(self) -> dict[str, Any]:
        return {"name": self.name, "producer": self.producer, "source": self.source, "nodes": self.nodes}

    @property
    def known(self) -> dict[str, Any]:
        known: dict[str, Any] = pickle.loads(self.path.with_suffix(".pickle").read_bytes())
        return known


@dataclass
class Made:
    """A mutant before an engine has been asked."""

    sound: Sound
    way: str
    change: Change
    data: bytes
    declared: Callable[[Path, Arrays], Arrays | None]
    beside: bytes | None = None

    @property
    def key(self) -> bytes:
        return hashlib.sha256(self.data + (self.beside or b"")).digest()

    def write(self, file: Path) -> None:
        file.write_bytes(self.data)

    def remove(self, file: Path) -> None:
        file.unlink()


def feeds_for(made: Made, file: Path) -> list[Arrays | None]:
    """Inputs that fit what a mutant declares, as near as they may be to those of the sound model."""
    return [made.declared(file, each) for each in made.sound.known["feeds"]]


def filled(model: ModelProto) -> None:
    """Replaces weights that are all zero by random ones, with which a model computes something."""
    variances = {
        node.input[4] for node in model.graph.node if node.op_type == "BatchNormalization" and len(node.input) > 4
    }
    tensors = [(each.name, each) for each in model.graph.initializer]
    tensors += [
        (node.output[0], each.t)
        for node in model.graph.node
        if node.op_type == "Constant"
        for each in node.attribute
        if each.name == "value"
    ]
    for name, tensor in tensors:
        if tensor.data_type not in (
            TensorProto.FLOAT,
            TensorProto.FLOAT16,
            TensorProto.INT8,
            TensorProto.UINT8,
            TensorProto.DOUBLE,
        ):
            continue
        if tensor.data_location == TensorProto.EXTERNAL or np.prod(tensor.dims, dtype=int) < 16:
            continue
        values = numpy_helper.to_array(tensor)
        if values.any():
            continue
        new = random_weights(name, values.shape, values.dtype, name in variances)
        tensor.CopyFrom(numpy_helper.from_array(new, tensor.name))


def random_weights(name: str, shape: tuple[int, ...], dtype: Any, positive: bool) -> Any:
    """Weights that keep the scale of what they are multiplied with, exact in float16."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    if np.dtype(dtype).kind in "iu":
        return random.integers(0 if np.dtype(dtype).kind == "u" else -20, 20, shape).astype(dtype)
    if positive:
        return random.uniform(0.5, 1.5, shape).astype(np.float16).astype(dtype)
    width = max(1.0, np.prod(shape, dtype=float) / max(shape)) if len(shape) > 1 else 4.0
    return (random.standard_normal(shape) / np.sqrt(width)).astype(np.float16).astype(dtype)


def run_twice(engine: Engine, file: Path, model: str | bytes) -> dict[str, Any] | None:
    """Two feeds of different sizes and what an engine computes from them, None where it does not run or is not
    deterministic."""
    found: list[Arrays] = []
    outputs = []
    for which in (0, 1):
        for feed in feeding.feeds(model, file.name, which):
            one, other = engine.run(file, [feed, feed])
            if one.stage == "done" and other.stage == "done" and same_outputs(one.outputs, other.outputs):
                found.append(feed)
                outputs.append(one.outputs)
                break
        else:
            return None
    again = engine.run(file, found)
    if not all(each.stage == "done" and same_outputs(each.outputs, wanted) for each, wanted in zip(again, outputs)):
        return None
    if same_outputs(outputs[0], outputs[1]) or not any(_varies(each) for each in outputs[0]):
        return None
    return {"feeds": found, "outputs": outputs}


def _varies(output: Any) -> bool:
    """Whether an output is finite and not the same everywhere."""
    values = np.asarray(output) if not isinstance(output, list | dict) else np.zeros(1)
    return (
        values.dtype.kind in "fiub"
        and values.size > 0
        and bool(np.isfinite(values).all() if values.dtype.kind == "f" else True)
        and bool(values.any())
    )


def _exported(model: ModelProto) -> bool:
    producer = model.producer_name.lower()
    least = FEWEST if producer else 14
    return least <= len(model.graph.node) <= MOST and not any(each in producer for each in TESTS)


def sound_onnx(corpus: Path, folder: Path) -> list[Sound]:
    found, seen = [], Counter[tuple[str, ...]]()
    with Engine("onnxruntime", 30) as engine:
        for path in sorted(corpus.rglob("*.onnx")):
            if path.stat().st_size > BYTES:
                continue
            try:
                model = onnx.load(path)
            except Exception:
                continue
            key = tuple(node.op_type for node in model.graph.node)
            if not _exported(model) or seen[key] >= 1:
                continue
            filled(model)
            file = folder / path.name
            file.write_bytes(model.SerializeToString())
            try:
                known = run_twice(engine, file, str(file))
            except Exception:
                known = None
            if known is None:
                file.unlink()
                continue
            seen[key] += 1
            file.with_suffix(".pickle").write_bytes(pickle.dumps(known))
            found.append(Sound(path.name, model.producer_name, path.name, len(model.graph.node), file))
    return found


def _declared_onnx(model: ModelProto) -> Callable[[Path, Arrays], Arrays | None]:
    def declared(file: Path, feed: Arrays) -> Arrays | None:
        stored = {each.name for each in model.graph.initializer}
        result: Arrays = {}
        random = np.random.default_rng(7)
        for at, each in enumerate(value for value in model.graph.input if value.name not in stored):
            tensor = each.type.tensor_type
            like = feed.get(each.name, list(feed.values())[at] if at < len(feed) else None)
            if like is None or not each.type.HasField("tensor_type"):
                return None
            sizes = list(like.shape) + [2] * 8
            shape = list(like.shape)
            if tensor.HasField("shape"):
                shape = [
                    dim.dim_value if dim.dim_value > 0 else sizes[axis] for axis, dim in enumerate(tensor.shape.dim)
                ]
            dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            if like.dtype == object or (shape == list(like.shape) and dtype == like.dtype):
                result[each.name] = like
            else:
                result[each.name] = feeding.array(np.dtype(dtype).name, shape, random)
        return result

    return declared


def mutant_onnx(sound: list[Sound], way: str, seed: int, number: int) -> Made | None:
    random = Random(f"{seed} {number}")
    for _ in range(20):
        chosen = random.choice(sound)
        model = _loaded(chosen.path)
        try:
            change = ONNX_WAYS[way](Graph(model, random, _values(chosen.path)))
        except (IndexError, ValueError, TypeError):
            continue
        if change is not None:
            return Made(chosen, way, change, model.SerializeToString(), _declared_onnx(model))
    return None


_BYTES: dict[Path, bytes] = {}
_VALUES: dict[Path, dict[str, tuple[int, int]]] = {}


def _loaded(path: Path) -> ModelProto:
    if path not in _BYTES:
        _BYTES[path] = path.read_bytes()
    return onnx.load_from_string(_BYTES[path])


def _values(path: Path) -> dict[str, tuple[int, int]]:
    if path not in _VALUES:
        _VALUES[path] = values_of(_loaded(path))
    return _VALUES[path]


def beside(file: Path, data: bytes) -> Path:
    """Writes a fixed model beside the broken one, where it finds the same weights."""
    fixed = file.with_name(f"{file.stem}.{os.getpid()}.fixed{file.suffix}")
    fixed.write_bytes(data)
    return fixed


@dataclass(frozen=True)
class Fitted:
    """A feed as a fixed model declares its inputs, and the same values for the sound one; ``adapted`` where they differ
    from the feed."""

    fixed: Arrays
    sound: Arrays
    adapted: bool


def fitted(declared: list[tuple[str, Any, list[int] | None]], feed: Arrays) -> Fitted:
    """Fits a feed to names, element types and sizes (negative for any); inputs with other names are taken by their
    position."""
    fixed, sound, adapted = {}, {}, False
    if not declared:
        return Fitted(feed, feed, False)
    by_name = {name for name, _, _ in declared} == set(feed)
    for at, (name, array) in enumerate(feed.items()):
        there = [each for each in declared if each[0] == name] if by_name else []
        to, kind, shape = (there or declared[min(at, len(declared) - 1) :])[0]
        given = array
        if kind is not None and array.dtype != object and array.dtype != kind:
            whole = np.dtype(kind).kind in "iu" and array.dtype.kind == "f"
            given = (np.abs(np.rint(4 * array)) if whole else array).astype(kind)
        sound[name] = given.astype(array.dtype)
        for order in ([0, 2, 3, 1], [0, 3, 1, 2]) if given.ndim == 4 and shape is not None else ():
            if not _fits(given.shape, shape) and _fits(tuple(given.shape[each] for each in order), shape):
                given = np.ascontiguousarray(given.transpose(order))
        adapted = adapted or given is not array
        fixed[to] = given
    return Fitted(fixed, sound, adapted)


def _fits(shape: tuple[int, ...], declared: list[int]) -> bool:
    return len(shape) == len(declared) and all(size == other or other < 1 for size, other in zip(shape, declared))


def fitted_onnx(file: Path, feed: Arrays) -> Fitted:
    model = onnx.load(file)
    stored = {each.name for each in model.graph.initializer}
    declared = []
    for each in model.graph.input:
        tensor = each.type.tensor_type
        if each.name not in stored:
            shape = [dim.dim_value for dim in tensor.shape.dim] if tensor.HasField("shape") else None
            declared.append(
                (each.name, helper.tensor_dtype_to_np_dtype(tensor.elem_type) if tensor.elem_type else None, shape)
            )
    return fitted(declared, feed)


@dataclass(frozen=True)
class Format:
    """How the models of a format are broken and run."""

    suffix: str
    engine: Name
    ways: dict[str, Any]
    sound: Callable[[Path, Path], list[Sound]]
    mutant: Callable[[list[Sound], str, int, int], Made | None]
    fitted: Callable[[Path, Arrays], Fitted]
    beside: Callable[[Path, bytes], Path] = beside


ONNX = Format(".onnx", "onnxruntime", ONNX_WAYS, sound_onnx, mutant_onnx, fitted_onnx)
