"""What OpenVINO says of many IRs, worked out in a process of its own that they may bring down."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: How an IR ended, the text of the refusal, and the shapes of its Results by name, None for an open size or rank:
#: ``load``, ``run`` (both refused), ``crash``, or ``ok``.
Outcome = tuple[str, str, dict[str, Any]]


def compiles(xml: bytes, weights: bytes) -> bool:
    """Whether OpenVINO reads an IR and compiles it for its CPU plugin."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        path.write_bytes(xml)
        path.with_suffix(".bin").write_bytes(weights)
        command = [sys.executable, __file__, "compile", str(path)]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout.splitlines()
    return bool(lines) and json.loads(lines[0])[0] == "ok"


def outcomes(paths: Sequence[Path], runs: bool = False, values: bool = False) -> list[Outcome]:
    """What happens where OpenVINO reads each IR, and with ``runs`` where it compiles and runs it; with ``values``, the
    text of one that runs is what its outputs are called and hold."""
    found: list[Outcome] = []
    mode = "values" if values else "run" if runs else "read"
    while len(found) < len(paths):
        command = [sys.executable, __file__, mode, *map(str, paths[len(found) :])]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout.splitlines()
        found += [(stage, text, shapes) for stage, text, shapes in map(json.loads, lines)]
        if len(found) < len(paths):
            found.append(("crash", "", {}))
    return found


def outcome(core: Any, path: str, mode: str) -> Outcome:
    try:
        model = core.read_model(path)
    except Exception as error:
        return "load", str(error), {}
    shapes = {
        result.get_friendly_name(): sizes(result.input_value(0).get_partial_shape()) for result in model.get_results()
    }
    if mode != "read":
        try:
            request = core.compile_model(model, "CPU").create_infer_request()
            if mode in ("run", "values"):
                request.infer([ones(source) for source in model.inputs])
            if mode == "values":
                held = [(sorted(each.names), request.get_tensor(each).data.tobytes().hex()) for each in model.outputs]
                return "ok", repr(held), shapes
        except Exception as error:
            return "run", str(error), shapes
    return "ok", "", shapes


def sizes(shape: Any) -> list[int | None] | None:
    return None if shape.rank.is_dynamic else [None if dim.is_dynamic else dim.get_length() for dim in shape]


def ones(source: Any) -> Any:
    import openvino

    shape = source.get_partial_shape()
    dims = (
        []
        if shape.rank.is_dynamic
        else [max(2, dim.get_min_length()) if dim.is_dynamic else dim.get_length() for dim in shape]
    )
    tensor = openvino.Tensor(source.get_element_type(), dims)
    tensor.data[...] = 1
    return tensor


if __name__ == "__main__":
    import openvino

    for path in sys.argv[2:]:
        print(json.dumps(outcome(openvino.Core(), path, sys.argv[1])), flush=True)
