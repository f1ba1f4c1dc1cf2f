"""What a check costs against what it replaces, in whole processes: ``python tests/benchmark.py [--quick] [MODEL...]``.

Prints, for each piece of work, the CPU seconds (user and system) and the peak memory of irlint and of the engine that
does the like, measured in turns in the same run, their ratio, and how irlint's seconds grow where the work doubles.
Without a MODEL it makes the models of ``benchmarks/models.py``: large weights are holes of sparse files. ``--quick``
takes a tenth of each. No test: machines differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ONNX = (
    "import onnx, onnx.checker, onnx.shape_inference as s; m = onnx.load({path!r}); onnx.checker.check_model(m); "
    "s.infer_shapes(m)"
)
ONNX_BY_PATH = (
    "import onnx, onnx.checker; onnx.checker.check_model({path!r}); onnx.load({path!r}, load_external_data=False)"
)
OPENVINO = "import openvino; openvino.Core().read_model({path!r})"

MODELS = str(Path(__file__).parent / "benchmarks" / "models.py")

#: Runs of each command, of which the least counts: whatever else the machine does only adds to it.
RUNS = 3


@dataclass(frozen=True)
class Work:
    """Something to check: what of ``benchmarks/models.py`` makes it, of which size, what the engine does with it, and
    the options of irlint."""

    name: str
    make: str
    size: int
    engine: str = ""
    file: str = "model.onnx"
    options: tuple[str, ...] = ()
    runs: int = RUNS


WORKS = (
    Work("ONNX, 1,170 nodes", "blocks", 1170, ONNX),
    Work("ONNX, 11,700 nodes", "blocks", 11_700, ONNX),
    Work("ONNX, 100,000 nodes", "blocks", 100_000, ONNX, runs=1),
    Work("ONNX, 850 MB of weights inside", "heavy", 850 << 20, ONNX, runs=1),
    Work(
        "ONNX, 4 GB of external data",
        "external",
        4 << 30,
        ONNX_BY_PATH,
        runs=1,
    ),
    Work("ONNX, trees of 4.8 million entries", "trees", 4_800_000, ONNX),
    Work("IR, 930 layers", "layers", 930, OPENVINO, "model.xml"),
    Work("IR, 9,300 layers", "layers", 9300, OPENVINO, "model.xml"),
    Work(
        "IR, 930 layers beside 4 GB of .bin",
        "beside",
        4 << 30,
        OPENVINO,
        "model.xml",
    ),
    Work("10,000 findings", "wrong", 10_000),
    Work("10,000 findings, all drawn", "wrong", 10_000, options=("--verbose",)),
    Work("1,000 files of a block", "many", 1000, file="models"),
    Work("contract, 11,700 nodes", "blocks", 11_700, options=("contract",)),
    Work("targets, 11,700 nodes", "blocks", 11_700, options=("targets",)),
)


def made(work: Work, folder: Path, size: int) -> Path:
    """The path of a model, made by a process of its own: the memory of this one would count as that of those that it
    starts."""
    path = folder / work.file
    subprocess.run([sys.executable, MODELS, work.make, str(path), str(size)], check=True)
    return path


def spent(command: list[str]) -> tuple[float, float]:
    """The CPU seconds of a process and those that it waited for, and its peak memory in MB."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale


def least(*commands: list[str], runs: int = RUNS) -> list[tuple[float, float]]:
    """The least seconds and memory of each command, run in turns."""
    taken = [[spent(command) for command in commands] for _ in range(runs)]
    return [(min(each[0] for each in column), min(each[1] for each in column)) for column in zip(*taken)]


def irlint(options: tuple[str, ...], path: Path) -> list[str]:
    """The command of a check, or of another command where the options begin with its name."""
    return [sys.executable, "-m", "irlint", *options, str(path)]


def line(name: str, ours: tuple[float, float], theirs: tuple[float, float] | None, growth: float | None) -> str:
    """A row of the table."""
    engine = "| |" if theirs is None else f"| {theirs[0]:.2f} s, {theirs[1]:.0f} MB | {theirs[0] / ours[0]:.1f} times"
    doubled = "" if growth is None else f"{growth:.1f} times"
    return f"| {name} | {ours[0]:.2f} s, {ours[1]:.0f} MB {engine} | {doubled} |"


def measured(work: Work, folder: Path, tenth: bool) -> str:
    """The row of one piece of work."""
    size = work.size // 10 if tenth else work.size
    path = made(work, folder, size)
    commands = [irlint(work.options, path)]
    if work.engine:
        commands.append([sys.executable, "-c", work.engine.format(path=str(path))])
    found = least(*commands, runs=work.runs)
    ours, theirs = found[0], found[1] if len(found) > 1 else None
    growth = None
    if work.size < 1 << 20 or work.options:
        (more,) = least(irlint(work.options, made(work, folder, 2 * size)), runs=work.runs)
        growth = more[0] / ours[0]
    return line(work.name + ", a tenth" * tenth, ours, theirs, growth)


def named(paths: list[str]) -> Iterator[str]:
    """The rows of models that are named."""
    for path in paths:
        engine = OPENVINO if path.endswith(".xml") else ONNX
        ours, theirs = least(irlint((), Path(path)), [sys.executable, "-c", engine.format(path=path)])
        yield line(path, ours, theirs, None)


def main() -> None:
    """Measures the models that are named, or those that it makes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="without any, models that are made for it")
    parser.add_argument("--quick", action="store_true", help="a tenth of each model that is made")
    options = parser.parse_args()
    paths, tenth = options.models, options.quick
    print("| work | irlint | engine | engine to irlint | growth from n to 2n |\n|---|---|---|---|---|", flush=True)
    for row in named(paths):
        print(row, flush=True)
    for work in () if paths else WORKS:
        with tempfile.TemporaryDirectory() as folder:
            print(measured(work, Path(folder), tenth), flush=True)


if __name__ == "__main__":
    main()
