"""The settings of a check, from its options and the configuration file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from irlint.command.streams import emit_stderr, fail
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.parsers.opening import is_url
from irlint.policy.keys import KEYS, LEVELS
from irlint.reporters.forms import FORMS, Form, by_name
from irlint.run.deadline import DEFAULT_SECONDS

if TYPE_CHECKING:
    from irlint.dims import Shape
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy
    from irlint.run.files import Settings
    from irlint.run.search import Excluded

NOTHING_LINTED = "Nothing was linted.\n"

#: The kinds of keys that options do not replace. Options of the first three kinds add to the configuration. Globs of
#: options are relative to another folder than globs of the configuration.
NOT_MERGED = ("rules", "levels", "models", "globs")

RULES_HELP = "help: `irlint rules` lists every rule"


def expanded(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths. On Windows, where the shell does not expand wildcards, expands them."""
    if not any(letter in path for path in paths for letter in "*?["):
        return tuple(paths)
    from irlint.reporters.console import WINDOWS

    if not WINDOWS:
        return tuple(paths)
    from glob import glob

    found = (() if os.path.exists(path) else sorted(glob(path, recursive=True)) for path in paths)
    return tuple(file for path, files in zip(paths, found) for file in files or [path])


def configuration(options: Mapping[str, Any]) -> Config | None:
    """The configuration that ``--config`` names or a search finds, or None."""
    named = options["config"]
    if named is not None and options["isolated"]:
        fail("--config and --isolated exclude each other", "help: remove one of them")
    if named is not None:
        return _loaded(named) or fail(f"{named} has no table [tool.irlint]", closing=NOTHING_LINTED)
    if options["isolated"]:
        return None
    from irlint.policy.configuration_files import candidates

    return next((config for file in candidates(os.curdir) if (config := _loaded(file)) is not None), None)


def _loaded(file: str) -> Config | None:
    from irlint.policy.configuration import ConfigError, loaded

    try:
        return loaded(file)
    except ConfigError as error:
        emit_stderr(str(error))
        raise SystemExit(2) from None
    except OSError as error:
        fail(f"cannot read the configuration {file}: {error.strerror}", closing=NOTHING_LINTED)


def merged(options: Mapping[str, Any], config: Config | None) -> dict[str, Any]:
    """A copy of the options. The configuration, or else the default of a key, sets each omitted option.

    Options of the kinds in NOT_MERGED stay as they are.
    """
    result = dict(options)
    for key in KEYS:
        if key.option is None or key.kind in NOT_MERGED:
            continue
        name = key.option.name
        given = result[name] is not None and result[name] != ()
        if not given and config is not None:
            result[name] = config[key.name]
            if result[name] and key.kind == "file":
                from irlint.policy.globs import relative

                result[name] = relative(os.path.join(config.root, result[name]), os.curdir)
        if result[name] in (None, ()):
            result[name] = key.default if key.default != "" else None
    return result


def refuse_contradictions(paths: Sequence[str], options: Mapping[str, Any]) -> None:
    """Ends the run if paths are missing, or if options contradict each other or the paths."""
    if not paths:
        fail("no PATH was given", "help: name a model file, or a folder with models")
    name = options["stdin_filename"]
    if ("-" in paths) != (name is not None):
        fail("the PATH - and --stdin-filename NAME need each other", "help: give both, or neither")
    if name is not None and sys.stdin is None:
        fail("standard input is closed")
    executor = options["executor"]
    host, _, port = executor.removeprefix("dask://").rpartition(":")
    if executor not in ("processes", "dask") and not (executor.startswith("dask://") and host and port.isdigit()):
        fail(f"--executor {executor}: it has to be processes, dask, or dask://HOST:PORT")
    if options["changed_since"] and any(map(is_url, paths)):
        fail("--changed-since is only for models in a git repository, not for URLs")
    if options["update_baseline"] and not options["baseline"]:
        fail("--update-baseline needs a file to write", "help: add --baseline FILE, or set `baseline` in irlint.toml")


def outputs(options: Mapping[str, Any], config: Config | None, paths: Iterable[str]) -> list[tuple[Form, str]]:
    """The format and the file of each ``--output``.

    Ends the run if a file cannot be written, is named twice, or is another file of the run.
    """
    result = [_output(entry) for entry in options["output"]]
    written: list[str] = []
    for _, file in result:
        reason = _reason_not_to_write(file)
        if reason:
            fail(f"--output: cannot write {file}: {reason}", closing=NOTHING_LINTED)
        refuse_overwriting([file], written, "two reports", closing=NOTHING_LINTED)
        written.append(file)
    own = [config.file if config is not None else None, options["baseline"], options["resume"]]
    what = "a report and the configuration, baseline or journal"
    refuse_overwriting(written, filter(None, own), what, closing=NOTHING_LINTED)
    refuse_overwriting(written, paths, "a report and a model", closing=NOTHING_LINTED)
    return result


def refuse_overwriting(files: Sequence[str], others: Iterable[str], what: str, closing: str = "") -> None:
    """Ends the run if one of ``files`` is one of ``others``, unless it is a device or a pipe.

    ``what`` names the two uses of the file, such as "two reports".
    """
    real_others = {os.path.realpath(other) for other in others} if files else ()
    for file in files:
        is_special = os.path.exists(file) and not os.path.isfile(file)
        if os.path.realpath(file) in real_others and not is_special:
            fail(f"--output: {file} would be {what}", "help: name another file", closing=closing)


def _output(entry: str) -> tuple[Form, str]:
    name, equals, file = entry.partition("=")
    if equals and file and name in FORMS:
        return FORMS[name], file
    form = by_name(entry) if not equals else None
    if form is None:
        ends = ", ".join(f"{end} for {known.name}" for known in FORMS.values() for end in known.suffixes)
        wrong = f"it has to be FORMAT=FILE, where FORMAT is one of {', '.join(FORMS)}"
        fail(f"--output {entry}: {wrong}", f"help: FORMAT= is optional if the file has one of these suffixes: {ends}")
    return form, entry


def _reason_not_to_write(file: str) -> str:
    """Why a file cannot be written, or "". A missing folder is created, so it is no reason."""
    try:
        return "it is a folder" if stat.S_ISDIR(os.stat(file).st_mode) else ""
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        return str(error.strerror)
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return f"{folder} is no folder"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"{folder} is not writable"


def policy(options: Mapping[str, Any], config: Config | None) -> Policy | None:
    """The rules, severities and suppressions of the run; None reports all findings."""
    lists = ("select", "ignore", "extend_select")
    if config is None and options["baseline"] is None and not any(options[name] for name in (*lists, "severity")):
        return None
    from irlint.policy import suppressions

    select, ignore, more = (_rules(f"--{name.replace('_', '-')}", options[name]) for name in lists)
    by_options = suppressions.selection(select, ignore or (), more or ())
    levels = suppressions.severities(_levels(options["severity"]))
    file = options["baseline"]
    shared: dict[str, Any] = {"baseline": _baseline(file, options["update_baseline"]) if file else None}
    shared["baseline_root"] = os.path.dirname(os.path.abspath(file)) if file else ""
    if config is None:
        return suppressions.Policy((by_options,), tuple(levels.items()), **shared)
    return config.policy(by_options, levels, **shared)


def _rules(option: str, entries: Sequence[str]) -> list[str] | None:
    """The rules in the values of an option; None without values."""
    if not entries:
        return None
    names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    if not names:
        fail(f"{option} names no rule", RULES_HELP)
    from irlint.policy.rulebook import verified

    try:
        return verified(option, names)
    except ValueError as error:
        fail(str(error), RULES_HELP)


def _levels(entries: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for entry in entries:
        rule, _, level = entry.partition("=")
        if level not in LEVELS:
            fail(f"--severity {entry}: it has to be RULE=LEVEL, where LEVEL is one of {', '.join(LEVELS)}")
        pairs += [(name, level) for name in _rules("--severity", [rule]) or ()]
    return pairs


def _baseline(file: str, update: bool) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The entries of a baseline file; {} for a missing file that ``--update-baseline`` will write."""
    from irlint.policy import baseline

    try:
        return baseline.read(file)
    except FileNotFoundError:
        if update:
            return {}
        fail(f"no such baseline: {file}", "help: --update-baseline writes it", closing=NOTHING_LINTED)
    except OSError as error:
        fail(f"cannot read the baseline {file}: {error.strerror}", closing=NOTHING_LINTED)
    except baseline.BrokenBaseline as error:
        remedy = "help: restore the file, or remove it and write a new one with --update-baseline"
        fail(f"{file} is {error}", remedy, closing=NOTHING_LINTED)


def of_files(
    options: Mapping[str, Any], config: Config | None, policy: Policy | None, forms: Sequence[Form]
) -> Settings:
    """The settings of the check of every file. The report formats decide which details it collects."""
    from irlint.run.files import Settings

    drawn, silenced, facts = (any(getattr(form, name) for form in forms) for name in ("drawn", "silenced", "facts"))
    cached = options["cache"] and not (facts or options["weights"])
    return Settings(
        _shapes(options),
        models=config.models if config is not None else None,
        operators=config["operators"] if config is not None else (),
        policy=policy,
        skip_pointers=config is not None and config.skips_pointers,
        skip_non_models=True,
        weights=options["weights"],
        targets=named_targets(options["target"]),
        timeout=float(options["timeout"] or DEFAULT_SECONDS),
        ignores=not options["no_ignores"],
        cache=os.path.abspath(options["cache"]) if cached else "",
        drawn=drawn,
        silenced=silenced,
        facts=facts,
        operands=any(form.lists_consequences or form.has_fixes for form in forms),
        every=options["verbose"],
    )


def named_targets(entries: Sequence[str] | None) -> tuple[str, ...]:
    """The labels of the targets in ``--target``, without duplicates."""
    if not entries:
        return ()
    from irlint.targets.verdicts import target

    names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    if not names:
        fail("--target names no target", "help: name one, such as --target onnxruntime@1.17")
    try:
        return tuple(dict.fromkeys(target(name).label for name in names))
    except ValueError as error:
        fail(f"--target: {error}")


def shapes_for(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments ``shapes`` and ``given_by`` for questions about a model."""
    return configured_shapes(options)(path)


def configured_shapes(options: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """``shapes_for`` as a function of the path, which reads the configuration once.

    Also declares the operators of the configuration.
    """
    from irlint.run.files import Settings, given_shapes

    config = configuration(options)
    if config is not None and config["operators"]:
        from irlint.ops.signed import describe

        describe(config["operators"])
    settings = Settings(_shapes(options), models=config.models if config is not None else None)

    def shapes(path: str) -> dict[str, Any]:
        found, by = given_shapes(settings, path)
        return {"shapes": found, "given_by": by}

    return shapes


def _shapes(options: Mapping[str, Any]) -> Mapping[str, Shape]:
    if not options["shape"]:
        return {}
    from irlint.policy.shape_options import parsed_shapes

    try:
        return parsed_shapes(options["shape"])
    except ValueError as error:
        fail(f"--shape: {error}")


def excluded(paths: Sequence[str], options: Mapping[str, Any], config: Config | None) -> Excluded:
    """The files that a search for models skips."""
    from irlint.records import replaced
    from irlint.run.search import Excluded

    git = None
    if options["respect_gitignore"] and any(os.path.isdir(path) for path in paths):
        from irlint.policy.gitignore import GitIgnores

        git = GitIgnores()
    since = None
    if options["changed_since"]:
        from irlint.run.changes import Changes

        deciding = (config.file if config is not None else None, options["baseline"])
        since = Changes(options["changed_since"], [file for file in deciding if file])
    found = Excluded(git=git, since=since, links=set(), configurations=not options.get("folders", False))
    if options["exclude"] or config is None:
        return replaced(found, here=tuple(options["exclude"]))
    return replaced(found, there=config["exclude"], root=config.root)
