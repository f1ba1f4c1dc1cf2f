"""What irlint's answers about models are worth: each is compared with what the engine does."""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import irlint

from . import sizes as choice
from .engine import FILLS

#: So many seconds may an engine take to load a model, and to run it once.
LOADING, RUNNING = 120, 20

#: So many seconds may all questions about one model take.
TOGETHER = 90

#: Parts of the names of sizes that only data decide.
DATA = ("_nonzero", "_nonmaxsuppression", "_unique", "_compress")


class Engine:
    """A process that is started again where it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process: subprocess.Popen[bytes] | None = None

    def loaded(self) -> str:
        """Why the model cannot be loaded; an empty text where it can."""
        self.stop()
        command = [sys.executable, str(Path(__file__).with_name("engine.py"))]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        return str(self._answer({"model": str(self.path)}, LOADING).get("error", ""))

    def run(self, inputs: Sequence[Any], fill: str, static: bool = False) -> dict[str, Any]:
        """The shapes of the outputs, or the error."""
        if self.process is None:
            error = self.loaded()
            if error:
                return {"error": error}
        return self._answer({"inputs": inputs, "fill": fill, "static": static}, RUNNING)

    def _answer(self, question: dict[str, Any], limit: int) -> dict[str, Any]:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
        except BrokenPipeError:
            self.stop()
            return {"error": "the process ended"}
        line = b""
        end = time.monotonic() + limit
        while not line.endswith(b"\n"):
            if not select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.stop()
                return {"error": "took too long"}
            part = process.stdout.read(65536)
            if not part:
                code = process.wait()
                self.stop()
                return {"error": f"the process ended with {code}"}
            line += part
        return dict(json.loads(line.splitlines()[-1]))

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()  # type: ignore[union-attr]
            self.process.stdout.close()  # type: ignore[union-attr]
            self.process = None


@dataclass
class Answers:
    """What was found about one model."""

    model: str
    load_error: str = ""
    findings: list[str] = field(default_factory=list)
    false_errors: list[str] = field(default_factory=list)
    missed_load: bool = False
    worked: int = 0
    failed: int = 0
    predicted: int = 0
    in_branches: int = 0
    excluded: list[Any] = field(default_factory=list)
    missed: list[Any] = field(default_factory=list)
    differing: list[Any] = field(default_factory=list)
    lenient: list[Any] = field(default_factory=list)
    undecided: int = 0
    output_sizes: int = 0
    unknown: int = 0
    data_dependent: int = 0
    unknown_sizes: list[str] = field(default_factory=list)
    wrong: list[Any] = field(default_factory=list)
    false_claims: list[str] = field(default_factory=list)
    crashed: str = ""
    seconds: float = 0.0


def run(folder: Path, parts: Sequence[str], count: int, target: Path | None, resume: bool) -> None:
    """Asks about each model of a folder and prints what was found; with ``resume`` what the target has is not asked
    again."""
    paths = sorted([*folder.glob("*.onnx"), *folder.glob("*.xml")])
    found = (
        [Answers(**each) for each in json.loads(target.read_text())] if resume and target and target.exists() else []
    )
    asked_before = {each.model for each in found}
    print(f"irlint from {Path(irlint.__file__).parent}")
    for path in paths:
        if path.name in asked_before or (parts and not any(part in path.name for part in parts)):
            continue
        answers = asked(path, count)
        found.append(answers)
        for line in disagreements(answers):
            print(f"{path.name}: {line}", flush=True)
        if target:
            target.write_text(json.dumps([vars(each) for each in found], indent=1))
    print("\n".join(figures(found)))


def asked(path: Path, count: int) -> Answers:
    """What irlint and the engine answer about one model."""
    answers = Answers(path.name)
    engine = Engine(path)
    try:
        start = time.monotonic()
        report = irlint.check(path)
        contract = irlint.contract(path)
        answers.seconds = round(time.monotonic() - start, 3)
        answers.findings = [
            f"{each.severity.value.upper()} {each.rule.code} {each.node or each.value}: {each.message}"
            for each in report.findings
        ]
        answers.load_error = engine.loaded()
        if not answers.load_error:
            _probed(answers, engine, contract, path, count)
        errors = [text for text in answers.findings if text.startswith("ERROR")]
        if answers.load_error:
            answers.missed_load = not errors
        elif answers.worked:
            answers.false_errors = errors
        elif errors:
            answers.predicted, answers.missed = answers.failed, []
    except Exception as error:
        answers.crashed = f"{type(error).__name__}: {error}"
    finally:
        engine.stop()
    return answers


def _probed(answers: Answers, engine: Engine, contract: dict[str, Any], path: Path, count: int) -> None:
    beside = path.with_suffix(".json")
    examples = json.loads(beside.read_text())["examples"] if beside.exists() else {}
    answers.undecided = contract.get("undecided", 0)
    end = time.monotonic() + TOGETHER
    for at, sizes in enumerate(choice.chosen(contract, choice.example(contract, examples), count, path.name)):
        if time.monotonic() > end:
            break
        shapes = choice.shapes(contract, sizes) or []
        inputs = [[each["name"], each["dtype"] or "float32", shape] for each, shape in zip(contract["inputs"], shapes)]
        errors = []
        returned = None
        for fill in FILLS:
            found = engine.run(inputs, fill)
            if "shapes" in found:
                returned = found["shapes"]
                break
            errors.append(found["error"])
        if returned is not None and not choice.holds(contract, sizes):
            static = engine.run(inputs, FILLS[0], static=True)
            if "error" in static:
                answers.lenient.append([sizes, choice.broken(contract, sizes), static["error"]])
                continue
        _compared(answers, contract, sizes, errors, returned)
        if returned is not None and at < 12 and choice.holds(contract, sizes):
            again = (
                [engine.run(inputs, fill).get("shapes", returned) for fill in FILLS[1:]]
                if _has_unknown(contract)
                else []
            )
            before = len(answers.wrong)
            _outputs(answers, contract, sizes, [returned, *again])
            if len(answers.wrong) > before:
                static = engine.run(inputs, FILLS[0], static=True).get("shapes")
                if static != returned:
                    answers.differing.append([sizes, returned, static])
                    del answers.wrong[before:]


def _compared(
    answers: Answers, contract: dict[str, Any], sizes: dict[str, int], errors: list[str], returned: list[Any] | None
) -> None:
    allowed = choice.holds(contract, sizes)
    if returned is not None:
        answers.worked += 1
        if not allowed:
            answers.excluded.append([sizes, choice.broken(contract, sizes) or "not satisfiable"])
            return
        for name, size in sizes.items():
            for finding in answers.findings:
                only = re.search(rf"`{re.escape(name)}`.*\bonly (\d+)( \(and 1|, and 1)?", finding)
                if "IRL608" in finding and only and size not in (int(only[1]), 1 if only[2] else int(only[1])):
                    answers.false_claims.append(f"{sizes}: {finding}")
    else:
        answers.failed += 1
        if not allowed:
            answers.predicted += 1
        elif not choice.holds(contract, sizes, branches=True):
            answers.predicted += 1
            answers.in_branches += 1
        else:
            answers.missed.append([sizes, errors[0]])


def _has_unknown(contract: dict[str, Any]) -> bool:
    known = dict.fromkeys(choice.names_of(contract), 2)
    return any(
        each.get("shape") is None or any(choice.value_of(dim, known) is None for dim in each["shape"])
        for each in contract["outputs"]
    )


def _outputs(answers: Answers, contract: dict[str, Any], sizes: dict[str, int], runs: list[list[Any]]) -> None:
    """Counts the sizes of outputs once for each run of other sizes; a size is decided by data where other values give
    another one."""
    first = runs[0]
    for at, (stated, got) in enumerate(zip(contract["outputs"], first)):
        if got is None:
            continue
        dims = stated.get("shape")
        if dims is not None and len(dims) != len(got):
            answers.wrong.append([sizes, stated["name"], dims, got])
            continue
        for axis, size in enumerate(got):
            answers.output_sizes += 1
            text = None if dims is None else dims[axis]
            value = choice.value_of(text, sizes)
            if value is None:
                key = f"{stated['name']}[{axis}] = {text}"
                by_data = any(word in str(text) for word in DATA) or any(
                    run[at] is not None and run[at][axis] != size for run in runs[1:]
                )
                answers.unknown += 1
                answers.data_dependent += by_data
                if key not in answers.unknown_sizes:
                    answers.unknown_sizes.append(key)
            elif value != size:
                answers.wrong.append([sizes, f"{stated['name']}[{axis}] = {text}", value, size])


def disagreements(each: Answers) -> list[str]:
    """A line for each answer of irlint that the engine contradicts."""
    found = []
    if each.crashed:
        found.append(f"CRASH {each.crashed}")
    if each.load_error:
        found.append(f"{'MISSED ' if each.missed_load else ''}LOAD ERROR {each.load_error[:300]}")
    found += [f"FALSE ERROR {text[:400]}" for text in each.false_errors]
    found += [f"FALSE CLAIM {text[:400]}" for text in each.false_claims[:3]]
    if each.lenient:
        found.append(f"LENIENT {len(each.lenient)}x, as at {each.lenient[0]}"[:500])
    found += [f"EXCLUDED BUT WORKS {sizes} by {why}" for sizes, why in each.excluded[:3]]
    causes: dict[str, Any] = {}
    for sizes, error in each.missed:
        causes.setdefault(re.sub(r"\d+", "#", error)[:160], [0, sizes, error])[0] += 1
    found += [f"NOT PREDICTED {number}x, as at {sizes}: {error[:300]}" for number, sizes, error in causes.values()]
    found += [f"WRONG OUTPUT {text}" for text in each.wrong[:3]]
    if each.unknown_sizes:
        found.append(
            f"UNKNOWN {each.unknown} of {each.output_sizes}, {each.data_dependent} by data: {each.unknown_sizes[:4]}"
        )
    if not each.load_error and not each.worked:
        found.append(f"no size worked ({each.failed} failed, {each.predicted} predicted)")
    return found


def figures(found: Sequence[Answers]) -> list[str]:
    """What all answers together are worth."""

    def total(name: str) -> int:
        return sum(getattr(each, name) for each in found)

    def many(name: str) -> str:
        counts = [len(getattr(each, name)) for each in found]
        return f"{sum(counts)} in {sum(map(bool, counts))} models"

    failed, predicted = total("failed"), total("predicted")
    unknown, by_data, counted = total("unknown"), total("data_dependent"), total("output_sizes")
    findings = Counter(text.split()[0] + " " + text.split()[1] for each in found for text in each.findings)
    return [
        f"{len(found)} models, {sum(not each.load_error for each in found)} loaded, "
        f"{sum(map(bool, (each.worked for each in found)))} worked at some size",
        f"false errors: {many('false_errors')}; crashes of irlint: {sum(bool(each.crashed) for each in found)}",
        f"models that do not load and have no error: {sum(each.missed_load for each in found)}",
        f"sizes that worked: {total('worked')}, of them excluded: {many('excluded')}; false claims: "
        f"{many('false_claims')}",
        f"sizes that failed: {failed}, predicted: {predicted} ({100 * predicted / max(1, failed):.1f} %), not "
        f"predicted: {many('missed')}",
        f"sizes that an engine runs and refuses once they are declared, excluded: {many('lenient')}",
        f"sizes at which an engine returns another shape once they are declared: {many('differing')}",
        f"output sizes: {counted}, wrong: {many('wrong')}, unknown: {unknown} ({100 * unknown / max(1, counted):.2f} "
        f"%), without those seen to depend on data: {unknown - by_data} "
        f"({100 * (unknown - by_data) / max(1, counted):.2f} %)",
        f"findings: {dict(sorted(findings.items()))}",
        f"check and contract took {total('seconds'):.1f} s",
    ]
