"""Random IRs against OpenVINO: verdict, element types and shapes; ``cd tests && python -m oracles.random_irs`` goes on for as long as it is told."""

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

#: Where irlint and OpenVINO differ on purpose: (kind of difference, what stands in the case or the text, why).
LISTED = (
    # refused by the library, allowed by the specification: a warning that quotes both
    (
        "missed .*IRL205",
        "",
        "the specification ignores trailing 1s, calls the attribute `axis` and takes -1 for its default",
    ),
    ("missed .*IRL510", r"DepthToSpace@|SpaceToDepth@", "the default of block_size is 1 by the specification"),
    (
        "missed .*IRL504",
        r"(Bucketize|DeformableConvolution|PSROIPooling)@",
        "the attribute has a default by the specification; the library refuses the layer without it",
    ),
    (
        "missed .*IRL510",
        r"pads_(begin|end)='[^']*-|dilations='[^']*-|strides='[^']*-",
        "nothing follows from a window below 0",
    ),
    # refused by the library for what it does not know, not for what the file says
    (
        "missed",
        r"dynamic\[",
        "the library wants an element type from the input of some operations, whatever it may become",
    ),
    (
        "missed",
        "Value for partial shape evaluation can't be lower",
        "the library evaluates a -1 that the operation allows",
    ),
    ("missed", r"\[\.\.\.\].*Accessing out-of-range dimension", "the library reads a size of an unknown rank"),
    (
        "missed",
        r"Unique@\d+ \S+ (%\d+|\w+(\[|\S*<|\{\S*as\[)).*'axis' input of the Unique",
        "that a value is a Const, and not computed, is not part of what is known of it",
    ),
    ("missed", r"has to extend \(relax\)", "an unknown rank may come from anywhere"),
    ("missed", r"Broadcast incorrect target shape", "the size may be 1, and is then stretched"),
    (
        "missed",
        r"BackpropData@.*(\.\.\d*|-1)\].*Accessing out-of-range",
        "the library wants the length of output_shape",
    ),
    ("missed", r"Col2Im@.*to_shape was called on a dynamic shape", "the library wants the length of a list"),
    (
        "missed",
        r"VariadicSplit@.*i(32|64)\[\.\.\.\].*out of range",
        "the library makes no output for a list of unknown rank",
    ),
    ("missed", r"Transpose@\d+ \S+ \S+\{\}.*cannot be a scalar", "an empty order reverses an input of unknown rank"),
    ("false IRL365", r"Interpolate@[123] .*entr(y|ies) for \d ax[ei]s", "the library reads past the end of the sizes"),
    ("died", r"Interpolate@[123] ", "the library reads past the end of the sizes"),
    ("died", r"(MaxPool|AvgPool|Slice|Broadcast)", "an input is missing"),
    ("false IRL510", "Col2Im@", "the library reads past the end of a list of one"),
    # another number of elements, or more of them than there are: the library cuts off what is there, or reads what is not
    (
        "false IRL330",
        r"Reshape@\d+ [^\n]*(?i:special_zero='true')",
        "a 0 copies a size, and the library cuts off the rest",
    ),
    # refused where there are elements, and never looked at where there are none
    ("false IRL349", "TopK@", "k exceeds the axis"),
    ("false IRL202", "PRelu@", "the slope does not fit"),
    # numbers that the specification forbids and the library takes: irlint warns and draws no conclusion
    (
        "dim unknown",
        r"(strides|dilations|pads_begin|pads_end|rates|sizes)='[^']*(-\d|\b0\b)",
        "a window below 0 or of 0",
    ),
    ("dim unknown", r"(Convolution|ConvolutionBackpropData)@.*[\[,]0[\],]", "a kernel of size 0"),
    ("dim unknown", r"(max_detections_per_image|post_nms_count|post_nms_topn|max_rois)='-", "a count below 0"),
    ("dim unknown", r"NonMaxSuppression@.*i(32|64)(=|\{)-", "a count below 0"),
    # the library knows too much
    (
        "dim unknown|^dim$",
        r"RDFT@",
        "without a known signal_size the library keeps the input's size; running gives another",
    ),
    (
        "dim unknown",
        r"NonMaxSuppression@[1-4] .*(\.\.|-1)",
        "the library takes the upper end of an interval, or 1, for the number",
    ),
    ("dim unknown", r"Reshape@.*(<interval>|\.\.)", "the library divides the ends of intervals, and rounds"),
    ("dim unknown", r"Reshape@.*0,-1", "the library takes 1 for a -1 beside a size of 0"),
    (
        "dim unknown",
        r"(GatherTree|ROIAlign|FakeConvert|Select)@.*\.\.",
        "the library takes what two intervals share; irlint states that both are equal",
    ),
    ("dim unknown", r"\.\..*='[Pp][Dd]", "no number of the interval fits"),
    ("dim unknown", r"Unique@", "the library knows that there is at least one unique slice"),
    (
        "dim unknown",
        r"Slice@\d+ \S*\.\.",
        "the library takes the upper end of an interval for the size that a -2 counts from",
    ),
    ("dim unknown", r"RNN(Cell|Sequence)@.*-1", "the hidden size follows from W alone"),
    ("^dim$", r"NonMaxSuppression@[1-4] \S+ \S*\.\.", "the library takes the upper end of an interval for the number"),
    ("^dim$", r"BackpropData@\d+ \S*\b0\b", "no input"),
    (
        "rank unknown",
        r"Transpose@\d+ \w+\[\.\.\.\] \w+\{\}\S* .*openvino \('\w+', \[\]\)",
        "an empty order reverses an input of unknown rank; no scalar follows",
    ),
    ("^rank$", r"BackpropData@.*(\.\.|-1)\S*\] ;", "with an output_shape of unknown length the library loses an axis"),
    ("dim unknown", r"\.\..*\.\.", "the library takes what two intervals share; irlint states that both are equal"),
    ("type", r"dynamic\[", "an element type left open, which another input fixes"),
    ("missed", r"Unique@.*Split@.*Interval\(1, ", "the library knows that there is at least one unique slice"),
    ("^rank$", r"Col2Im@\d+ \w+\[\d*\.\..*Squeeze@", "irlint knows ends of the number of channels, the library none"),
    (
        "missed",
        r"Axis -?\d{10,} out of",
        "the library divides by 0, or counts an empty interval",
    ),
    ("missed", r"(\.\.|-1).*Cannot infer '-1' dimension with zero-size", "a size of input 0 may be 0"),
    ("missed", "Output pattern dim.* has invalid bounds", "the library works out the bounds of a target to nonsense"),
    ("missed", r"Unique@.*Divide@.*Axis \d+ out of", "the library knows that there is at least one unique slice"),
    ("^dim$", r"Unique@\d+ %", "the library knows that there is at least one unique slice, even of nothing"),
    (
        "dim unknown",
        r"\.\..*Slice@\d+ %",
        "the library takes the upper end of an interval for the size that a -2 counts from",
    ),
    ("missed", r"Transpose@\d+ \w+\[\.\.\.\] \w+\{\} ", "the reverse of an unknown rank is no scalar"),
    ("dim unknown", r"Subtract@.*Interpolate@", "a size below 0"),
    ("dim unknown", r"Convolution@\d+ \S+ \w+\[[^\]]*\.\.", "only one number of the interval leaves an output"),
    ("^rank$", r"(Minimum|Maximum|Negative|Select)@.*Squeeze@", "the library does not know the axis"),
    (
        "missed",
        r"DetectionOutput@.*num_loc_classes \* 4 \(0\)",
        "the library counts 0 classes where it cannot count them",
    ),
    ("missed", r"body (changes|uneven).*Squeeze@", "what is removed in a body depends on when it is asked"),
    ("died", r"DetectionOutput@.*keep_top_k=''", "the library crashes on an empty list"),
    ("missed", r"Requested output shape \[\d{10,}\]", "the library counts an empty interval"),
    ("missed", r"Transpose@\d+ \S+ \w+\{\} .*rank range \[-\d, 0\]", "the reverse of an unknown rank is no scalar"),
    ("dim outside", r"Broadcast@.*='pdpd'", "no number of the interval fits"),
    (
        "missed",
        r"DeformableConvolution@.*-1.*offsets and output",
        "the library takes an open kernel for one of 1 at least",
    ),
    ("missed", r"\[\.\.\.\].*Concat@.*Got: \d+\.\.", "the library knows a lower end for the sum with an open size"),
    ("missed", "'0' dimension is out of range", "an entry of a target may be 0, and need not be"),
    ("dim outside", "NonMaxSuppression@[1-4] ", "a count below 0"),
    (
        "dim outside",
        "special_zero='true'",
        "an entry of a target may be 0, and then copies a size; irlint takes it for a size",
    ),
    (
        "^rank$|missed .*IRL332",
        r"(Loop|TensorIterator|If)@.*Squeeze@",
        "what is removed in a body depends on when it is asked",
    ),
    ("missed", r"SliceScatter@\d+ \w+\[\.\.\.\] .*expected slice shape \[0,", "no elements, from whatever there is"),
    (
        "rank unknown",
        r"Transpose@\d+ \S+ i64\{\}\S* .*openvino \('\w+', \[\]\)",
        "the reverse of an unknown rank is no scalar",
    ),
    ("missed", "integer division by zero", "the library computes what no shape follows from"),
    (
        "^(dim|rank|type)",
        r"body (changes|uneven)",
        "the library looks at the first iteration, at the last number of slices",
    ),
    ("dim unknown", r"Reshape@.*\{.*-1", "the library takes 1 for a -1 beside a size of 0"),
    ("rank unknown|missed .*IRL347", r"Gather@.*batch_dims='-", "a batch_dims below what the specification allows"),
    ("died", "Col2Im@", "the specification has defaults for the attributes without which the library crashes"),
    (
        "dim unknown",
        "Einsum@",
        "the library takes what two sizes of one label share; irlint states that both are equal",
    ),
    ("type", r"ConvertPromoteTypes@.*\[\.\.\.\]", "whether an input is a scalar decides its part"),
    ("missed", r"Concat@.*\[\.\.\.\].*Got: \d+\.\.", "the library knows a lower end for the sum with an open size"),
    (
        "dim unknown",
        r"TopK@.*<(open|interval)>|TopK@.*\.\.",
        "the library takes the smaller of k and the axis; irlint states that k is not larger",
    ),
    (
        "dim unknown",
        r"(STFT|DepthToSpace|SpaceToDepth|BatchToSpace|Reshape)@.*\.\.",
        "the library rounds the ends of an interval; irlint keeps the formula",
    ),
    (
        "missed",
        r"Convolution\S*@.*[\[,]0[,\]].*Input channels dimension",
        "no channels, which an open number of channels may be",
    ),
    ("missed", r"\[\.\.\.\].*Rank must be static", "the library counts from the end of a known rank only"),
)


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
    """Why OpenVINO cannot compile or run any of some variants of the case with numbers for its sizes, "" where it can."""
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
    """Compares the cases from ``start`` on; notes the number of each case, and of the differences, before it is tried."""
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
    """One, after telling what irlint makes of a case that brings the library down, where that is not an error."""
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
    options.add_argument("--all", action="store_true", help="also tell the differences that are listed")
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
