"""What decorators say of operators besides their names is about attributes and parameters that their rules have."""

from __future__ import annotations

from irlint import ops
from irlint.ops.signatures import REQUIRED, signature
from irlint.schemas import official_versions

ONNX, OPENVINO = ops.tables()
OPERATORS = [operator for versions in (*ONNX.values(), *OPENVINO.values()) for operator in versions]


def test_what_is_said_of_attributes_is_said_of_parameters() -> None:
    for operator in OPERATORS:
        parameters = set(signature(operator.function).attributes)
        named = {*operator.spelled, *operator.absent, *operator.documented, *operator.refused_without, *operator.strict}
        named |= {*operator.lenient, *operator.read_if, *operator.kinds}
        named |= {other for other, _ in operator.read_if.values()}
        assert named <= parameters, operator


def test_legacy_attributes_are_not_the_operations_own() -> None:
    for operator in OPERATORS:
        own = {operator.spelled.get(name, name) for name in signature(operator.function).attributes}
        assert own.isdisjoint(operator.legacy), operator


def test_a_documented_default_is_not_the_librarys() -> None:
    for operator in OPERATORS:
        attributes = signature(operator.function).attributes
        assert set(operator.documented) <= set(operator.absent), operator
        assert operator.documented.keys().isdisjoint(operator.refused_without), operator
        assert all(attributes[name][1] is REQUIRED for name in operator.refused_without), operator


def test_the_rule_of_an_operator_with_a_fold_takes_it() -> None:
    for operator in OPERATORS:
        assert operator.fold is None or signature(operator.function).fold, operator


def test_what_onnx_runtime_has_early_the_standard_has_later() -> None:
    early = [name for (_, name), versions in ONNX.items() if any(operator.early for operator in versions)]
    assert early
    assert all(official_versions(name, "")[0] > 1 for name in early)


def test_what_is_without_a_rule_has_none() -> None:
    for key in ops.index.WITHOUT_RULE:
        domain, _, name = key.rpartition(":")
        if domain == ops.OPENVINO:
            assert not ops.openvino_versions(name)
            assert ops.instead_of(name.upper())
        else:
            assert not ops.onnx_versions(domain, name)
            assert ops.is_without_rule(domain, name)
