"""Linear models and support vector machines of the domain ai.onnx.ml."""

from __future__ import annotations

from irlint.dims import MaybeDim
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import agree, reaches, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.ml.encoders import FEATURES_MISMATCH, ML, Strings, features_axis, label_type, rows_and_features
from irlint.ops.shared.attributes import (
    ATTRIBUTE_OUT_OF_RANGE,
    LISTS_INCONSISTENT,
    expect_parallel,
    expect_range,
    the_one_of,
)
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.expectations import expect_rank

PostTransform = Literal["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
Kernel = Literal["LINEAR", "POLY", "RBF", "SIGMOID"]


def predicted(x: Tensor, columns: int | None, dtype: str | None = "float32") -> Tensor:
    """A table with ``columns`` numbers for each row of the table ``x``."""
    return Tensor(dtype, (rows_and_features(x.shape)[0], columns))


def expect_count(name: str, count: int) -> None:
    """Checks that an attribute is at least 1. Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault."""
    if count < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{name}` is {count}; expected at least 1", help="use 1 or more", attribute=name
        )


def _expect_at_most(x: Tensor, coefficients: int, results: int) -> None:
    """Checks that ``x`` has at most as many features as each result has coefficients. Raises ``FEATURES_MISMATCH``.

    Reports a warning for fewer features, with which ONNX Runtime computes other results.
    """
    most = coefficients // results
    features = rows_and_features(x.shape)[1]
    axis = features_axis(x)
    if reaches(most, features, "there are coefficients for every feature"):
        if isinstance(features, int) and features < most:
            reason = "reads those of the further results at wrong places" if results > 1 else "ignores the others"
            warn(_features_fault(features, most, axis, reason=f"; ONNX Runtime {reason}").lowered(Severity.WARNING))
        return
    raise _features_fault(features, most, axis)


def _features_fault(features: MaybeDim, most: int, axis: int, *, reason: str = "") -> Fault:
    return FEATURES_MISMATCH.fault(
        f"axis {axis} of input 0 has {features} features, but there are coefficients for {most}{reason}",
        help=f"give input 0 {counted(most, 'feature')}, or write coefficients for {features}",
        input=0,
        marks=((0, axis),),
    )


@onnx("LinearClassifier", since=1, domain=ML, macs=("linear_model",))
def linear_classifier(
    x: Tensor,
    *,
    classlabels_ints: Ints | None = None,
    classlabels_strings: Strings | None = None,
    coefficients: Floats,
    intercepts: Floats,
    multi_class: int = 0,
    post_transform: PostTransform = "NONE",
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml LinearClassifier-1: (labels, scores)."""
    expect_rank(x, 0, 1, 2)
    labels = len(classlabels_strings or classlabels_ints or ())
    if classlabels_ints and classlabels_strings:
        the_one_of(classlabels_ints=classlabels_ints, classlabels_strings=classlabels_strings)
    rows = rows_and_features(x.shape)[0]
    label = Tensor(label_type(classlabels_strings), (rows,))
    classes = len(intercepts)
    if not classes or (classes == 1 and labels not in (0, 2)) or labels < classes > 1 or len(coefficients) % classes:
        raise LISTS_INCONSISTENT.fault(
            f"`intercepts` has {counted(classes, 'entry', 'entries')} for {labels} labels and {len(coefficients)} "
            "coefficients: expected one label for each intercept (two labels for one intercept), and the same number "
            "of coefficients for each intercept",
            help="for each class, write one intercept, one label and a coefficient for every feature; for two classes, "
            "one intercept is enough",
            attribute="intercepts",
        )
    _expect_at_most(x, len(coefficients), classes)
    return label, Tensor("float32", (rows, 2 if classes == 1 and labels == 2 else classes))


@onnx("LinearRegressor", since=1, domain=ML, macs=("linear_model",))
def linear_regressor(
    x: Tensor,
    *,
    coefficients: Floats | None = None,
    intercepts: Floats | None = None,
    post_transform: PostTransform = "NONE",
    targets: int = 1,
) -> Tensor:
    """ai.onnx.ml LinearRegressor-1."""
    expect_rank(x, 0, 1, 2)
    expect_count("targets", targets)
    the_one_of(coefficients=coefficients)
    _expect_at_most(x, len(coefficients or ()), targets)
    return predicted(x, targets)


@onnx("SVMClassifier", since=1, domain=ML, macs=("linear_model",))
def svm_classifier(
    x: Tensor,
    *,
    classlabels_ints: Ints | None = None,
    classlabels_strings: Strings | None = None,
    coefficients: Floats,
    kernel_params: Floats,
    kernel_type: Kernel = "LINEAR",
    post_transform: PostTransform = "NONE",
    prob_a: Floats | None = None,
    prob_b: Floats | None = None,
    rho: Floats,
    support_vectors: Floats | None = None,
    vectors_per_class: Ints | None = None,
) -> tuple[Tensor, Tensor]:
    """ai.onnx.ml SVMClassifier-1: (labels, scores)."""
    expect_rank(x, 0, 1, 2)
    if not classlabels_ints and not classlabels_strings:
        the_one_of(classlabels_ints=classlabels_ints, classlabels_strings=classlabels_strings)
    classes = len(classlabels_strings or classlabels_ints or ())
    _expect_kernel_params(kernel_params)
    expect_parallel({"prob_a": len(prob_a or ()), "prob_b": len(prob_b or ())})
    expect_range(vectors_per_class or (), 0, "vectors_per_class")
    vectors = sum(vectors_per_class or ())
    if vectors:
        _check_vectors(
            x, classes, vectors_per_class or (), coefficients=coefficients, support_vectors=support_vectors or ()
        )
        pairs = classes * (classes - 1) // 2
        _expect_entries("rho", len(rho), pairs, what="one for each pair of classes")
        if prob_a:
            _expect_entries("prob_a", len(prob_a), pairs, what="one for each pair of classes")
    else:
        _expect_exactly(x, len(coefficients) // classes, "the coefficients of a class have")
    columns: int | None = classes or None
    if vectors and not prob_a and classes:
        columns = classes * (classes - 1) // 2 if classes > 2 else 2
    rows = rows_and_features(x.shape)[0]
    return Tensor(label_type(classlabels_strings), (rows,)), Tensor("float32", (rows, columns))


def _check_vectors(
    x: Tensor, classes: int, vectors_per_class: Ints, *, coefficients: Floats, support_vectors: Floats
) -> None:
    """Checks the support vectors of a classifier. Raises a ``LISTS_INCONSISTENT`` or ``FEATURES_MISMATCH`` fault."""
    vectors = sum(vectors_per_class)
    if len(vectors_per_class) != classes:
        raise LISTS_INCONSISTENT.fault(
            f"`vectors_per_class` has {counted(len(vectors_per_class), 'entry', 'entries')} and there are "
            f"{counted(classes, 'class', 'classes')}: expected one entry for each class",
            help="give `vectors_per_class` an entry for each class label",
            attribute="vectors_per_class",
        )
    _expect_as_many_vectors(x, classes, vectors_per_class, coefficients=coefficients, support_vectors=support_vectors)
    _expect_entries(
        "coefficients",
        len(coefficients),
        (classes - 1) * vectors,
        what=f"{classes - 1} for each of {vectors} support vectors",
    )
    _expect_equal_vectors(support_vectors, vectors)
    _expect_exactly(x, len(support_vectors) // vectors)


def _expect_as_many_vectors(
    x: Tensor, classes: int, vectors_per_class: Ints, *, coefficients: Floats, support_vectors: Floats
) -> None:
    """Checks that ``vectors_per_class`` does not add up to more vectors than ``support_vectors`` stores.

    Raises a ``LISTS_INCONSISTENT`` fault, but only if ``coefficients`` confirms the number of stored vectors.
    """
    features, vectors = rows_and_features(x.shape)[1], sum(vectors_per_class)
    if not isinstance(features, int) or features < 1 or len(support_vectors) % features:
        return
    stored = len(support_vectors) // features
    needed = (classes - 1) * vectors
    if stored == vectors or len(coefficients) != (classes - 1) * stored or len(coefficients) >= needed:
        return
    raise LISTS_INCONSISTENT.fault(
        f"`vectors_per_class` adds up to {vectors}, which needs {needed} `coefficients`, {classes - 1} for "
        f"each vector; there are {len(coefficients)}",
        help=f"correct `vectors_per_class` so that it adds up to {stored}: `support_vectors` has {stored} vectors of "
        f"{counted(features, 'feature')}, and `coefficients` has {classes - 1} for each",
        attribute="vectors_per_class",
    )


def _expect_kernel_params(kernel_params: Floats) -> None:
    if len(kernel_params) not in (0, 3):
        raise LISTS_INCONSISTENT.fault(
            f"`kernel_params` has {counted(len(kernel_params), 'entry', 'entries')}; expected 0 or 3 entries: "
            "gamma, coef0 and degree",
            help="write gamma, coef0 and degree",
            attribute="kernel_params",
        )


def _expect_entries(name: str, count: int, least: int, *, what: str) -> None:
    """Checks that a list has at least ``least`` entries. Raises a ``LISTS_INCONSISTENT`` fault."""
    if count < least:
        raise LISTS_INCONSISTENT.fault(
            f"`{name}` has {counted(count, 'entry', 'entries')}; expected at least {least}, {what}",
            help=f"give `{name}` {counted(least, 'entry', 'entries')}",
            attribute=name,
        )


def _expect_equal_vectors(support_vectors: Floats, vectors: int) -> None:
    if not support_vectors or len(support_vectors) % vectors:
        raise LISTS_INCONSISTENT.fault(
            f"`support_vectors` has {counted(len(support_vectors), 'number')} for {counted(vectors, 'vector')}: "
            "expected the same number for each vector",
            help="give each support vector a number for every feature",
            attribute="support_vectors",
        )


@onnx("SVMRegressor", since=1, domain=ML, macs=("linear_model",))
def svm_regressor(
    x: Tensor,
    *,
    coefficients: Floats,
    kernel_params: Floats,
    kernel_type: Kernel = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: PostTransform = "NONE",
    rho: Floats,
    support_vectors: Floats | None = None,
) -> Tensor:
    """ai.onnx.ml SVMRegressor-1."""
    expect_rank(x, 0, 1, 2)
    _expect_kernel_params(kernel_params)
    _expect_entries("rho", len(rho), 1, what="the number added to the result")
    if n_supports > 0:
        _expect_entries("coefficients", len(coefficients), n_supports, what="one for each support vector")
        _expect_equal_vectors(support_vectors or (), n_supports)
        _expect_exactly(x, len(support_vectors or ()) // n_supports)
    else:
        _expect_exactly(x, len(coefficients), "there are coefficients for")
    return predicted(x, 1)


def _expect_exactly(x: Tensor, features: int, whose: str = "a support vector has") -> None:
    """Checks that ``x`` has exactly ``features`` features. Raises a ``FEATURES_MISMATCH`` fault.

    ``whose`` names, for the message, what has this number of features.
    """
    found = rows_and_features(x.shape)[1]
    if agree(found, features, "each feature has its coefficient"):
        return
    axis = features_axis(x)
    raise FEATURES_MISMATCH.fault(
        f"axis {axis} of input 0 has {found} features, and {whose} {features}: expected the same number",
        help=f"give input 0 {counted(features, 'feature')}, or use a model for {found}",
        input=0,
        marks=((0, axis),),
    )
