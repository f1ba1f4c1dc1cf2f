"""Checks a model again as its file would be after some edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib import import_module

from irlint import parsers
from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule, Severity
from irlint.fixes.explaining import every_problem
from irlint.fixes.outcomes import DECLARED, Outcome
from irlint.inference.walk import inferred
from irlint.model import Model, Problem
from irlint.parsers.opening import opened

#: Files of more bytes are not checked again.
LARGEST = 1 << 26

#: The family of rules about unused parts. Such problems are only reported if there is no error.
HYGIENE = "hygiene"


class Rechecked:
    """A model, its bytes, its problems, and the ``shapes`` that the user gave for its inputs."""

    def __init__(
        self, model: Model, data: bytes | None, problems: Sequence[Problem], shapes: Mapping[str, Shape]
    ) -> None:
        self.model = model
        self.data = data
        self.problems = problems
        self.shapes = shapes
        self._known: dict[tuple[Edit, ...], list[Problem] | None] = {}

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits. None if ``problem`` remains, if a problem appears that no safe fix removes, or if the
        file cannot be written."""
        after = self._after(edits)
        if after is None:
            return None
        left = Counter(map(_key, after))
        fixed = []
        for each in self.problems:
            key = _key(each)
            if left[key]:
                left[key] -= 1
            else:
                fixed.append(each)
        outputs = {value.name for value in self.model.graph.outputs} if self.model.graph is not None else set()
        new = [each for each in after if left[_key(each)] > 0 and each.fault.severity.rank]
        new = [each for each in new if not self._is_known(each)]
        if reveals(edits):
            new = [each for each in new if not may_be_hidden(each.fault.rule, each.fault.severity)]
        if not all(_may_appear(each, outputs) for each in new) or not any(each is problem for each in fixed):
            return None
        return Outcome(tuple(each for each in fixed if each.node is not None or each is problem), new_warnings=len(new))

    def _is_known(self, problem: Problem) -> bool:
        """Whether another node already limits the same sizes of the inputs in the same way."""
        return bool(problem.sizes) and any(
            (each.fault.rule, each.sizes) == (problem.fault.rule, problem.sizes) for each in self.problems
        )

    def stays_at_node(self, edits: Sequence[Edit], problem: Problem) -> bool:
        """Whether the node of a problem has the same error or warning after edits, or one that it did not have.

        In place of an error, sizes that the node fixes do not count: before, it could not state them.
        """
        after, node = self._after(edits), problem.node
        if after is None or node is None:
            return False
        before = {_key(each) for each in self.problems if each is not problem}
        return any(
            each.node is not None
            and (each.graph, each.node.label) == (problem.graph, node.label)
            and each.fault.severity.rank > 0
            and _key(each) not in before
            and not (problem.is_error and each.sizes)
            for each in after
        )

    def is_writable(self, edits: Sequence[Edit]) -> bool:
        """Whether the file can be written with these edits. True without a trial if the file is too large to be checked
        again."""
        form = self.model.format
        return self._is_large() or (form is not None and bool(form.writer) and self._written(edits) is not None)

    def _after(self, edits: Sequence[Edit]) -> list[Problem] | None:
        key = tuple(edits)
        if key not in self._known:
            self._known[key] = self._found(edits)
        return self._known[key]

    def _found(self, edits: Sequence[Edit]) -> list[Problem] | None:
        form = self.model.format
        raw = self._written(edits) if form is not None and form.writer and not self._is_large() else None
        model = parsers.read(self.model.path, raw) if raw is not None else None
        return None if model is None or model.graph is None else every_problem(inferred(model, self.shapes))

    @property
    def document(self) -> bytes:
        """The bytes of the file; b"" if it is too large to be checked again."""
        return b"" if self._is_large() else self.data or b""

    @property
    def size(self) -> int:
        """The number of bytes that are checked again."""
        return len(self.document)

    def _is_large(self) -> bool:
        """Whether a file is too large to be checked again, or cannot be opened."""
        if self.data is None:
            try:
                with opened(self.model.path) as stream:
                    self.data = stream.read(LARGEST + 1)
            except OSError:
                return True
        return len(self.data) > LARGEST

    def _written(self, edits: Sequence[Edit]) -> bytes | None:
        """The file with these edits; None if they cannot be written."""
        from irlint.fixes.wire import Unwritable
        from irlint.parsers.onnx.protobuf import Damage

        assert self.model.format is not None
        data = self.data or b""
        try:
            pieces = import_module(f"irlint.fixes.{self.model.format.writer}").rewritten(data, self.model, edits)
        except (Unwritable, Damage, IndexError):
            return None
        return b"".join(piece if isinstance(piece, bytes) else data[piece[0] : piece[1]] for piece in pieces)


def reveals(edits: Iterable[Edit]) -> bool:
    """Whether edits only change which operators nodes have: the sizes behind an unknown operator are unknown, so that
    nothing is reported about them."""
    return all(edit.kind == "opset" or (edit.kind == "rename" and edit.of in ("operator", "domain")) for edit in edits)


def may_be_hidden(rule: Rule, severity: Severity) -> bool:
    """Whether it is a warning about sizes of the model's inputs."""
    if severity is not Severity.WARNING or rule.family != DECLARED:
        return False
    from irlint.checks.equal_sizes import EQUAL_SIZES
    from irlint.checks.frozen import FROZEN_SIZE, NARROW_SIZE

    return rule in (FROZEN_SIZE, NARROW_SIZE, EQUAL_SIZES)


def _key(problem: Problem) -> tuple[object, ...]:
    fault, node = problem.fault, problem.node
    label = None if node is None else node.label
    return fault.rule.code, fault.severity, problem.graph, label, problem.value, fault.input


def _may_appear(problem: Problem, outputs: Container[str | None]) -> bool:
    """Whether edits may cause a problem: errors hid it, or a safe fix removes it. A stale declaration of an output is
    excluded."""
    if problem.fault.rule.family == HYGIENE or problem.fault.severity.rank == 0:
        return True
    return problem.fault.rule.fixable and not problem.is_error and problem.value not in outputs
