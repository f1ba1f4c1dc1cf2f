"""Compares the peak memory that irlint computes with what ONNX Runtime uses:
``python tests/make/measuring/peaks.py FOLDER``.

FOLDER has ONNX models, each with the sizes of its inputs in a ``.json`` of its name, as ``tests/make/exports.py``
writes them; a model without one has fixed sizes. ONNX Runtime runs each node of the file by itself (no graph
optimizations, one thread, no memory pattern, no arena), so its memory grows and shrinks with each tensor. Prints a line
for each model that needs at least ``LEAST`` bytes, and how many are within ``TOLERANCE``. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

import irlint

#: Of smaller models, what the runtime needs for itself is too much of the memory.
LEAST = 1 << 20

#: How far a peak may be from the measured one, as a part of it.
TOLERANCE = 0.25

#: Runs a model twice, and prints by how many bytes the second run raised the resident memory: that of the process is
#: reset to its present value before.
WORKER = """
import sys
import numpy
import onnxruntime

onnxruntime.set_default_logger_severity(4)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.enable_cpu_mem_arena = options.enable_mem_pattern = False
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
types = {"float": "float32", "double": "float64"}
feeds = {}
for each in session.get_inputs():
    name = each.type[len("tensor("):-1]
    feeds[each.name] = numpy.ones(each.shape, types.get(name, name))

def resident(name):
    return int(next(line for line in open("/proc/self/status") if line.startswith(name)).split()[1]) * 1024

session.run(None, feeds)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = resident("VmRSS")
session.run(None, feeds)
print(resident("VmHWM") - before)
"""


def is_measurable() -> bool:
    """Whether the system can reset the peak of a process."""
    return os.access("/proc/self/clear_refs", os.W_OK)


def measured(model: onnx.ModelProto) -> int:
    """The bytes that one run of a model of fixed sizes adds to the memory of a process, at their peak.

    Raises ValueError if ONNX Runtime does not run it.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        onnx.save(model, path)
        # Every larger block is mapped by itself, and so goes back to the system when it is freed.
        environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_TOP_PAD_": "0"}
        command = [sys.executable, "-c", WORKER, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return int(done.stdout)


def main() -> None:
    """Compares the models of the folder that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from make.measuring.counters import fixed

    near = every = 0
    for path in sorted(parser.parse_args().folder.glob("*.onnx")):
        stated = path.with_suffix(".json")
        shapes = json.loads(stated.read_text()).get("examples", {}) if stated.exists() else {}
        try:
            model = fixed(path, shapes)
            peak, ours = measured(model), irlint.info(model)["peak_memory"]
        except Exception as error:
            print(f"{path.name}: {str(error)[:100]}", flush=True)
            continue
        if peak >= LEAST and isinstance(ours, int):
            is_near = abs(ours - peak) <= TOLERANCE * peak
            near, every = near + is_near, every + 1
            print(f"{path.name}: {ours} against {peak}, {ours / peak:.2f}{'' if is_near else ' ***'}", flush=True)
    print(f"{near} of {every} within {TOLERANCE:.0%}")


if __name__ == "__main__":
    main()
