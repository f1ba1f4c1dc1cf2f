"""How long a whole check takes against what it replaces, in whole processes: ``python tests/benchmark.py [MODEL...]``.

Prints, for each model, the median wall time of ``irlint MODEL`` beside those of importing the framework, and of loading,
checking and inferring with it, and the ratios. Without a MODEL it makes chains of 100 and 5,000 nodes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IMPORT = "import onnx, onnx.checker, onnx.shape_inference"
WHOLE = f"{IMPORT}; m = onnx.load({{path!r}}); onnx.checker.check_model(m); onnx.shape_inference.infer_shapes(m)"
READ = "import openvino; openvino.Core().read_model({path!r})"


def chain(nodes: int) -> onnx.ModelProto:
    """Blocks of Conv, Add and Relu, with ``nodes`` nodes in all."""
    weights = numpy_helper.from_array(np.zeros((8, 8, 3, 3), np.float32), "w")
    bias = numpy_helper.from_array(np.zeros((8, 1, 1), np.float32), "b")
    made, value = [], "x"
    for index in range(nodes):
        op, extra, attributes = (
            ("Conv", ["w"], {"pads": [1, 1, 1, 1]}),
            ("Add", ["b"], {}),
            ("Relu", [], {}),
        )[index % 3]
        made.append(helper.make_node(op, [value, *extra], [f"v{index}"], f"n{index}", **attributes))
        value = f"v{index}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 8, "H", "W"])
    y = helper.make_tensor_value_info(value, TensorProto.FLOAT, ["N", 8, "H", "W"])
    graph = helper.make_graph(made, "chain", [x], [y], [weights, bias])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def median(command: list[str], runs: int = 11) -> float:
    """The median wall time of a command in milliseconds, after one run that is not counted."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times[1:])


def measured(path: str) -> str:
    """A line about one model."""
    ours = median([sys.executable, "-m", "irlint", path])
    if path.endswith(".xml"):
        read = median([sys.executable, "-c", READ.format(path=path)])
        return f"{path}: irlint {ours:.0f} ms; openvino read_model {read:.0f} ms, ratio {ours / read:.2f}"
    imported = median([sys.executable, "-c", IMPORT])
    whole = median([sys.executable, "-c", WHOLE.format(path=path)])
    return (
        f"{path}: irlint {ours:.0f} ms; import onnx {imported:.0f} ms, ratio {ours / imported:.2f}; "
        f"load, check and infer {whole:.0f} ms, ratio {ours / whole:.2f}"
    )


def main() -> None:
    """Measures the models that are named, or the two chains."""
    if sys.argv[1:]:
        for path in sys.argv[1:]:
            print(measured(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        for nodes in (100, 5000):
            path = Path(folder) / f"chain-{nodes}.onnx"
            onnx.save(chain(nodes), path)
            print(measured(str(path)))


if __name__ == "__main__":
    main()
