"""Compares the MACs that irlint counts with other counters: ``python tests/make/measuring/counters.py FOLDER``.

FOLDER has ONNX models and IRs, each with the sizes of its inputs in a ``.json`` of its name, as
``tests/make/exports.py`` writes them; a model without one has fixed sizes. onnxsim and onnx-tool count the file, fvcore
and torch's ``FlopCounterMode`` the network that was exported; ``--counters`` names those that are installed. Prints a
line for each model, ``equal`` behind each counter that agrees, and the operators whose counts differ.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import onnx

import irlint

#: The seconds that a counter may take for a model.
LIMIT = 20

Shapes = Mapping[str, Any]


def ours(path: Path, shapes: Shapes) -> dict[str, int | str | None]:
    """The MACs by operator, and in all."""
    found = irlint.info(path, shapes={name: tuple(shape) for name, shape in shapes.items()})
    counts = {name: each["macs"] for name, each in found["by_operator"].items() if each["macs"] != 0}
    return {**counts, "": found["macs"]}


# --- counters of files ------------------------------------------------------------------------------------------------


def fixed(path: Path, shapes: Shapes) -> onnx.ModelProto:
    """The model with fixed sizes; values in between have the shapes that they have when ONNX Runtime runs it, where it
    does."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    for value in model.graph.input:
        if value.name in shapes:
            dims = value.type.tensor_type.shape
            dims.Clear()
            for size in shapes[value.name]:
                dims.dim.add().dim_value = size
    with contextlib.suppress(Exception):
        _observe(model, shapes)
    return model


def _observe(model: onnx.ModelProto, shapes: Shapes) -> None:
    """Declares the values of a model as a run of zeros and ones gives them."""
    import onnxruntime

    wanted = {output.name for output in model.graph.output}
    every = [name for node in model.graph.node for name in node.output if name and name not in wanted]
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in every)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = zip(session.get_outputs(), session.run(None, zeros(session, shapes)))
    values = {each.name: (each.type, value) for each, value in found if hasattr(value, "dtype")}
    for output in model.graph.output:
        if output.name in values:
            output.type.tensor_type.ClearField("shape")
            for size in values[output.name][1].shape:
                output.type.tensor_type.shape.dim.add().dim_value = size
    for name in every:
        if name in values and values[name][1].dtype != object:
            kind = onnx.helper.np_dtype_to_tensor_dtype(values[name][1].dtype)
            model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, kind, values[name][1].shape))


def zeros(session: Any, shapes: Shapes) -> dict[str, Any]:
    """Inputs of a session: zeros where they are integers, which are indices, and ones elsewhere."""
    import numpy as np

    kinds = {"float": "float32", "double": "float64"}
    made = {}
    for each in session.get_inputs():
        name = each.type.removeprefix("tensor(").removesuffix(")")
        filled = np.zeros if "int" in name else np.ones
        made[each.name] = filled(shapes.get(each.name, each.shape), np.dtype(kinds.get(name, name)))
    return made


def onnxsim(path: Path, shapes: Shapes) -> dict[str, int]:
    """The sum over all nodes; those without known shapes have none."""
    from onnxsim.model_info import ModelInfo

    return {"": int(ModelInfo(fixed(path, shapes)).macs)}


#: The inputs with which a node of onnx-tool adds a bias: as many more MACs as the output has elements.
BIASED = {"Conv": 3, "Gemm": 3, "ConvTranspose": 3, "QLinearConv": 9}

#: The operators of which onnx-tool counts products of sums.
PRODUCTS = (*BIASED, "MatMul", "ConvInteger", "MatMulInteger", "QLinearMatMul", "Einsum", "LSTM", "GRU")


def onnx_tool(path: Path, shapes: Shapes) -> dict[str, int]:
    """The MACs of products by operator without the additions of biases."""
    import numpy as np
    import onnx_tool as tool

    model = fixed(path, shapes)
    graph = tool.Model(model).graph
    for value in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        if value.name in graph.tensormap:
            graph.tensormap[value.name].update_shape([dim.dim_value for dim in value.type.tensor_type.shape.dim])
    found: Counter[str] = Counter()
    for node in graph.nodemap.values():
        if node.op_type not in PRODUCTS:
            continue
        tensors = [graph.tensormap[name] for name in (*node.input, *node.output) if name]
        count = node.profile(tensors[: -len(node.output)], tensors[-len(node.output) :])[0]
        size = int(np.prod(tensors[-len(node.output)].get_shape(), dtype=object))
        biased = len([name for name in node.input if name]) == BIASED.get(node.op_type)
        found[node.op_type] += int(count) - biased * size
    return {**found, "": sum(found.values())}


# --- counters of networks ---------------------------------------------------------------------------------------------


def _find_exporting() -> None:
    """Lets the package of the exports be imported."""
    beside = str(Path(__file__).resolve().parents[1])
    if beside not in sys.path:
        sys.path.insert(0, beside)


def network(path: Path) -> tuple[Any, dict[str, Any]]:
    """The network that a file was exported from, and its examples."""
    _find_exporting()
    from exporting import language, networks, pictures

    name = path.name.split(".")[0]
    for module in (networks, pictures, language):
        for title, make in module.recipes():
            if title.split(".")[0] == name and isinstance(make, partial):
                return make.args[0].make()
    raise LookupError(f"no recipe makes {name}")


def torch_counter(path: Path, shapes: Shapes) -> dict[str, int]:
    """Half of the FLOPs of torch's counter, in all."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    module, examples = network(path)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(*examples.values())
    return {"": counter.get_total_flops() // 2}


def fvcore(path: Path, shapes: Shapes) -> dict[str, int]:
    """The products that fvcore counts in a trace."""
    from fvcore.nn import FlopCountAnalysis

    module, examples = network(path)
    counted = FlopCountAnalysis(module, tuple(examples.values()))
    counted.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
    found = {name: int(count) for name, count in counted.by_operator().items() if "norm" not in name}
    return {**found, "": sum(found.values())}


COUNTERS: Mapping[str, Callable[[Path, Shapes], dict[str, Any]]] = {
    "irlint": ours,
    "onnxsim": onnxsim,
    "onnx-tool": onnx_tool,
    "torch": torch_counter,
    "fvcore": fvcore,
}


#: What a counter imports, once for all models.
PACKAGES = {
    "onnxsim": ("onnxsim",),
    "onnx-tool": ("onnx_tool", "onnxruntime"),
    "torch": ("torch",),
    "fvcore": ("torch", "fvcore.nn"),
}

# --- many models ------------------------------------------------------------------------------------------------------


def answered(count: Callable[[Path, Shapes], Any], path: Path, shapes: Shapes) -> Any:
    """What a counter returns in a process of its own, or the text of why it has no answer."""
    _find_exporting()
    from exporting.isolation import isolated

    return isolated(partial(_silently, count, path, shapes), LIMIT)


def _silently(count: Callable[[Path, Shapes], Any], path: Path, shapes: Shapes) -> Any:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return count(path, shapes)


def sizes(path: Path) -> Shapes:
    """The sizes of the inputs of a model that has been exported with examples."""
    stated = path.with_suffix(".json")
    examples = json.loads(stated.read_text("utf-8"))["examples"] if stated.exists() else {}
    names = [each["name"] for each in irlint.info(path)["inputs"]]
    if set(names) <= set(examples):
        return {name: examples[name] for name in names}
    return dict(zip(names, examples.values())) if len(names) == len(examples) else {}


def compared(paths: list[Path], chosen: list[str]) -> Iterator[dict[str, Any]]:
    """The answers of the counters about each model."""
    for path in paths:
        shapes = sizes(path)
        yield {
            "model": path.name,
            "shapes": shapes,
            **{
                name: answered(count, path, shapes)
                for name, count in COUNTERS.items()
                if name == "irlint" or (name in chosen and not (path.suffix == ".xml" and name.startswith("onnx")))
            },
        }


def line(found: Mapping[str, Any]) -> str:
    """A line of the table."""
    mine = found["irlint"]
    total = mine[""] if isinstance(mine, dict) else mine
    cells = [f"{found['model']}: {total}"]
    for name in COUNTERS:
        answer = found.get(name)
        if name == "irlint" or answer is None:
            continue
        text = answer if isinstance(answer, str) else "equal" if answer[""] == total else str(answer[""])
        cells.append(f"{name} {text}")
        if isinstance(answer, dict) and len(answer) > 1 and answer[""] != total and isinstance(mine, dict):
            differ = {op: (mine.get(op, 0), answer.get(op, 0)) for op in {*mine, *answer} - {""}}
            cells.append(str({op: pair for op, pair in sorted(differ.items()) if pair[0] != pair[1]}))
    return ", ".join(cells)


def main() -> None:
    """Compares the models of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*", help="only models whose names contain one of these")
    parser.add_argument("--counters", default=",".join(COUNTERS), help="names of counters, with commas")
    parser.add_argument("--json", type=Path, help="a file that gets all answers")
    options = parser.parse_args()
    chosen = options.counters.split(",")
    for package in [package for name in chosen for package in PACKAGES.get(name, ())]:
        importlib.import_module(package)
    paths = sorted([*options.folder.glob("*.onnx"), *options.folder.glob("*.xml")])
    paths = [path for path in paths if not options.parts or any(part in path.name for part in options.parts)]
    kept = []
    for found in compared(paths, chosen):
        kept.append(found)
        print(line(found), flush=True)
        if options.json:
            options.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
