"""A change of a model as data, and its text."""

from __future__ import annotations

from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any, Literal
from irlint.records import record

if TYPE_CHECKING:
    from irlint.findings.report import Report

#: ``safe``: for every input that ran before, the model gives the same outputs bit for bit.
Applicability = Literal["safe", "unsafe"]

#: What an edit removes, adds or renames, beside a node.
Of = Literal["node", "input", "output", "initializer", "value_info", "opset_import", "metadata", "graph", "domain"]

Kind = Literal["attribute", "input", "declaration", "order", "rename", "remove", "opset", "ir_version"]


@record
class Edit:
    """One change: ``kind`` as ``check --format json`` names it, in the graph of this path, "" for the main one.

    ``index`` is that of the ``node`` in its graph; ``name`` is that of what is changed, and ``value`` what it becomes: the new name,
    the version; ``order`` has the indices of the nodes in their new order. An ``attribute`` without a value is removed. An
    ``input`` becomes the value of the name in ``value``. A declaration is that of an ``input`` port, or of the value of this name, as
    ``shape`` and ``dtype``, where these are given; a size that is a text has that name, "" is that which is declared, None any size.
    """

    kind: Kind
    of: Of = "node"
    graph: str = ""
    node: str = ""
    index: int | None = None
    name: str = ""
    value: int | float | str | tuple[int | float | str, ...] | None = None
    order: tuple[int, ...] = ()
    input: int | None = None
    shape: tuple[int | str | None, ...] | None = None
    dtype: str = ""

    @property
    def text(self) -> str:
        """The edit as an imperative."""
        match self.kind:
            case "order":
                return "sort the nodes" + (f' of the graph "{self.graph}"' if self.graph else "")
            case "rename":
                return _renamed(self)
            case "remove":
                return _removed(self)
            case "attribute":
                return f"remove `{self.name}`" if self.value is None else f"set `{self.name} = {self.value}`"
            case "input":
                return f'connect input {self.input} of {_node(self)} to "{self.value}"'
            case "declaration":
                return _declared(self)
            case "opset":
                return f"import opset {self.value} of {self.name or 'ai.onnx'}"
        return f"set ir_version = {self.value}"

    def as_dict(self) -> dict[str, Any]:
        """The edit as ``check --format json`` prints it."""
        node = {"node": self.node, "index": self.index} if self.index is not None else {}
        name = {"name": self.name} if self.name else {}
        value = {"value": list(self.order)} if self.order else {"value": self.value} if self.value is not None else {}
        port = {"input": self.input} if self.input is not None else {}
        shape = {"shape": list(self.shape)} if self.shape is not None else {}
        dtype = {"dtype": self.dtype} if self.dtype else {}
        return {
            "kind": self.kind,
            "of": self.of,
            "graph": self.graph,
            **node,
            **name,
            **port,
            **value,
            **shape,
            **dtype,
        }


@record
class Replacement:
    """A part of a document, from a line and a column to those just behind it, all from 1, and the text that takes its place."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@record
class Fix:
    """The edits, applied one after another, with which a finding disappears; ``replacements`` are what they change in a document."""

    edits: tuple[Edit, ...]
    applicability: Applicability = "safe"
    replacements: tuple[Replacement, ...] = ()

    @property
    def message(self) -> str:
        """All its edits as one imperative; of many alike the first, and how many there are."""
        first = self.edits[0]
        more = len(self.edits) - 1
        return first.text + (f", and {counted(more, 'more edit')} like it" if more else "")

    def as_dict(self) -> dict[str, Any]:
        """The fix as ``check --format json`` prints it."""
        return {
            "applicability": self.applicability,
            "message": self.message,
            "edits": [edit.as_dict() for edit in self.edits],
        }


@record(eq=False)
class Fixed:
    """A model after its fixes: its bytes, the edits that were made, and the report on what is left."""

    data: bytes
    edits: tuple[Edit, ...]
    report: Report


def _renamed(edit: Edit) -> str:
    if edit.of == "domain":
        return f'leave the domain of the nodes empty, instead of "{edit.name}"'
    if edit.of == "graph":
        return f'name the graph "{edit.value}"'
    return f'rename {_node(edit)} to "{edit.value}"'


def _declared(edit: Edit) -> str:
    what = f"input {edit.input} of {_node(edit)}" if edit.input is not None else f'"{edit.name}"'
    dims = "?" if edit.shape is None else ", ".join(["?" if dim in (None, "") else str(dim) for dim in edit.shape])
    shape = "" if edit.shape is None else f"[{dims}]"
    return f"declare {what} as {edit.dtype}{shape}"


def _removed(edit: Edit) -> str:
    match edit.of:
        case "node":
            return f"remove {_node(edit)}"
        case "opset_import":
            return f"remove {'a repeated' if edit.index is not None else 'the'} import of {edit.name or 'ai.onnx'}"
        case "metadata":
            return "remove all but the last metadata entry of each key"
        case "value_info":
            return f'remove "{edit.name}" from value_info'
    return f'remove the initializer "{edit.name}"' if edit.name else "remove the initializers without a name"


def _node(edit: Edit) -> str:
    return f'node {edit.index} "{edit.node}"' if edit.node else f"node {edit.index}"
