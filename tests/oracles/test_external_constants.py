"""Every constant of the cases of ONNX, laid in a file beside the model: irlint refuses those that ONNX Runtime cannot
read there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from cases.models import document
from cases.notation import Operator, cases, files, lines
from onnx import TensorProto, numpy_helper
from oracles.differences import UNCOMPARED

import irlint

pytestmark = pytest.mark.oracle

#: What ONNX Runtime says where its inference of shapes wants to see what lies in a file.
UNREADABLE = ("Cannot parse data from external tensors", "Can not get shape initializer data")


def _sound() -> Iterator[tuple[str, onnx.ModelProto]]:
    for path in files():
        for _, line in lines(path):
            for case in cases(line):
                if (
                    isinstance(case.model, Operator)
                    and case.model.format == "onnx"
                    and not case.expected.startswith("IRL")
                ):
                    yield str(case.model), onnx.load_from_string(document(case.model)[1])


def _laid_outside(model: onnx.ModelProto, index: int, folder: Path) -> str:
    """The path of the model with one initializer in a file."""
    tensor = model.graph.initializer[index]
    data = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    outside = TensorProto(
        name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, data_location=TensorProto.EXTERNAL
    )
    for key, value in (("location", "w.bin"), ("length", str(len(data)))):
        outside.external_data.add(key=key, value=value)
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.graph.initializer[index].CopyFrom(outside)
    (folder / "w.bin").write_bytes(data)
    path = folder / "m.onnx"
    path.write_bytes(changed.SerializeToString())
    return str(path)


def test_constants_in_files(tmp_path: Path) -> None:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    wrong = []
    for text, model in _sound():
        if not model.graph.initializer or any(text.startswith(f"onnx {missed}") for missed in UNCOMPARED):
            continue
        for index, tensor in enumerate(model.graph.initializer):
            if tensor.data_type == TensorProto.STRING:
                continue
            path = _laid_outside(model, index, tmp_path)
            try:
                ort.InferenceSession(path, options, ["CPUExecutionProvider"])
                refused = False
            except Exception as error:
                refused = any(words in str(error) for words in UNREADABLE)
                if not refused:
                    continue
            found = "IRL707" in {
                each.rule.code for each in irlint.check(path).findings if each.severity.value == "error"
            }
            if found != refused:
                wrong.append(f"{text}: {tensor.name} {'is read' if not refused else 'is refused'}")
    assert not wrong, "\n" + "\n".join(wrong)
