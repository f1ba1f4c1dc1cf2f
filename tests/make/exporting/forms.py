"""The ways from a network to a file: exporters, and tools that rewrite what they wrote.

A form is a chain such as ``ts17>ort-all>fp16``. The first link is an exporter: ``ts17`` and ``dyn18`` are those of
torch with an opset, ``ov`` is OpenVINO's; ``s`` after it keeps all sizes static, ``b`` only the batch dynamic, ``u``
gives each axis a name of its own. The others are the functions of ``REWRITES``.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .subjects import Subject


def all_forms(family: str, subjects: Iterable[Subject]) -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """A name for each form of each network, and the function that writes it into a folder."""
    for subject in subjects:
        for form in subject.forms:
            name = f"{family}-{subject.name}.{form}"
            yield name, partial(made, subject, form, name.replace(">", "-"))


def made(subject: Subject, form: str, name: str, folder: Path) -> None:
    """Writes a form of a network into a folder."""
    first, *rest = form.split(">")
    kind, opset, sizes = re.fullmatch(r"(ts|dyn|ov)(\d*)([sbu]?)", first).groups()
    module, examples = subject.make()
    axes = _axes(subject, examples, sizes)
    with tempfile.TemporaryDirectory() as place:
        if kind == "ov":
            path = _converted(module, examples, axes, Path(place) / "m.xml")
        else:
            path = Path(place) / "m.onnx"
            EXPORTERS[kind](module, examples, axes, int(opset), path)
        for at, link in enumerate(rest):
            path = REWRITES[link](path, Path(place) / f"m{at}", examples)
        target = folder / f"{name}{path.suffix}"
        if path.suffix == ".xml":
            shutil.copy(path.with_suffix(".bin"), target.with_suffix(".bin"))
        shutil.copy(path, target)
        sizes = {each: list(value.shape) for each, value in examples.items()}
        target.with_suffix(".json").write_text(json.dumps({"examples": sizes}))


def _axes(subject: Subject, examples: Mapping[str, Any], sizes: str) -> dict[str, dict[int, str]]:
    if sizes == "s":
        return {}
    found = {name: dict(subject.axes.get(name, {})) for name in examples}
    if sizes == "b":
        found = {name: {axis: size for axis, size in own.items() if axis == 0} for name, own in found.items()}
    if sizes == "u":
        found = {name: {axis: f"{name}_{size}" for axis, size in own.items()} for name, own in found.items()}
    return found


def _traced(
    module: Any, examples: Mapping[str, Any], axes: Mapping[str, dict[int, str]], opset: int, path: Path
) -> None:
    import torch

    with torch.no_grad():
        torch.onnx.export(
            module,
            tuple(examples.values()),
            str(path),
            dynamo=False,
            opset_version=opset,
            input_names=list(examples),
            dynamic_axes={name: own for name, own in axes.items() if own},
        )


def _dynamo(
    module: Any, examples: Mapping[str, Any], axes: Mapping[str, dict[int, str]], opset: int, path: Path
) -> None:
    import torch

    dims: dict[str, Any] = {}
    shapes = tuple(
        {axis: dims.setdefault(size, torch.export.Dim(size)) for axis, size in axes.get(name, {}).items()}
        for name in examples
    )
    inferred = tuple(dict.fromkeys(own, torch.export.Dim.AUTO) for own in shapes)
    errors = []
    for wanted in (_by_argument(module, each) for each in ((shapes, inferred) if dims else (None,))):
        try:
            with torch.no_grad():
                torch.onnx.export(
                    module,
                    tuple(examples.values()),
                    str(path),
                    dynamo=True,
                    opset_version=opset,
                    external_data=False,
                    input_names=list(examples),
                    dynamic_shapes=wanted,
                    verbose=False,
                )
            return
        except Exception as error:
            errors.append(error)
    raise errors[-1].__cause__ or errors[-1]


def _by_argument(module: Any, shapes: Any) -> Any:
    """The shapes of the arguments, those of the variadic one as one."""
    parameters = list(inspect.signature(getattr(module, "forward", module)).parameters.values())
    if shapes is None or parameters[-1].kind is not inspect.Parameter.VAR_POSITIONAL:
        return shapes
    at = len(parameters) - 1
    return (*shapes[:at], tuple(shapes[at:]))


EXPORTERS = {"ts": _traced, "dyn": _dynamo}


def _converted(module: Any, examples: Mapping[str, Any], axes: Mapping[str, dict[int, str]], path: Path) -> Path:
    import openvino
    import torch

    shapes = [
        openvino.PartialShape([-1 if axis in axes.get(name, {}) else size for axis, size in enumerate(value.shape)])
        for name, value in examples.items()
    ]
    values = tuple(examples.values())
    with torch.no_grad():
        found = openvino.convert_model(module, example_input=values if len(values) > 1 else values[0])
    if len(found.inputs) == len(shapes):
        found.reshape({one.any_name: shape for one, shape in zip(found.inputs, shapes)})
    openvino.save_model(found, str(path), compress_to_fp16=False)
    return path


def _raw(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    """OpenVINO's conversion as it is, with every size dynamic that it leaves so."""
    import openvino

    openvino.save_model(openvino.convert_model(str(path)), str(target) + ".xml", compress_to_fp16=False)
    return target.with_suffix(".xml")


def _half_ir(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import openvino

    model = openvino.Core().read_model(str(path))
    openvino.save_model(model, str(target) + ".xml", compress_to_fp16=True)
    return target.with_suffix(".xml")


def _nncf_weights(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import nncf
    import openvino

    model = nncf.compress_weights(openvino.Core().read_model(str(path)), mode=nncf.CompressWeightsMode.INT8_ASYM)
    openvino.save_model(model, str(target) + ".xml", compress_to_fp16=False)
    return target.with_suffix(".xml")


def _nncf_int4(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import nncf
    import openvino

    model = nncf.compress_weights(
        openvino.Core().read_model(str(path)), mode=nncf.CompressWeightsMode.INT4_SYM, group_size=-1, all_layers=True
    )
    openvino.save_model(model, str(target) + ".xml", compress_to_fp16=False)
    return target.with_suffix(".xml")


def _nncf_quantized(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import nncf
    import openvino

    model = openvino.Core().read_model(str(path))
    values = [value.numpy() for value in examples.values()]
    calibration = nncf.Dataset([values if len(values) > 1 else values[0]])
    model = nncf.quantize(model, calibration, subset_size=1, fast_bias_correction=True)
    openvino.save_model(model, str(target) + ".xml", compress_to_fp16=False)
    return target.with_suffix(".xml")


def _stateful(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import openvino
    from openvino._offline_transformations import apply_make_stateful_transformation

    model = openvino.Core().read_model(str(path))
    given = [name for one in model.inputs for name in one.get_names() if "past" in name]
    back = [one for one in model.outputs if one.get_partial_shape().rank.get_length() == 4]
    apply_make_stateful_transformation(model, {a: b.get_any_name() for a, b in zip(given, back)})
    openvino.save_model(model, str(target) + ".xml", compress_to_fp16=False)
    return target.with_suffix(".xml")


def _quantized_weights(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(path), f"{target}.onnx", weight_type=QuantType.QUInt8)
    return target.with_suffix(".onnx")


def _quantized(layout: str, prepared: bool = False) -> Any:
    def quantized(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
        from onnxruntime import InferenceSession
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

        class Reader(CalibrationDataReader):
            def __init__(self) -> None:
                names = [one.name for one in InferenceSession(str(path)).get_inputs()]
                self.left = [{name: examples[name].numpy() for name in names}]

            def get_next(self) -> Any:
                return self.left.pop() if self.left else None

        if prepared:
            from onnxruntime.quantization.shape_inference import quant_pre_process

            quant_pre_process(str(path), f"{target}p.onnx", skip_symbolic_shape=True)
            path = Path(f"{target}p.onnx")
        quantize_static(
            str(path),
            f"{target}.onnx",
            Reader(),
            quant_format=QuantFormat[layout],
            weight_type=QuantType.QInt8,
            per_channel=layout == "QDQ",
        )
        return target.with_suffix(".onnx")

    return quantized


def _half(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(str(path)), keep_io_types=True), f"{target}.onnx")
    return target.with_suffix(".onnx")


def _half_inputs(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    from onnxconverter_common.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(str(path)), keep_io_types=False), f"{target}.onnx")
    return target.with_suffix(".onnx")


def _four_bits(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(onnx.load(str(path)), block_size=16)
    quantizer.process()
    onnx.save(quantizer.model.model, f"{target}.onnx")
    return target.with_suffix(".onnx")


def _optimized(level: str) -> Any:
    def optimized(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath = f"{target}.onnx"
        options.log_severity_level = 3
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return target.with_suffix(".onnx")

    return optimized


def _fused(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    from onnxruntime.transformers.optimizer import optimize_model

    optimize_model(str(path), model_type="bert", num_heads=4, hidden_size=32, opt_level=0).save_model_to_file(
        f"{target}.onnx"
    )
    return target.with_suffix(".onnx")


def _slim(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    import onnxslim

    onnx.save(onnxslim.slim(str(path)), f"{target}.onnx")
    return target.with_suffix(".onnx")


def _simplified(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    import onnxsim

    onnx.save(onnxsim.simplify(onnx.load(str(path)))[0], f"{target}.onnx")
    return target.with_suffix(".onnx")


def _inferred(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx

    onnx.save(onnx.shape_inference.infer_shapes(onnx.load(str(path)), data_prop=True), f"{target}.onnx")
    return target.with_suffix(".onnx")


def _symbolic(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
    import onnx
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    onnx.save(SymbolicShapeInference.infer_shapes(onnx.load(str(path)), auto_merge=True), f"{target}.onnx")
    return target.with_suffix(".onnx")


def _converted_version(opset: int) -> Any:
    def converted(path: Path, target: Path, examples: Mapping[str, Any]) -> Path:
        import onnx
        from onnx import version_converter

        onnx.save(version_converter.convert_version(onnx.load(str(path)), opset), f"{target}.onnx")
        return target.with_suffix(".onnx")

    return converted


REWRITES = {
    "ov": _raw,
    "ovfp16": _half_ir,
    "int8": _nncf_weights,
    "int4": _nncf_int4,
    "ptq": _nncf_quantized,
    "stateful": _stateful,
    "q8": _quantized_weights,
    "qdq": _quantized("QDQ"),
    "qdqp": _quantized("QDQ", prepared=True),
    "qop": _quantized("QOperator"),
    "fp16": _half,
    "fp16io": _half_inputs,
    "q4": _four_bits,
    "basic": _optimized("BASIC"),
    "extended": _optimized("EXTENDED"),
    "all": _optimized("ALL"),
    "fused": _fused,
    "slim": _slim,
    "sim": _simplified,
    "infer": _inferred,
    "symbolic": _symbolic,
    "op21": _converted_version(21),
    "op23": _converted_version(23),
}


@contextlib.contextmanager
def silent() -> Any:
    """Everything that is printed meanwhile, by libraries too, is dropped."""
    with open(os.devnull, "w") as nothing:
        kept = os.dup(1), os.dup(2)
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
        try:
            yield
        finally:
            for at, each in enumerate(kept, 1):
                os.dup2(each, at)
                os.close(each)
