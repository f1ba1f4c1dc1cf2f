"""Signatures of custom operators against operators that run: those of ONNX Runtime Extensions, where the package is
installed, and those that ONNX Runtime adds, to which a signature gives another domain."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from ops.real_signatures import REAL

import irlint
from irlint import parsers
from irlint.contracts.interface import outputs
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.signed import Declared, in_force, parameters

pytestmark = pytest.mark.oracle

CONTRIB, EXTENSIONS = "com.microsoft", "ai.onnx.contrib"


def texts(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=object)


def ones(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, np.float32)


LONG = np.int64

#: The operators that are run: their domain, inputs and attributes.
RUN: Mapping[str, tuple[str, list[np.ndarray[Any, Any]], dict[str, Any]]] = {
    "Inverse": (CONTRIB, [np.stack([np.eye(4, dtype=np.float32)] * 2)], {}),
    "CDist": (CONTRIB, [ones(3, 5), ones(4, 5)], {"metric": "euclidean"}),
    "BiasGelu": (CONTRIB, [ones(2, 3, 8), ones(8)], {}),
    "CropAndResize": (
        CONTRIB,
        [ones(2, 5, 8, 9), ones(3, 4), np.zeros(3, np.int32), np.array([6, 7], np.int32)],
        {},
    ),
    "MatMulNBits": (
        CONTRIB,
        [ones(2, 3, 32), np.ones((10, 2, 8), np.uint8), ones(20)],
        {"K": 32, "N": 10, "bits": 4, "block_size": 16},
    ),
    "StringLength": (EXTENSIONS, [texts(["ab", "c"], ["", "d"])], {}),
    "StringSplit": (EXTENSIONS, [texts("a,b", "c"), texts(","), np.array([True])], {}),
    "StringJoin": (EXTENSIONS, [texts(["a", "b"], ["c", "d"]), texts("-"), np.array([1], LONG)], {}),
    "StringConcat": (EXTENSIONS, [texts("a", "b"), texts("c", "d")], {}),
    "SegmentSum": (EXTENSIONS, [ones(4, 3), np.array([0, 0, 1, 2], LONG)], {}),
    "RaggedTensorToSparse": (EXTENSIONS, [np.array([0, 2, 3], LONG)], {}),
    "MaskedFill": (EXTENSIONS, [texts("a", "b", "c"), np.array([True, False, True])], {}),
    "BertTokenizer": (EXTENSIONS, [texts("ab c")], {"vocab_file": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\nc"}),
    "GPT2Tokenizer": (
        EXTENSIONS,
        [texts("ab c", "a")],
        {
            "vocab": '{"a":0,"b":1,"c":2,"\u0120":3,"<|endoftext|>":4}',
            "merges": "#version: 0.2\n",
            "padding_length": 12,
        },
    ),
}


def model(name: str, domain: str, types: list[int]) -> onnx.ModelProto:
    """A model of the operator in a domain, whose outputs have these element types and no shapes."""
    _, arrays, attributes = RUN[name]
    inputs = []
    for at, array in enumerate(arrays):
        kind = onnx.TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
        inputs.append(helper.make_tensor_value_info(f"i{at}", kind, list(array.shape)))
    made = [helper.make_tensor_value_info(f"o{at}", kind, None) for at, kind in enumerate(types)]
    node = helper.make_node(name, [each.name for each in inputs], [each.name for each in made], "n", domain=domain)
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    return helper.make_model(helper.make_graph([node], "g", inputs, made), opset_imports=opsets, ir_version=8)


def _types(name: str, signature: str) -> list[int]:
    """The element types of the outputs; T is float in all operators that are run."""
    kinds = [each.type for each in parameters(signature).outputs]
    return [getattr(onnx.TensorProto, "FLOAT" if each == "T" else each.upper()) for each in kinds]


def _inferred(path: Path, name: str, signature: str) -> list[Tensor]:
    with in_force([Declared("x", name, signature)]):
        found = [each.type for each in outputs(inferred(parsers.read(str(path))))]
    assert all(isinstance(each, Tensor) for each in found)
    return [each for each in found if isinstance(each, Tensor)]


@pytest.mark.parametrize("name", RUN)
def test_the_operator_agrees(name: str, tmp_path: Path) -> None:
    import onnxruntime

    domain, arrays, _ = RUN[name]
    options = onnxruntime.SessionOptions()
    if domain == EXTENSIONS:
        if find_spec("onnxruntime_extensions") is None:
            pytest.skip("onnxruntime_extensions is not installed")
        import onnxruntime_extensions

        options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    signature = REAL[name][0]
    (tmp_path / "irlint.toml").write_text(f'[[operators]]\ndomain = "x"\nname = "{name}"\nsignature = "{signature}"\n')
    path = tmp_path / "model.onnx"
    kinds = _types(name, signature)
    onnx.save(model(name, "x", kinds), path)
    assert irlint.check(path, config=tmp_path / "irlint.toml", ignore=["IRL118"]).findings == ()
    session = onnxruntime.InferenceSession(model(name, domain, kinds).SerializeToString(), options)
    got = session.run(None, {f"i{at}": array for at, array in enumerate(arrays)})
    for stated, array in zip(_inferred(path, name, signature), got, strict=True):
        assert stated.shape is not None
        assert len(stated.shape) == array.ndim
        assert all(size == own for size, own in zip(stated.shape, array.shape, strict=True) if isinstance(size, int))
        assert any(isinstance(size, int) for size in stated.shape) or "?" in signature
