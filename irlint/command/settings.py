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

#: The last line of a message that ends the run before any file is checked.
NOTHING_LINTED = "Nothing was linted.\n"
#: The kinds of configuration keys that ``merged`` leaves out. An option of the first three kinds is combined with its
#: key, and the globs of an option have another root folder.
NOT_MERGED = ("rules", "levels", "models", "globs")

RULES_HELP = "help: `irlint rules` lists every rule"


def expanded(paths: Sequence[str]) -> tuple[str, ...]:
    """The paths. On Windows, whose shell does not expand wildcards, a path with wildcards is replaced by the files that
    match it, if any do."""
    if not any(letter in path for path in paths for letter in "*?["):
        return tuple(paths)
    from irlint.reporters.console import WINDOWS

    if not WINDOWS:
        return tuple(paths)
    from glob import glob

    found = (() if os.path.exists(path) else sorted(glob(path, recursive=True)) for path in paths)
    return tuple(each for path, files in zip(paths, found) for each in files or [path])


def configuration(options: Mapping[str, Any]) -> Config | None:
    """The configuration that ``--config`` names or a search finds; None if there is none."""
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
    """The configuration in a file; None for a pyproject.toml without [tool.irlint]. Ends the run if it is invalid."""
    from irlint.policy.configuration import ConfigError, loaded

    try:
        return loaded(file)
    except ConfigError as error:
        emit_stderr(str(error))
        raise SystemExit(2) from None
    except OSError as error:
        fail(f"cannot read the configuration {file}: {error.strerror}", closing=NOTHING_LINTED)


def merged(options: Mapping[str, Any], config: Config | None) -> dict[str, Any]:
    """A copy of the options. An option that was not given gets the value of its key in the configuration, or without a
    configuration the default of the key.

    Options of the kinds in NOT_MERGED are copied unchanged.
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

    Ends the run if a file cannot be written, is named twice, or is a model, the configuration, the baseline or the
    journal of the run.
    """
    result = [_output(entry) for entry in options["output"]]
    written: list[str] = []
    for _, file in result:
        reason = _unwritable(file)
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
    """Ends the run if one of ``files`` is also one of ``others``, unless it is a device or a pipe.

    ``what`` says what the file would be at once, such as "two reports".
    """
    taken = {os.path.realpath(each) for each in others} if files else ()
    for file in files:
        is_special = os.path.exists(file) and not os.path.isfile(file)
        if os.path.realpath(file) in taken and not is_special:
            fail(f"--output: {file} would be {what}", "help: name another file", closing=closing)


def _output(entry: str) -> tuple[Form, str]:
    """The format and the file in a value of ``--output``. Ends the run if the format is unknown."""
    name, equals, file = entry.partition("=")
    if equals and file and name in FORMS:
        return FORMS[name], file
    form = by_name(entry) if not equals else None
    if form is None:
        ends = ", ".join(f"{end} for {each.name}" for each in FORMS.values() for end in each.suffixes)
        wrong = f"it has to be FORMAT=FILE, where FORMAT is one of {', '.join(FORMS)}"
        fail(f"--output {entry}: {wrong}", f"help: FORMAT= can be left out if the file has a suffix of: {ends}")
    return form, entry


def _unwritable(file: str) -> str:
    """Why a file cannot be written; "" if nothing is known. A missing folder is no reason: it is created."""
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
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"nothing may be written into {folder}"


def policy(options: Mapping[str, Any], config: Config | None) -> Policy | None:
    """The rules, levels and suppressions of the run; None if there are none, so that all findings are reported.

    The rules that the options select and ignore apply after those of the configuration.
    """
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
    """The rules in the values of an option, each checked to exist; None if the option is not given."""
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
    """The pairs of a rule and its level in the values of ``--severity``."""
    pairs = []
    for entry in entries:
        rule, _, level = entry.partition("=")
        if level not in LEVELS:
            fail(f"--severity {entry}: it has to be RULE=LEVEL, where LEVEL is one of {', '.join(LEVELS)}")
        pairs += [(name, level) for name in _rules("--severity", [rule]) or ()]
    return pairs


def _baseline(file: str, update: bool) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The entries of a baseline file; {} if it is missing and ``--update-baseline`` will write it."""
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
    """The settings that the check of every file has; the report formats decide which details it collects."""
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
    """The targets in the values of ``--target``, without duplicates; a value may list several. Ends the run for an
    unknown target."""
    if not entries:
        return ()
    from irlint.targets.verdicts import target

    names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    if not names:
        fail("--target names no target", "help: name one, such as --target onnxruntime@1.17")
    for name in names:
        try:
            target(name)
        except ValueError as error:
            fail(f"--target: {error}")
    return tuple(dict.fromkeys(names))


def shapes_for(path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The shapes that --shape and the configuration give the inputs of one model, and where each is from.

    They are the keyword arguments ``shapes`` and ``given_by`` of the functions that answer a question about a model.
    """
    return configured_shapes(options)(path)


def configured_shapes(options: Mapping[str, Any]) -> Callable[[str], dict[str, Any]]:
    """``shapes_for`` as a function of the path alone, which reads the configuration only once."""
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
    """The shapes of ``--shape`` by input. Ends the run if one is invalid."""
    if not options["shape"]:
        return {}
    from irlint.policy.shape_options import parsed_shapes

    try:
        return parsed_shapes(options["shape"])
    except ValueError as error:
        fail(f"--shape: {error}")


def excluded(paths: Sequence[str], options: Mapping[str, Any], config: Config | None) -> Excluded:
    """What a search for models leaves out.

    This is what matches a glob of ``--exclude``, or without it of the key ``exclude``; what git ignores, if a path is a
    folder; and with ``--changed-since`` the unchanged files.
    """
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
        since = Changes(options["changed_since"], [each for each in deciding if each])
    found = Excluded(git=git, since=since, links=set(), configurations=not options.get("folders", False))
    if options["exclude"] or config is None:
        return replaced(found, here=tuple(options["exclude"]))
    return replaced(found, there=config["exclude"], root=config.root)
