"""Finds dynamic input sizes of which only one or a few values work, and models for which no sizes work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.checks.equal_sizes import equal_sizes, problem_of
from irlint.checks.frozen import FROZEN_SIZE, NARROW_SIZE, NO_SIZES_FIT
from irlint.checks.marks import Marks, are_right_aligned, axes_of, dim_of, lists_removed_axes, marks_of, rank_of
from irlint.checks.paths import correction, unstrided
from irlint.contracts.conditions import conditions
from irlint.contracts.contract import Contract, contract_of
from irlint.contracts.fixed import FiniteSize, Fixed, contradiction, finite_sizes, fixed_sizes, missing_entry
from irlint.contracts.simplified import without_common_factors
from irlint.dims import Bounds, Expr, bounds, symbols
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import listed
from irlint.inference.known import Demand, Known
from irlint.inference.origins import Makers, inputs_of, trail
from irlint.inference.questions import asked_again
from irlint.model import Graph, Node, Problem
from irlint.model.tensor import Tensor, Type
from irlint.records import record, replaced

#: A condition with more characters is not written out in a note.
LONGEST_CONDITION = 120

#: The maximum number of conditions in the notes about one size, and before the last condition in a message.
MOST_CONDITIONS = 3

#: The maximum number of sizes or ranges of sizes in a message.
MOST_LISTED = 6

#: Sizes above this one are not listed.
LARGEST = 1 << 16

FLOAT_PREFIXES = ("float", "bfloat")
ID_TYPES = ("int32", "int64")


@record
class Place:
    """An axis of an input whose size is a single symbol."""

    input: str
    axis: int
    #: "" if the file does not name the size.
    size_name: str
    limits: Bounds
    dtype: str | None = None


def problems(known: Known) -> list[Problem]:
    """A problem for each size with one or a few values, and for each two equal sizes; only one if no sizes work."""
    graph = known.model.graph
    assert graph is not None
    places = _places(graph, known)
    if not places:
        return []
    contract = contract_of(known)
    if not contract.satisfiable:
        return [] if _has_empty_input(graph, known) else _no_sizes_problem(contract, places, known)
    found: dict[str, Problem] = {}
    makers = Makers(known)
    limits = {name: place.limits for name, place in places.items()}
    for each in fixed_sizes(contract, limits):
        if all(name in places for name in each.names):
            problem = _fixed_problem(each, places, makers)
            found["*".join(each.names)] = replaced(problem, because=found.get(each.same_as))
    for narrow in finite_sizes(contract, limits):
        if narrow.name not in found:
            found[narrow.name] = _narrow_problem(narrow, places, makers)
    named = {name: place.size_name for name, place in places.items() if place.size_name}
    for equal, values in equal_sizes(contract, named, known):
        if not found.keys().isdisjoint(equal.symbols):
            continue
        marks, note = marks_of(equal.demand, sorted(equal.symbols), known), _condition_note(equal.demand, here=True)
        found["==".join(equal.names)] = problem_of(equal, values, named, marks=marks, note=note, makers=makers)
    return list(found.values())


def _places(graph: Graph, known: Known) -> dict[str, Place]:
    """The first place of each input size that is a single symbol, by symbol."""
    makers = {node.outputs[0]: node.name for node in graph.nodes if node.op == known.format.input_node and node.outputs}
    found: dict[str, Place] = {}
    sizes = [(value, axis, dim) for value in graph.inputs for _, axis, dim in axes_of([known.types.get(value)])]
    for value, axis, dim in sizes:
        given = known.types.get(value)
        name = f"{dim!s}"
        if isinstance(dim, Expr) and name in symbols(dim) and name not in found:
            text = known.symbols.get(name, name)
            low, high = bounds(dim)
            limits = max(low or 1, 1), high
            input_name = makers.get(value) or value.name
            found[name] = Place(input_name, axis, "" if "[" in text else text, limits, getattr(given, "dtype", None))
    return found


def _has_empty_input(graph: Graph, known: Known) -> bool:
    """Whether an input is declared with a size of 0. Then sizes of other inputs may also be 0."""
    given = (known.types.get(value) for value in graph.inputs if value not in graph.constants)
    return any(isinstance(each, Tensor) and 0 in (each.shape or ()) for each in given)


# --- sizes that are fixed ---------------------------------------------------------------------------------------------


def _fixed_problem(fixed: Fixed, places: Mapping[str, Place], makers: Makers) -> Problem:
    known, demand = makers.known, fixed.demands[0]
    if len(fixed.names) == 1:
        dynamic = f"{_sizes_text(fixed.names, places)} is dynamic, but only {fixed.size} works"
        declare = f"declare {fixed.size}"
    else:
        dynamic = f"{_sizes_text(fixed.names, places)} are dynamic, but only sizes with {fixed.condition} work"
        declare = f"declare sizes with {fixed.condition}"
    marks = marks_of(demand, fixed.names, known)
    fault = FROZEN_SIZE.fault(
        f"{dynamic} (and {fixed.broadcast})" if fixed.broadcast else dynamic,
        help=_help_for_size(fixed, declare, demand.node, makers),
        marks=marks,
        aligned="right" if are_right_aligned(marks, demand.node, known) else "left",
        remark=_remark(fixed, demand, marks),
        notes=tuple(
            _condition_note(other, here=other.node is demand.node) for other in fixed.demands[:MOST_CONDITIONS]
        ),
        severity=Severity.NOTE
        if not _is_size_of_integers(fixed.names, places)
        and not _is_moved_batch(fixed.names, places, demand, marks, known)
        and _is_fixed_by_weight(demand, marks, makers)
        else None,
    )
    sizes = tuple((name, fixed.size) for name in fixed.names)
    return Problem(fault, demand.graph, demand.node, place=demand.node.place, sizes=sizes)


def _narrow_problem(narrow: FiniteSize, places: Mapping[str, Place], makers: Makers) -> Problem:
    known, demand = makers.known, narrow.demands[0]
    text = _listed_sizes(narrow)
    marks = marks_of(demand, (narrow.name,), known)
    as_fixed = Fixed((narrow.name,), narrow.demands, None, text)
    fault = NARROW_SIZE.fault(
        f"{_sizes_text((narrow.name,), places)} is dynamic, but only {text} work",
        help=_help_for_size(as_fixed, "declare one of these sizes", demand.node, makers),
        marks=marks,
        aligned="right" if are_right_aligned(marks, demand.node, known) else "left",
        remark=_remark(as_fixed, demand, marks),
        notes=tuple(
            _condition_note(other, here=other.node is demand.node) for other in narrow.demands[:MOST_CONDITIONS]
        ),
        severity=Severity.NOTE
        if not _is_size_of_integers((narrow.name,), places) and _is_fixed_by_weight(demand, marks, makers)
        else None,
    )
    return Problem(fault, demand.graph, demand.node, place=demand.node.place, sizes=((narrow.name, None),))


def _listed_sizes(narrow: FiniteSize) -> str:
    """The sizes as text: ``32 to 39``, ``1, 2, 39 and 40``, or ``sizes with H <= 40 and H % 8 in (1, 2)``."""
    greatest = narrow.sizes.greatest
    assert greatest is not None
    runs: list[list[int]] = []
    for size in narrow.sizes.elements(greatest) if greatest <= LARGEST else ():
        if runs and runs[-1][-1] == size - 1:
            runs[-1].append(size)
        else:
            runs.append([size])
    texts = [text for run in runs for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    if 0 < len(texts) <= MOST_LISTED:
        return listed(texts)
    return f"sizes with {listed(list(conditions(narrow.name, narrow.sizes) or (f'{narrow.name} <= {greatest}',)))}"


def _sizes_text(names: Sequence[str], places: Mapping[str, Place]) -> str:
    """Sizes with their inputs in words: ```H` and `W` of `x```, or ``axes 2 and 3 of `x```."""
    inputs: dict[str, list[Place]] = {}
    for name in names:
        inputs.setdefault(places[name].input, []).append(places[name])
    return listed([f"{_sizes_of_one_input(own)} of `{given}`" for given, own in inputs.items()])


def _sizes_of_one_input(places: Sequence[Place]) -> str:
    if any(place.size_name for place in places):
        return listed([f"`{place.size_name}`" if place.size_name else f"axis {place.axis}" for place in places])
    return f"{'axis' if len(places) == 1 else 'axes'} {listed([str(place.axis) for place in places])}"


def _condition_note(demand: Demand, *, here: bool) -> str:
    condition, why = demand.requirement.condition, demand.requirement.why
    subject = "this node" if here else f"{demand.node.op} {demand.node.label!r}"
    return (
        f"{subject} needs {condition}: {why}"
        if len(condition) <= LONGEST_CONDITION
        else f"{subject} needs a long condition: {why}"
    )


def _remark(fixed: Fixed, demand: Demand, marks: Marks) -> str:
    if len({index for index, _ in marks}) < 2:
        return f"only {fixed.condition or fixed.size} works" if marks else ""
    return "have to be equal" if len(demand.requirement.any_of) == 1 else "have to be equal, or one of them 1"


def _is_size_of_integers(names: Sequence[str], places: Mapping[str, Place]) -> bool:
    """Whether an input of integers, such as ids or a mask, has one of these sizes."""
    return any(places[name].dtype in ID_TYPES for name in names)


def _is_moved_batch(
    names: Sequence[str], places: Mapping[str, Place], demand: Demand, marks: Marks, known: Known
) -> bool:
    """Whether the size is the first axis of an input, with a name, and another axis of the node has it alone."""
    types = inputs_of(demand.node, known)
    sizes = [dim_of(types[index], axis) for index, axis in marks if axis]
    is_first = all(places[name].axis == 0 and places[name].size_name for name in names)
    return is_first and any(str(size) in names for size in sizes)


def _is_fixed_by_weight(demand: Demand, marks: Marks, makers: Makers) -> bool:
    """Whether a weight fixes the size, in a model that declares every axis of every input dynamic."""
    known = makers.known
    graph = known.model.graph
    inputs = [value for value in graph.inputs if value not in graph.constants] if graph is not None else []
    if any(isinstance(dim, int) for _, _, dim in axes_of([known.types.get(value) for value in inputs])):
        return False
    types = inputs_of(demand.node, known)
    fixing = [(index, axis) for index, axis in marks if isinstance(dim_of(types[index], axis), int)]
    if fixing:
        return all(_is_size_of_weight(index, axis, demand.node, makers) for index, axis in fixing)
    return any(_is_size_of_weight(index, 0, demand.node, makers) for index, each in enumerate(types) if rank_of(each))


def _is_size_of_weight(index: int, axis: int, node: Node, makers: Makers) -> bool:
    """Whether an axis of an input has its size from a floating-point constant."""
    value = node.inputs[index]
    known = makers.known.types.get(value) if value is not None else None
    if value is None or not isinstance(known, Tensor) or not (known.dtype or "").startswith(FLOAT_PREFIXES):
        return False
    found = trail(value, axis, makers)
    return found is not None and makers.is_constant(found.value)


# --- helps ------------------------------------------------------------------------------------------------------------


def _help_for_size(fixed: Fixed, declare: str, node: Node, makers: Makers) -> str:
    """The help to correct the node or its inputs, if a correction is found, or to ``declare`` the sizes."""
    known, size = makers.known, fixed.size
    inputs = inputs_of(node, known)
    if lists_removed_axes(node, inputs, known):
        return f"remove the axis from input 1, the list of axes to remove, or {declare}"
    if _lists_output_sizes(node, inputs, known):
        return f"compute the target from the input (with -1, or with its Shape), or {declare}"
    axes = [(index, axis) for index, axis, dim in axes_of(inputs) if dim == size and dim is not None]
    if "axis" in node.attributes and len(axes) == 1:
        index, axis = axes[0]
        return f"{size} is axis {axis} of input {index}: if that axis is intended, correct `axis`; or {declare}"
    fitting = [f"input {index}" for index in range(len(inputs)) if _fits_transposed(index, node, inputs, known)]
    if fitting:
        return f"with the last two axes of {' or of '.join(fitting)} swapped, it works for every size; or {declare}"
    if moved := _moved_axis_text(size, fixed, node, known):
        return f"{moved}: reorder the axes before this node, or {declare}"
    marked = marks_of(fixed.demands[0], fixed.names, known)
    fixing = {index for index, axis in axes or marked if _is_size_of_weight(index, axis, node, makers)}
    if len(fixing) == 1:
        constant = fixing.pop()
        lost = " or ".join(filter(None, (unstrided(node, *mark, makers) for mark in marked if mark[0] != constant)))
        text = _help_for_constant(_input_text(node, constant, known), declare, fixed.demands[0])
        text += f"; or set the strides of {lost}, if they were lost" if lost else ""
        can_pool = size is None and len(fixed.names) > 1 and len(fixed.demands[0].requirement.any_of) == 1
        return f"pool to a fixed size before this node, or {text}" if can_pool else text
    which = correction(node, marked, makers)
    return f"{which}; or {declare}" if which else f"correct what computes the size, so that it is dynamic, or {declare}"


def _moved_axis_text(size: int | None, fixed: Fixed, node: Node, known: Known) -> str:
    """The text about the only axis of the needed size in an input whose marked axis has another size; "" if none."""
    inputs = inputs_of(node, known)
    marks = [
        (index, axis)
        for index, axis in marks_of(fixed.demands[0], fixed.names, known)
        if dim_of(inputs[index], axis) != size
    ]
    axes = [(index, axis) for index, axis, dim in axes_of(inputs) if dim == size and index in dict(marks)]
    return f"axis {axes[0][1]} of input {axes[0][0]} is {size}" if size not in (None, 1) and len(axes) == 1 else ""


def _lists_output_sizes(node: Node, inputs: Sequence[Type | None], known: Known) -> bool:
    """Whether an input after input 0 is a known list with one entry for each axis of the output."""
    output = known.types.get(node.outputs[0]) if len(node.outputs) == 1 and node.outputs[0] is not None else None
    if not isinstance(output, Tensor) or output.rank is None:
        return False
    lists = [each for each in inputs[1:] if isinstance(each, Tensor) and each.rank == 1]
    return any(each.value is not None and len(each.value) == output.rank for each in lists)


def _input_text(node: Node, index: int, known: Known) -> str:
    """The name of an input of a node; in formats without names of values, its index."""
    value = node.inputs[index]
    return f"`{value.name}`" if value is not None and known.format.input_node is None else f"input {index}"


def _help_for_constant(constant: str, declare: str, demand: Demand) -> str:
    if len(demand.requirement.any_of) > 1:
        wanted = missing_entry(demand.requirement.any_of[0])
        if wanted:
            lost = f"give {constant} {wanted} entries, because square inputs never need {wanted - 1}"
            return f"{lost}, or slice or compute it to the size of the input, or {declare}"
        return f"slice or compute {constant} to the size of the input, or {declare}"
    return f"{declare}, which {constant} fixes"


def _fits_transposed(index: int, node: Node, inputs: Sequence[Type | None], known: Known) -> bool:
    """Whether a node accepts every size if the last two axes of an input, neither of size 1, are swapped."""
    given = inputs[index]
    if not isinstance(given, Tensor) or given.shape is None or len(given.shape) < 2 or 1 in given.shape[-2:]:
        return False
    shape = (*given.shape[:-2], given.shape[-1], given.shape[-2])
    answer = asked_again(known, node, [*inputs[:index], Tensor(given.dtype, shape), *inputs[index + 1 :]])
    return answer is not None and answer.outputs is not None and not answer.requirements and not answer.faults


# --- conditions that no sizes meet ------------------------------------------------------------------------------------


def _no_sizes_problem(contract: Contract, places: Mapping[str, Place], known: Known) -> list[Problem]:
    """The problem of conditions that no sizes meet, at the last node; [] if one is about a size that no input has."""
    demands = contradiction(contract.impossible, {name: place.limits for name, place in places.items()})
    relations = [relation for each in demands for relation in each.requirement.any_of]
    names = {name for each in relations for name in (*symbols(each.left), *symbols(each.right))}
    if not names or not names <= places.keys():
        return []
    fault = _no_sizes_fault(demands, [name for name in places if name in names], places, known)
    nodes = {each.node for each in demands}
    root = next((each for each in known.problems if each.is_error and each.by_rule and each.node in nodes), None)
    last = demands[-1]
    return [Problem(fault, last.graph, last.node, place=last.node.place, because=root)]


def _no_sizes_fault(
    demands: Sequence[Demand], names: Sequence[str], places: Mapping[str, Place], known: Known
) -> Fault:
    last = demands[-1]
    before = [
        f"{each.node.op} {each.node.label!r} needs {_condition_text(each)}" for each in demands[:-1][-MOST_CONDITIONS:]
    ]
    others = listed(before) if before else ""
    named = listed(list(dict.fromkeys(f"{each.node.op} {each.node.label!r}" for each in demands)))
    marks = marks_of(last, names, known)
    shared_names = _notes_on_shared_names(names, known)
    sizes, work = ("size", "works") if len(names) == 1 else ("sizes", "work")
    message = f"no {sizes} of {_sizes_text(names, places)} {work}: this node needs {_condition_text(last)}"
    return NO_SIZES_FIT.fault(
        f"{message}, and {others}" if others else message,
        help=f"correct the node whose condition is not intended: {named}"
        if others
        else correction(last.node, marks, Makers(known)) or "correct this node, or the nodes before it",
        marks=marks,
        aligned="left",
        remark="no sizes work",
        notes=(*(_condition_note(each, here=each is last) for each in demands), *shared_names),
        severity=Severity.WARNING if shared_names else None,
    )


def _notes_on_shared_names(names: Sequence[str], known: Known) -> tuple[str, ...]:
    """Notes about the ``names`` that several axes share, if sizes would work with a separate name for each axis."""
    graph = known.model.graph
    assert graph is not None
    axes: dict[str, list[str]] = {}
    for value in graph.inputs:
        given = known.types.get(value)
        for axis, dim in enumerate(given.shape or ()) if isinstance(given, Tensor) else ():
            axes.setdefault(f"{dim!s}", []).append(f"axis {axis} of `{value.name}`")
    several = [name for name in names if len(axes.get(name, ())) > 1]
    if not several:
        return ()
    from irlint.checks.size_names import with_separate_names

    if not contract_of(with_separate_names(graph, known)).satisfiable:
        return ()
    return tuple(
        f"`{known.symbols.get(name, name)}` is {listed(axes[name])}: if each of them had its own name, some sizes "
        "would work"
        for name in several
    )


def _condition_text(demand: Demand) -> str:
    """A condition as text. If only numbers remain of it, these follow: ``2 * N == 3 * N, which is 2 == 3``."""
    relations = [without_common_factors(each) for each in demand.requirement.any_of]
    condition = demand.requirement.condition
    if any(symbols(each.left) or symbols(each.right) for each in relations):
        return condition
    return f"{condition}, which is {' or '.join(map(str, relations))}"
