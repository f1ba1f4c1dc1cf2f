"""Custom operators that a configuration describes by a signature, such as ``T[N, C, W], int64[K] -> T[N, C, W//2]``.

* ``T`` and ``U`` are any element type, the same type at every occurrence.
* A name that is an attribute has the value of the attribute. Any other name is any size, the same size at every
  occurrence. ``strides[0]`` is an entry of an attribute.
* Dims are expressions of names. ``?`` is any size. ``...`` is any number of axes, the same axes at every occurrence.
* A type without brackets has any shape. ``?`` after an input makes the input optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from irlint.dims import Dim, MaybeDim
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree
from irlint.findings.wording import closest, counted, span
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model.tensor import Tensor, Type
from irlint.ops import Operator, custom
from irlint.ops.signatures import Signature
from irlint.records import NOTHING, record

if TYPE_CHECKING:
    import ast

SIGNATURE_MISMATCH = Rule(
    "IRL524",
    "signature-mismatch",
    Severity.ERROR,
    "A node of a custom operator does not match its signature in the configuration.",
    why=(
        "The signature states the number of inputs, their element types, ranks and sizes. The library with the "
        "operator refuses other inputs, or computes an unintended result."
    ),
    fix="Correct the node, or the signature in `[[operators]]`.",
)

#: The element types that signatures name.
TYPES = (
    *("float16", "float32", "float64", "bfloat16", "bool", "string", "complex64", "complex128"),
    *("int4", "int8", "int16", "int32", "int64", "uint4", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e5m2", "float4_e2m1"),
)

TYPE_VARIABLES = ("T", "U")

#: Any number of axes.
AXES = "..."
#: Any size.
ANY = "?"

_PARAMETER = re.compile(r"\s*(?P<type>\w+)\s*(?:\[(?P<dims>[^\[\]]*(?:\[\d+\][^\[\]]*)*)\])?\s*(?P<optional>\?)?\s*")
#: A number followed by letters, such as ``1if``. Python warns and reads some of these texts as two words.
_NUMBER_WITH_LETTERS = re.compile(r"\b\d\w*[A-Za-z_]")
_ENTRY = re.compile(r"\b([A-Za-z_]\w*)\[(\d+)\]")


class SignatureError(ValueError):
    """An invalid signature; the fault has ``length`` characters from position ``at``."""

    def __init__(self, message: str, at: int, length: int = 1) -> None:
        super().__init__(message)
        self.at = at
        self.length = max(length, 1)


@record
class Parameter:
    """An input or output of a signature."""

    #: An element type or a type variable.
    type: str
    #: The expressions of the sizes; None for any shape.
    dims: tuple[str, ...] | None
    optional: bool = False


@record
class Declared:
    """A custom operator as a configuration declares it."""

    domain: str
    name: str
    signature: str


@record
class Parameters:
    """A parsed signature."""

    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]

    @property
    def required(self) -> int:
        """The number of required inputs."""
        return sum(not parameter.optional for parameter in self.inputs)


def describe(operators: Sequence[Declared]) -> None:
    """Replaces all custom operators."""
    custom.clear()
    custom.update({(operator.domain, operator.name): operator for operator in operators})


@contextmanager
def in_force(operators: Sequence[Declared]) -> Iterator[None]:
    """A context in which only ``operators`` are custom operators; afterwards, the previous operators return."""
    before = list(custom.values())
    describe(operators)
    try:
        yield
    finally:
        describe(before)


@lru_cache(maxsize=1024)
def parameters(text: str) -> Parameters:
    """The inputs and outputs of a signature. Raises SignatureError."""
    before, arrow, after = text.partition("->")
    if not arrow:
        raise SignatureError("a signature needs `->` between inputs and outputs", 0, len(text))
    inputs = tuple(_parameters(before, 0))
    outputs = tuple(_parameters(after, len(before) + 2))
    if not outputs:
        raise SignatureError("there is no output after `->`", len(text) - len(after) - 2, 2)
    seen_optional = False
    for parameter in inputs:
        if seen_optional and not parameter.optional:
            raise SignatureError("a required input follows an optional input", 0, len(before))
        seen_optional = parameter.optional
    return Parameters(inputs, outputs)


def _parameters(text: str, start: int) -> Iterator[Parameter]:
    at = 0
    while text.strip():
        found = _PARAMETER.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != ","):
            wrong = at if found is None else found.end()
            raise SignatureError("expected a type with its dims, such as T[N, C]", start + wrong)
        kind = found["type"]
        if kind not in TYPES and kind not in TYPE_VARIABLES:
            close = closest(kind, [*TYPES, *TYPE_VARIABLES])
            hint = f"; did you mean {close}?" if close is not None else ""
            raise SignatureError(f"{kind} is not an element type{hint}", start + found.start("type"), len(kind))
        dims = None if found["dims"] is None else tuple(_dims(found["dims"], start + found.start("dims")))
        yield Parameter(kind, dims, found["optional"] is not None)
        if found.end() >= len(text):
            return
        at = found.end() + 1
        if not text[at:].strip():
            raise SignatureError("expected a type after the comma", start + found.end())


def _dims(text: str, start: int) -> Iterator[str]:
    """The dims in a text at position ``start`` of a signature."""
    seen_axes = False
    at = 0
    for part in _split(text):
        dim = part.strip()
        place = start + at + (len(part) - len(part.lstrip()))
        at += len(part) + 1
        if dim == AXES:
            if seen_axes:
                raise SignatureError("a shape has `...` twice", place, 3)
            seen_axes = True
        elif dim != ANY and (not dim or _tree(dim) is None):
            if not dim and not text.strip():
                return
            raise SignatureError(f"{dim or 'nothing'} is not a size", place, len(dim))
        yield dim


def _split(text: str) -> list[str]:
    """The parts between the commas outside parentheses and brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


@lru_cache(maxsize=4096)
def _tree(text: str) -> ast.expr | None:
    """The syntax tree of a size; None if the size is invalid. ``strides[0]`` becomes the name ``strides__0``."""
    import ast

    from irlint.dims import symbol
    from irlint.dims.expressions import FAILURES, LONGEST, dim_of

    plain = _ENTRY.sub(r"\1__\2", text)
    if len(plain) > LONGEST or _NUMBER_WITH_LETTERS.search(plain):
        return None
    try:
        tree = ast.parse(plain, mode="eval").body
        dim_of(tree, lambda name: symbol(name, 1))
    except FAILURES:
        return None
    return tree


def signature_of(operator: Declared) -> Signature:
    """The signature of a custom operator as a schema."""
    parsed = parameters(operator.signature)
    names = tuple(f"input {at}" for at in range(len(parsed.inputs)))
    return Signature(names, parsed.required, parsed.required, None, NOTHING, False)


@lru_cache(maxsize=1024)
def operator_of(operator: Declared, attributes: tuple[tuple[str, Any], ...], outputs: int) -> Operator:
    """The rule of an operator for a node with these attributes and this number of outputs."""
    parsed = parameters(operator.signature)

    def rule(*inputs: Type | None) -> tuple[Type | None, ...]:
        return _outputs(parsed, inputs, attributes=dict(attributes), outputs=outputs)

    return Operator(operator.name, 1, rule)


def count_fault(operator: Declared, inputs: int, outputs: int) -> Fault | None:
    """The fault of a node whose number of inputs or outputs does not match its signature; None if both match."""
    parsed = parameters(operator.signature)
    least, most = parsed.required, len(parsed.inputs)
    if not least <= inputs <= most:
        message = f"the node has {counted(inputs, 'input')}; the signature has {span(least, most)}"
        return SIGNATURE_MISMATCH.fault(message, help="connect the inputs of the signature", input=min(inputs, most))
    if outputs > len(parsed.outputs):
        message = f"the node has {counted(outputs, 'output')}; the signature has {len(parsed.outputs)}"
        return SIGNATURE_MISMATCH.fault(message, help="remove the outputs that the signature does not have")
    return None


@record
class _Argument:
    """An input of a node."""

    #: The index of the input.
    at: int
    parameter: Parameter
    tensor: Tensor


class _Bound:
    """The values of the names in a signature, for one node."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.sizes: dict[str, Dim] = dict(_integers(attributes))
        self.types: dict[str, str] = {}
        #: The sizes of the axes that ``...`` covers.
        self.axes: tuple[MaybeDim, ...] | None = None

    def size(self, text: str) -> MaybeDim:
        """The size that an expression gives; None if it is unknown."""
        from irlint.dims.expressions import FAILURES, dim_of

        tree = _tree(text) if text != ANY else None
        if tree is None:
            return None
        try:
            return dim_of(tree, self.sizes.__getitem__)
        except (*FAILURES, KeyError):
            return None


def _integers(attributes: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """(Name, value) of each integer in attributes; ``strides__0`` names the first entry of the list ``strides``."""
    for name, value in attributes.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value
        elif isinstance(value, (list, tuple)):
            yield from ((f"{name}__{at}", each) for at, each in enumerate(value) if isinstance(each, int))


def _outputs(
    signature: Parameters, inputs: Sequence[Type | None], *, attributes: Mapping[str, Any], outputs: int
) -> tuple[Type | None, ...]:
    bound = _Bound(attributes)
    arguments = [
        _Argument(at, parameter, tensor)
        for at, (parameter, tensor) in enumerate(zip(signature.inputs, inputs))
        if isinstance(tensor, Tensor)
    ]
    for argument in arguments:
        _bind_type(argument, bound)
        _bind_shape(argument, bound)
    for argument in arguments:
        _compare_sizes(argument, bound)
    return tuple(_output(parameter, bound) for parameter in signature.outputs[:outputs])


def _bind_type(argument: _Argument, bound: _Bound) -> None:
    at, parameter, tensor = argument.at, argument.parameter, argument.tensor
    if tensor.dtype is None:
        return
    is_variable = parameter.type in TYPE_VARIABLES
    expected = bound.types.setdefault(parameter.type, tensor.dtype) if is_variable else parameter.type
    if tensor.dtype != expected:
        of = f" ({parameter.type} of the signature)" if is_variable else ""
        raise SIGNATURE_MISMATCH.fault(
            f"input {at} is {tensor.dtype}, but must be {expected}{of}",
            help=f"cast input {at} to {expected}",
            input=at,
        )


def _dims_by_axis(parameter: Parameter, rank: int) -> list[tuple[int, str]] | None:
    """(Axis, dim) of each dim except ``...`` in a tensor of ``rank`` axes; None if the rank does not match."""
    dims = parameter.dims or ()
    if AXES not in dims:
        return list(enumerate(dims)) if len(dims) == rank else None
    before = dims.index(AXES)
    after = len(dims) - before - 1
    if rank < before + after:
        return None
    return [*enumerate(dims[:before]), *zip(range(rank - after, rank), dims[before + 1 :])]


def _bind_shape(argument: _Argument, bound: _Bound) -> None:
    """Binds names and ``...`` to the sizes of an input. Raises a fault if the rank does not match."""
    at, parameter, tensor = argument.at, argument.parameter, argument.tensor
    if tensor.shape is None or parameter.dims is None:
        return
    axes = _dims_by_axis(parameter, len(tensor.shape))
    if axes is None:
        least = "at least " if AXES in parameter.dims else ""
        rank = len(parameter.dims) - (AXES in parameter.dims)
        message = (
            f"input {at} has rank {len(tensor.shape)}, but the signature has {least}{rank}: "
            f"[{', '.join(parameter.dims)}]"
        )
        raise SIGNATURE_MISMATCH.fault(message, help=f"give input {at} the axes of the signature", input=at)
    for axis, dim in axes:
        size = tensor.shape[axis]
        if dim.isidentifier() and size is not None:
            bound.sizes.setdefault(dim, size)
    if AXES in parameter.dims:
        first = parameter.dims.index(AXES)
        rest = tensor.shape[first : len(tensor.shape) - (len(parameter.dims) - first - 1)]
        bound.axes = rest if bound.axes is None else bound.axes


def _compare_sizes(argument: _Argument, bound: _Bound) -> None:
    at, parameter, tensor = argument.at, argument.parameter, argument.tensor
    if tensor.shape is None or parameter.dims is None:
        return
    for axis, dim in _dims_by_axis(parameter, len(tensor.shape)) or ():
        expected = bound.size(dim)
        _agree((at, axis), tensor.shape[axis], expected, dim=dim)
    if AXES in parameter.dims and bound.axes is not None:
        first = parameter.dims.index(AXES)
        rest = tensor.shape[first : len(tensor.shape) - (len(parameter.dims) - first - 1)]
        if len(rest) != len(bound.axes):
            axes = counted(len(rest), "axis", "axes")
            message = f"`...` is {axes} in input {at}, and {len(bound.axes)} in an earlier input"
            raise SIGNATURE_MISMATCH.fault(message, help="give both inputs the same axes for `...`", input=at)
        for axis, (size, expected) in enumerate(zip(rest, bound.axes), first):
            _agree((at, axis), size, expected, dim=AXES)


def _agree(place: tuple[int, int], size: MaybeDim, expected: MaybeDim, *, dim: str) -> None:
    at, axis = place
    if expected is None or agree(size, expected, why=f"axis {axis} of input {at} is {dim} of the signature"):
        return
    stated = f"{expected}" if str(expected) == dim else f"{expected} ({dim} of the signature)"
    raise SIGNATURE_MISMATCH.fault(
        f"axis {axis} of input {at} is {size}, but must be {stated}",
        help="correct the input, or the signature",
        input=at,
        marks=((at, axis),),
    )


def _output(parameter: Parameter, bound: _Bound) -> Type:
    dtype = bound.types.get(parameter.type) if parameter.type in TYPE_VARIABLES else parameter.type
    if parameter.dims is None:
        return Tensor(dtype, None)
    dims: list[MaybeDim] = []
    for dim in parameter.dims:
        if dim != AXES:
            dims.append(bound.size(dim))
        elif bound.axes is None:
            return Tensor(dtype, None)
        else:
            dims += bound.axes
    return Tensor(dtype, tuple(dims))
