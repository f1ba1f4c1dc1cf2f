"""Prints the two tables of the guide's page on speed about stores and the cache: ``cd tests && python -m
make.measuring.stores``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.models import heavy, many
from make.measuring.other_tools import ROOT
from serving import served

MB = 1_000_000


def remote(folder: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """What is checked, and the files behind the URL."""
    good = sorted((ROOT / "fixtures/onnx/good").glob("*.onnx"))
    yield f"{len(good)} small models in one folder", {f"a/{path.name}": path.read_bytes() for path in good}
    yield "one model with 400 MB of weights inside", {"a/m.onnx": heavy(folder / "m.onnx", 400 * MB).read_bytes()}
    part = heavy(folder / "part.onnx", 100 * MB).read_bytes()
    yield "20 models with 100 MB of weights inside", {f"a/{number}.onnx": part for number in range(20)}


def checked(*arguments: str) -> float:
    """The seconds of a check, which has to find nothing."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "irlint", "--isolated", *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    print("| what is checked | bytes there | requests | bytes read | seconds |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, files in remote(folder):
            with served(files) as site:
                seconds = checked(f"{site.url}/plain/a/")
                there = sum(map(len, files.values())) / MB
                print(f"| {title} | {there:,.2f} MB | {len(site.log)} | {site.sent / MB:.2f} MB | {seconds:.1f} |")
        models = many(folder / "models", 1000)
        print("\n| 1,000 equal models of 13 nodes | seconds |\n|---|---|")
        for run in ("first run with `--cache`", "second run"):
            print(f"| {run} | {checked(str(models), '--cache', str(folder / 'cache')):.1f} |")


if __name__ == "__main__":
    main()
