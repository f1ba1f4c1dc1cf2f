"""``irlint ignore``: adds a suppression of a finding to the configuration."""

from __future__ import annotations

import glob
import json
import os

from irlint.command import settings
from irlint.command.streams import emit, fail, write_blocks
from irlint.findings.report import Finding
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.policy.globs import relative

if TYPE_CHECKING:
    from irlint.policy.configuration import Config

#: If no finding matches, the message names at most this many findings.
SHOWN = 5

#: The configuration file that is created if there is none.
FILE = "irlint.toml"


def ignore(model: str, node: str, rule: str, options: Any) -> None:
    """Adds ``[[suppress]]`` entries for the findings of a rule at a node or value.

    If ``rule`` is a prefix of codes, each rule with such a finding gets its own entry. Ends the run with status 2 if
    there is no such finding.
    """
    if not (options["reason"] or "").strip():
        fail("--reason is missing", "help: state why you accept the finding")
    config = settings.configuration({"config": options["config"], "isolated": False})
    found = _fitting(model, node, rule, config)
    file = config.file if config is not None else options["config"] or FILE
    root = config.root if config is not None else os.path.dirname(os.path.abspath(file))
    names = dict.fromkeys(finding.rule.name for finding in found)
    text = _text(file, [_entry(relative(model, root), name, node, options) for name in names])
    _refuse_invalid(text, file)
    write_blocks(file, [text.encode()], "ignore", in_place=True)
    emit(f"Wrote {file.replace(os.sep, '/')}: {counted(len(found), 'finding')} suppressed.\n")


def _fitting(model: str, node: str, rule: str, config: Config | None) -> list[Finding]:
    """The findings of a rule at a node of a model; ends the run if there are none."""
    from irlint.policy.rulebook import every_rule, named, suggestion
    from irlint.policy.suppressions import Selection, Suppression
    from irlint.run.files import Settings, checked
    from irlint.run.search import MissingPaths

    rules = every_rule()
    codes = frozenset(known_rule.code for known_rule in rules if named(known_rule, rule))
    if not codes:
        fail(f"unknown rule {rule!r}{suggestion(rule, rules)}", "help: `irlint rules` lists every rule")
    try:
        configured = Settings() if config is None else Settings(models=config.models, policy=config.policy(Selection()))
        report = checked([model], settings=configured)
    except MissingPaths:
        fail(f"no such file: {model}")
    except (OSError, ValueError) as error:
        fail(f"{model}: {getattr(error, 'strerror', None) or error}")
    suppression = Suppression("", codes, glob.escape(node), "", None, "")
    found = [finding for finding in report.findings if suppression.fits(finding)]
    if not found:
        others = [f"{finding.rule.code} at {_place(finding)}" for finding in report.findings[:SHOWN]]
        helps = [f"help: its findings are {', '.join(others)}{', ...' * (len(report.findings) > SHOWN)}"]
        fail(f"{model} has no finding of {rule} at {node}", *(helps if others else []))
    return found


def _place(finding: Finding) -> str:
    return finding.node or finding.value or "the model"


def _entry(model: str, rule: str, node: str, options: Any) -> str:
    """The lines of a ``[[suppress]]`` entry without its header."""
    lines = {
        "file": glob.escape(model),
        "node": glob.escape(node),
        "rule": rule,
        "reason": options["reason"].strip(),
    }
    quoted = {key: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f") for key, value in lines.items()}
    text = "".join(f"{key} = {value}\n" for key, value in quoted.items())
    if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        fail(
            "a name is not valid UTF-8, so TOML cannot contain it",
            "help: add an entry by hand whose glob matches the name",
        )
    return text + (f"expires = {options['expires']}\n" if options["expires"] else "")


def _text(file: str, entries: list[str]) -> str:
    """The text of a configuration file with new entries at its end."""
    from irlint.policy.configuration_files import NAMES

    before = ""
    if os.path.lexists(file):
        with open(file, encoding="utf-8", newline="") as stream:
            before = stream.read()
    table = "[[tool.irlint.suppress]]" if os.path.basename(file) == NAMES[-1] else "[[suppress]]"
    ends = "\r\n" if "\r\n" in before else "\n"
    ending = "" if not before.strip() else "" if before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    return before + (ending + "\n".join(f"{table}\n{entry}" for entry in entries)).replace("\n", ends)


def _refuse_invalid(text: str, file: str) -> None:
    from irlint.command.streams import emit_stderr
    from irlint.policy.configuration import ConfigError, of_text

    try:
        of_text(text.removeprefix("\ufeff").replace("\r\n", "\n"), file)
    except ConfigError as error:
        emit_stderr(str(error))
        raise SystemExit(2) from None
