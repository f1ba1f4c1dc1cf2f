"""Counts which of the fixtures other tools refuse: ``python tests/make/measuring/other_tools.py ENVIRONMENT``.

ENVIRONMENT is a virtual environment with onnx, onnxruntime, polygraphy, onnx_graphsurgeon and trtcheck. The README's
table of other tools has its numbers from here.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import irlint

ROOT = Path(__file__).resolve().parents[3]

#: The seconds that a tool may take for a model.
LIMIT = 60

CHECKER = "import onnx, sys; onnx.checker.check_model(sys.argv[1], full_check=True)"


def commands(environment: Path) -> dict[str, list[str]]:
    """What each tool is run with; the path of a model follows."""
    binaries = environment / "bin"
    return {
        "irlint": [sys.executable, "-m", "irlint", "--isolated"],
        "onnx.checker": [str(binaries / "python"), "-c", CHECKER],
        "polygraphy": [str(binaries / "polygraphy"), "check", "lint"],
        "trtcheck": [str(binaries / "trtcheck")],
    }


def refused(command: list[str], model: Path) -> bool:
    """Whether a tool ends with another status than 0."""
    run = subprocess.run([*command, str(model)], capture_output=True, timeout=LIMIT, cwd=ROOT)
    return run.returncode != 0


def errors() -> list[Path]:
    """The broken ONNX models in which irlint finds an error."""
    return [path for path in sorted((ROOT / "fixtures/onnx/bad").glob("*.onnx")) if irlint.check(path).errors]


def main() -> None:
    """Prints for each tool how many broken models it refuses, and how many sound ones."""
    broken, sound = errors(), sorted((ROOT / "fixtures/onnx/good").glob("*.onnx"))
    for name, command in commands(Path(sys.argv[1]).absolute()).items():
        found = [path for path in broken if refused(command, path)]
        wrong = [path.name for path in sound if refused(command, path)]
        print(f"{name}: {len(found)} of {len(broken)} broken models, {len(wrong)} of {len(sound)} sound ones {wrong}")


if __name__ == "__main__":
    main()
