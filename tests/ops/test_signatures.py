"""Signatures as schemas: inputs, attributes, and groups of attributes that a record holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import irlint.ops
from irlint.binding.calls import choices
from irlint.binding.onnx_attributes import _ANNOTATED
from irlint.ops import Operator, onnx_operator, tables
from irlint.ops.nn.convolution import conv, ov_convolution
from irlint.ops.nn.pooling import ov_max_pool_8
from irlint.ops.shared.windows import OnnxWindow
from irlint.ops.signatures import REQUIRED, group, named, signature
from irlint.records import record
from irlint.schemas import MICROSOFT, NCHWC, of_runtime, official_names

Ints = tuple[int, ...]
OPS = Path(irlint.ops.__file__).parent


@group
@record
class Pair:
    left: int
    right: Ints = (1,)


_TWO = Pair(2, (2,))


def first(x: Any, y: Any = None, *, before: float = 0.5, pair: Pair, after: bool = False) -> Any:
    return pair


def second(*xs: Any, pair: Pair = _TWO, context: Any) -> Any:
    return pair


def test_a_group_stands_for_its_fields_in_their_place() -> None:
    known = signature(first)
    assert known.inputs == ("x", "y") and known.required == 1
    assert list(known.attributes) == ["before", "left", "right", "after"]
    assert known.attributes["left"] == ("int", REQUIRED) and known.attributes["right"] == ("Ints", (1,))


def test_the_default_of_a_group_states_the_defaults_of_its_fields() -> None:
    known = signature(second)
    assert known.context and known.variadic == "xs"
    assert known.attributes == {"left": ("int", 2), "right": ("Ints", (2,))}
    assert known.bound({"right": (3,)}) == {"pair": Pair(2, (3,))}


def test_attributes_are_bound_to_their_group() -> None:
    assert signature(first).bound({"left": 1, "after": True}) == {"pair": Pair(1, (1,)), "after": True}
    assert signature(conv).bound({"group": 2}) == {"group": 2, "window": OnnxWindow()}


def test_choices_of_a_field_are_those_of_its_record() -> None:
    names: tuple[str, ...] = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "")
    assert choices(signature(conv).attributes["auto_pad"][0], conv) == names
    names = ("explicit", "same_upper", "same_lower", "valid")
    for rule in (ov_convolution, ov_max_pool_8):
        assert choices(signature(rule).attributes["auto_pad"][0], rule) == names


#: The annotations that binding reads, beside the names for the texts of a ``Literal`` and those of graphs and tensors.
ANNOTATIONS = {
    "onnx": {*_ANNOTATED, "object", "Tensor | SparseTensor"},
    "openvino": {"int", "float", "bool", "str", "Ints", "Floats", "DType"},
}


@pytest.mark.parametrize(("format", "table"), list(zip(ANNOTATIONS, tables())), ids=ANNOTATIONS)
def test_annotations_of_attributes_are_read(format: str, table: dict[object, list[Operator]]) -> None:
    wrong = set()
    for operator in (operator for versions in table.values() for operator in versions):
        for name, (annotation, _) in signature(operator.function).attributes.items():
            kind = annotation.removesuffix(" | None")
            if kind not in ANNOTATIONS[format] and named(kind, operator.function) is None:
                wrong.add(f"{operator.function.__name__}: {name}: {annotation}")
    assert not wrong, "nothing reads these; the texts of a Literal have a name in the module, as Mode = Literal[...]"


def is_of(value: object, hint: Any) -> bool:
    """Whether a value has an annotated type; of a function only that it can be called."""
    if hint is Any:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and all(is_of(each, inner[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(is_of(each, inner[1]) for each in value.values())
    if origin is Callable:
        return callable(value)
    return any(is_of(value, each) for each in inner) if inner else isinstance(value, hint)


@pytest.mark.parametrize(("format", "table"), list(zip(ANNOTATIONS, tables())), ids=ANNOTATIONS)
def test_facts_of_operators_have_their_types(format: str, table: dict[object, list[Operator]]) -> None:
    hints = get_type_hints(Operator, vars(irlint.ops) | {"Callable": Callable})
    wrong = {
        f"{operator.name}: {name}"
        for operator in (operator for versions in table.values() for operator in versions)
        for name, hint in hints.items()
        if not is_of(getattr(operator, name), hint)
    }
    assert not wrong


def facts(table: dict[object, list[Operator]]) -> set[str]:
    """The facts that some operator of a format states."""
    operators = [operator for versions in table.values() for operator in versions]
    defaults = Operator("", 1, facts)
    return {
        name
        for name in Operator.__match_args__[3:]
        if any(getattr(operator, name) != getattr(defaults, name) for operator in operators)
    }


def test_every_fact_is_of_one_format() -> None:
    of_onnx, of_openvino = map(facts, tables())
    assert of_onnx & of_openvino == {"until", "fold", "of_shape", "macs"}
    assert of_onnx | of_openvino == set(Operator.__match_args__[3:])


def test_an_unknown_fact_is_refused() -> None:
    with pytest.raises(TypeError, match="erly"):
        irlint.ops.onnx("Unknown", erly=True)(first)


def is_rule(function: ast.FunctionDef) -> bool:
    names = {ast.unparse(each.func) for each in function.decorator_list if isinstance(each, ast.Call)}
    return bool(names & {"onnx", "openvino"})


def functions(block: ast.AST) -> Iterator[ast.FunctionDef]:
    """Those in a module, in its classes and in functions."""
    for statement in getattr(block, "body", ()):
        if isinstance(statement, ast.FunctionDef):
            yield statement
        yield from functions(statement)


def test_kernels_take_more_than_three_arguments_by_keyword() -> None:
    many = [
        f"{path.relative_to(OPS)}:{node.lineno} {node.name}"
        for path in OPS.rglob("*.py")
        for node in functions(ast.parse(path.read_text(encoding="utf-8")))
        if not is_rule(node)
        if len([each for each in node.args.args if each.arg != "self"]) > 3
    ]
    assert not many


@pytest.mark.parametrize("domain", [MICROSOFT, NCHWC])
def test_rules_take_what_the_schemas_of_onnxruntime_name(domain: str) -> None:
    for name in sorted(official_names(domain)):
        schema = of_runtime(name, domain)
        operator = onnx_operator(domain, name, 1)
        if schema is None or operator is None:
            continue
        known = signature(operator.function)
        assert known.variadic or len(known.inputs) == len(schema.inputs), name
        assert set(schema.attributes) <= set(known.attributes), name


def test_inputs_without_a_name_are_those_of_a_schema() -> None:
    for (domain, name), versions in tables()[0].items():
        for known in (signature(operator.function) for operator in versions):
            if known.variadic == "others":
                schema = of_runtime(name, domain)
                assert schema is not None and len(schema.inputs) > len(known.inputs), name
