"""Run by a process of its own, with a wheel on its path: what the wheel says of models, and what it registers.

``python asked.py ENGINE QUESTIONS ANSWERS``: ENGINE is one of ``ENGINES``, QUESTIONS a pickle of the wheel's path and
of models by key, a model being bytes, the path of a file, or a pair of an IR and its weights; ANSWERS gets JSON. A
model on which the engine dies counts as refused.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

#: So many models are asked in one forked process, which gets so many bytes of memory beyond what it has; an engine that
#: computes so many seconds about one model counts as dead.
CHUNK = 400
MEMORY = 4 << 30
SECONDS = 30


def of_onnxruntime() -> tuple[str, dict[str, Any], Callable[[Any], str]]:
    """The version, the registry, and what asks: the error with which a model is refused, "" for none."""
    import numpy as np
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    onnxruntime.set_default_logger_severity(4)

    def ask(model: Any) -> str:
        """A model in a pair with True is also run, with ones."""
        data, runs = model if isinstance(model, tuple) else (model, False)
        try:
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            if runs:
                session.run(None, {each.name: np.ones(each.shape, _ARRAYS[each.type]) for each in session.get_inputs()})
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    found = {"kernels": list(_kernels(state)), "schemas": list(_schemas(state))}
    return onnxruntime.__version__, found, ask


#: The types of NumPy for inputs of models that are run.
_ARRAYS = {
    "tensor(float16)": "float16",
    "tensor(float)": "float32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
}


def _kernels(state: Any) -> Iterator[tuple[Any, ...]]:
    for kernel in getattr(state, "get_all_opkernel_def", list)():
        if kernel.provider == "CPUExecutionProvider":
            since, until = kernel.version_range
            types = {name: sorted(each) for name, each in kernel.type_constraints.items()}
            yield kernel.domain, kernel.op_name, since, until, types


def _schemas(state: Any) -> Iterator[tuple[Any, ...]]:
    for schema in getattr(state, "get_all_operator_schema", list)():
        counts = [schema.min_input, schema.max_input, schema.min_output, schema.max_output]
        yield schema.domain, schema.name, schema.since_version, schema.deprecated, sorted(schema.attributes), counts


def of_openvino(compiles: bool = False) -> tuple[str, dict[str, Any], Callable[[Any], str]]:
    """As ``of_onnxruntime``; OpenVINO registers nothing to ask for. The error of a model that is read and not compiled
    for the CPU begins with ``compiling:``."""
    import openvino

    if not hasattr(openvino, "Core"):
        import openvino.runtime as openvino
    core = openvino.Core()
    file = os.path.join(tempfile.mkdtemp(), "model.onnx")

    def ask(model: Any) -> str:
        """An ONNX model is read from a file, as users do: bytes of it go through another reader."""
        given = model if isinstance(model, tuple) else (model,)
        if isinstance(given[0], bytes) and not given[0].startswith(b"<"):
            with open(file, "wb") as opened:
                opened.write(given[0])
            given = (file,)
        try:
            read = core.read_model(*given)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        if not compiles:
            return ""
        try:
            core.compile_model(read, "CPU", {"INFERENCE_NUM_THREADS": 1})
        except Exception as error:
            return f"compiling: {type(error).__name__}: {error}"
        return ""

    return openvino.get_version(), {}, ask


def of_tensorrt_rtx() -> tuple[str, dict[str, Any], Callable[[Any], str]]:
    """As ``of_onnxruntime``, of the parser, which needs no GPU."""
    import tensorrt_rtx_bindings as engine

    class Silent(engine.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            engine.ILogger.__init__(self)

        def log(self, severity: Any, message: str) -> None:
            pass

    log = Silent()
    builders: list[Any] = []

    def ask(model: Any) -> str:
        if not builders:
            builders.append(engine.Builder(log))
        network = builders[0].create_network(0)
        parser = engine.OnnxParser(network, log)
        if parser.parse_from_file(model) if isinstance(model, str) else parser.parse(model):
            return ""
        return str(parser.get_error(0).desc()) or "refused"

    return engine.__version__, {}, ask


#: The architecture of the NPU that the compiler of Qualcomm is asked for, and the number of the SoC, which decides how
#: much memory a node may take.
ARCHITECTURE = "73"
SOC = "60"

#: How an answer begins that lists the nodes which stay on the CPU.
ON_CPU = "on the CPU: "


def of_qnn(soc: str = SOC) -> tuple[str, dict[str, Any], Callable[[Any], str]]:
    """As ``of_onnxruntime``, of ONNX Runtime with Qualcomm's provider, which compiles for its NPU on any machine. The
    answer is "" where the whole model runs there, and lists the nodes that stay on the CPU where some do."""
    import onnxruntime
    import onnxruntime_qnn

    onnxruntime.set_default_logger_severity(4)
    onnxruntime.register_execution_provider_library("QNNExecutionProvider", onnxruntime_qnn.get_library_path())
    devices = [each for each in onnxruntime.get_ep_devices() if each.ep_name == "QNNExecutionProvider"]
    given = {"backend_path": onnxruntime_qnn.get_qnn_htp_path(), "htp_arch": ARCHITECTURE}
    if soc:
        given["soc_model"] = soc

    def ask(model: Any) -> str:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        options.add_provider_for_devices(devices, given)
        try:
            session = onnxruntime.InferenceSession(model, options)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        parts = session.get_provider_graph_assignment_info()
        left = [
            [each.name, each.op_type]
            for part in parts
            if part.ep_name != "QNNExecutionProvider"
            for each in part.get_nodes()
        ]
        return ON_CPU + json.dumps(left) if left else ""

    return onnxruntime_qnn.__version__, {}, ask


def answers(models: list[tuple[str, Any]], ask: Callable[[Any], str]) -> dict[str, str]:
    """What ``ask`` says of each model, asked in processes that may die."""
    found: dict[str, str] = {}
    at = 0
    while at < len(models):
        chunk = models[at : at + CHUNK]
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receiving)
            _send_answers(chunk, ask, sending)
        os.close(sending)
        with os.fdopen(receiving, encoding="utf-8", errors="surrogateescape") as lines:
            done = [json.loads(line) for line in lines]
        os.waitpid(child, 0)
        found |= {key: answer for (key, _), answer in zip(chunk, done)}
        at += len(done)
        if len(done) < len(chunk):
            found[models[at][0]] = "the engine died"
            at += 1
    return found


def _send_answers(models: list[tuple[str, Any]], ask: Callable[[Any], str], sending: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        have = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (have + MEMORY, have + MEMORY))
    with os.fdopen(sending, "w", encoding="utf-8", errors="surrogateescape") as stream:
        for _, model in models:
            used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
            resource.setrlimit(resource.RLIMIT_CPU, (used + SECONDS, resource.RLIM_INFINITY))
            stream.write(json.dumps(ask(model)[:4000]) + "\n")
            stream.flush()
    os._exit(0)


ENGINES: dict[str, Callable[[], tuple[str, dict[str, Any], Callable[[Any], str]]]] = {
    "onnxruntime": of_onnxruntime,
    "openvino": of_openvino,
    "openvino-compiled": partial(of_openvino, compiles=True),
    "tensorrt-rtx": of_tensorrt_rtx,
    "qnn": of_qnn,
    "qnn-without-soc": partial(of_qnn, ""),
}

if __name__ == "__main__":
    runtime, questions, file = sys.argv[1:]
    with open(questions, "rb") as opened:
        paths, asked = pickle.load(opened)
    sys.path[:0] = paths
    version, registry, question = ENGINES[runtime]()
    result = {"version": version, **registry, "answers": answers(asked, question)}
    with open(file, "w", encoding="utf-8", errors="surrogateescape") as written:
        json.dump(result, written)
