"""Files that store each small list of integers only once: nodes that need the same list share a constant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.candidate import MANY, SEVERAL, Candidate
from irlint.fixes.constants import Constants, entries_of
from irlint.fixes.other_values import EVIDENT
from irlint.lazy_typing import Any
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import Tensor

#: The entries that are tried for a constant that equals another one, if no constant has them.
FREQUENT = (0, 1, -1, 2, 3)

#: So few lists may be distinct by chance.
FEW = 6

#: The element type, the shape and the entries of a constant.
Content = tuple[str, object, tuple[Any, ...]]


class Distinct:
    """The small lists of integers that a file stores, if it stores each of them once; otherwise none.

    If two of them are equal, one of the two is wrong.
    """

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.stored: dict[Content, list[Value]] = {}
        for value in constants.graph.constants:
            if (content := self._content(value)) is not None:
                self.stored.setdefault(content, []).append(value)
        users = constants.editor.users
        shared = sum(len(users.get(value, ())) - 1 for several in self.stored.values() for value in several)
        equal = [several for several in self.stored.values() if len(several) > 1]
        is_pair = [len(each) for each in equal] == [2] and shared >= MANY
        if len(self.stored) <= FEW or shared < SEVERAL or (equal and not is_pair):
            self.stored, equal = {}, []
        #: The two equal constants; () if all are distinct.
        self.pair: Sequence[Value] = equal[0] if equal else ()

    def _content(self, value: Value, entries: tuple[Any, ...] | None = None) -> Content | None:
        known = self.constants.known.types.get(value)
        given = entries_of(known)
        return (known.dtype or "", known.shape, entries or given) if given and isinstance(known, Tensor) else None

    def repeats(self, edits: Iterable[Edit]) -> bool:
        """Whether edits give a constant the entries of another one. No such file has two of them."""
        return any(self._repeats(edit) for edit in edits if self.stored and edit.of == "entries" and not edit.graph)

    def _repeats(self, edit: Edit) -> bool:
        value = next((each for each in self.constants.graph.constants if each.name == edit.name), None)
        content = self._content(value, edit.value) if value is not None else None
        others = self.stored.get(content, ()) if content is not None else ()
        return any(each is not value for each in others)

    def separates(self, edits: Sequence[Edit]) -> bool:
        """Whether edits only change one of the two equal constants."""
        names = {value.name for value in self.pair}
        return len(edits) == 1 and edits[0].of == "entries" and edits[0].name in names

    def candidates(self, node: Node) -> Iterator[Candidate]:
        """Gives one of the two equal constants another frequent entry, if the constant affects a node."""
        for value in self.pair:
            entries = entries_of(self.constants.known.types.get(value))
            users = self.constants.editor.users.get(value, ())
            affects = any(user is node or node in downstream(user, self.constants.graph) for user in users)
            for new in FREQUENT if len(entries) == 1 and affects else ():
                edits = (self.constants.editor.constant(value, (new,)),)
                if (new,) != entries and not self.repeats(edits):
                    yield Candidate(edits, EVIDENT, evidence=SEVERAL, subject=value)
