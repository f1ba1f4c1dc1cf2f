"""Tests go between pytest-xdist's processes in batches: most of them take less time than the six messages that are sent
about each.

A batch is a few neighbouring tests of one module. Each is run, reported and counted as without pytest-xdist, but passed
setups and teardowns are not reported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SIZE = 16


class Batch(pytest.Item):
    """Tests that a process runs one after another, called after the first and the number of the others."""

    tests: Sequence[pytest.Item] = ()

    @classmethod
    def of(cls, tests: Sequence[pytest.Item]) -> Batch:
        parent = tests[0].parent
        assert parent is not None
        batch: Batch = cls.from_parent(parent, name=f"{tests[0].name}+{len(tests) - 1}")
        batch.tests = tests
        return batch

    def runtest(self) -> None:
        raise NotImplementedError("each of its tests is run on its own")

    def reports(self, nextitem: pytest.Item | None) -> Iterator[pytest.TestReport]:
        """What its tests report, and only that much of what passes before and after them."""
        after = nextitem.tests[0] if isinstance(nextitem, Batch) else nextitem
        for test, following in zip(self.tests, [*self.tests[1:], after]):
            yield from (each for each in runtestprotocol(test, log=False, nextitem=following) if _counts(each))


class Worker:
    """Runs batches, and sends one message about each."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        yield  # -k, -m and --lf choose among the tests
        items[:] = list(batches(items))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not isinstance(item, Batch):
            return None
        hook, config = item.ihook, item.config
        reports = [hook.pytest_report_to_serializable(config=config, report=each) for each in item.reports(nextitem)]
        # It passes for a setup, which is neither shown nor counted.
        report = pytest.TestReport(item.nodeid, item.location, {}, "passed", None, "setup", reports=reports)
        hook.pytest_runtest_logreport(report=report)
        return True


class Controller:
    """Reports each test of a batch, and fails where one is lost."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.collected = 0
        self.reports: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        others = (each.rpartition("+")[2] for each in ids)
        self.collected = len(ids) + sum(int(number) for number in others if number.isdecimal())

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if _counts(report):
            self.reports.add(report.nodeid)
        distribution = self.config.pluginmanager.getplugin("dsession")
        for data in getattr(report, "reports", ()):
            distribution._session.testscollected = self.collected
            test = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
            distribution.worker_testreport(report.node, test)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus == 0 and len(self.reports) < self.collected:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
            session.shouldfail = f"nothing was reported of {self.collected - len(self.reports)} tests"


def batches(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests in their order and in batches; those that last, and those that ask an engine, go alone if not
    ``together``."""
    for (size, _), neighbours in groupby(items, lambda item: (_size(item), item.path)):
        tests = list(neighbours)
        for start in range(0, len(tests), size):
            yield Batch.of(tests[start : start + size]) if size > 1 else tests[start]


def _size(item: pytest.Item) -> int:
    if item.get_closest_marker("together") is not None:
        return sys.maxsize
    return 1 if any(item.get_closest_marker(name) is not None for name in ("slow", "oracle")) else SIZE


def _counts(report: pytest.TestReport) -> bool:
    return report.when == "call" or not report.passed
