"""The conditions under which releases refuse a node though they have its operator: each with a name, a predicate over
the node, its words and its help.

A row of a table names conditions with arguments: ``refuses :MaxPool output 1``, and ``&`` between several that refuse
together. A predicate takes a ``Use`` and the arguments as texts. It returns None if the answer is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod

from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor
from irlint.records import record
from irlint.targets.uses import LEFT_OUT, Use, is_fixed, is_static


@record
class Condition:
    """A condition: when it holds for a node, what the node then has, in words behind "with", and the help.

    ``{0}`` and ``{1}`` in words and help stand for the arguments; ``of_types`` says that it is about element types.
    """

    holds: Callable[..., bool | None]
    text: str
    help: str
    of_types: bool = False


@record
class Stated:
    """A condition with its arguments, as a row of a table states it; A ``!`` before its name negates it (``negated``):
    the predicate must return False."""

    condition: Condition
    arguments: tuple[str, ...]
    negated: bool = False

    def holds(self, use: Use) -> bool:
        """Whether it is known to hold for a node."""
        return self.condition.holds(use, *self.arguments) is (not self.negated)

    def text(self, use: Use | None = None) -> str:
        """The words after "with": what such a node has; of several element types, that of the node."""
        words = [each.replace(",", ", ") for each in self.arguments]
        if use is not None and self.condition.holds in (_is_of_type, _gives_type):
            types = use.inputs if self.condition.holds is _is_of_type else use.outputs
            words[1] = types[int(words[0])] or words[1]
        return self.condition.text.format(*words)

    @property
    def help(self) -> str:
        """What to write instead."""
        return self.condition.help.format(*self.arguments)


def attribute(use: Use, name: str, default: Any = None) -> Any:
    """The value of an attribute of the node, as text where it is one."""
    found = use.node.attributes.get(name)
    if found is not None and found.reference is not None:
        found = use.scope.get(found.reference)
    value = default if found is None else found.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def tensor(use: Use, index: int) -> Tensor | None:
    """What is known of an input; None for one that is left out, or is no tensor."""
    value = use.node.inputs[index] if index < len(use.node.inputs) else None
    known = use.types.get(value) if value is not None else None
    return known if isinstance(known, Tensor) else None


def is_constant(use: Use, index: int) -> bool:
    """Whether the contents of an input are known; one that is left out counts, and so does one that is too large to be
    kept."""
    return not _has(use.inputs, index) or _is_known(use, index) or use.node.inputs[index] in use.constants


def is_computed(use: Use, index: int) -> bool:
    """Whether the contents of an input are known, and yet it is neither an initializer nor what a Constant gives."""
    return _is_known(use, index) and use.node.inputs[index] not in use.constants


def _is_known(use: Use, index: int) -> bool:
    known = tensor(use, index)
    return known is not None and known.value is not None and None not in known.value


def _has(types: Sequence[str | None], index: str | int) -> bool:
    """Whether an input or output is there."""
    return int(index) < len(types) and types[int(index)] != LEFT_OUT


def _is_given(use: Use, index: str) -> bool:
    return _has(use.inputs, index)


def _is_one_of(types: Sequence[str | None], index: str, allowed: str) -> bool | None:
    known = types[int(index)] if _has(types, index) else LEFT_OUT
    return None if known is None else known in allowed.split(",")


def _is_of_type(use: Use, index: str, types: str) -> bool | None:
    return _is_one_of(use.inputs, index, types)


def _gives_type(use: Use, index: str, types: str) -> bool | None:
    return _is_one_of(use.outputs, index, types)


def _differ(use: Use, *indices: str) -> bool | None:
    types = [use.inputs[int(each)] if _is_given(use, each) else LEFT_OUT for each in indices]
    return None if None in types else LEFT_OUT not in types and len(set(types)) > 1


def _rank(use: Use, index: str) -> int | None:
    known = tensor(use, int(index))
    return None if known is None else known.rank


def _is_of_rank(use: Use, index: str, ranks: str) -> bool | None:
    known = _rank(use, index)
    if known is None:
        return None if _is_given(use, index) else False
    return str(known) in ranks.split(",")


def _is_of_rank_above(use: Use, index: str, most: str) -> bool | None:
    known = _rank(use, index)
    return None if known is None else known > int(most)


def _is_of_other_rank(use: Use, index: str, ranks: str) -> bool | None:
    found = _is_of_rank(use, index, ranks)
    return found if found is None or not _is_given(use, index) else not found


def _is_zero_size(use: Use, index: str) -> bool:
    known = tensor(use, int(index))
    return known is not None and known.shape is not None and 0 in known.shape


def _is_not_as_long(use: Use, index: str, name: str) -> bool:
    known, number = tensor(use, int(index)), attribute(use, name)
    length = known.shape[0] if known is not None and known.shape is not None and len(known.shape) == 1 else None
    return isinstance(length, int) and number not in (None, length)


def _is_uneven(use: Use) -> bool:
    """Whether the parts of a Split without a list of sizes differ, and the last one has elements."""
    known, axis, parts = tensor(use, 0), attribute(use, "axis", 0), attribute(use, "num_outputs")
    if known is None or known.shape is None or not parts or _is_given(use, "1"):
        return False
    size = known.shape[axis] if -len(known.shape) <= axis < len(known.shape) else None
    return isinstance(size, int) and bool(size % parts) and (parts - 1) * -(-size // parts) < size


def _entries(use: Use, index: str, wrong: Callable[[Any], bool]) -> bool | None:
    """Whether an entry of an input is wrong; None if its values are unknown."""
    if not _is_given(use, index):
        return False
    known = tensor(use, int(index))
    if known is None or known.value is None:
        return None
    return any(isinstance(each, (bool, int)) and wrong(each) for each in known.value)


def _has_attribute(use: Use, name: str, values: str = "") -> bool:
    value = attribute(use, name)
    return value is not None and (not values or str(value) in values.split(","))


def _is_attribute_other(use: Use, name: str, values: str) -> bool:
    value = attribute(use, name)
    entries = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return any(str(each) not in values.split(",") for each in entries)


def _is_window_above(use: Use, most: str) -> bool:
    """Whether a window over one or two axes has more positions."""
    sizes = list(attribute(use, "kernel_shape", ()))
    return len(sizes) < 3 and prod(sizes) > int(most)


def _opset(use: Use) -> int:
    return use.version if isinstance(use.version, int) else 0


def _halves_differ(use: Use, name: str) -> bool:
    values = list(attribute(use, name, ()))
    return values[: len(values) // 2] != values[len(values) // 2 :]


def _returns_input(use: Use) -> bool:
    return any(not set(body.outputs).isdisjoint(body.inputs) for _, body in use.node.bodies)


def _has_ellipsis_or_diagonal(use: Use) -> bool:
    equation = str(attribute(use, "equation", "")).replace(" ", "")
    return "." in equation or any(len(set(term)) < len(term) for term in equation.partition("->")[0].split(","))


OTHERWISE = "write it with other operators"
DYNAMIC = Condition(lambda use: not is_static(use), "a dynamic size", "fix the sizes of the inputs of the model")

#: The conditions that ask for no more than the operator, its version, and the element types of inputs and outputs.
_OF_SIGNATURE: Mapping[str, Condition] = {
    "type": Condition(_is_of_type, "input {0} of {1}", "cast input {0} to another element type", of_types=True),
    "gives": Condition(_gives_type, "output {0} of {1}", "give another element type, and cast", of_types=True),
    "types-differ": Condition(_differ, "inputs {0} and {1} of different element types", "cast one of them", True),
    "input": Condition(_is_given, "an input {0}", "leave input {0} out"),
    "no-input": Condition(lambda use, at: not _is_given(use, at), "no input {0}", "give input {0}"),
    "omitted": Condition(
        lambda use, at: int(at) < len(use.inputs) and not _is_given(use, at), "an input {0} of the empty name",
        "take input {0} away"),
    "output": Condition(lambda use, at: _has(use.outputs, at), "an output {0}", "leave output {0} out"),
    "opset-below": Condition(
        lambda use, opset: _opset(use) < int(opset), "an opset below {0}", "write the model at opset {0}"),
    "opset-from": Condition(
        lambda use, opset: _opset(use) >= int(opset), "opset {0} or later", "write the model at an earlier opset"),
    "any": Condition(lambda use: True, "any inputs and attributes that were tried", OTHERWISE),
}  # fmt: skip

#: Every condition by its name.
CONDITIONS: Mapping[str, Condition] = {
    **_OF_SIGNATURE,
    "constant": Condition(
        lambda use, at: _is_given(use, at) and is_constant(use, int(at)), "a constant input {0}", "compute input {0}"),
    "not-constant": Condition(
        lambda use, at: not is_constant(use, int(at)), "an input {0} that is not constant",
        "write input {0} as an initializer"),
    "computed": Condition(
        lambda use, at: is_computed(use, int(at)), "an input {0} that nodes compute",
        "write input {0} as an initializer"),
    "rank": Condition(_is_of_rank, "input {0} of rank {1}", "reshape input {0}"),
    "rank-above": Condition(_is_of_rank_above, "an input {0} of a rank above {1}", "reshape input {0}"),
    "rank-not": Condition(_is_of_other_rank, "input {0} of another rank than {1}", "reshape input {0}"),
    "unranked": Condition(
        lambda use, at: _is_given(use, at) and _rank(use, at) is None, "an input {0} of unknown rank",
        "declare the shape of input {0}"),
    "dynamic": DYNAMIC,
    "not-static": Condition(
        lambda use, at: _is_given(use, at) and not is_fixed(tensor(use, int(at))),
        "an input {0} without a static shape", "declare the sizes of input {0}"),
    "zero-size": Condition(_is_zero_size, "a size of 0 in input {0}", "use another size"),
    "not-as-long": Condition(_is_not_as_long, "an input {0} of another length than {1}", OTHERWISE),
    "uneven": Condition(_is_uneven, "parts of different sizes", "give the sizes of the parts"),
    "nonzero": Condition(lambda use, at: _entries(use, at, bool), "an input {0} that is not 0", "use 0"),
    "above": Condition(
        lambda use, at, most: _entries(use, at, lambda each: each > int(most)), "more than {1} in input {0}",
        "use a smaller number"),
    "graph-input": Condition(lambda use: use.reads, "an input of the model", "let the model take quantized values"),
    "graph-output": Condition(lambda use: use.returns, "an output of the model", "let the model give quantized values"),
    "returned": Condition(
        lambda use: use.returns and not use.graph, "an output that the graph returns", "return its tensors"),
    "attribute": Condition(_has_attribute, "the attribute {0}", "leave the attribute {0} out"),
    "attribute-is": Condition(_has_attribute, "{0}={1}", "use another {0}"),
    "attribute-not": Condition(_is_attribute_other, "another {0} than {1}", "use one of these values of {0}"),
    "no-attribute": Condition(
        lambda use, name: not _has_attribute(use, name), "no attribute {0}", "write the attribute {0}"),
    "window-above": Condition(
        _is_window_above, "a window of more than {0} positions", "use GlobalAveragePool or a reduction"),
    "halves-differ": Condition(
        _halves_differ, "other {0} in the second half than in the first", "use the same values in both halves"),
    "returns-input": Condition(
        _returns_input, "a body that returns one of its inputs", "return it through an Identity"),
    "ellipsis": Condition(_has_ellipsis_or_diagonal, "an ellipsis or a diagonal", "write the axes out"),
    "fault": Condition(lambda use, code: code in use.faults, "the error {0} of the check", "correct the error"),
}  # fmt: skip


def of_signature(each: Stated) -> bool:
    """Whether a condition holds for all nodes of one operator, version, and element types or for none of them."""
    return any(each.condition is condition for condition in _OF_SIGNATURE.values())


@cache
def stated(row: str) -> tuple[Stated, ...]:
    """The conditions of a row of a table."""
    parts = (each.split(" ") for each in row.split(" & "))
    return tuple(
        Stated(CONDITIONS[name.lstrip("!")], tuple(arguments), name.startswith("!")) for name, *arguments in parts
    )


def hold(conditions: Sequence[Stated], use: Use) -> bool:
    """Whether all of them are known to hold for a node."""
    return all(each.holds(use) for each in conditions)
