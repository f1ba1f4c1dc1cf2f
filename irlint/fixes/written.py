"""Edits as a file writes them: sizes, element types and truth values."""

from __future__ import annotations

from irlint.findings.edits import Edit
from irlint.model import Graph
from irlint.records import replaced


def as_data(edit: Edit, graph: Graph, *, may_name: bool) -> Edit:
    """The edit with the format's own names of element types, and with "" for dynamic sizes that need no name.

    Dynamic sizes need names if ``may_name``, and if the edit adds axes or moves a dynamic size.
    """
    edit = _with_number(edit, graph)
    if edit.layer and edit.kind == "attribute" and edit.name.endswith("_type"):
        from irlint.parsers.openvino.types import renamed_type

        return replaced(edit, value=renamed_type(str(edit.value)) or edit.value)
    if edit.shape is None:
        return edit
    dims = tuple(zip(edit.before or (), edit.shape))
    named = len(edit.shape) != len(dims) or any(one != other and not isinstance(other, int) for one, other in dims)
    shape, before = (
        tuple(dim if isinstance(dim, int) else _name(dim) * (named and may_name) for dim in shape)
        for shape in (edit.shape, edit.before or ())
    )
    return replaced(edit, shape=shape, before=before)


def _name(dim: object) -> str:
    return str(dim) if str(dim).isidentifier() else ""


def _with_number(edit: Edit, graph: Graph) -> Edit:
    """The edit with 0 or 1 for a truth value, if the layer has it as a number."""
    if not edit.layer or edit.graph or not isinstance(edit.value, bool) or edit.index is None:
        return edit
    attribute = graph.nodes[edit.index].attributes.get(edit.name)
    is_number = attribute is not None and attribute.value in ("0", "1")
    return replaced(edit, value=str(int(edit.value))) if is_number else edit
