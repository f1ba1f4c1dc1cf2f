"""The check as called from Python: turns arguments such as rules, targets and a configuration into settings."""

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
    from irlint.findings.edits import Fixed
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy


def answered(
    models: Sequence[Source],
    *,
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    targets: str | Iterable[str] | None = None,
    weights: bool = False,
    config: str | os.PathLike[str] | None = None,
) -> Report:
    """The report on models; the findings have the snippets for a text report.

    Raises like ``files.checked``. Raises OSError if the configuration or its baseline cannot be opened, and ValueError
    if one of these is invalid, or if a rule or a target is unknown.
    """
    given = None if config is None else configuration(os.fspath(config))
    settings = Settings(
        named_shapes(shapes or {}),
        drawn=True,
        policy=_policy(select, ignore, given),
        models=None if given is None else given.models,
        operators=() if given is None else given["operators"],
        skip_pointers=given is not None and given.skips_pointers,
        weights=weights,
        targets=_targets(targets if targets is not None or given is None else given["targets"]),
        shapes_by=BY,
    )
    excluded = (
        None
        if given is None
        else Excluded(there=given["exclude"], root=given.root, configurations=not given["folders"])
    )
    in_memory = [each for each in models if each.data is not None]
    return checked(
        [each.path for each in models if each.data is None], settings=settings, excluded=excluded, in_memory=in_memory
    )


def fixed(model: Source, *, unsafe: bool = False) -> Fixed:
    """A model after its safe fixes, or with ``unsafe`` also after the suggested fixes.

    Raises OSError if the model cannot be opened.
    """
    from irlint.findings.edits import Fixed
    from irlint.run import fixing

    found = fixing.fixed(model.path, Settings({}), model.data, unsafe=unsafe)
    try:
        data = b"".join(found.blocks())
    finally:
        found.close()
    where = [Source(model.path, data, model.alone)]
    return Fixed(data, found.edits, answered(where))


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
    """The policy of a check; None reports all findings.

    ``select`` and ``ignore`` apply after the selection of the configuration.
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
    """The names of rules in an argument, None if it is None; raises ValueError."""
    if entries is None:
        return None
    from irlint.policy.rulebook import verified

    names = _listed(entries)
    if option == "select" and not names:
        raise ValueError("select: it names no rule")
    return verified(option, names)


def _targets(entries: str | Iterable[str] | None) -> tuple[str, ...]:
    """The names of targets in an argument, each once; raises ValueError."""
    names = _listed(entries or ())
    if names:
        from irlint.targets.verdicts import target

        for name in names:
            target(name)
    return tuple(dict.fromkeys(names))


def _listed(entries: str | Iterable[str]) -> list[str]:
    """The names in an iterable, or in a text with commas between the names."""
    return [name.strip() for name in entries.split(",") if name.strip()] if isinstance(entries, str) else list(entries)
