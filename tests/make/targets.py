"""Adds a release of ONNX Runtime, OpenVINO or TensorRT for RTX to the tables of ``irlint/targets/measured``, by asking
its wheel.

``python tests/make/targets.py onnxruntime==1.33.0 openvino==2027.0.0`` installs each wheel beside the environment, asks
it in a process of its own, and writes its column; a folder in which a wheel is installed, as ``onnxruntime=FOLDER``, is
asked as it is. A column of the same major and minor version is replaced. ``tensorrt==10.16=PAGE`` adds what the
vendor's page says. ``--forms openvino==2026.4.1`` asks a release again only about the models of ``FORMS``.
``--show onnxruntime`` prints a table.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from measuring import (
    joining,
    onnxruntime_forms,
    onnxruntime_questions,
    openvino_forms,
    openvino_questions,
    qnn_questions,
    tensorrt_page,
    tensorrt_rtx_forms,
    tensorrt_rtx_questions,
)

from irlint.targets.tables import compressed, uncompressed

MEASURED = Path(__file__).resolve().parents[2] / "irlint" / "targets" / "measured"
ASKED = Path(__file__).with_name("measuring") / "asked.py"
NEWEST = MEASURED.with_name("newest.py")
QUESTIONS = {
    "onnxruntime": onnxruntime_questions,
    "openvino": openvino_questions,
    "tensorrt-rtx": tensorrt_rtx_questions,
    "qnn": qnn_questions,
}

#: Modules of forms that can be asked alone.
FORMS: dict[str, Any] = {
    "onnxruntime": onnxruntime_forms,
    "openvino": openvino_forms,
    "tensorrt-rtx": tensorrt_rtx_forms,
}

#: The packages of a runtime that are not named as it is.
PACKAGES = {"tensorrt-rtx": ("tensorrt-rtx-cu12-libs", "tensorrt-rtx-cu12-bindings"), "qnn": ("onnxruntime-qnn",)}

#: What else a runtime needs, which loads its package.
BESIDE = {"qnn": "onnxruntime==1.32.0"}

#: So many seconds may a wheel take.
LIMIT = 3600

#: The last releases whose wheels need NumPy 1.
NEEDS_NUMPY_1 = {"onnxruntime": (1, 18), "openvino": (2024, 4)}


class Table:
    """Facts, each with the releases that it holds for."""

    def __init__(self, runtime: str) -> None:
        self.file = MEASURED / f"{runtime}.z"
        self.releases: list[str] = []
        self.facts: dict[str, set[str]] = {}
        if self.file.exists():
            releases, lines = uncompressed(self.file.read_bytes())
            self.releases = list(releases)
            for line in lines:
                stated, _, mask = line.rpartition("|")
                for fact in joining.apart(stated):
                    self.facts[fact] = {each for at, each in enumerate(self.releases) if int(mask, 16) >> at & 1}
            self.facts = joining.implied(self.facts) | self.facts

    def add(self, version: str, facts: Iterable[str]) -> None:
        """Puts in the column of a release, in the place of one of the same major and minor version."""
        same = [each for each in self.releases if each.split(".")[:2] == version.split(".")[:2]]
        for holding in self.facts.values():
            holding.difference_update(same)
        others = [each for each in self.releases if each not in same]
        self.releases = sorted([*others, version], key=_numbers)
        self._hold(version, facts)

    def renew(self, version: str, asked: Iterable[str], facts: Iterable[str]) -> None:
        """Puts some facts in the column of a release, in the place of those that were asked about."""
        column = next(each for each in self.releases if each.split(".")[:2] == version.split(".")[:2])
        for fact in chain.from_iterable(map(joining.apart, asked)):
            self.facts.get(fact, set()).discard(column)
        self._hold(column, facts)

    def _hold(self, column: str, facts: Iterable[str]) -> None:
        for fact in chain.from_iterable(map(joining.apart, facts)):
            self.facts.setdefault(fact, set()).add(column)

    def lines(self) -> list[str]:
        """The facts with their releases, as ``irlint.targets.tables`` has them."""
        implied = joining.implied(self.facts)
        facts = {each: set[str]() for each in implied} | self.facts
        stated = {fact: frozenset(each) for fact, each in facts.items() if each != implied.get(fact, set())}
        lines = []
        for fact, holding in joining.joined(joining.pruned(stated)).items():
            mask = sum(1 << at for at, each in enumerate(self.releases) if each in holding)
            lines += [f"{fact}|{mask:x}"] if mask or fact in implied else []
        return sorted(lines)

    def write(self) -> None:
        MEASURED.mkdir(exist_ok=True)
        self.file.write_bytes(compressed(self.releases, self.lines()))


def _numbers(release: str) -> list[int]:
    return [int(part) for part in release.split(".")]


def installed(runtime: str, version: str, folder: Path) -> list[Path]:
    """Installs a wheel, with the NumPy that it needs; where these stand."""
    wanted = {"wheel": [f"{each}=={version}" for each in PACKAGES.get(runtime, (runtime,))]}
    if runtime in BESIDE:
        wanted["beside"] = [BESIDE[runtime]]
    if tuple(_numbers(version)[:2]) <= NEEDS_NUMPY_1.get(runtime, ()):
        wanted["numpy"] = ["numpy<2"]
    for name, packages in wanted.items():
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            folder / name,
            *packages,
        ]
        subprocess.run(command, check=True)
    return [folder / name for name in wanted]


def answered(runtime: str, paths: list[Path], models: list[tuple[str, Any]]) -> dict[str, Any]:
    """What the wheel says, asked in a process of its own that has so much time."""
    with tempfile.TemporaryDirectory() as folder:
        questions, answers = Path(folder) / "questions", Path(folder) / "answers"
        questions.write_bytes(pickle.dumps(([str(path) for path in paths], models)))
        subprocess.run([sys.executable, ASKED, runtime, questions, answers], check=True, timeout=LIMIT)
        return json.loads(answers.read_text("utf-8"))  # type: ignore[no-any-return]


def measure_forms(entry: str) -> None:
    """Puts the answers of a release about forms in its column."""
    runtime, _, version = entry.partition("==")
    runtime, _, place = runtime.partition("=")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(each) for each in place.split(":")] if place else installed(runtime, version, Path(folder))
        found = answered(runtime, paths, list(FORMS[runtime].models()))
    facts = list(FORMS[runtime].facts(found["answers"]))
    table = Table(runtime)
    table.renew(found["version"].split("-")[0], FORMS[runtime].FACTS, facts)
    table.write()
    print(f"{runtime} {found['version']}: {len(facts)} of {len(FORMS[runtime].FACTS)} forms")


def measure(entry: str) -> None:
    """Adds the column of ``onnxruntime==1.33.0``, or of the wheel in FOLDER of ``onnxruntime=FOLDER``."""
    runtime, _, version = entry.partition("==")
    if runtime == "tensorrt":
        release, _, page = version.partition("=")
        listed = Table(runtime)
        listed.add(release, tensorrt_page.facts(Path(page).read_text("utf-8")))
        listed.write()
        return
    runtime, _, place = runtime.partition("=")
    questions = QUESTIONS[runtime]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(each) for each in place.split(":")] if place else installed(runtime, version, Path(folder))
        found = answered(runtime, paths, questions.models())
        if hasattr(questions, "more"):
            found["answers"] |= answered(runtime, paths, questions.more(found["answers"]))["answers"]
        if hasattr(questions, "again"):
            found["answers"] |= answered(runtime, paths, questions.again(found["answers"]))["answers"]
    if not found.get("kernels", True):
        raise SystemExit(f"{entry}: the wheel does not list its kernels, as none before 1.16 does")
    release = ".".join(found["version"].split("-")[0].split(".")[:3])
    if runtime == "openvino":
        of_ir = Table("openvino-ir")
        of_ir.add(release, openvino_questions.facts_of_ir(found))
        of_ir.write()
    table = Table(runtime)
    table.add(release, questions.facts(found))
    table.write()
    if runtime == "onnxruntime":
        NEWEST.write_text(onnxruntime_questions.newest(table.releases[-1], table.facts), "ascii")
    print(f"{runtime} {release}: {sum(release in holding for holding in table.facts.values())} facts")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        if sys.argv[1] == "--show":
            if argument != "--show":
                print(*Table(argument).lines(), sep="\n")
        elif sys.argv[1] == "--forms":
            if argument != "--forms":
                measure_forms(argument)
        else:
            measure(argument)
