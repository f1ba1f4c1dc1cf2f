"""A suggestion: the edits that a report shows for a problem, as the file writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.dims import product
from irlint.findings.edits import Edit, Fix, message
from irlint.findings.wording import counted, either
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Problem
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.fixes.rechecking import Outcome

#: The kinds of places (see ``place``). SIZED: those that set sizes.
WEIGHTS, WIRING, DECLARATION = "weights", "wiring", "declaration"
SIZED = ("constant", DECLARATION)


@record
class Suggestion:
    """Alternative edits that fix a problem equally well."""

    problem: Problem
    alternatives: tuple[tuple[Edit, ...], ...]
    #: The outcome of the first alternative.
    outcome: Outcome
    #: A further alternative, as text.
    help: str = ""
    #: Whether no caution applies. Otherwise the edits are not written.
    sure: bool = True
    #: Whether the edits may be written. The user decides on other sizes of inputs.
    written: bool = True
    #: Whether the rest of the model supports the edits.
    supported: bool = True
    #: Less likely edits of other places that fix as much.
    elsewhere: tuple[tuple[Edit, ...], ...] = ()

    @property
    def text(self) -> str:
        """``set `axis = 1`; this also fixes 3 more``."""
        edits = [each for alternative in self.alternatives for each in alternative if each.index is not None]
        is_here = all(each.graph == self.problem.graph for each in edits)
        index = self.problem.node.index if self.problem.node is not None and is_here else None
        texts = _joined([message(edits, index) for edits in self.alternatives])
        more, stale = len(self.outcome.fixed) - 1, len(self.outcome.stale)
        also = f"; this also fixes {more} more" if more > 0 else ""
        follow = f"; then update {counted(stale, 'declaration')}" if stale else ""
        others = ", or ".join(message(each, index) for each in self.elsewhere)
        others = f"; or, less likely, {others}" if others else ""
        return f"{', or '.join(texts)}{also}{follow}{others}" + f"; or {self.help}" * bool(self.help)

    @property
    def may_be_of_weights(self) -> bool:
        """Whether weights of another shape may be the cause: no edits are written, or sizes change without support."""
        return (not self.supported and place(self.alternatives[0]) in SIZED) or self.fix is None

    @property
    def fix(self) -> Fix | None:
        """The edits, if they can be written, and if there is no other alternative."""
        if len(self.alternatives) > 1 or not (self.sure and self.written) or self.help:
            return None
        return Fix(self.alternatives[0], "unsafe") if all(map(_is_writable, self.alternatives[0])) else None


def _is_writable(edit: Edit) -> bool:
    """Whether the new elements of a changed constant are known: their number and their order stay."""
    if edit.kind != "constant" or edit.of == "entries":
        return True
    if edit.order:
        return False
    return edit.of == "type" or product(edit.before or ()) == product(edit.value)


def _joined(texts: Iterable[str]) -> list[str]:
    """The texts. Those that differ in one number, or in the node at the end, become one: ``change 8 to 6 or 10``."""
    found: list[tuple[list[str], int | None, list[str]]] = []
    for words in (text.split() for text in dict.fromkeys(texts)):
        first, place, choices = found[-1] if found else ([], None, [])
        differing = [at for at, (one, other) in enumerate(zip(first, words)) if one != other]
        fits = len(first) == len(words) and len(differing) == 1 and place in (None, differing[0])
        if fits and _is_choice(words, differing[0]):
            found[-1] = first, differing[0], [*(choices or [first[differing[0]]]), words[differing[0]]]
        else:
            found.append((words, None, []))
    return [
        " ".join(words if at is None else [*words[:at], either(*choices), *words[at + 1 :]])
        for words, at, choices in found
    ]


def _is_choice(words: Sequence[str], at: int) -> bool:
    """Whether a word is a number, or the last one, which names a node: ``Conv[3]``."""
    return words[at].isdecimal() or (at + 1 == len(words) and words[at].endswith("]") and "[" in words[at][1:])


def place(edits: Sequence[Edit]) -> str:
    """The kind of place that edits change."""
    first = edits[0]
    if first.kind == "constant" and first.of == "shape":
        return WEIGHTS
    return WIRING if first.kind in ("input", "order") else first.kind


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
