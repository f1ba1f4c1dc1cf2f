"""Makes sound models untidy in ways that do not change what they compute, applies safe fixes, and asks ONNX Runtime or
OpenVINO whether the outputs are the same bit for bit.

``python tests/untidy.py FOLDER --models 200`` takes the sound models that ``tests/broken.py make`` keeps in
``FOLDER/sound``; ``--format ir`` takes OpenVINO IRs. It prints a table, and each model that differs, that has a safe
fix left, or that a second run changes."""

from __future__ import annotations

import argparse
import os
import pickle
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
from breaking.engines import Answer, Arrays, Engine
from lxml import etree
from onnx import ModelProto, TensorProto, helper, numpy_helper

import irlint

#: Each model gets so many of the ways.
FEWEST, MOST = 2, 5

#: Engines round differently by where they place buffers: outputs count as different where they differ in so many runs.
REPEATS = 3

#: An engine gets so many seconds for one model.
SECONDS = 300


# --- ONNX -------------------------------------------------------------------------------------------------------------


def shuffled(model: ModelProto, random: Random) -> None:
    nodes = list(model.graph.node)
    random.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def duplicate_names(model: ModelProto, random: Random) -> None:
    for node in random.sample(list(model.graph.node), min(4, len(model.graph.node))):
        node.name = "layer"


def missing_names(model: ModelProto, random: Random) -> None:
    model.graph.name = ""
    for node in model.graph.node:
        if random.random() < 0.5:
            node.name = ""


def unused_initializers(model: ModelProto, random: Random) -> None:
    for each in range(random.randrange(1, 4)):
        values = np.arange(random.randrange(1, 500), dtype=np.float32)
        at = random.randrange(len(model.graph.initializer) + 1)
        model.graph.initializer.insert(at, numpy_helper.from_array(values, f"left_over_{each}"))


def unused_nodes(model: ModelProto, random: Random) -> None:
    value = numpy_helper.from_array(np.ones((2, 3), np.float32), "left_over_data")
    nodes = [
        helper.make_node("Constant", [], ["left_over_a"], value=value),
        helper.make_node("Relu", ["left_over_a"], ["left_over_b"]),
        helper.make_node("Neg", ["left_over_b"], ["left_over_c"]),
    ]
    for node in nodes[: random.randrange(1, 4)]:
        model.graph.node.append(node)


def unused_imports(model: ModelProto, random: Random) -> None:
    imported = {each.domain for each in model.opset_import}
    for domain in ("ai.onnx.ml", "ai.onnx.training", "com.microsoft"):
        if domain not in imported:
            model.opset_import.append(helper.make_opsetid(domain, 1))


def repeated_imports(model: ModelProto, random: Random) -> None:
    chosen = random.choice(list(model.opset_import))
    model.opset_import.append(helper.make_opsetid(chosen.domain, chosen.version))


def stale_value_info(model: ModelProto, random: Random) -> None:
    """Declares inner values as one larger than they are, where their rank is known."""
    try:
        found = onnx.shape_inference.infer_shapes(model).graph.value_info
    except Exception:
        return
    inner = {name for node in model.graph.node for name in node.output}
    shaped = [each for each in found if each.name in inner and each.type.tensor_type.shape.dim]
    kept = list(model.graph.value_info)
    for each in random.sample(shaped, min(3, len(shaped))):
        dim = random.choice(list(each.type.tensor_type.shape.dim))
        if dim.dim_value:
            dim.dim_value += 1
            kept = [other for other in kept if other.name != each.name] + [each]
    del model.graph.value_info[:]
    model.graph.value_info.extend(kept)


def undefined_value_info(model: ModelProto, random: Random) -> None:
    for name in ("removed_1", "removed_2"):
        model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]))


def repeated_metadata(model: ModelProto, random: Random) -> None:
    for key, value in (("author", "a"), ("author", "b"), ("license", "c")):
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value


def spelled_out_domains(model: ModelProto, random: Random) -> None:
    for node in random.sample(list(model.graph.node), min(3, len(model.graph.node))):
        if not node.domain:
            node.domain = "ai.onnx"


#: ONNX Runtime does not load a model with these.
DUPLICATE_NAMES = "duplicate names of nodes"

ONNX_WAYS: dict[str, Callable[[ModelProto, Random], None]] = {
    "nodes in another order": shuffled,
    DUPLICATE_NAMES: duplicate_names,
    "missing names": missing_names,
    "unused initializers": unused_initializers,
    "unused nodes": unused_nodes,
    "unused imports": unused_imports,
    "repeated imports": repeated_imports,
    "stale value_info": stale_value_info,
    "value_info of undefined values": undefined_value_info,
    "repeated metadata": repeated_metadata,
    "domains spelled out": spelled_out_domains,
}


# --- OpenVINO IR ------------------------------------------------------------------------------------------------------


def stale_dims(root: Any, random: Random) -> None:
    """Other dims of ports inside the model, at layers that OpenVINO infers again."""
    ports = root.xpath("layers/layer[not(@type='Parameter' or @type='Const' or @type='Result')]/output/port[dim]")
    for port in random.sample(ports, min(3, len(ports))):
        dim = random.choice(port.findall("dim"))
        if (dim.text or "").isdigit():
            dim.text = str(int(dim.text) + 1)


def stale_input_dims(root: Any, random: Random) -> None:
    ports = root.xpath("layers/layer[not(@type='Result')]/input/port[dim]")
    for port in random.sample(ports, min(3, len(ports))):
        dim = random.choice(port.findall("dim"))
        if (dim.text or "").isdigit():
            dim.text = str(int(dim.text) * 2)


IR_WAYS: dict[str, Callable[[Any, Random], None]] = {
    "stale dims of output ports": stale_dims,
    "stale dims of input ports": stale_input_dims,
}


# --- both -------------------------------------------------------------------------------------------------------------


def untidy(path: Path, names: list[str], random: Random) -> bytes:
    """The bytes of a model that was made untidy in ways of these names."""
    if path.suffix == ".onnx":
        model = onnx.load(path)
        for name in names:
            ONNX_WAYS[name](model, random)
        return bytes(model.SerializeToString())
    root = etree.fromstring(path.read_bytes())
    for name in names:
        IR_WAYS[name](root, random)
    return b'<?xml version="1.0"?>\n' + bytes(etree.tostring(root, encoding="utf-8")) + b"\n"


def written(path: Path, suffix: str, data: bytes) -> Path:
    """A model beside the sound one, with a copy of its weights."""
    file = path.with_name(f"{path.stem}.{os.getpid()}.{suffix}{path.suffix}")
    file.write_bytes(data)
    if path.suffix == ".xml":
        weights = file.with_suffix(".bin")
        weights.unlink(missing_ok=True)
        os.link(path.with_suffix(".bin"), weights)
    return file


def same_bits(one: Answer, other: Answer) -> bool:
    """Whether two runs gave the same outputs bit for bit."""
    return (
        one.stage == other.stage == "done"
        and len(one.outputs) == len(other.outputs)
        and all(_bits(a) == _bits(b) for a, b in zip(one.outputs, other.outputs))
    )


def _bits(output: Any) -> Any:
    if isinstance(output, list | tuple):
        return [_bits(each) for each in output]
    if isinstance(output, dict):
        return {key: _bits(each) for key, each in output.items()}
    array = np.asarray(output)
    return array.dtype.str, array.shape, array.tolist() if array.dtype == object else array.tobytes()


def measured(path: Path, random: Random, engine: Engine) -> Counter[str]:
    """What safe fixes make of one model that gives the same outputs when it is untidy."""
    feeds: list[Arrays] = pickle.loads(path.with_suffix(".pickle").read_bytes())["feeds"]
    ways = ONNX_WAYS if path.suffix == ".onnx" else IR_WAYS
    names = random.sample(list(ways), min(len(ways), random.randrange(FEWEST, MOST + 1)))
    data = untidy(path, names, random)
    before = written(path, "untidy", data)
    files = [before]
    try:
        expected = engine.run(path, feeds)
        is_refused = DUPLICATE_NAMES in names
        if not is_refused and not all(map(same_bits, expected, engine.run(before, feeds))):
            return Counter({"other outputs before a fix": 1})
        fixed = irlint.fix(str(before))
        after = written(path, "fixed", fixed.data)
        files.append(after)
        found = Counter(["models", *names])
        found["changed"] = int(fixed.data != data)
        found["edits"] = len(fixed.edits)
        if not any(all(map(same_bits, expected, engine.run(after, feeds))) for _ in range(REPEATS)):
            found["DIFFERENT OUTPUTS"] += 1
            print(f"{path.name}: other outputs after {[each.text for each in fixed.edits]}")
        left = [each for each in irlint.check(str(after)).findings if each.fix and each.fix.applicability == "safe"]
        if left:
            found["SAFE FIX LEFT"] += 1
            print(f"{path.name} {names}: left {[each.message for each in left]}")
        if irlint.fix(str(after)).data != fixed.data:
            found["SECOND RUN CHANGES"] += 1
            print(f"{path.name}: a second run changes it")
        return found
    finally:
        for file in files:
            file.unlink(missing_ok=True)
            file.with_suffix(".bin").unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("onnx", "ir"), default="onnx")
    options = parser.parse_args()
    suffix = ".onnx" if options.format == "onnx" else ".xml"
    paths = sorted(
        each for each in (options.folder / "sound").glob(f"*{suffix}") if each.with_suffix(".pickle").exists()
    )
    total: Counter[str] = Counter()
    number = 0
    with Engine("onnxruntime" if options.format == "onnx" else "openvino", SECONDS) as engine:
        while total["models"] < options.models and number < 4 * options.models:
            total += measured(paths[number % len(paths)], Random(f"{options.seed} {number}"), engine)
            print(f"\r{total['models']}", end="", file=sys.stderr, flush=True)
            number += 1
    for name, count in total.most_common():
        print(f"{count:7} {name}")
    return int(any(name.isupper() for name in total))


if __name__ == "__main__":
    sys.exit(main())
