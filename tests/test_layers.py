"""Which module may import which: the order of the house."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "irlint"

#: From the bottom up; a module imports, when it is loaded, only from layers below its own, or from its own where it says so.
LAYERS = (
    ("lazy_typing",),
    ("records", "globs", "jobs", "options", "streams", "template"),
    ("dims", "toml_places"),
    ("tensor",),
    ("diagnostics",),
    ("model",),
    ("parsers",),
    ("ops",),
    ("calls",),
    ("onnx_arity",),
    ("bind_onnx", "bind_openvino"),
    ("bind",),
    ("propagate",),
    ("checks",),
    ("rulebook",),
    ("shape_options",),
    ("drawing",),
    ("onnx_text",),
    ("pictures",),
    ("provenance",),
    ("suppressions",),
    ("inspection", "listing"),
    ("baseline",),
    ("run",),
    ("reporters",),
    ("progress", "config"),
    ("__init__",),
    ("session",),
    ("cli",),
    ("entry",),
    ("__main__",),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
PACKAGES = {"dims", "pictures", "ops", "parsers", "checks", "reporters"}

#: The types of both modules speak of each other; neither needs the other at run time.
TYPES_ONLY = {("model", "diagnostics")}


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    """The modules of irlint that a module imports when it is loaded."""
    found = []
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "irlint":
            parts = node.module.split(".")[1:]
            found += [parts[0]] if parts else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("irlint.")]
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = layer(path)
    for name in imports(path):
        if name in ("__version__",) or name == own in PACKAGES:
            continue
        assert LEVEL[name] < LEVEL[own], f"{path.name} imports {name}"


@pytest.mark.parametrize("module", ["numpy", "onnx", "lxml", "rich", "google.protobuf", "click"])
def test_importing_irlint_reads_no_framework(module: str) -> None:
    code = f"import sys, irlint; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_onnx_can_be_imported_after_a_check() -> None:
    model = PACKAGE.parent / "fixtures" / "onnx" / "good" / "attention-block.onnx"
    code = (
        f"import irlint; assert not irlint.check({str(model)!r}).findings\n"
        "import sys; assert 'numpy' not in sys.modules and 'onnx' not in sys.modules\n"
        f"import onnx; onnx.checker.check_model(onnx.load({str(model)!r})); onnx.shape_inference.infer_shapes(onnx.ModelProto())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("module", ["dataclasses", "typing"])
def test_a_run_with_findings_starts_without(module: str) -> None:
    model = PACKAGE.parent / "fixtures" / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = ['irlint', {str(model)!r}]\n"
        "from irlint.entry import main\n"
        "try: main()\n"
        f"except SystemExit: assert {module!r} not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, "IRL201" in result.stdout) == (0, True), result.stderr
