"""What TensorRT for RTX says of many models at given sizes, worked out in a process of its own that it may bring down.

Its builder needs no GPU. What it says is ``built``, ``refuses …``, ``lacks …`` for what its parser does not take, or
``crashes``.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: The bytes of a model, and for each input with sizes that can change its least, usual and greatest shape.
Question = tuple[bytes, Mapping[str, Sequence[Sequence[int]]]]


def answers(questions: Sequence[Question]) -> list[str]:
    """What happens where each model is built for its shapes."""
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "questions"
        path.write_bytes(pickle.dumps(list(questions)))
        while len(found) < len(questions):
            command = [sys.executable, __file__, str(path), str(len(found))]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
            found += map(json.loads, done.stdout.splitlines())
            assert done.returncode or len(found) == len(questions), done.stderr
            if len(found) < len(questions):
                assert "Traceback" not in done.stderr, done.stderr
                found.append("crashes")
    return found


def answer(engine: Any, log: Any, model: bytes, shapes: Mapping[str, Sequence[Sequence[int]]]) -> str:
    builder = engine.Builder(log)
    network = builder.create_network(0)
    parser = engine.OnnxParser(network, log)
    if not parser.parse(model):
        return f"lacks {parser.get_error(0).desc()}"
    config, profile = builder.create_builder_config(), builder.create_optimization_profile()
    for name, sizes in shapes.items():
        profile.set_shape(name, *map(tuple, sizes))
    if shapes:
        config.add_optimization_profile(profile)
    log.lines.clear()
    return "built" if builder.build_serialized_network(network, config) else f"refuses {' '.join(log.lines)[:300]}"


def main(path: str, start: int) -> None:
    import tensorrt_rtx

    class Log(tensorrt_rtx.ILogger):  # type: ignore[misc]
        def __init__(self) -> None:
            tensorrt_rtx.ILogger.__init__(self)
            self.lines: list[str] = []

        def log(self, severity: Any, message: str) -> None:
            if severity <= tensorrt_rtx.ILogger.Severity.ERROR:
                self.lines.append(message)

    log = Log()
    for model, shapes in pickle.loads(Path(path).read_bytes())[start:]:
        print(json.dumps(answer(tensorrt_rtx, log, model, shapes)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
