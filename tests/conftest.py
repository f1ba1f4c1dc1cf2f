"""Hypothesis draws the same examples in every run, few of them where no engine is asked, and
``--hypothesis-profile=wild`` lets it look elsewhere; and only tests with the mark ``oracle`` ask an engine."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from batches import Controller, Worker
from hypothesis import settings
from oracles.guard import Guard

from irlint.command.entry import COLLECTOR_THRESHOLD
from irlint.findings import documentation

# Hundreds of processes are started: they share what has been compiled.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# OpenVINO reports every import and conversion to its makers, by a fork of the process that does it; in Jenkins it does
# not.
os.environ.setdefault("JENKINS_URL", "http://localhost")
# A shell starts what it puts into the background with SIGINT ignored, which every process below would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Reports name no pages, whatever the metadata of the package names: the address is looked for once.
_path, sys.path[:] = sys.path[:], []
assert documentation.address() == ""
sys.path[:] = _path

settings.register_profile("brief", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=250)
settings.register_profile("wild", derandomize=False, deadline=None, max_examples=2500)
settings.load_profile("steady")

#: Tests of the source tree, left out where only an installed irlint is there.
OF_THE_SOURCES = [
    "policy/test_keys.py",
    "test_compiled.py",
    "test_contributing.py",
    "test_index.py",
    "test_layers.py",
    "test_messages.py",
    "test_operator_names.py",
    "test_pre_commit.py",
    "test_release.py",
    "test_wheel.py",
]
collect_ignore = [] if (Path(__file__).parent.parent / "irlint").is_dir() else OF_THE_SOURCES

ORACLES = Path(__file__).parent / "oracles"

FOLDERS = count()

GUARD = Guard()
sys.meta_path.insert(0, GUARD)


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == "not oracle" and config.getoption("--hypothesis-profile") is None:
        settings.load_profile("brief")
    config.pluginmanager.register(Worker() if hasattr(config, "workerinput") else Controller(config))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where no engine is asked, what asks them is not even imported; every test of that folder has the mark."""
    return True if config.option.markexpr == "not oracle" and collection_path == ORACLES else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What lasts begins first, of what asks an engine only what goes together: no process is to work on it alone in the
    end."""
    within = {path: ORACLES in path.parents for path in {item.path for item in items}}
    for item in items:
        if within[item.path] and item.get_closest_marker("oracle") is None:
            raise pytest.UsageError(f"{item.nodeid} lacks the mark `oracle`, which all tests of {ORACLES.name} have")
    items.sort(key=lambda item: not _begins(item))


def _begins(item: pytest.Item) -> bool:
    if item.get_closest_marker("oracle") is not None:
        return item.get_closest_marker("together") is not None
    return item.get_closest_marker("slow") is not None


def pytest_collection_finish() -> None:
    """What has been collected stays to the end: nobody looks for garbage in it, and as seldom as in a check for
    more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECTOR_THRESHOLD)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test alone, as pytest's own, which looks through all the others for a number that is free."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(FOLDERS)}", numbered=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    GUARD.watch()
    GUARD.asking = item.get_closest_marker("oracle") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Iterator[None]:
    try:
        return (yield)
    finally:
        GUARD.asking = False
