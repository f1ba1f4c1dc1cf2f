"""What an engine says of many models, asked in a process of its own that they may bring down."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

#: What ends the name of a model's file, its bytes, and its weights.
Document = tuple[str, bytes, bytes]

TESTS = Path(__file__).resolve().parents[1]


def answers(engine: str, documents: Sequence[Document]) -> list[str]:
    """What ``openvino``, ``compiled``, ``onnxruntime`` or ``inference`` says of each: the types of its outputs, or
    ``refuses …``, ``fails …``, ``lacks …`` with the reason, or ``crashes``."""
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents"
        path.write_bytes(pickle.dumps(list(documents)))
        while len(found) < len(documents):
            command = [sys.executable, "-m", "oracles.worker", engine, str(path), str(len(found))]
            done = subprocess.run(command, capture_output=True, text=True, timeout=3600, cwd=TESTS)
            found += map(json.loads, done.stdout.splitlines())
            assert done.returncode or len(found) == len(documents), done.stderr
            if len(found) < len(documents):
                assert "Traceback" not in done.stderr, done.stderr
                found.append("crashes")
    return found


def reason(text: object) -> str:
    return " ".join(str(text).split())[-300:]


def spelled(name: str) -> str:
    """``float8e4m3fn`` as irlint spells it."""
    return re.sub(r"^float([468])e", r"float\1_e", name)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def compiled() -> Callable[[Document], str]:
    """What OpenVINO says that has to compile the model, too."""
    return openvino(compiles=True)


def openvino(compiles: bool = False) -> Callable[[Document], str]:
    import numpy as np
    import openvino
    from cases.models import OV_NAMES

    core = openvino.Core()

    def answer(document: Document) -> str:
        _, xml, weights = document
        try:
            model = core.read_model(xml, openvino.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
        except Exception as error:
            return f"refuses {reason(error)}"
        if compiles:
            try:
                core.compile_model(model, "CPU")
            except Exception as error:
                return f"refuses {reason(error)}"
        return " ".join(map(typed, model.outputs))

    def typed(output: Any) -> str:
        name = output.get_element_type().get_type_name()
        shape = output.get_partial_shape()
        dims = "..." if shape.rank.is_dynamic else ",".join(map(size, shape))
        return f"{'?' if name == 'dynamic' else OV_NAMES.get(name, name)}[{dims}]"

    def size(dim: Any) -> str:
        low, high = dim.get_min_length(), dim.get_max_length()
        if low == high:
            return str(low)
        return "?" if not low and high < 0 else f"{low}..{'' if high < 0 else high}"

    return answer


# --- ONNX -------------------------------------------------------------------------------------------------------------


def inference() -> Callable[[Document], str]:
    import onnx

    def answer(document: Document) -> str:
        try:
            model = onnx.load_from_string(document[1])
            inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except Exception as error:
            return f"refuses {reason(error)}"
        return " ".join(typed(output.type) for output in inferred.graph.output)

    def typed(known: Any) -> str:
        if known.WhichOneof("value") != "tensor_type":
            return "?"
        tensor = known.tensor_type
        names = {"FLOAT": "float32", "DOUBLE": "float64"}
        name = onnx.TensorProto.DataType.Name(tensor.elem_type) if tensor.elem_type else "?"
        dims = [str(dim.dim_value) if dim.HasField("dim_value") else "?" for dim in tensor.shape.dim]
        return f"{names.get(name) or spelled(name.lower())}[{','.join(dims) if tensor.HasField('shape') else '...'}]"

    return answer


#: What the symbols of an input are in a run; others are 2.
SIZES = {"N": 2, "M": 3}
#: Words with which ONNX Runtime says that it has no kernel or knows no such version.
LACKING = ("NOT_IMPLEMENTED", "is not a registered function/op", "is under development", "till opset")


def onnxruntime() -> Callable[[Document], str]:
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    quiet = onnxruntime.RunOptions()
    quiet.log_severity_level = 4
    folder = tempfile.TemporaryDirectory()
    names = {"float": "float32", "double": "float64"}
    numpy = {name: name for name in ("bool", "float16", "float32", "float64", "complex64", "complex128")}
    numpy |= {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

    def answer(document: Document) -> str:
        try:
            session = onnxruntime.InferenceSession(placed(document), options, ["CPUExecutionProvider"])
        except Exception as error:
            return f"{'lacks' if any(words in str(error) for words in LACKING) else 'refuses'} {reason(error)}"
        text = ""
        for filler in (0, 1):
            try:
                feeds = {info.name: array(info, filler) for info in session.get_inputs()}
            except KeyError as error:
                return f"lacks a type in NumPy {error}"
            try:
                values = session.run(None, feeds, quiet)
            except Exception as error:
                text = reason(error)
                continue
            return " ".join(map(typed, session.get_outputs(), values))
        return f"{'lacks' if any(words in text for words in LACKING) else 'fails'} {text}"

    def placed(document: Document) -> bytes | str:
        """The model as a file beside its weights where it has some."""
        if not document[2]:
            return document[1]
        path = Path(folder.name) / "w.onnx"
        path.write_bytes(document[1])
        path.with_suffix(".bin").write_bytes(document[2])
        return str(path)

    def dtype(text: str) -> str:
        name = text.removeprefix("tensor(").removesuffix(")")
        return names.get(name) or spelled(name)

    def array(info: Any, filler: int) -> Any:
        shape = [dim if isinstance(dim, int) else SIZES.get(dim, 2) for dim in info.shape]
        if dtype(info.type) == "string":
            return np.full(shape, "a", object)
        return np.full(shape, 2 if filler and not shape else filler, numpy[dtype(info.type)])

    def typed(info: Any, value: Any) -> str:
        if not info.type.startswith("tensor(") or not hasattr(value, "shape"):
            return "?"
        return f"{dtype(info.type)}[{','.join(map(str, value.shape))}]"

    return answer


if __name__ == "__main__":
    engines = {"openvino": openvino, "compiled": compiled, "inference": inference, "onnxruntime": onnxruntime}
    engine = engines[sys.argv[1]]()
    for document in pickle.loads(Path(sys.argv[2]).read_bytes())[int(sys.argv[3]) :]:
        print(json.dumps(engine(document)), flush=True)
