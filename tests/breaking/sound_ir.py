"""Sound IRs to break: those of a folder, and those that OpenVINO makes of ONNX models."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from lxml import etree
from make.exporting.isolation import isolated

from . import feeds as feeding
from .engines import Arrays, Engine
from .ir_ways import WAYS, Document
from .sound import BYTES, MOST, Fitted, Format, Made, Sound, fitted, random_weights, run_twice

KINDS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "u8": np.uint8}

DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "f64": "float64",
    "i64": "int64",
    "i32": "int32",
    "u8": "uint8",
    "i8": "int8",
    "boolean": "bool",
    "u32": "uint32",
    "u64": "uint64",
    "i16": "int16",
    "u16": "uint16",
}


def _converted(model: Path, target: Path) -> None:
    import openvino

    openvino.save_model(openvino.convert_model(model), target, compress_to_fp16=False)


def _candidates(corpus: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """IRs, with who made them; each ONNX model is converted in a process of its own, which may crash or hang."""
    for path in sorted(corpus.rglob("*.xml")):
        yield path, "OpenVINO"
    for path in sorted(corpus.rglob("*.onnx")):
        target = folder / f"converted_{path.stem}.xml"
        isolated(partial(_converted, path, target), 60)
        if target.exists():
            yield target, "ONNX"


def _filled(root: etree._Element, weights: bytearray) -> None:
    for layer in root.findall("layers/layer"):
        data = layer.find("data")
        if layer.get("type") != "Const" or data is None or data.get("element_type") not in KINDS:
            continue
        kind, offset, size = KINDS[str(data.get("element_type"))], int(data.get("offset", 0)), int(data.get("size", 0))
        if size % np.dtype(kind).itemsize:
            continue
        values = np.frombuffer(bytes(weights[offset : offset + size]), kind)
        if values.size >= 16 and not values.any():
            shape = tuple(int(each) for each in data.get("shape", "").replace(",", " ").split())
            if np.prod(shape, dtype=int) != values.size:
                continue
            new = random_weights(f"{layer.get('name')}", shape, kind, "var" in str(layer.get("name")))
            weights[offset : offset + size] = new.tobytes()


def written(root: etree._Element) -> bytes:
    return b'<?xml version="1.0"?>\n' + etree.tostring(root, encoding="utf-8") + b"\n"


def sound_irs(corpus: Path, folder: Path) -> list[Sound]:
    found, seen = [], Counter[tuple[str | None, ...]]()
    with Engine("openvino", 60) as engine:
        for path, producer in _candidates(corpus, folder):
            weights_file = path.with_suffix(".bin")
            if path.stat().st_size > BYTES or not weights_file.exists() or weights_file.stat().st_size > BYTES:
                continue
            root = etree.fromstring(path.read_bytes())
            kinds = tuple(layer.get("type") for layer in root.findall("layers/layer"))
            file = folder / path.name
            known = None
            if len(kinds) <= 2 * MOST and not seen[kinds]:
                weights = bytearray(weights_file.read_bytes())
                _filled(root, weights)
                file.write_bytes(written(root))
                file.with_suffix(".bin").write_bytes(weights)
                try:
                    known = run_twice(engine, file, str(file))
                except Exception:
                    known = None
            if known is None:
                for each in (file, file.with_suffix(".bin")):
                    each.unlink(missing_ok=True)
                continue
            seen[kinds] += 1
            file.with_suffix(".pickle").write_bytes(pickle.dumps(known))
            found.append(Sound(path.name, producer, path.name, len(kinds), file))
    return found


@dataclass
class MadeIR(Made):
    """A broken IR, whose weights are those of the sound one unless a constant was changed."""

    def write(self, file: Path) -> None:
        file.write_bytes(self.data)
        weights = file.with_suffix(".bin")
        weights.unlink(missing_ok=True)
        if self.beside is None:
            os.link(self.sound.path.with_suffix(".bin"), weights)
        else:
            weights.write_bytes(self.beside)

    def remove(self, file: Path) -> None:
        file.unlink()
        file.with_suffix(".bin").unlink()


def _declared(file: Path, feed: Arrays) -> Arrays | None:
    root = etree.fromstring(file.read_bytes())
    random = np.random.default_rng(7)
    result: Arrays = {}
    given = list(feed.values())
    for at, layer in enumerate(root.findall("layers/layer[@type='Parameter']")):
        data = layer.find("data")
        like = given[at] if at < len(given) else None
        kind = DTYPES.get(str(data.get("element_type"))) if data is not None else None
        if data is None or like is None or kind is None:
            result[str(at)] = np.zeros(1, np.float32) if like is None else like
            continue
        texts = [each.strip() for each in data.get("shape", "").split(",") if each.strip()]
        sizes = [*like.shape, *([2] * 8)]
        shape = [int(text) if text.isdigit() else sizes[axis] for axis, text in enumerate(texts)]
        result[str(at)] = (
            like if shape == list(like.shape) and np.dtype(kind) == like.dtype else feeding.array(kind, shape, random)
        )
    return result


def fitted_ir(file: Path, feed: Arrays) -> Fitted:
    declared = []
    for layer in etree.fromstring(file.read_bytes()).findall("layers/layer[@type='Parameter']"):
        data = layer.find("data")
        texts = [] if data is None else [each.strip() for each in data.get("shape", "").split(",") if each.strip()]
        kind = None if data is None else DTYPES.get(str(data.get("element_type")))
        declared.append(
            (
                str(layer.get("id")),
                None if kind is None else np.dtype(kind),
                [int(each) if each.isdigit() else -1 for each in texts],
            )
        )
    return fitted(declared, feed)


def mutant_ir(sound: list[Sound], way: str, seed: int, number: int) -> Made | None:
    random = Random(f"{seed} {number}")
    for _ in range(20):
        chosen = random.choice(sound)
        weights = chosen.path.with_suffix(".bin").read_bytes()
        document = Document(etree.fromstring(chosen.path.read_bytes()), bytearray(weights), random)
        try:
            change = WAYS[way](document)
        except (IndexError, ValueError, TypeError, AttributeError):
            continue
        if change is not None:
            changed = bytes(document.weights) if len(document.weights) != len(weights) else None
            return MadeIR(chosen, way, change, written(document.root), _declared, changed)
    return None


def beside(file: Path, data: bytes) -> Path:
    """Writes a fixed IR beside the broken one, with the same weights."""
    fixed = file.with_name(f"{file.stem}.{os.getpid()}.fixed.xml")
    fixed.write_bytes(data)
    weights = fixed.with_suffix(".bin")
    weights.unlink(missing_ok=True)
    os.link(file.with_suffix(".bin"), weights)
    return fixed


IR = Format(".xml", "openvino", WAYS, sound_irs, mutant_ir, fitted_ir, beside)
