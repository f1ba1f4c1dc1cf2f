"""The check and the fix for irlint's Python functions: turns their arguments into settings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from irlint.findings.report import Report
from irlint.lazy_typing import TYPE_CHECKING
from irlint.policy.shape_options import BY, named_shapes
from irlint.run.files import Settings, checked
from irlint.run.search import Excluded
from irlint.run.sources import Source

if TYPE_CHECKING:
    from typing import SupportsIndex

    from irlint.findings.edits import Fixed
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy


def report_on(
    models: Sequence[Source],
    *,
    shapes: Mapping[str, str | Iterable[SupportsIndex | str | None]] | None = None,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    targets: str | Iterable[str] | None = None,
    weights: bool = False,
    config: str | os.PathLike[str] | None = None,
) -> Report:
    """The report on models, with snippets.

    Raises like ``files.checked``. Raises OSError if the configuration or its baseline cannot be opened. Raises
    ValueError if the configuration, its baseline, a rule or a target is invalid.
    """
    loaded = None if config is None else configuration(os.fspath(config))
    settings = Settings(
        named_shapes(shapes or {}),
        drawn=True,
        policy=_policy(select, ignore, loaded),
        models=None if loaded is None else loaded.models,
        operators=() if loaded is None else loaded["operators"],
        skip_pointers=loaded is not None and loaded.skips_pointers,
        weights=weights,
        targets=_targets(targets if targets is not None or loaded is None else loaded["targets"]),
        shapes_by=BY,
    )
    excluded = (
        None
        if loaded is None
        else Excluded(there=loaded["exclude"], root=loaded.root, configurations=not loaded["folders"])
    )
    in_memory = [each for each in models if each.data is not None]
    return checked(
        [each.path for each in models if each.data is None], settings=settings, excluded=excluded, in_memory=in_memory
    )


def fixed(model: Source, *, unsafe: bool = False) -> Fixed:
    """A model after its safe fixes. With ``unsafe``, also after its suggested fixes.

    Raises OSError if the model cannot be opened.
    """
    from irlint.findings.edits import Fixed
    from irlint.run import fixing

    found = fixing.fixed(model.path, Settings({}), model.data, unsafe=unsafe)
    try:
        data = b"".join(found.blocks())
    finally:
        found.close()
    return Fixed(data, found.edits, report_on([Source(model.path, data, model.alone)]))


def configuration(file: str) -> Config:
    """The configuration in a file.

    Raises OSError if the file cannot be opened, and ValueError if it is invalid or has no table for irlint.
    """
    from irlint.policy.configuration import ConfigError, loaded

    try:
        found = loaded(file)
    except ConfigError as error:
        raise ValueError(str(error).removeprefix("irlint: error: ").partition("\nNothing was")[0]) from None
    if found is None:
        raise ValueError(f"{file} has no table [tool.irlint]")
    return found


def _policy(
    select: str | Iterable[str] | None, ignore: str | Iterable[str] | None, config: Config | None
) -> Policy | None:
    """The policy of a check; None means that all findings are reported.

    ``select`` and ``ignore`` change the selection of rules that the configuration makes.
    """
    if config is None and select is None and not ignore:
        return None
    from irlint.policy.suppressions import Policy, selection

    by_arguments = selection(_rules("select", select), _rules("ignore", ignore) or (), ())
    if config is None:
        return Policy((by_arguments,))
    if not config["baseline"]:
        return config.policy(by_arguments)
    from irlint.policy import baseline

    file = os.path.join(config.root, config["baseline"])
    root = os.path.dirname(os.path.abspath(file))
    return config.policy(by_arguments, baseline=baseline.read(file), baseline_root=root)


def _rules(option: str, entries: str | Iterable[str] | None) -> list[str] | None:
    """The names of rules in the argument ``option``; None if ``entries`` is None. Raises ValueError."""
    if entries is None:
        return None
    from irlint.policy.rulebook import verified

    names = _listed(entries)
    if option == "select" and not names:
        raise ValueError("select: it names no rule")
    return verified(option, names)


def _targets(entries: str | Iterable[str] | None) -> tuple[str, ...]:
    """The labels of the targets that ``entries`` names, without repetitions. Raises ValueError."""
    names = _listed(entries or ())
    if not names:
        return ()
    from irlint.targets.verdicts import target

    return tuple(dict.fromkeys(target(name).label for name in names))


def _listed(entries: str | Iterable[str]) -> list[str]:
    """The names in ``entries``: a text with commas between names, or an iterable of names."""
    return [name.strip() for name in entries.split(",") if name.strip()] if isinstance(entries, str) else list(entries)
