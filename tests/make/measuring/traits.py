"""What distinguishes the nodes of one ONNX operator for OpenVINO's front end, as short texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from irlint.model.tensor import Tensor
from irlint.targets.facts import is_computed, is_constant, tensor
from irlint.targets.uses import OMITTED, Use

#: The most inputs that have traits, and the most whose types are compared with each other.
INPUTS = 8
COMPARED = 4

#: The element types of whole numbers and of floats.
KINDS = {f"{sign}int{bits}": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)}
KINDS |= dict.fromkeys(("float16", "float32", "float64", "bfloat16"), "float")


def traits(use: Use, versions: Iterable[int], errors: Iterable[str] = ()) -> set[str]:
    """The traits of a node.

    ``any``: that of every node; ``<13`` and ``>12``: the opset is before or behind a version of the operator;
    ``e:IRL401``: an error of the check; ``n1``, ``c1``, ``o1``: an input is left out, constant or open; ``m1``: it is
    constant, and computed by nodes; ``t0=float32``, ``k0=int``, ``r0=3``, ``u0``, ``z0``, ``v0=1``: its element type,
    that it is one of whole numbers or of floats, its rank, that it is not known, a size of 0, its one element;
    ``d0,1``: the element types of two inputs differ; ``y1``: an output is there; ``mode``, ``mode=linear``,
    ``alpha=float``: an attribute, and its value.
    """
    opset = use.version if isinstance(use.version, int) else 0
    found = {"any", *(f"<{each}" if opset < each else f">{each - 1}" for each in versions)}
    found.update(f"e:{each}" for each in errors)
    found.update(_of_inputs(use))
    found.update(contents(use, range(min(len(use.inputs), INPUTS))))
    found.update(f"y{at}" for at, each in enumerate(use.outputs[:INPUTS]) if at and each != OMITTED)
    for name, given in use.node.attributes.items():
        attribute = use.scope.get(given.reference) if given.reference is not None else given
        if attribute is not None:
            found.add(name)
            found.update(_of_value(name, attribute.value))
    return found


def _of_inputs(use: Use) -> Iterator[str]:
    given = use.inputs[:INPUTS]
    for at in range(INPUTS):
        name = given[at] if at < len(given) else OMITTED
        if name == OMITTED:
            yield f"n{at}"
            continue
        yield f"t{at}={name or '?'}"
        if name in KINDS:
            yield f"k{at}={KINDS[name]}"
        for other in range(min(at, COMPARED)):
            if at < COMPARED and name and given[other] and given[other] != name:
                yield f"d{other},{at}"


def contents(use: Use, inputs: Iterable[int]) -> Iterator[str]:
    """The traits of inputs beside their element types."""
    for at in inputs:
        if at >= len(use.inputs) or use.inputs[at] == OMITTED:
            continue
        yield f"{'c' if is_constant(use, at) else 'o'}{at}"
        if is_computed(use, at):
            yield f"m{at}"
        known = tensor(use, at)
        if known is not None:
            yield from _of_tensor(at, known)


def _of_tensor(at: int, known: Tensor) -> Iterator[str]:
    if known.shape is None:
        yield f"u{at}"
    else:
        yield f"r{at}={len(known.shape)}"
        if 0 in known.shape:
            yield f"z{at}"
    if known.value is not None and len(known.value) == 1 and isinstance(known.value[0], (bool, int)):
        yield f"v{at}={int(known.value[0])}"


def _of_value(name: str, value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, (str, int)) and len(str(value)) <= 24 and str(value).isascii() and " " not in str(value):
        yield f"{name}={value}"
    elif isinstance(value, float):
        yield f"{name}=float"
