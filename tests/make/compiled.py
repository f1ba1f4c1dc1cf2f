"""The compiled wheel: the modules that most of a check runs through, made native by mypyc, beside the same Python files.

``HATCH_BUILD_HOOK_ENABLE_CUSTOM=true pip wheel --no-deps .`` builds it, with a C compiler, in some three minutes; without the variable
the wheel is the pure one.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # where only the tests look at what is here
    BuildHookInterface = object

ROOT = Path(__file__).resolve().parents[2]

#: What is compiled, as one group: calls and attributes between these cost next to nothing.
MODULES = (
    "dims/__init__",
    "model/__init__",
    "model/order",
    "model/tensor",
    "parsers/weights",
    "parsers/onnx/__init__",
    "parsers/onnx/attribute_kinds",
    "parsers/onnx/graph_records",
    "parsers/onnx/linking",
    "parsers/onnx/messages",
    "parsers/onnx/plain_nodes",
    "parsers/onnx/protobuf",
    "parsers/onnx/tensors",
    "parsers/openvino/__init__",
    "parsers/openvino/edges",
    "parsers/openvino/elements",
    "parsers/openvino/layers",
    "parsers/openvino/repeated",
    "parsers/openvino/types",
    "parsers/openvino/wiring",
    "binding/__init__",
    "binding/calls",
    "inference/answers",
    "inference/unknowns",
    "inference/known",
    "inference/limits",
    "inference/recorded",
    "inference/walk",
    "checks/constants",
    "checks/declared",
    "checks/hygiene",
    "checks/initializers",
    "checks/merged",
    "checks/names",
    "checks/types",
)

#: What joins the names of the files that belong together.
GROUP = "irlint"

SETUP = """
from mypyc.build import mypycify
from setuptools import setup

extensions = mypycify(
    [*{files!r}, "--ignore-missing-imports", "--no-warn-no-return", "--config-file="],
    group_name={group!r}, multi_file=True, opt_level="2", debug_level="0",
)
for extension in extensions:
    extension.extra_compile_args = [flag for flag in extension.extra_compile_args if flag != "-Werror"]
setup(name={group!r}, packages=[], ext_modules=extensions)
"""


def expanded(source: str) -> str:
    """A module with the methods that ``irlint.records.record`` gives its classes written out: mypyc makes native classes of those
    that no decorator replaces."""
    lines: list[str | None] = list(source.splitlines())
    behind: dict[int, list[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef):
            continue
        decorator = next((each for each in node.decorator_list if _name(each) == "record"), None)
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        if decorator is None or not fields:
            continue
        options = {each.arg: ast.literal_eval(each.value) for each in getattr(decorator, "keywords", ())}
        for each in (decorator, *fields):
            for line in range(each.lineno - 1, each.end_lineno or each.lineno):
                lines[line] = None
        behind[fields[-1].end_lineno or 0] = _methods(node, fields, eq=options.get("eq", True))
    if not behind:
        return source
    made: list[str] = []
    for number, line in enumerate(lines, 1):
        if line is not None:
            made.append(line)
        made += behind.get(number, ())
        if line == "from __future__ import annotations":
            made.append("from irlint.lazy_typing import ClassVar, Literal")
    return "\n".join(made) + "\n"


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


def _methods(node: ast.ClassDef, fields: list[ast.AnnAssign], *, eq: bool) -> list[str]:
    """The fields of a record and its methods, as lines of its class."""
    names = [each.target.id for each in fields if isinstance(each.target, ast.Name)]
    kinds = [ast.unparse(each.annotation) for each in fields]
    own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    parameters = ", ".join(
        f"{name}: {kind}" + (f" = {ast.unparse(each.value)}" if each.value is not None else "")
        for name, kind, each in zip(names, kinds, fields)
    )
    literals = ", ".join(f"Literal[{name!r}]" for name in names)
    lines = [f"__match_args__: ClassVar[tuple[{literals}]] = {tuple(names)!r}"]
    lines += [f"{name}: {kind}" for name, kind in zip(names, kinds)]
    lines += [f"def __init__(self, {parameters}) -> None:"]
    lines += [f"    self.{name} = {name}" for name in names]
    lines += ["    self.__post_init__()"] * ("__post_init__" in own)
    if "__repr__" not in own:
        told = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
        lines += ["def __repr__(self) -> str:", f'    return f"{{type(self).__name__}}({told})"']
    if eq:
        mine, others = (", ".join(f"{whose}.{name}" for name in names) for whose in ("self", "other"))
        lines += ["def __eq__(self, other: object) -> bool:", "    if self is other:", "        return True"]
        lines += [
            f"    if not isinstance(other, {node.name}) or type(other) is not type(self):",
            "        return False",
        ]
        lines += [f"    return ({mine},) == ({others},)"]
        lines += ["def __hash__(self) -> int:", f"    return hash(({mine},))"]
    return [f"    {line}" for line in lines]


def copied(target: Path, root: Path = ROOT) -> list[Path]:
    """Copies the package to ``target``, its records written out in what is compiled; the files of these, from there."""
    shutil.copytree(root / "irlint", target / "irlint")
    files = [Path("irlint") / f"{name}.py" for name in MODULES]
    for file in files:
        path = target / file
        path.write_text(expanded(path.read_text("utf-8")), "utf-8")
    return files


def compiled(target: Path, root: Path = ROOT) -> list[Path]:
    """Compiles a copy of the package in ``target``: the paths, from there, of what belongs into a wheel in place of the files."""
    files = copied(target, root)
    names = [file.as_posix() for file in files]
    (target / "setup.py").write_text(SETUP.format(files=names, group=GROUP), "utf-8")
    subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace", "-j2"], cwd=target, check=True)
    binaries = [path.relative_to(target) for suffix in ("so", "pyd") for path in target.rglob(f"*.{suffix}")]
    return files + [path for path in binaries if path.parts[0] != "build"]


class CompiledWheel(BuildHookInterface):  # type: ignore[misc,valid-type,unused-ignore]
    """Puts the compiled modules into the wheel that is built, and the platform into its name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self.folder = tempfile.mkdtemp()
        built = compiled(Path(self.folder), Path(self.root))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {str(Path(self.folder) / path): path.as_posix() for path in built}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)
