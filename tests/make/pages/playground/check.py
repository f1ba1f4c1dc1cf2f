"""What the playground runs in the browser: a check of the files in a folder."""

from __future__ import annotations

import json
import os

#: Formats that only their bytes show, and that a file beside a model may have by chance.
MODELS = ("onnx", "openvino", "lfs-pointer")


def models(folder: str) -> list[str]:
    """The models in a folder, by their paths there; every file where none is a model, so that the report names what
    each is."""
    from irlint.model.formats import FORMATS
    from irlint.parsers import first_bytes, kind

    suffixes = tuple(suffix for form in FORMATS for suffix in form.suffixes)
    files = [
        os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names
    ]
    found = [
        each
        for each in sorted(files)
        if each.lower().endswith(suffixes) or kind(each, first_bytes(os.path.join(folder, each))) in MODELS
    ]
    return found or sorted(files)


def reports(folder: str) -> tuple[str, str]:
    """The report on a folder as HTML and as JSON."""
    from irlint.reporters.html import rendered
    from irlint.run.files import Settings, checked

    os.chdir(folder)
    report = checked(models(folder), settings=Settings({}, drawn=True, facts=True))
    document = json.dumps(report.as_dict(), indent=2, ensure_ascii=False)
    return rendered(report.folded()), document + "\n"
