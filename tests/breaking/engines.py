"""ONNX Runtime and OpenVINO in a child process, which may crash or take too long."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np

Arrays = dict[str, Any]
Name = Literal["onnxruntime", "openvino"]

#: How far two results may lie apart that count as the same.
RELATIVE, ABSOLUTE = 1e-5, 1e-6


@dataclass(frozen=True)
class Answer:
    """What an engine did: the stage that it reached, its message where it refused, and the outputs in their declared
    order."""

    stage: Literal["load", "run", "done", "crash"]
    message: str = ""
    outputs: tuple[Any, ...] = ()


def _onnxruntime(model: bytes | str, feeds: list[Arrays]) -> list[Answer]:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return [Answer("load", str(error))] * max(1, len(feeds))
    answers = []
    for feed in feeds:
        try:
            answers.append(Answer("done", outputs=tuple(session.run(None, feed))))
        except Exception as error:
            answers.append(Answer("run", str(error)))
    return answers


def _openvino(model: bytes | str, feeds: list[Arrays]) -> list[Answer]:
    import openvino

    core = openvino.Core()
    try:
        read = core.read_model(model)
        compiled = core.compile_model(
            read, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        )
    except Exception as error:
        return [Answer("load", str(error))] * max(1, len(feeds))
    answers = []
    for feed in feeds:
        try:
            request = compiled.create_infer_request()
            given = list(feed.values())
            if len(given) != len(compiled.inputs):
                raise ValueError(f"{len(compiled.inputs)} inputs instead of {len(given)}")
            request.infer(dict(enumerate(given)))
            answers.append(Answer("done", outputs=tuple(np.array(each.data) for each in request.output_tensors)))
        except Exception as error:
            answers.append(Answer("run", str(error)))
    return answers


def _serve(engine: Name, pipe: Connection) -> None:
    answer = _onnxruntime if engine == "onnxruntime" else _openvino
    while True:
        try:
            model, feeds = pipe.recv()
        except EOFError:
            return
        pipe.send(answer(model, feeds))


class Engine:
    """One engine in a process of its own, which starts again after a crash."""

    def __init__(self, name: Name, seconds: float = 60) -> None:
        self.name, self.seconds = name, seconds
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.name, other), daemon=True)
        self._process.start()
        other.close()

    def run(self, model: bytes | Path, feeds: list[Arrays]) -> list[Answer]:
        """What the engine does with a model: one answer for each feed, at least one."""
        try:
            self._pipe.send((str(model) if isinstance(model, Path) else model, feeds))
            if self._pipe.poll(self.seconds):
                answers: list[Answer] = self._pipe.recv()
                return answers
            message = f"no answer within {self.seconds:g} s"
        except (EOFError, OSError):
            message = "the engine crashed"
        self.close()
        self._start()
        return [Answer("crash", message)] * max(1, len(feeds))

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def same_outputs(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two runs give the same values, in the same order."""
    return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple):
        return (
            isinstance(other, list | tuple) and len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other))
        )
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
    return bool((a == b).all())
