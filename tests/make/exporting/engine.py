"""Loads models and runs them, one question a line, in a process that may end at any time: ``python engine.py``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

#: Kinds of values, in the order in which they are tried.
FILLS = ("likely", "zeros", "ones")


class OnnxRuntime:
    def __init__(self, path: str) -> None:
        self.path = path
        self.session = self.loaded(path)

    @staticmethod
    def loaded(model: str | bytes) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(self, feeds: dict[str, np.ndarray]) -> list[Any]:
        found = self.session.run(None, feeds)
        return [list(each.shape) if isinstance(each, np.ndarray) else None for each in found]

    def run_static(self, feeds: dict[str, np.ndarray]) -> list[Any]:
        """The same with these sizes declared, so that ONNX's own inference judges them."""
        import onnx

        model = onnx.load(self.path)
        for each in model.graph.input:
            shape = each.type.tensor_type.shape
            for dim, size in zip(shape.dim, feeds[each.name].shape if each.name in feeds else ()):
                dim.dim_value = size
        del model.graph.value_info[:]
        for each in model.graph.output:
            each.type.tensor_type.ClearField("shape")
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        session = self.loaded(model.SerializeToString())
        return [list(each.shape) if isinstance(each, np.ndarray) else None for each in session.run(None, feeds)]


class OpenVino:
    def __init__(self, path: str) -> None:
        import openvino

        self.path, self.core = path, openvino.Core()
        self.core.set_property("CPU", {"INFERENCE_NUM_THREADS": 1})
        self.model = self.core.compile_model(self.core.read_model(path), "CPU")

    def run(self, feeds: dict[str, np.ndarray]) -> list[Any]:
        request = self.model.create_infer_request()
        values = list(feeds.values())
        request.infer(dict(enumerate(values)))
        return [list(request.get_output_tensor(at).shape) for at in range(len(self.model.outputs))]

    def run_static(self, feeds: dict[str, np.ndarray]) -> list[Any]:
        """The same of the model reshaped first: a dynamic one computes something where its specification gives no
        shape."""
        model = self.core.read_model(self.path)
        model.reshape({at: list(each.shape) for at, each in enumerate(feeds.values())})
        request = self.core.compile_model(model, "CPU").create_infer_request()
        request.infer(dict(enumerate(feeds.values())))
        return [list(request.get_output_tensor(at).shape) for at in range(len(model.outputs))]


def values(name: str, dtype: str, shape: list[int], fill: str) -> np.ndarray:
    """What is fed to an input."""
    if dtype == "string":
        return np.full(shape, "a", dtype=object)
    if dtype == "bfloat16":
        import ml_dtypes

        kind = np.dtype(ml_dtypes.bfloat16)
    else:
        kind = np.dtype(dtype)
    if fill != "likely":
        return np.full(shape, fill == "ones", kind)
    random = np.random.default_rng(len(name) + sum(shape))
    if kind.kind in "iu":
        if "mask" in name:
            return np.ones(shape, kind)
        if "position" in name and shape:
            return np.broadcast_to(np.arange(shape[-1]), shape).astype(kind)
        return random.integers(0, 2, shape).astype(kind)
    if kind.kind == "b":
        return np.ones(shape, kind)
    return (random.standard_normal(shape) * 0.5).astype(kind)


def main() -> None:
    engine: Any = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if "model" in question:
                path = question["model"]
                engine = (OpenVino if Path(path).suffix == ".xml" else OnnxRuntime)(path)
                answer: dict[str, Any] = {}
            else:
                fed = {name: values(name, dtype, shape, question["fill"]) for name, dtype, shape in question["inputs"]}
                answer = {"shapes": (engine.run_static if question.get("static") else engine.run)(fed)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
