"""The options of a check, and the words that their values are made of."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.lazy_typing import Any

#: The forms that other programs read: the name of each is that of its module, whose ``rendered`` makes a text of a report.
DOCUMENTS = ("json", "sarif", "github", "gitlab", "junit")
FORMATS = ("text", "concise", *DOCUMENTS)
LEVELS = ("error", "warning", "note")
FAIL_ON = (*LEVELS, "never")
POINTERS = ("error", "skip")

#: What each option is where nobody gives it; None stands for what the configuration says.
DEFAULTS: Mapping[str, Any] = {
    "form": None,
    "outputs": (),
    "select": (),
    "ignore": (),
    "extend_select": (),
    "severities": (),
    "shapes": (),
    "fail_on": None,
    "jobs": None,
    "baseline": None,
    "update_baseline": False,
    "exclude": (),
    "force_exclude": False,
    "allow_empty": False,
    "stdin_filename": None,
    "config": None,
    "isolated": False,
    "show_files": False,
    "color": "auto",
    "no_progress": False,
    "statistics": False,
    "quiet": False,
    "verbose": False,
}
