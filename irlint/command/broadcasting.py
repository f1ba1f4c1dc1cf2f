"""``irlint broadcast``: applies the broadcast rules to shapes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from irlint.command.streams import emit, encoding, fail
from irlint.lazy_typing import Any


def broadcast(texts: Sequence[str], options: Mapping[str, Any]) -> int:
    """Prints the result of each broadcast rule, or only of ``--rule``.

    Returns 1 if ``--rule`` refuses the shapes, else 0.
    """
    from irlint.policy.rulebook import closest
    from irlint.policy.shape_options import parsed_dims
    from irlint.run.broadcasting import RULES, broadcast_data

    names = [rule.name for rule in RULES]
    rule = options["rule"]
    if rule is not None and rule not in names:
        near = closest(rule, names)
        fail(f"unknown broadcast rule {rule!r}" + f", did you mean {near!r}?" * bool(near), f"help: {', '.join(names)}")
    try:
        found = broadcast_data([parsed_dims(text.strip().strip("[]")) for text in texts], options["axis"], rule)
    except ValueError as error:
        fail(str(error))
    if options["format"] == "json":
        import json

        emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8", "json")
    else:
        from irlint.reporters.ansi import colored, width
        from irlint.reporters.broadcasting import rendered

        emit(rendered(found, encoding(), width(sys.stdout), colored("auto", sys.stdout)))
    return int(rule is not None and not found["rules"][0]["holds"])
