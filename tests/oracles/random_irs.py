"""Random IRs against OpenVINO: verdict, element types and shapes; ``cd tests && python -m oracles.random_irs`` runs for
the given time."""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from cases.models import OV_NAMES
from oracles.differences import LISTED
from oracles.ir_bodies import chosen, iterated
from oracles.ir_chains import chain
from oracles.ir_generator import Case, cases, document, lines, settled
from oracles.ir_graphs import Net
from oracles.openvino_worker import compiles

from irlint.dims import bounds
from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor, type_text
from irlint.parsers import openvino as parser

#: Where ``-m oracles.random_irs`` is found.
TESTS = Path(__file__).resolve().parents[1]


def written(case: Case | Net) -> tuple[bytes, bytes]:
    """The IR of a case: xml and weights."""
    return case.document() if isinstance(case, Net) else document(case)


def fixed(case: Case | Net, random: Random) -> Case | Net:
    """The case with a number for every size that it leaves open."""
    return case.settled(random) if isinstance(case, Net) else settled(case, random)


def openvino_types(xml: bytes, weights: bytes) -> list[tuple[str | None, Any]] | str:
    """Element type and (least, most) of every dim of each output, or the text of the refusal."""
    import openvino
    from oracles.engines import _core

    try:
        model = _core().read_model(xml, openvino.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
    except Exception as error:
        return str(error)
    return [(_type_name(output), _intervals(output.get_partial_shape())) for output in model.outputs]


def _type_name(output: Any) -> str | None:
    name = output.get_element_type().get_type_name()
    return None if name == "dynamic" else OV_NAMES.get(name, name)


def _intervals(shape: Any) -> list[tuple[int, int | None]] | None:
    if shape.rank.is_dynamic:
        return None
    return [(dim.get_min_length(), dim.get_max_length() if dim.get_max_length() >= 0 else None) for dim in shape]


def irlint_types(xml: bytes, weights: bytes) -> tuple[list[Any], list[Any]]:
    """What irlint knows of every output, and its faults."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        path.write_bytes(xml)
        path.with_suffix(".bin").write_bytes(weights)
        model = parser.read(path)
        known = inferred(model)
    assert model.graph is not None
    faults = [problem.fault for problem in (*model.problems, *known.problems)]
    return [known.types.get(value) for value in model.graph.outputs], faults


def severity(fault: Any) -> Severity:
    return fault.severity


def difference(case: Case | Net) -> tuple[str, str] | None:
    """How the two verdicts on a case differ: a short key and a text; None where they agree."""
    xml, weights = written(case)
    theirs = openvino_types(xml, weights)
    ours, faults = irlint_types(xml, weights)
    errors = [fault for fault in faults if severity(fault) is Severity.ERROR]
    failed = [fault for fault in faults if fault.rule.code == "IRL599"]
    if failed:
        return "crashed", failed[0].message
    if isinstance(theirs, str):
        if errors:
            return None
        warned = " ".join(fault.rule.code for fault in faults if severity(fault) is Severity.WARNING)
        return f"missed {warned}", _reason(theirs)
    if errors and (impossible(case) or not compiles(xml, weights) or fails_to_run(case)):
        return None
    if errors:
        return f"false {errors[0].rule.code}", errors[0].message + f" (openvino: {theirs})"
    for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
        problem = _contradiction(their, our)
        if problem:
            return problem, f"output {index}: openvino {their}, irlint {type_text(our)}"
    return None


def impossible(case: Case | Net) -> bool:
    """Whether OpenVINO refuses the case for whatever numbers its open sizes have."""
    random = Random(0)
    variants = {fixed(case, random) for _ in range(60)}
    return variants != {case} and all(isinstance(openvino_types(*written(each)), str) for each in variants)


def fails_to_run(case: Case | Net) -> str:
    """Why OpenVINO cannot compile or run any of some variants of the case with numbers for its sizes, "" where it
    can."""
    import openvino
    from oracles.engines import _core

    random, text = Random(0), ""
    for _ in range(12):
        xml, weights = written(fixed(case, random))
        try:
            model = _core().read_model(xml, openvino.Tensor(np.frombuffer(weights or b"\0", np.uint8)))
            compiled = _core().compile_model(model, "CPU")
            inputs = [np.zeros(tuple(port.shape), port.element_type.to_dtype()) for port in compiled.inputs]
            compiled(inputs)
        except Exception as error:
            text = _reason(str(error))
            continue
        return ""
    return text


def _reason(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while lines and lines[0].startswith(("Exception from", "Check '", "While validating", "Shape inference input")):
        lines.pop(0)
    return " ".join(lines)[-300:] if lines else text[-300:]


def _contradiction(their: tuple[str | None, Any], our: Any) -> str:
    dtype, intervals = their
    if not isinstance(our, Tensor):
        return "no tensor"
    if dtype != our.dtype and dtype is not None:
        return "type"
    if intervals is None or (our.shape is not None and len(our.shape) != len(intervals)):
        return "" if intervals is None else "rank"
    if our.shape is None:
        return "rank unknown"
    for dim, (low, high) in zip(our.shape, intervals):
        least, most = (None, None) if dim is None else bounds(dim)
        if high is not None and low > high:
            continue
        if low == high and dim != low:
            return "dim unknown" if not isinstance(dim, int) else "dim"
        if (most is not None and most < low) or (high is not None and least is not None and least > high):
            return "dim outside"
    return ""


def listed(case: Case | Net, key: str, text: str) -> str:
    """Why the difference is one on purpose, "" where nothing says so."""
    for kind, part, reason in LISTED:
        if re.search(kind, key) and re.search(part, f"{case}\n{text}", re.DOTALL):
            return reason
    return ""


# --- the work, in a process that the library may bring down -----------------------------------------------------------


def stream(seed: int, only: str) -> Iterator[Case | Net]:
    """Single layers, and every fifth time several; ``only`` names operations, or is "nets"."""
    random = Random(seed)
    makers = (chain, chain, chain, chain, iterated, iterated, chosen)
    several = (random.choice(makers)(random) for _ in itertools.count())
    if only == "nets":
        yield from several
    single = cases(random, [line for line in lines() if not only or set(only.split(",")) & set(line.names)])
    while True:
        yield next(several) if not only and random.random() < 0.2 else next(single)


def worked(options: argparse.Namespace) -> None:
    """Compares the cases from ``start`` on; notes the number of each case, and of the differences, before it is
    tried."""
    end = time.monotonic() + options.seconds if options.seconds else None
    log, found, seen = Path(options.log), 0, Counter[str]()
    for number, case in enumerate(
        itertools.islice(stream(options.seed, options.only), options.start, options.count or None)
    ):
        if end is not None and time.monotonic() > end:
            break
        log.write_text(f"{options.start + number} {found}")
        differs = difference(case)
        if not differs or (listed(case, *differs) and not options.all):
            continue
        found += 1
        key = f"{case.op} {differs[0]}"
        seen[key] += 1
        if seen[key] > 3:
            continue
        print(f"{key}\n    {case}\n    {differs[1]}", flush=True)
    else:
        number += 1
    log.write_text(f"{options.start + number} {found}")


def died(case: Case | Net, signal: int) -> int:
    """One, after printing irlint's result for a case that crashes the library, where that is not an error."""
    _, faults = irlint_types(*written(case))
    if any(severity(fault) is Severity.ERROR for fault in faults) or listed(case, f"died {case.op}", ""):
        return 0
    print(f"{case.op} brings the library down (signal {signal})\n    {case}", flush=True)
    return 1


def parsed() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Compares random IRs until the time is over, or a number of them.")
    options.add_argument("--seconds", type=float, default=0)
    options.add_argument("--count", type=int, default=0)
    options.add_argument("--seed", type=int, default=20)
    options.add_argument("--only", default="", help="names of operations, with commas; or nets")
    options.add_argument("--all", action="store_true", help="also print the differences that are listed")
    options.add_argument("--start", type=int, default=0, help=argparse.SUPPRESS)
    options.add_argument("--log", default="", help=argparse.SUPPRESS)
    return options.parse_args()


def main() -> None:
    options = parsed()
    if options.log:
        worked(options)
        return
    end = time.monotonic() + (options.seconds or (60 if not options.count else 0))
    log, start, total = Path(tempfile.mkdtemp()) / "log", 0, 0
    while True:
        command = [
            sys.executable,
            "-m",
            __spec__.name,
            "--seed",
            str(options.seed),
            "--only",
            options.only,
            "--log",
            str(log),
        ]
        command += ["--all"] * options.all + ["--start", str(start)]
        limit = ["--count", str(options.count)] if options.count else ["--seconds", str(max(end - time.monotonic(), 1))]
        done = subprocess.run([*command, *limit], cwd=TESTS, check=False)
        start, found = map(int, log.read_text().split())
        total += found
        if done.returncode >= 0:
            break
        total += died(next(itertools.islice(stream(options.seed, options.only), start, None)), -done.returncode)
        start += 1
    print(f"# {start} cases, {total} difference{'s' * (total != 1)}", flush=True)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
