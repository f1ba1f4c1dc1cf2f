"""Which module may import which: the order of the house."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from irlint.model.formats import FORMATS

PACKAGE = Path(__file__).resolve().parent.parent / "irlint"

#: So many lines may a module have.
LONGEST = 450


def layer(path: Path) -> str:
    """The folder of a module, or its own name where it stands in none."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


#: A folder is a layer; its modules import, late ones too, only from their own folder and from those above it in this
#: list.
LAYERS = (
    "lazy_typing",
    "records",
    "dims",
    "findings",
    "model",
    "parsers",
    "schemas",
    "ops",
    "binding",
    "inference",
    "contracts",
    "targets",
    "costs",
    "checks",
    "folders",
    "fixes",
    "snippets",
    "reporters",
    "policy",
    "run",
    "command",
)
#: The public functions, which import late what they call, ``python -m irlint``, and what it adds to pytest.
OUTSIDE = ("__init__", "__main__", "pytest_plugin")
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if layer(path) not in OUTSIDE)


#: A line that imports from irlint: from a folder or module of it, or what is named behind.
IMPORT = re.compile(r"^\s*(?:from irlint\.(\w+)|import irlint\.(\w+)|from irlint import ([\w ,]+|\([^)]*\)))", re.M)


def imports(path: Path) -> list[str]:
    """The layers that a module imports from, wherever in the module."""
    found = []
    for layers in IMPORT.findall(path.read_text("utf-8")):
        found += [part.split()[0] for part in ",".join(layers).strip("(),").split(",") if part.strip()]
    return [name for name in found if name != "__version__"]


def test_every_folder_is_a_layer() -> None:
    assert {layer(path) for path in MODULES} == set(LAYERS)


def test_imports_come_from_above() -> None:
    wrong = []
    for path in MODULES:
        own = LAYERS.index(layer(path))
        wrong += [f"{path.relative_to(PACKAGE)}: {name}" for name in imports(path) if LAYERS.index(name) > own]
    assert not wrong, f"a module imports from its own folder and from those before it in LAYERS: {wrong}"


#: Where the name of a format is that of a package, or of a program for which profiles of sizes are written.
OTHER_NAMES = {"reporters/profiles.py", "run/cache.py", "command/other_options.py"}


def test_no_module_is_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert [f"{layer(path)}/{path.name}: {length}" for path, length in lengths.items() if length > LONGEST] == []


def test_nobody_above_the_parsers_asks_for_a_format_by_its_name() -> None:
    """What differs between formats, their ``Format`` says."""
    names = {each.name for each in FORMATS}
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if layer(path) in ("inference", "contracts", "checks", "reporters", "policy", "run", "command")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert found == OTHER_NAMES


def test_importing_irlint_reads_no_framework() -> None:
    code = "import sys, irlint; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "irlint" in loaded
    assert not {"numpy", "onnx", "lxml", "rich", "google.protobuf", "click"} & set(loaded)


def test_onnx_can_be_imported_after_a_check() -> None:
    model = PACKAGE.parent / "fixtures" / "onnx" / "good" / "attention-block.onnx"
    code = (
        f"import irlint; assert not irlint.check({str(model)!r}).findings\n"
        "import sys; assert 'numpy' not in sys.modules and 'onnx' not in sys.modules\n"
        f"import onnx; onnx.checker.check_model(onnx.load({str(model)!r})); "
        "onnx.shape_inference.infer_shapes(onnx.ModelProto())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_run_with_findings_starts_without_dataclasses_and_typing() -> None:
    model = PACKAGE.parent / "fixtures" / "onnx" / "bad" / "IRL201-broadcast-mismatch.onnx"
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; sys.argv = ['irlint', {str(model)!r}]\n"
        "from irlint.command.entry import main\n"
        "try: main()\n"
        "except SystemExit: assert not {'dataclasses', 'typing'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, "IRL201" in result.stdout) == (0, True), result.stderr
