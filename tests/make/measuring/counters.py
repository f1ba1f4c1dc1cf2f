"""Compares the MACs that irlint counts with those of other counters: ``python tests/make/measuring/counters.py FOLDER``.

FOLDER has ONNX models and IRs, each with the sizes of its inputs in a ``.json`` of its name, as
``tests/make/exports.py`` writes them; a model without one has fixed sizes. The counters are those that are installed:
onnxsim and onnx-tool count the file, fvcore and torch's ``FlopCounterMode`` the network that was exported. Prints a line
for each model, ``equal`` behind each counter that agrees, and the operators whose counts differ.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx

import irlint

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

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
    """The model with fixed sizes, without declarations of values in between."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    for value in model.graph.input:
        if value.name in shapes:
            dims = value.type.tensor_type.shape
            dims.Clear()
            for size in shapes[value.name]:
                dims.dim.add().dim_value = size
    return model


def onnxsim(path: Path, shapes: Shapes) -> dict[str, int]:
    """The sum over all nodes; ``unknown`` are those without shapes, which have none."""
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
    from onnx.helper import tensor_dtype_to_np_dtype

    model = fixed(path, shapes)
    kinds = {each.name: tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type) for each in model.graph.input}
    graph = tool.Model(model).graph
    graph.graph_reorder_nodes()
    graph.shape_infer({name: np.zeros(shape, kinds[name]) for name, shape in shapes.items() if name in kinds} or None)
    graph.profile()
    found: Counter[str] = Counter()
    for node in graph.nodemap.values():
        if node.op_type not in PRODUCTS:
            continue
        size = int(np.prod(graph.tensormap[node.output[0]].get_shape(), dtype=object))
        biased = len([name for name in node.input if name]) == BIASED.get(node.op_type)
        found[node.op_type] += int(node.macs[0]) - biased * size
    return {**found, "": sum(found.values())}


# --- counters of networks ---------------------------------------------------------------------------------------------


def network(path: Path) -> tuple[Any, dict[str, Any]]:
    """The network that a file was exported from, and its examples."""
    from exporting import language, networks, pictures

    name = path.name.split(".")[0]
    for family, module in (("net", networks), ("vision", pictures), ("timm", pictures), ("hf", language)):
        for subject in getattr(module, "SUBJECTS", ()):
            if f"{family}-{subject.name}" == name:
                return subject.make()
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
PACKAGES = {"onnxsim": ("onnxsim",), "onnx-tool": ("onnx_tool",), "torch": ("torch",), "fvcore": ("torch", "fvcore.nn")}

# --- many models ------------------------------------------------------------------------------------------------------


def isolated(count: Callable[[Path, Shapes], Any], path: Path, shapes: Shapes) -> Any:
    """What a counter returns in a process of its own, or the text of why it has no answer."""
    context = multiprocessing.get_context("fork")
    answers, question = context.Pipe(duplex=False)
    process = context.Process(target=_asked, args=(count, path, shapes, question))
    process.start()
    question.close()
    try:
        found = answers.recv() if answers.poll(LIMIT) else "took too long"
    except EOFError:
        found = "the process died"
    process.kill()
    process.join()
    return found


def _asked(count: Callable[[Path, Shapes], Any], path: Path, shapes: Shapes, question: Any) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            warnings.simplefilter("ignore")
            question.send(count(path, shapes))
        except BaseException as error:
            question.send(f"{type(error).__name__}: {str(error)[:200]}")


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
                name: isolated(count, path, shapes)
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
