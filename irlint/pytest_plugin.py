"""The pytest plugin of irlint: the option ``--irlint PATH`` and the fixture ``irlint_check``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import pytest

from irlint.lazy_typing import Any


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("irlint", "models that irlint checks")
    group.addoption(
        "--irlint",
        action="append",
        default=[],
        metavar="PATH",
        help="Run each model at PATH (a file or folder) as a test that fails on errors. May be repeated.",
    )
    group.addoption("--irlint-config", metavar="FILE", help="irlint's configuration for these tests (default: none).")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "irlint: a model that --irlint names")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the models to the tests before other plugins select by ``-k`` and ``-m``."""
    paths = config.getoption("irlint")
    if paths:
        items.extend(_models(session, paths))


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str | None:
    if not config.getoption("irlint"):
        return None
    return f"irlint: {sum(isinstance(item, ModelItem) for item in items)} models"


def _models(session: pytest.Session, paths: Iterable[str]) -> Iterator[pytest.Item]:
    from irlint.policy.globs import relative
    from irlint.run.requests import configuration
    from irlint.run.search import Excluded, discovered

    folder = session.config.invocation_params.dir
    file = _configuration(session.config)
    try:
        given = configuration(file) if file else None
        excluded = None
        if given is not None:
            excluded = Excluded(there=given["exclude"], root=given.root, configurations=not given["folders"])
        found = discovered([os.path.join(folder, path) for path in paths], excluded)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"--irlint: {_inert(str(error))}") from None
    if not found:
        raise pytest.UsageError(f"--irlint: there is no model in {_inert(', '.join(paths))}")
    for path in found:
        shown = _inert(relative(str(folder / path), str(session.config.rootpath)))
        yield from ModelFile.from_parent(session, path=folder / path, nodeid=shown).collect()


def _inert(text: str) -> str:
    """The text without control sequences and commands of terminals and CI logs."""
    from irlint.reporters.plain import inert

    return inert(text)


def _configuration(config: pytest.Config) -> str | None:
    file = config.getoption("irlint_config")
    return os.path.join(config.invocation_params.dir, file) if file else None


class ModelFile(pytest.File):
    """A model."""

    def collect(self) -> Iterator[pytest.Item]:
        yield ModelItem.from_parent(self, name="irlint")


class ModelItem(pytest.Item):
    """The check of a model."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.add_marker("irlint")

    def runtest(self) -> None:
        import irlint

        report = irlint.check(self._displayed_path(), config=_configuration(self.config))
        if not report.models:
            pytest.skip(_inert(report.files[0].reason or "it is not a model"))
        report.raise_for_errors()

    def _displayed_path(self) -> str:
        try:
            return str(self.path.relative_to(os.getcwd()))
        except ValueError:
            return str(self.path)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        import irlint

        if isinstance(excinfo.value, irlint.InvalidModel):
            return _inert(str(excinfo.value))
        if isinstance(excinfo.value, OSError):
            return _inert(f"{self._displayed_path()} cannot be opened: {excinfo.value.strerror or excinfo.value}")
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        return self.path, None, f"irlint {_inert(self.path.name)}"


@pytest.fixture(scope="session")
def irlint_check() -> Callable[..., Any]:
    """A function that checks a model like ``irlint.check``, and fails the test if it has an error."""

    def checked(model: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        import irlint

        report = irlint.check(model, **options)
        if not report.ok:
            pytest.fail(_inert(str(report)), pytrace=False)
        return report

    return checked
