"""The playground: a page that checks models in the browser."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

from irlint.findings.report import Report
from irlint.reporters.html import rendered

from ..layout import Entry, Page, code

HERE = Path(__file__).resolve().parent
PACKAGE = Path(__file__).resolve().parents[4] / "irlint"
FOLDER = "playground"
ADDRESS = f"{FOLDER}/index.html"

#: What the page needs of Pyodide.
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

#: An archive of the same files has the same bytes.
STAMP = (1980, 1, 1, 0, 0, 0)

TITLE = "Playground"
WORDS = "Check a model in the browser: nothing is uploaded."


def page(pyodide: Path | None) -> Page:
    """The page; without Pyodide it says that it cannot check here."""
    entry = Entry(ADDRESS, TITLE, "page", WORDS)
    if pyodide is None:
        text = (
            f"<p>This copy of the site was written without Pyodide: {code('site.py --pyodide FOLDER')} adds it.</p>\n"
        )
        return Page(ADDRESS, TITLE, f"<h1>{TITLE}</h1>\n{text}", (entry,))
    return Page(ADDRESS, TITLE, BODY, (entry,), head=_policy(), scripts=(f"{FOLDER}/page.js",))


def written(pyodide: Path, folder: Path) -> None:
    """Writes what the page loads beside it. Raises FileNotFoundError for a folder that is not Pyodide's."""
    place = folder / FOLDER
    (place / "pyodide").mkdir(parents=True, exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, place / "pyodide" / name)
    for name in ("page.js", "worker.js", "check.py"):
        shutil.copyfile(HERE / name, place / name)
    with zipfile.ZipFile(place / "irlint.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(PACKAGE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(PACKAGE.parent).as_posix()
                archive.writestr(zipfile.ZipInfo(name, STAMP), path.read_bytes(), zipfile.ZIP_DEFLATED)


def _policy() -> str:
    """What the browser allows: to load this site's own files, and to show a report with its own style and script."""
    found = re.search(r"style-src (\S+); script-src (\S+);", rendered(Report((), (), "")))
    assert found is not None
    style, script = found.groups()
    policy = (
        f"default-src 'none'; connect-src 'self' blob:; img-src data:; style-src 'self' {style}; "
        f"script-src 'self' 'wasm-unsafe-eval' blob: {script}; worker-src 'self' blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'


BODY = f"""<h1>{TITLE}</h1>
<p><b>Nothing leaves this browser.</b> irlint runs on this page, and the page's security policy forbids every connection
but those that load the page itself. Models are not uploaded.</p>
<div id="zone">
<p><label for="files">Drop models here, or choose them:</label> <input type="file" id="files" multiple></p>
<p>Add the <code>.bin</code> of an IR and the external data of an ONNX model, or drop their folder.</p>
<p id="state" role="status" data-state="loading">Loading Python and irlint, 14 MB …</p>
</div>
<noscript><p>The playground needs JavaScript.</p></noscript>
<section id="result" aria-label="Report" hidden>
<p><a id="as-html" download="irlint.html">Save the report</a> · <a id="as-json" download="irlint.json">as JSON</a></p>
<iframe id="report" title="Report" sandbox="allow-scripts"></iframe>
</section>
<h2>What differs from the command</h2>
<ul>
<li>An IR that is not well-formed XML, or has comments among its layers, needs the package lxml: the report lists such a
file as not checked.</li>
<li>Where a release may replace an operator by a function of ONNX, its verdict is "not known".</li>
<li>Everything must fit into this tab's memory, up to 2 GB of models and weights.</li>
<li>Opened from a disk, this page cannot load Python: serve the site with <code>python -m http.server</code>.</li>
</ul>
"""
