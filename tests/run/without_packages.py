"""Prints as JSON what a check of files finds where no package is installed: ``without_packages.py FILE...``."""

from __future__ import annotations

import json
import sys

PACKAGES = ("onnx", "numpy", "lxml", "google", "rich", "click")


def main() -> None:
    sys.modules.update(dict.fromkeys(PACKAGES))  # type: ignore[arg-type]
    from irlint.reporters.html import rendered
    from irlint.run.files import Settings, checked

    found = {}
    for path in sys.argv[1:]:
        report = checked([path], settings=Settings({}, drawn=True, facts=True, operands=True))
        found[path] = {**report.as_dict(), "html": rendered(report)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
