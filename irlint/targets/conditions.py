"""The conditions under which releases refuse nodes although they support the operator.

A row of a table joins conditions by ``&``. Each condition has a name and arguments: ``refuses :MaxPool output 1`` has
the condition ``output`` with the argument ``1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod

from irlint.lazy_typing import Any
from irlint.model.tensor import Tensor
from irlint.records import record
from irlint.targets import facts
from irlint.targets.uses import OMITTED, Use, is_static


@record
class Condition:
    """A condition for a node. ``{0}`` and ``{1}`` in its texts are its arguments."""

    #: A function of a ``Use`` and the arguments as texts; it returns None if the answer is unknown.
    holds: Callable[..., bool | None]
    #: The words after "with" in a message.
    text: str
    #: What to write instead, or a function of a ``Use`` and the arguments that returns it.
    help: str | Callable[..., str]
    #: Whether the condition is about element types.
    of_types: bool = False


@record
class BoundCondition:
    """A condition with its arguments."""

    condition: Condition
    arguments: tuple[str, ...]
    #: Whether ``condition.holds`` must return False. Then the row has ``!`` before the name of the condition.
    negated: bool = False

    def holds(self, use: Use) -> bool:
        """Whether the condition is known to hold for a node."""
        return self.condition.holds(use, *self.arguments) is (not self.negated)

    def text(self, use: Use | None = None) -> str:
        """The words after "with" in a message. With ``use``, they name only the element type of this node."""
        words = [each.replace(",", ", ") for each in self.arguments]
        if use is not None and self.condition.holds in (_is_of_type, _gives_type):
            types = use.inputs if self.condition.holds is _is_of_type else use.outputs
            words[1] = types[int(words[0])] or words[1]
        return self.condition.text.format(*words)

    def help(self, use: Use) -> str:
        """What to write instead."""
        help = self.condition.help
        return help.format(*self.arguments) if isinstance(help, str) else help(use, *self.arguments)


def _is_given(use: Use, index: str) -> bool:
    return int(index) < len(use.inputs) and use.inputs[int(index)] != OMITTED


def _is_of_type(use: Use, index: str, types: str) -> bool | None:
    known = use.inputs[int(index)] if _is_given(use, index) else OMITTED
    return None if known is None else known in types.split(",")


def _gives_type(use: Use, index: str, types: str) -> bool | None:
    known = use.outputs[int(index)] if facts.has_output(use, int(index)) else OMITTED
    return None if known is None else known in types.split(",")


def _differ(use: Use, *indices: str) -> bool | None:
    types = [use.inputs[int(each)] if _is_given(use, each) else OMITTED for each in indices]
    return None if None in types else OMITTED not in types and len(set(types)) > 1


def _is_of_rank(use: Use, index: str, ranks: str) -> bool | None:
    known = facts.rank(use, int(index))
    if known is None:
        return None if _is_given(use, index) else False
    return str(known) in ranks.split(",")


def _is_of_rank_above(use: Use, index: str, most: str) -> bool | None:
    known = facts.rank(use, int(index))
    return None if known is None else known > int(most)


def _is_of_other_rank(use: Use, index: str, ranks: str) -> bool | None:
    found = _is_of_rank(use, index, ranks)
    return found if found is None or not _is_given(use, index) else not found


def _is_not_static(use: Use, index: str) -> bool:
    known = facts.tensor(use, int(index))
    return _is_given(use, index) and not (
        known is not None and known.shape is not None and all(isinstance(size, int) for size in known.shape)
    )


def _has_dynamic_axis(use: Use, index: str) -> bool | None:
    known = facts.tensor(use, int(index))
    if known is None or not known.shape:
        return None
    axis = facts.attribute(use, "axis", -1)
    return -len(known.shape) <= axis < len(known.shape) and not isinstance(known.shape[axis], int)


def _is_zero_size(use: Use, index: str) -> bool:
    known = facts.tensor(use, int(index))
    return known is not None and known.shape is not None and 0 in known.shape


def _gives_zero_size(use: Use, index: str) -> bool:
    known = facts.given(use, int(index))
    return known is not None and known.shape is not None and 0 in known.shape


def _ranks_differ(use: Use, one: str, other: str) -> bool:
    ranks = {facts.rank(use, int(one)), facts.rank(use, int(other))} - {None}
    return len(ranks) > 1


def _has_size(use: Use, index: str, axis: str, size: str) -> bool | None:
    known = facts.tensor(use, int(index))
    shape = known.shape if known is not None else None
    found = shape[int(axis)] if shape is not None and int(axis) < len(shape) else None
    return found == int(size) if isinstance(found, int) else None


def _is_smaller(use: Use, index: str, other: str) -> bool:
    sizes = [facts.elements(use, int(each)) for each in (index, other)]
    return sizes[0] is not None and sizes[1] is not None and sizes[0] < sizes[1]


def _is_not_spatial(use: Use, names: str) -> bool:
    """Whether an attribute of ``names`` does not have one entry for each spatial axis of input 0."""
    axes = facts.rank(use, 0)
    given = [each for name in names.split(",") if (each := facts.attribute(use, name)) is not None]
    return axes is not None and any(not isinstance(each, (list, tuple)) or len(each) != axes - 2 for each in given)


def _is_not_as_long(use: Use, index: str, name: str) -> bool:
    length, number = facts.length(use, int(index)), facts.attribute(use, name)
    return None not in (length, number) and length != number


def _divided_size_and_parts(use: Use) -> tuple[int, int] | None:
    """(the size that a Split divides, the number of its parts); None if unknown or if input 1 gives the sizes."""
    known, axis, parts = facts.tensor(use, 0), facts.attribute(use, "axis", 0), facts.attribute(use, "num_outputs")
    if known is None or known.shape is None or not parts or _is_given(use, "1"):
        return None
    size = known.shape[axis] if -len(known.shape) <= axis < len(known.shape) else None
    return (size, parts) if isinstance(size, int) else None


def _is_uneven(use: Use) -> bool:
    found = _divided_size_and_parts(use)
    return found is not None and not _has_empty_part(use) and bool(found[0] % found[1])


def _has_empty_part(use: Use) -> bool:
    """Whether the last part of a Split is empty, because the parts before it have the rounded-up size and contain all
    elements."""
    found = _divided_size_and_parts(use)
    return found is not None and (found[1] - 1) * -(-found[0] // found[1]) >= found[0]


def _has_entry(use: Use, index: str, wrong: Callable[[Any], bool]) -> bool | None:
    """Whether ``wrong`` is True for an entry of an input; None if its values are unknown."""
    if not _is_given(use, index):
        return False
    known = facts.tensor(use, int(index))
    if known is None or known.value is None:
        return None
    return any(isinstance(each, (bool, int)) and wrong(each) for each in known.value)


def _has_attribute(use: Use, name: str, values: str = "") -> bool:
    value = facts.attribute(use, name)
    return value is not None and (not values or str(value) in values.split(","))


def _is_attribute_other(use: Use, name: str, values: str) -> bool:
    value = facts.attribute(use, name)
    entries = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return any(str(each) not in values.split(",") for each in entries)


def _is_not_iota(use: Use, name: str) -> bool:
    values = list(facts.attribute(use, name, ()))
    return values != list(range(len(values)))


def _is_window_above(use: Use, most: str) -> bool:
    """Whether a window over one or two axes has more than ``most`` positions."""
    sizes = list(facts.attribute(use, "kernel_shape", ()))
    return len(sizes) < 3 and prod(sizes) > int(most)


def _opset(use: Use) -> int:
    return use.version if isinstance(use.version, int) else 0


def _halves_differ(use: Use, name: str) -> bool:
    values = list(facts.attribute(use, name, ()))
    return values[: len(values) // 2] != values[len(values) // 2 :]


def _is_complex(use: Use, index: str) -> bool | None:
    known = facts.tensor(use, int(index))
    return None if known is None or known.shape is None else len(known.shape) == 3 and known.shape[-1] == 2


def _branches_differ(use: Use) -> bool:
    bodies = [graph for _, graph in use.node.bodies]
    if len(bodies) != 2:
        return False
    for one, other in zip(bodies[0].outputs, bodies[1].outputs):
        ranks = {each.rank for each in (use.types.get(one), use.types.get(other)) if isinstance(each, Tensor)}
        if one.name == other.name or len(ranks - {None}) > 1:
            return True
    return False


def _returns_input(use: Use) -> bool:
    return any(not set(body.outputs).isdisjoint(body.inputs) for _, body in use.node.bodies)


def _has_other_outputs(use: Use) -> bool:
    return any(len(body.outputs) != len(use.node.outputs) for _, body in use.node.bodies)


def _body_uses_input(use: Use, index: int) -> bool:
    return any(
        index < len(body.inputs)
        and (body.inputs[index] in body.outputs or any(body.inputs[index] in node.inputs for node in body.nodes))
        for _, body in use.node.bodies
    )


def _body_takes_outer_values(use: Use) -> bool:
    """Whether a body uses a value from outside the body that is not constant."""
    for _, body in use.node.bodies:
        known = {*use.constants, *body.inputs, *body.constants, *(each for node in body.nodes for each in node.outputs)}
        if any(value is not None and value not in known for node in body.nodes for value in node.inputs):
            return True
    return False


def _has_ellipsis_or_diagonal(use: Use) -> bool:
    equation = str(facts.attribute(use, "equation", "")).replace(" ", "")
    return "." in equation or any(len(set(term)) < len(term) for term in equation.partition("->")[0].split(","))


def _other_type(use: Use, index: str, _: str) -> str:
    is_quantized = use.node.op == "DequantizeLinear" and index != "1"
    return requantized(use) if is_quantized else f"cast input {index} to another element type"


def requantized(use: Use, types: str = "another element type") -> str:
    """The help for a DequantizeLinear whose input 0 has a quantized type that the runtime refuses."""
    if use.inputs[:1] == ("int32",):
        return "leave input 0 unquantized, in float, as is usual for a bias"
    return f"quantize input 0 again, to {types}"


def _zeros(use: Use, index: str) -> str:
    is_zero_point = use.node.op in ("QuantizeLinear", "DequantizeLinear")
    return f"quantize again symmetrically, so that input {index} is 0" if is_zero_point else "use 0"


DYNAMIC = Condition(lambda use: not is_static(use), "a dynamic size", "fix the sizes of the inputs of the model")

CONDITIONS: Mapping[str, Condition] = {
    "type": Condition(_is_of_type, "input {0} of {1}", _other_type, of_types=True),
    "gives": Condition(_gives_type, "output {0} of {1}", "give another element type, and cast", of_types=True),
    "types-differ": Condition(_differ, "inputs {0} and {1} of different element types", "cast one of them", True),
    "input": Condition(_is_given, "an input {0}", "leave input {0} out"),
    "no-input": Condition(lambda use, at: not _is_given(use, at), "no input {0}", "give input {0}"),
    "omitted": Condition(
        lambda use, at: int(at) < len(use.inputs) and not _is_given(use, at), "an input {0} of the empty name",
        "take input {0} away"),
    "output": Condition(lambda use, at: facts.has_output(use, int(at)), "an output {0}", "leave output {0} out"),
    "constant": Condition(
        lambda use, at: _is_given(use, at) and facts.is_constant(use, int(at)), "a constant input {0}",
        "compute input {0}"),
    "length-not": Condition(
        lambda use, at, sizes: facts.length(use, int(at)) not in (None, *map(int, sizes.split(","))),
        "an input {0} of a length other than {1}", "write it with other operators"),
    "not-constant": Condition(
        lambda use, at: not facts.is_constant(use, int(at)), "an input {0} that is not constant",
        "write input {0} as an initializer"),
    "computed": Condition(
        lambda use, at: facts.is_computed(use, int(at)), "an input {0} that nodes compute",
        "write input {0} as an initializer"),
    "rank": Condition(_is_of_rank, "input {0} of rank {1}", "reshape input {0}"),
    "rank-above": Condition(_is_of_rank_above, "an input {0} of a rank above {1}", "reshape input {0}"),
    "dynamic": DYNAMIC,
    "graph-input": Condition(
        lambda use: use.reads_input, "an input of the model", "let the model take quantized values"),
    "graph-output": Condition(
        lambda use: use.returns_output, "an output of the model", "let the model give quantized values"),
    "rank-not": Condition(_is_of_other_rank, "input {0} of another rank than {1}", "reshape input {0}"),
    "unranked": Condition(
        lambda use, at: _is_given(use, at) and facts.rank(use, int(at)) is None, "an input {0} of unknown rank",
        "declare the shape of input {0}"),
    "not-static": Condition(_is_not_static, "an input {0} without a static shape", "declare the sizes of input {0}"),
    "dynamic-axis": Condition(_has_dynamic_axis, "a dynamic size at its axis", "declare that size"),
    "zero-size": Condition(_is_zero_size, "a size of 0 in input {0}", "use another size"),
    "gives-zero-size": Condition(_gives_zero_size, "a size of 0 in output {0}", "declare another size"),
    "empty": Condition(
        lambda use, at: facts.length(use, int(at)) == 0 and facts.is_constant(use, int(at)),
        "an input {0} without elements", "use another operator"),
    "not-as-long": Condition(
        _is_not_as_long, "an input {0} of another length than {1}", "write it with other operators"),
    "ranks-differ": Condition(
        _ranks_differ, "inputs {0} and {1} of different ranks", "reshape one of them"),
    "size": Condition(_has_size, "size {2} at axis {1} of input {0}", "use another size"),
    "smaller": Condition(
        _is_smaller, "fewer elements in input {0} than in input {1}", "write one element for each of input {1}"),
    "not-spatial": Condition(
        _is_not_spatial, "another number of spatial axes than entries of {0}", "write an entry for each spatial axis"),
    "empty-part": Condition(
        _has_empty_part, "parts of equal sizes that leave nothing for the last part", "give the sizes of the parts"),
    "uneven": Condition(_is_uneven, "parts of different sizes", "give the sizes of the parts"),
    "has-zero": Condition(
        lambda use, at: _has_entry(use, at, lambda each: each == 0), "a 0 in input {0}", "use another size"),
    "nonzero": Condition(lambda use, at: _has_entry(use, at, bool), "an input {0} that is not 0", _zeros),
    "negative": Condition(
        lambda use, at: _has_entry(use, at, lambda each: each < 0), "numbers below 0 in input {0}",
        "count from the start"),
    "above": Condition(
        lambda use, at, most: _has_entry(use, at, lambda each: each > int(most)), "more than {1} in input {0}",
        "use a smaller number"),
    "attribute": Condition(_has_attribute, "the attribute {0}", "leave the attribute {0} out"),
    "attribute-is": Condition(_has_attribute, "{0}={1}", "use another {0}"),
    "attribute-not": Condition(_is_attribute_other, "another {0} than {1}", "use one of these values of {0}"),
    "no-attribute": Condition(
        lambda use, name: not _has_attribute(use, name), "no attribute {0}", "write the attribute {0}"),
    "window-above": Condition(
        _is_window_above, "a window of more than {0} positions", "use GlobalAveragePool or a reduction"),
    "halves-differ": Condition(
        _halves_differ, "other {0} in the second half than in the first", "use the same values in both halves"),
    "not-iota": Condition(
        _is_not_iota, "{0} that are not 0, 1, 2 and so on", "write {0} in order, from 0"),
    "opset-below": Condition(
        lambda use, opset: _opset(use) < int(opset), "an opset below {0}", "write the model at opset {0}"),
    "opset-from": Condition(
        lambda use, opset: _opset(use) >= int(opset), "opset {0} or later", "write the model at an earlier opset"),
    "complex": Condition(_is_complex, "an input {0} of complex numbers", "use real numbers"),
    "returns-input": Condition(
        _returns_input, "a body that returns one of its inputs", "return it through an Identity"),
    "body-takes": Condition(
        lambda use, at: _body_uses_input(use, int(at)), "a body that uses its input {0}", "give the node an input {0}"),
    "body-outputs": Condition(
        _has_other_outputs, "a body that gives another number of outputs", "give as many outputs as the node has"),
    "outer-values": Condition(
        _body_takes_outer_values, "a body that takes values from outside", "give the body these values as inputs"),
    "returned": Condition(
        lambda use: use.returns_output and not use.graph, "an output that the graph returns", "return its tensors"),
    "any": Condition(lambda use: True, "any inputs and attributes that were tried", "write it with other operators"),
    "fault": Condition(lambda use, code: code in use.faults, "the error {0} of the check", "correct the error"),
    "misread-axes": Condition(
        lambda use: _is_given(use, "1"), "axes as an input, which the release ignores, so that it reduces every axis",
        "write the model at opset 17"),
    "misread-part": Condition(
        lambda use: _has_attribute(use, "start") or _has_attribute(use, "end"),
        "start or end, which the release ignores, so that it gives the complete shape",
        "take the part with Slice or Gather"),
    "branches-differ": Condition(
        _branches_differ, "branches that give outputs of one name or of other ranks",
        "give the outputs names of their own, and one rank"),
    "locale": Condition(
        lambda use: True, "a locale, by default en_US.UTF-8, that the machine may not have",
        "install the locale there"),
    "ellipsis": Condition(_has_ellipsis_or_diagonal, "an ellipsis or a diagonal", "write the axes out"),
}  # fmt: skip


#: The conditions that depend only on the operator, its version, element types, and errors.
_OF_SIGNATURE = tuple(
    CONDITIONS[name]
    for name in (
        *("type", "gives", "types-differ", "input", "no-input", "omitted", "output"),
        *("opset-below", "opset-from", "any", "locale", "fault"),
    )
)


def of_signature(each: BoundCondition) -> bool:
    """Whether a condition depends only on the operator, its version, element types, and errors."""
    return any(each.condition is condition for condition in _OF_SIGNATURE)


@cache
def conditions_in(row: str) -> tuple[BoundCondition, ...]:
    """The conditions of a row of a table."""
    parts = (each.split(" ") for each in row.split(" & "))
    return tuple(
        BoundCondition(CONDITIONS[name.lstrip("!")], tuple(arguments), name.startswith("!"))
        for name, *arguments in parts
    )


def hold(conditions: Sequence[BoundCondition], use: Use) -> bool:
    """Whether all conditions are known to hold for a node."""
    return all(each.holds(use) for each in conditions)
