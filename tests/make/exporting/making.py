"""Makes the models of the recipes, each in a process of its own."""

from __future__ import annotations

import importlib
import json
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .isolation import isolated

#: So many seconds may a recipe take.
LIMIT = 120

#: The modules with recipes; each has a function ``recipes`` that returns names with functions that write into a folder.
RECIPES = ("networks", "pictures", "language", "estimators", "tensorflow_networks")


def run(folder: Path, parts: Sequence[str], *, listing: bool, again: bool) -> None:
    """Makes or lists what the parts name."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "failed.json"
    failed = json.loads(log.read_text()) if log.exists() else {}
    made = 0
    for name, make in sorted(_recipes(), key=_turn):
        if parts and not any(part in name for part in parts):
            continue
        if listing:
            print(name)
            continue
        file = name.replace(">", "-")
        if not again and (any(folder.glob(f"{file}.onnx")) or any(folder.glob(f"{file}.xml")) or name in failed):
            continue
        start = time.monotonic()
        error = isolated(partial(_made, make, folder), LIMIT)
        failed.pop(name, None)
        if error:
            failed[name] = error
        made += not error
        print(f"{time.monotonic() - start:6.1f} s  {name}  {error}", flush=True)
        log.write_text(json.dumps(failed, indent=1, sort_keys=True))
    print(f"{made} made, {len(failed)} failed, {len([*folder.glob('*.onnx'), *folder.glob('*.xml')])} in {folder}")


def _turn(recipe: tuple[str, Any]) -> tuple[bool, int]:
    """All families mixed, what takes long last."""
    return ".dyn" in recipe[0], zlib.crc32(recipe[0].encode())


def _recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    for module in RECIPES:
        try:
            found = importlib.import_module(f"exporting.{module}").recipes()
        except ImportError as error:
            print(f"{module}: {error}")
            continue
        yield from found


def _made(make: Callable[[Path], Any], folder: Path) -> str:
    from .forms import silent

    with silent():
        make(folder)
    return ""
