"""Faults of values: the engines compute from them what their lines state, and from the sound twins something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from cases.value_faults import ValueFault, ir_of, onnx_of, value_faults

pytestmark = pytest.mark.oracle

FAULTS = list(value_faults())

#: Runs with other random inputs.
RUNS = 6

#: What an engine gives in each run, or why it refuses.
Outputs = list[np.ndarray[Any, Any]] | str


def drawn(run: int, inputs: list[tuple[str, np.dtype[Any], list[int]]]) -> Iterator[tuple[str, Any]]:
    """An array for each input: a normal distribution, or small integers."""
    random = np.random.default_rng(run)
    for name, dtype, shape in inputs:
        if dtype.kind == "f":
            yield name, random.standard_normal(shape).astype(dtype)
        else:
            yield name, random.integers(0, 100 if dtype.itemsize == 1 else 2, shape).astype(dtype)


def by_onnx_runtime(model: onnx.ModelProto, *, optimized: bool = True) -> Outputs:
    """The first output of each run."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    shapes = [(given.name, given.type.tensor_type) for given in model.graph.input]
    inputs = [
        (name, onnx.helper.tensor_dtype_to_np_dtype(known.elem_type), [dim.dim_value or 2 for dim in known.shape.dim])
        for name, known in shapes
    ]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return [session.run(None, dict(drawn(run, inputs)))[0] for run in range(RUNS)]
    except Exception as error:
        return str(error)


def by_openvino(text: str) -> Outputs:
    """The output of each run, computed in float32."""
    import openvino

    document, weights = ir_of(text)
    data = openvino.Tensor(np.frombuffer(weights or b"\0", np.uint8))
    try:
        core = openvino.Core()
        compiled = core.compile_model(
            core.read_model(document.encode(), data), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
        )
        inputs = [
            (str(at), np.dtype(given.get_element_type().to_dtype()), list(given.shape))
            for at, given in enumerate(compiled.inputs)
        ]
        return [np.array(compiled({int(name): array for name, array in drawn(run, inputs)})[0]) for run in range(RUNS)]
    except Exception as error:
        return str(error)


def operators(text: str) -> set[str]:
    """What ONNX Runtime makes of the operators of a model."""
    import tempfile
    from pathlib import Path

    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = str(Path(folder) / "optimized.onnx")
        onnxruntime.InferenceSession(onnx_of(text).SerializeToString(), options, providers=["CPUExecutionProvider"])
        return {node.op_type for node in onnx.load(options.optimized_model_filepath).graph.node}


def is_so(fault: ValueFault, bad: Outputs, good: list[np.ndarray[Any, Any]]) -> bool:
    """Whether a faulty model does what its line states."""
    if isinstance(bad, str) or fault.outcome == "refused":
        return isinstance(bad, str) and fault.outcome == "refused"
    numbers = [each.astype(np.float64) for each in bad]
    match fault.outcome:
        case "nan":
            return all(bool(np.isnan(each).any()) for each in numbers)
        case "inf":
            return all(bool(np.isinf(each).any()) for each in numbers)
        case "bad":
            return all(not np.isfinite(each).all() for each in numbers)
        case "const":
            return all(np.array_equal(each, numbers[0]) for each in numbers)
        case "float":
            return "QLinear" not in "".join(operators(fault.bad)) and "QLinear" in "".join(operators(fault.good))
        case "fused":
            plain = by_onnx_runtime(onnx_of(fault.bad), optimized=False)
            return not isinstance(plain, str) and not np.allclose(numbers, np.array(plain), rtol=0.1, atol=0.1)
    assert fault.outcome == "wrong"
    return all(not np.allclose(each, twin, rtol=0.1, atol=0.1) for each, twin in zip(numbers, good))


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{at}-{fault.rule}" for at, fault in enumerate(FAULTS)])
def test_the_engine_does_what_the_line_states(fault: ValueFault) -> None:
    bad, good = (
        by_openvino(each) if fault.is_ir else by_onnx_runtime(onnx_of(each)) for each in (fault.bad, fault.good)
    )
    assert not isinstance(good, str), good
    assert all(np.isfinite(each.astype(np.float64)).all() for each in good)
    assert is_so(fault, bad, good), bad
