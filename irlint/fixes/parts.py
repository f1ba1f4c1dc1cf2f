"""Candidates for the sizes of parts of a sequence, of which nothing reads the last parts."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.other_values import PROBABLE
from irlint.model import Node, Value
from irlint.model.tensor import Tensor

#: The name of the input with the sizes of the parts.
SIZES = "split"


def without_unread_parts(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Leaves the last parts out of the sizes of the parts, if all users of the sequence read earlier parts."""
    call = editor.known.calls.get(node)
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    sizes = node.inputs[names.index(SIZES)] if SIZES in names and names.index(SIZES) < len(node.inputs) else None
    given = editor.known.types.get(sizes) if sizes is not None else None
    sequence = node.outputs[0] if len(node.outputs) == 1 else None
    if sizes is None or not isinstance(given, Tensor) or given.value is None or sequence is None:
        return
    places = _places_read(sequence, len(given.value), editor)
    is_returned = sequence in editor.graph.outputs or any(sequence in body.captured for body in editor.graph.bodies)
    if is_returned or not places or not editor.makers.is_constant(sizes) or len(editor.users.get(sizes, ())) > 1:
        return
    if max(places) + 1 < len(given.value):
        edit = editor.constant(sizes, given.value[: max(places) + 1])
        yield Candidate((edit,), PROBABLE, subject=sizes)


def _places_read(sequence: Value, length: int, editor: Editor) -> set[int]:
    """The indices of the elements of a sequence that its users read; empty if one of them is unknown."""
    from irlint.ops.flow.sequence import READER

    found: set[int] = set()
    for user in editor.users.get(sequence, ()):
        position = editor.known.types.get(user.inputs[1]) if user.inputs[1:] and user.inputs[1] is not None else None
        place = position.scalar if isinstance(position, Tensor) else None
        if user.op != READER or not isinstance(place, int) or place < 0 or place >= length:
            return set()
        found.add(place)
    return found
