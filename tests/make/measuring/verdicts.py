"""Holds the verdicts on targets against the engines, over the models of folders.

``python tests/make/measuring/verdicts.py odd FOLDER INTO`` writes odd variants of the models of a folder: at other
opsets, of other element types, and broken as people break them. ``ask ANSWERS FOLDER --wheel onnxruntime=PATH:PATH``
asks an engine of ``asked.ENGINES``, whose wheel is installed in PATH, about each model, and adds what it says to the
file ANSWERS. ``compare ANSWERS FOLDER`` has irlint (from PYTHONPATH) judge each model, and prints for each release how
many refusals are named, the false ones, those that were called running, and how many are unknown; ``--list`` prints
each model on which they disagree.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

Answers = dict[str, dict[str, str]]

#: Opsets and element types (FLOAT16, DOUBLE, BFLOAT16, INT32) of the odd variants.
OPSETS = range(7, 29)
TYPES = (10, 11, 16, 6)

#: The engines that answer for a target of another name.
TARGETS = {"openvino-compiled": "openvino", "qnn-without-soc": "qnn"}

#: Files of models: ONNX models, which engines are asked to load, and IRs, which OpenVINO is asked to compile.
MODELS, IRS = SUFFIXES = (".onnx", ".xml")


def models(folders: Sequence[Path]) -> list[Path]:
    """The models in folders."""
    return sorted(path for folder in folders for path in folder.glob("*") if path.suffix in SUFFIXES)


def odd(folder: Path, into: Path, count: int) -> None:
    """Writes odd variants of each model: some at another opset or of another type, the others broken."""
    into.mkdir(parents=True, exist_ok=True)
    made: Counter[str] = Counter()
    for path in models([folder]):
        chance = random.Random(path.name)
        write = _odd_onnx if path.suffix == ".onnx" else _odd_ir
        for at in range(count):
            try:
                way = write(path, into / f"{path.stem}-odd{at}{path.suffix}", chance)
            except Exception as error:
                way = type(error).__name__
            made[way] += 1
    print(dict(made.most_common()))


def _odd_onnx(path: Path, target: Path, chance: random.Random) -> str:
    import onnx
    from breaking.onnx_graph import Graph, values_of
    from breaking.onnx_ways import WAYS

    model = onnx.load(path)
    kind = chance.choice(("opset", "type", "broken", "broken"))
    if kind == "opset":
        for entry in model.opset_import:
            if not entry.domain:
                entry.version = chance.choice(OPSETS)
        model.ir_version = min(model.ir_version, 8)
    elif kind == "type":
        number = chance.choice(TYPES)
        for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
            if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
                value.type.tensor_type.elem_type = number
    else:
        graph = Graph(model, chance, values_of(model))
        kind = chance.choice(sorted(WAYS))
        if WAYS[kind](graph) is None:
            return "no place"
    onnx.save(model, target)
    return kind


def _odd_ir(path: Path, target: Path, chance: random.Random) -> str:
    from breaking.ir_ways import WAYS, Document
    from lxml import etree

    root = etree.parse(str(path)).getroot()
    weights = bytearray(path.with_suffix(".bin").read_bytes())
    kind = chance.choice(sorted(WAYS))
    if WAYS[kind](Document(root, weights, chance)) is None:
        return "no place"
    target.write_bytes(etree.tostring(root))
    target.with_suffix(".bin").write_bytes(weights)
    return kind


def ask(file: Path, folders: Sequence[Path], wheels: Sequence[str]) -> None:
    """Adds the answers of engines about models that they were not asked about."""
    from targets import answered

    found: Answers = json.loads(file.read_text()) if file.exists() else {}
    for wheel in wheels:
        engine, _, places = wheel.partition("=")
        suffix = IRS if engine == "openvino-compiled" else MODELS
        asked = found.setdefault(wheel, {})
        paths = [str(path) for path in models(folders) if path.suffix == suffix and path.stat().st_size < 30_000_000]
        new = [(path, path) for path in paths if path not in asked]
        for at in range(0, len(new), 200):
            answer = answered(engine, [Path(each) for each in places.split(":")], new[at : at + 200])
            asked |= answer["answers"] | {"": answer["version"]}
            file.write_text(json.dumps(found))
        print(wheel, len(asked))


def judged(path: str, runtimes: Sequence[str]) -> list[dict[str, Any]]:
    """What irlint says of a model, an entry for each release of some runtimes; none where it cannot be read."""
    from irlint.run.listing import inferred_file
    from irlint.run.targets import entries_of

    try:
        return entries_of(inferred_file(path), runtimes)
    except (OSError, ValueError):
        return []


def compare(file: Path, folders: Sequence[Path], listing: bool) -> None:
    """Prints for each engine how the verdicts agree with its answers."""
    found: Answers = json.loads(file.read_text())
    wanted = {str(path) for path in models(folders)}
    engines = [wheel.partition("=")[0] for wheel in found]
    runtimes = [TARGETS.get(each, each) for each in engines]
    paths = sorted({key for each in found.values() for key in each} & wanted)
    entries = {path: judged(path, runtimes) for path in paths}
    for wheel, asked in found.items():
        engine = wheel.partition("=")[0]
        release = ".".join(asked.get("", "").split("-")[0].split(".")[:2])
        for kind in SUFFIXES:
            rows = list(_rows(TARGETS.get(engine, engine), release, asked, entries, kind))
            if rows:
                _print(f"{engine} {release} {kind}", rows, listing)


def _rows(target: str, release: str, asked: dict[str, str], entries: dict[str, Any], kind: str) -> Iterator[Any]:
    """For each model what the engine did, what irlint says, the file, the error and the reasons."""
    for path, error in asked.items():
        if not path.endswith(kind) or path not in entries or error == "the engine died":
            continue
        entry = next((each for each in entries[path] if (each["name"], each["release"]) == (target, release)), None)
        judged_as, reasons = (
            ("refused", []) if not entries[path] else ("none", []) if entry is None else _verdict(entry)
        )
        if judged_as != "none":
            late = error.startswith("compiling: ") and entry is not None and entry.get("stage") != "compiled"
            yield _done("" if late else error), judged_as, path, error, reasons


def _done(error: str) -> str:
    """What an engine did with a model."""
    from measuring.asked import ON_CPU

    return "runs" if not error else "fallback" if error.startswith(ON_CPU) else "refused"


def _verdict(entry: dict[str, Any]) -> tuple[str, list[str]]:
    judged_as = "fallback" if entry["verdict"] == "runs" and entry.get("fallback") else entry["verdict"]
    return judged_as, [each["message"] for each in entry["reasons"]]


def _print(title: str, rows: Sequence[Any], listing: bool) -> None:
    counts = Counter((done, judged_as) for done, judged_as, *_ in rows)
    refused = sum(number for (done, _), number in counts.items() if done == "refused")
    false = sum(number for (done, judged_as), number in counts.items() if judged_as == "refused" != done)
    missed = sum(
        number
        for (done, judged_as), number in counts.items()
        if done == "refused" and judged_as in ("runs", "fallback")
    )
    unknown = sum(number for (_, judged_as), number in counts.items() if judged_as == "unknown")
    right = sum(number for (done, judged_as), number in counts.items() if done == judged_as)
    print(
        f"{title}: {len(rows)} models, right {_share(right, len(rows))}; refused {refused}, named "
        f"{_share(counts['refused', 'refused'], refused)}, called running {_share(missed, refused)}; "
        f"false refusals {false}; unknown {_share(unknown, len(rows))}"
    )
    for done, judged_as, path, error, reasons in rows if listing else ():
        if done != judged_as and (judged_as != "unknown" or done == "refused"):
            print(f"  {judged_as} by irlint, {done}: {path}")
            print(f"    {' '.join(error[:300].split())}\n    {'; '.join(reasons)[:300]}")


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", choices=["odd", "ask", "compare"])
    options.add_argument("first", type=Path)
    options.add_argument("folders", type=Path, nargs="+")
    options.add_argument("--count", type=int, default=1, help="so many odd variants are made of each model")
    options.add_argument("--wheel", action="append", default=[])
    options.add_argument("--list", action="store_true")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    if given.command == "odd":
        odd(given.first, given.folders[0], given.count)
    elif given.command == "ask":
        ask(given.first, given.folders, given.wheel)
    else:
        compare(given.first, given.folders, given.list)


if __name__ == "__main__":
    main()
