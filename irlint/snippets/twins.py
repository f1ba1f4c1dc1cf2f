"""Notes on constants whose shapes differ from those of their twins in other blocks."""

from __future__ import annotations

from collections.abc import Iterable

from irlint.fixes.odd_shapes import OddShape
from irlint.model.tensor import shape_text
from irlint.snippets.reasons import Naming


def notes_on_odd_shapes(found: Iterable[OddShape], naming: Naming) -> list[str]:
    """```w``, input 1 of MatMul[9] "layers.1/v/MatMul", is [32, 32]; its twin in layers.0 is [32, 16]``, and so on."""
    notes = [
        f"{naming.called(each.value)}, input {each.port} of {naming.node(each.node)}, is {shape_text(each.shape)}; its "
        f"twin in `{each.block}` is {shape_text(each.expected)}"
        for each in found
    ]
    fixed = ", which fixes this" if len(notes) == 1 else "; both together fix this"
    return [*notes[:-1], f"{notes[-1]}{fixed}"] if notes else []
