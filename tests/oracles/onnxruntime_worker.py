"""What ONNX Runtime says of many models, worked out in a process of its own that it may bring down."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: How a model ended, and the text of the refusal: ``load``, ``run`` (both refused), ``crash`` or ``ok``.
Outcome = tuple[str, str]

#: The bytes of a model, and the arrays for its inputs; those that are not there are made up.
Question = tuple[bytes, Mapping[str, Any]]


def outcomes(questions: Sequence[Question], folder: Path) -> list[Outcome]:
    """What happens where ONNX Runtime loads each model, and runs it."""
    path = folder / "questions"
    path.write_bytes(pickle.dumps(list(questions)))
    found: list[Outcome] = []
    while len(found) < len(questions):
        command = [sys.executable, __file__, str(path), str(len(found))]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout.splitlines()
        found += [(stage, text) for stage, text in map(json.loads, lines)]
        if len(found) < len(questions):
            found.append(("crash", ""))
    return found


def outcome(model: bytes, given: Mapping[str, Any]) -> Outcome:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    except Exception as error:
        return "load", str(error)
    settings = onnxruntime.RunOptions()
    settings.log_severity_level = 4
    try:
        session.run(None, {info.name: array(info, given.get(info.name)) for info in session.get_inputs()}, settings)
    except Exception as error:
        return "run", str(error)
    return "ok", ""


def array(info: Any, given: Any) -> Any:
    """``given`` where it fits an input, else ones of its type; raises KeyError for a type that NumPy lacks."""
    import numpy as np

    shape = tuple(dim if isinstance(dim, int) else 2 for dim in info.shape)
    name = info.type.removeprefix("tensor(").removesuffix(")")
    if given is not None and np.shape(given) == shape:
        return given
    if name == "string":
        return np.full(shape, "a", object)
    names = {"float": "float32", "double": "float64", "bool": "bool", "float16": "float16"}
    names |= {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    return np.ones(shape, names[name])


if __name__ == "__main__":
    for model, given in pickle.loads(Path(sys.argv[1]).read_bytes())[int(sys.argv[2]) :]:
        print(json.dumps(outcome(model, given)), flush=True)
