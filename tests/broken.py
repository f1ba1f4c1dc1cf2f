"""Breaks sound models as people break them, has irlint fix them, and asks ONNX Runtime or OpenVINO whether they compute
again what they did.

``python tests/broken.py make --corpus FOLDER --into FOLDER --mutants 1000`` keeps sound models, inputs, outputs and
mutants there; ``python tests/broken.py measure FOLDER`` fixes them and prints a table. ``--format ir`` does the same
with OpenVINO IRs."""

from __future__ import annotations

import argparse
import json
import pickle
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from breaking.engines import Engine, same_outputs
from breaking.sound import ONNX, Sound, feeds_for
from breaking.sound_ir import IR

import irlint

FORMATS = {"onnx": ONNX, "ir": IR}

#: What becomes of a mutant, in the order of the table.
OUTCOMES = ("restored", "broken", "other", "unchanged", "failed")

HEADINGS = {
    "restored": "restored",
    "broken": "changed but still broken",
    "other": "changed, runs, computes something else",
    "unchanged": "unchanged",
    "failed": "irlint failed",
}


@dataclass(frozen=True)
class Mutant:
    """A broken model: its file, the sound one, the way in which it was broken, and what the engine says."""

    file: str
    sound: str
    producer: str
    way: str
    where: str
    what: str
    was: str
    now: str
    lost: bool
    stage: str
    refusal: str


def written_lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def mutants(sound: list[Sound], into: Path, form: str, wanted: int, seed: int) -> Iterator[Mutant]:
    """Broken models that the engine refuses with the inputs that they declare, as many for each way as there are places
    for."""
    breaker = FORMATS[form]
    ways, seen = sorted(breaker.ways), set[bytes]()
    number = found = barren = 0
    with Engine(breaker.engine) as engine:
        while found < wanted and barren < 40 * len(ways):
            number, barren = number + 1, barren + 1
            made = breaker.mutant(sound, ways[number % len(ways)], seed, number)
            if made is None or made.key in seen:
                continue
            seen.add(made.key)
            file = into / f"{seed}{number:05}{breaker.suffix}"
            made.write(file)
            feeds = [each for each in feeds_for(made, file) if each is not None]
            answers = engine.run(file, feeds)
            if not feeds or any(each.stage in ("done", "crash") for each in answers):
                made.remove(file)
                continue
            found, barren = found + 1, 0
            change = asdict(made.change)
            yield Mutant(
                file.name,
                made.sound.name,
                made.sound.producer,
                made.way,
                **change,
                stage=answers[0].stage,
                refusal=answers[0].message[:400],
            )


def make(options: argparse.Namespace) -> int:
    into: Path = options.into
    folder = into / "sound"
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / "index.jsonl"
    if index.exists():
        sound = [Sound(**row) for row in read_lines(index)]
    else:
        sound = FORMATS[options.format].sound(options.corpus, folder)
        written_lines(index, [each.row() for each in sound])
    print(f"{len(sound)} sound models: {dict(Counter(each.producer for each in sound))}", flush=True)
    for each in sound:
        each.locate(folder)
    rows: list[Mutant] = []
    with (into / "index.jsonl").open("a" if options.extend else "w", encoding="utf-8") as lines:
        for row in mutants(sound, into, options.format, options.mutants, options.seed):
            rows.append(row)
            lines.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
            lines.flush()
    print(f"{len(rows)} mutants, {len({row.way for row in rows})} ways")
    return 0


class TookTooLong(Exception):
    pass


def _stop(number: int, frame: object) -> None:
    raise TookTooLong


def fixed(file: Path, command: str | None, unsafe: bool = True) -> tuple[bytes, list[str]]:
    """The fixed model and the texts of its fixes: by a command that writes ``{fixed}`` from ``{file}``, or by
    ``irlint.fix``."""
    if command is None or not unsafe:
        result = irlint.fix(str(file), unsafe=unsafe)
        return result.data, [getattr(each, "text", None) or str(each) for each in result.edits]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / file.name
        done = subprocess.run(
            shlex.split(command.format(file=file, fixed=target)), capture_output=True, text=True, check=False
        )
        return (target if target.exists() else file).read_bytes(), done.stdout.splitlines()


def findings(file: Path) -> Counter[tuple[str, str, str]]:
    """The errors and warnings of a check: code, node and value."""
    report = irlint.check(str(file))
    return Counter(
        (each.rule.code, each.node or "", each.value or "") for each in report.findings if each.severity.value != "note"
    )


ENGINES: dict[str, Engine] = {}


def measured(task: tuple[dict[str, Any], Path, str, str | None, float]) -> dict[str, Any]:
    """What becomes of one broken model."""
    row, folder, form, command, seconds = task
    file, started = folder / row["file"], time.monotonic()
    result: dict[str, Any] = {**row, "fixes": [], "new": [], "message": ""}
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(int(seconds))
    try:
        before = file.read_bytes()
        data, result["fixes"] = fixed(file, command)
        result["seconds"] = round(time.monotonic() - started, 3)
        if data == before:
            return {**result, "outcome": "unchanged", "left": list(findings(file))}
        after = FORMATS[form].beside(file, data)
        new = findings(after) - findings(file) - findings(folder / "sound" / row["sound"])
        result["new"] = list(new)
        result["left"] = list(findings(after))
    except TookTooLong:
        return {**result, "outcome": "failed", "message": f"no answer within {seconds:g} s"}
    except Exception as error:
        return {**result, "outcome": "failed", "message": f"{type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)
    engine = ENGINES.setdefault(form, Engine(FORMATS[form].engine))
    sound = folder / "sound" / row["sound"]
    known = pickle.loads(sound.with_suffix(".pickle").read_bytes())
    fitted = [FORMATS[form].fitted(after, each) for each in known["feeds"]]
    result["adapted"] = any(each.adapted for each in fitted)
    expected = known["outputs"]
    if result["adapted"]:
        expected = [each.outputs for each in engine.run(sound, [each.sound for each in fitted])]
    answers = engine.run(after, [each.fixed for each in fitted])
    for each in (after, after.with_suffix(".bin")):
        each.unlink(missing_ok=True)
    broken = next((each for each in answers if each.stage != "done"), None)
    if broken is not None:
        if data == fixed(file, None, unsafe=False)[0]:
            return {**result, "outcome": "unchanged", "message": "only safe fixes"}
        return {**result, "outcome": "broken", "message": broken.message[:300]}
    right = all(same_outputs(one.outputs, other) for one, other in zip(answers, expected))
    return {**result, "outcome": "restored" if right else "other"}


def table(rows: list[dict[str, Any]]) -> str:
    """The outcomes of each way, and the totals."""
    by_way: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        by_way[row["way"]][row["outcome"]] += 1
    lines = [f"{'':44}{'all':>6}" + "".join(f"{name:>11}" for name in OUTCOMES)]
    for way, counts in sorted(by_way.items()):
        lines.append(f"{way:44}{counts.total():6}" + "".join(f"{counts[name] or '':>11}" for name in OUTCOMES))
    total = sum(by_way.values(), Counter[str]())
    lines.append(f"{'total':44}{total.total():6}" + "".join(f"{total[name]:11}" for name in OUTCOMES))
    changed = total["restored"] + total["broken"] + total["other"]
    held = [row for row in rows if not row["lost"]]
    lines += [
        f"{percent(total['restored'], total.total())} of all restored; "
        f"{percent(sum(row['outcome'] == 'restored' for row in held), len(held))} of the {len(held)} that lost nothing",
        f"{percent(total['restored'], changed)} of the {changed} changed are right",
        f"{percent(total['other'], total.total())} compute something else",
        f"{sum(row.get('adapted', False) and row['outcome'] == 'restored' for row in rows)} restored with inputs in "
        "the type or layout that they declare now",
        f"{sum(bool(row['new']) for row in rows)} files have a new finding, which the sound model does not have",
    ]
    return "\n".join(lines)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def touched(task: tuple[Path, str | None]) -> str | None:
    """The name of a sound model in which unsafe fixes change more than safe ones do."""
    file, command = task
    try:
        data, texts = fixed(file, command)
        safe, _ = fixed(file, None, unsafe=False)
    except Exception as error:
        return f"{file.name}: {type(error).__name__}: {error}"
    return f"{file.name}: {texts[:3]}" if data != safe else None


def measure(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    rows = read_lines(folder / "index.jsonl")[options.skip :][: options.mutants]
    sound = sorted((folder / "sound").glob(f"*{FORMATS[options.format].suffix}"))
    started = time.monotonic()
    results = []
    with ProcessPoolExecutor(options.jobs) as pool, options.rows.open("w", encoding="utf-8") as lines:
        for result in pool.map(
            measured, [(row, folder, options.format, options.command, options.seconds) for row in rows]
        ):
            results.append(result)
            lines.write(json.dumps(result, ensure_ascii=False) + "\n")
            lines.flush()
        changed = [name for name in pool.map(touched, [(file, options.command) for file in sound]) if name]
    print(table(results))
    print(f"{len(changed)} of {len(sound)} sound models changed by unsafe fixes", *changed[:20], sep="\n  ")
    print(f"{time.monotonic() - started:.0f} s; one line for each mutant in {options.rows}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("make", help="break sound models")
    making.add_argument("--corpus", type=Path, required=True, help="a folder of models")
    making.add_argument("--into", type=Path, required=True)
    making.add_argument("--mutants", type=int, default=1000)
    making.add_argument("--seed", type=int, default=1)
    making.add_argument("--extend", action="store_true", help="add to the mutants that are there; take another seed")
    making.set_defaults(function=make)
    measuring = commands.add_parser("measure", help="fix broken models and compare")
    measuring.add_argument("folder", type=Path)
    measuring.add_argument("--mutants", type=int, default=None, help="only so many")
    measuring.add_argument("--skip", type=int, default=0, help="without the first so many")
    measuring.add_argument("--jobs", type=int, default=2)
    measuring.add_argument("--seconds", type=float, default=120, help="for each mutant")
    measuring.add_argument("--rows", type=Path, default=Path("broken.jsonl"))
    measuring.add_argument(
        "--command", default=None, help="in place of irlint.fix: 'irlint fix --unsafe-fixes --output {fixed} {file}'"
    )
    measuring.set_defaults(function=measure)
    for each in (making, measuring):
        each.add_argument("--format", choices=tuple(FORMATS), default="onnx")
    options = parser.parse_args()
    return int(options.function(options))


if __name__ == "__main__":
    sys.exit(main())
