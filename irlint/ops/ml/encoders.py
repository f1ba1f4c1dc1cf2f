"""Operators of the domain ai.onnx.ml for features and labels: scalers, encoders, maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import MaybeDim, Shape, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted, size_help
from irlint.lazy_typing import Literal
from irlint.model.tensor import Map, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import onnx
from irlint.ops.shared.attributes import (
    ATTRIBUTE_OUT_OF_RANGE,
    LISTS_INCONSISTENT,
    entry_count,
    expect_lists,
    expect_parallel,
    expect_range,
    the_one_of,
)
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE
from irlint.ops.shared.sizes import narrower
from irlint.ops.signatures import group
from irlint.records import record

ML = "ai.onnx.ml"

Norm = Literal["MAX", "L1", "L2"]
CastTo = Literal["TO_FLOAT", "TO_STRING", "TO_INT64"]
MapForm = Literal["DENSE", "SPARSE"]
Strings = tuple[str, ...]
Entries = Sequence[object] | Tensor | None

FEATURES_MISMATCH = Rule(
    "IRL517",
    "feature-count-mismatch",
    Severity.ERROR,
    "The number of features or rows of an input contradicts the attributes or another input.",
    why=(
        "Coefficients, support vectors, scales and tree nodes refer to features by their position on the last axis. "
        "Runtimes refuse an input with more features than the node has coefficients, and an input without a feature "
        "that a tree uses. With fewer features than coefficients, ONNX Runtime computes other results: a warning."
    ),
    fix="Pass the features with which the model was trained, in the same order.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[4,3] x) => (float[4,3] y) { y = ai.onnx.ml.Scaler <offset = [0.0, 0.0], scale = [1.0, 2.0]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[4,2] x) => (float[4,2] y) { y = ai.onnx.ml.Scaler <offset = [0.0, 0.0], scale = [1.0, 2.0]> (x) }""",
)


def rows_and_features(shape: Shape | None) -> tuple[MaybeDim, MaybeDim]:
    """Returns (number of rows, number of features) of a table with this shape. A list is a table of one row."""
    if shape is None:
        return None, None
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


def features_axis(x: Tensor) -> int:
    """The axis on which ``x`` has its features: 0 for a list, else 1."""
    return 0 if x.shape is not None and len(x.shape) == 1 else 1


def label_type(strings: object) -> str:
    """The element type of labels: string if there are ``strings``, else int64."""
    return "string" if strings else "int64"


# --- features ---------------------------------------------------------------------------------------------------------


@onnx("ArrayFeatureExtractor", since=1, domain=ML)
def array_feature_extractor(x: Tensor, y: Tensor) -> Tensor:
    """ai.onnx.ml ArrayFeatureExtractor-1."""
    expect_rank(x, 0, least=1)
    if x.shape is None:
        return Tensor(x.dtype)
    last = x.shape[-1]
    for entry in y.ints or ():
        if isinstance(entry, int) and isinstance(last, int) and not 0 <= entry < last:
            raise INDEX_OUT_OF_RANGE.fault(
                f"input 1 holds the index {entry}, and axis {len(x.shape) - 1} of input 0 is {last}; "
                f"allowed: 0 to {last - 1}",
                help=f"use indices of 0 to {last - 1}; negative indices are not supported",
                input=1,
                marks=((0, len(x.shape) - 1),),
            )
    count = None if y.shape is None else product(y.shape)
    return Tensor(x.dtype, (1, count) if len(x.shape) == 1 else (*x.shape[:-1], count))


@onnx("Binarizer", since=1, domain=ML)
def binarizer(x: Tensor, *, threshold: float = 0.0) -> Tensor:
    """ai.onnx.ml Binarizer-1."""
    return Tensor(x.dtype, x.shape)


@onnx("FeatureVectorizer", since=1, domain=ML)
def feature_vectorizer(*x: Tensor, inputdimensions: Ints) -> Tensor:
    """ai.onnx.ml FeatureVectorizer-1. Each input is cropped or padded to its entry of ``inputdimensions``."""
    expect_parallel({"inputdimensions": entry_count(inputdimensions), "X": len(x)})
    expect_range(inputdimensions, 0, "inputdimensions")
    rows: MaybeDim = None
    for index, table in enumerate(x):
        expect_rank(table, index, least=1)
        found = rows_and_features(table.shape)[0] if table.shape else None
        if not agree(rows, found, "all inputs have the same number of rows"):
            raise FEATURES_MISMATCH.fault(
                f"input 0 has {rows} rows and input {index} has {found}: expected the same number of rows",
                help="give all inputs the same number of rows",
                input=index,
            )
        rows = narrower(rows, found)
    return Tensor("float32", (rows, sum(inputdimensions)))


@onnx("Imputer", since=1, domain=ML)
def imputer(
    x: Tensor,
    *,
    imputed_value_floats: Floats | None = None,
    imputed_value_int64s: Ints | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    """ai.onnx.ml Imputer-1."""
    the_one_of(imputed_value_floats=imputed_value_floats, imputed_value_int64s=imputed_value_int64s)
    expect_rank(x, 0, least=1)
    return Tensor(x.dtype, x.shape)


@onnx("Normalizer", since=1, domain=ML)
def normalizer(x: Tensor, *, norm: Norm = "MAX") -> Tensor:
    """ai.onnx.ml Normalizer-1."""
    expect_rank(x, 0, 1, 2)
    return Tensor("float32", x.shape)


@onnx("Scaler", since=1, domain=ML)
def scaler(x: Tensor, *, offset: Floats | None = None, scale: Floats | None = None) -> Tensor:
    """ai.onnx.ml Scaler-1."""
    if scale is None and offset is None:
        the_one_of(scale=scale, offset=offset)
    expect_parallel({"scale": len(scale or ()), "offset": len(offset or ())})
    expect_rank(x, 0, least=1)
    count, features = len(scale or ()), rows_and_features(x.shape)[1]
    if count != 1 and not agree(features, count, "there is a scale for each feature"):
        axis = features_axis(x)
        raise FEATURES_MISMATCH.fault(
            f"axis {axis} of input 0 is {features} and `scale` has {counted(count, 'entry', 'entries')}: expected "
            f"1 or {features}",
            help=f"give `scale` and `offset` {counted(features, 'entry', 'entries')}, use one entry, or "
            f"{size_help(axis, count)}",
            input=0,
            marks=((0, axis),),
        )
    return Tensor("float32", x.shape)


# --- encoders ---------------------------------------------------------------------------------------------------------


@onnx("CategoryMapper", since=1, domain=ML)
def category_mapper(
    x: Tensor,
    *,
    cats_int64s: Ints | None = None,
    cats_strings: Strings | None = None,
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Tensor:
    """ai.onnx.ml CategoryMapper-1."""
    expect_parallel({"cats_int64s": len(cats_int64s or ()), "cats_strings": len(cats_strings or ())})
    if not cats_int64s:
        the_one_of(cats_int64s=cats_int64s, cats_strings=cats_strings)
    dtype = None if x.dtype is None else "int64" if x.dtype == "string" else "string"
    return Tensor(dtype, x.shape)


@onnx("LabelEncoder", since=1, domain=ML)
def label_encoder_of_classes(
    x: Tensor, *, classes_strings: Strings | None = None, default_int64: int = -1, default_string: str = "_Unused"
) -> Tensor:
    """ai.onnx.ml LabelEncoder-1."""
    the_one_of(classes_strings=classes_strings)
    dtype = None if x.dtype is None else "int64" if x.dtype == "string" else "string"
    return Tensor(dtype, x.shape)


@group
@record
class LabelLists:
    """The attributes of a LabelEncoder."""

    default_float: float = -0.0
    default_int64: int = -1
    default_string: str = "_Unused"
    keys_floats: Floats | None = None
    keys_int64s: Ints | None = None
    keys_strings: Strings | None = None
    values_floats: Floats | None = None
    values_int64s: Ints | None = None
    values_strings: Strings | None = None

    def keys(self) -> Table:
        return {"keys_floats": self.keys_floats, "keys_int64s": self.keys_int64s, "keys_strings": self.keys_strings}

    def values(self) -> Table:
        return {
            "values_floats": self.values_floats,
            "values_int64s": self.values_int64s,
            "values_strings": self.values_strings,
        }


@onnx("LabelEncoder", since=2, domain=ML)
def label_encoder(
    x: Tensor,
    *,
    lists: LabelLists,
) -> Tensor:
    """ai.onnx.ml LabelEncoder-2."""
    keys, values = lists.keys(), lists.values()
    return _encoded(x, keys, values, names=(_only_present(keys), _only_present(values)))


@onnx("LabelEncoder", since=4, domain=ML)
def label_encoder_of_tensors(
    x: Tensor,
    *,
    lists: LabelLists,
    default_tensor: Tensor | None = None,
    keys_tensor: Tensor | None = None,
    values_tensor: Tensor | None = None,
) -> Tensor:
    """ai.onnx.ml LabelEncoder-4. Keys and values may be tensors."""
    expect_lists(keys_tensor=keys_tensor, values_tensor=values_tensor)
    keys = {**lists.keys(), "keys_tensor": keys_tensor}
    values = {**lists.values(), "values_tensor": values_tensor}
    _only_present(keys)
    result = _encoded(x, keys, values, names=(the_one_of(**keys), the_one_of(**values)))
    if default_tensor is not None and default_tensor.dtype and result.dtype and default_tensor.dtype != result.dtype:
        raise LISTS_INCONSISTENT.fault(
            f"attribute `default_tensor` is {default_tensor.dtype} and the values are {result.dtype}: "
            "expected the same element type",
            help=f"write `default_tensor` as {result.dtype}",
            attribute="default_tensor",
        )
    return result


_LIST_TYPES = {"floats": "float32", "int64s": "int64", "strings": "string"}

Table = Mapping[str, Entries]


def _only_present(lists: Table) -> str:
    """The name of the only list that is present, even if it is empty.

    Raises a ``LISTS_INCONSISTENT`` fault if no list or more than one list is present.
    """
    return the_one_of(**{name: entries is not None for name, entries in lists.items()})


def _encoded(x: Tensor, keys: Table, values: Table, *, names: tuple[str, str]) -> Tensor:
    """The encoded labels. ``names`` are (name of the list of keys that is present, name of the list of values).

    Raises a ``LISTS_INCONSISTENT`` or ``ELEMENT_TYPE_REFUSED`` fault.
    """
    keys_name, values_name = names
    expect_parallel({keys_name: entry_count(keys[keys_name]), values_name: entry_count(values[values_name])})
    key_type = _entry_type(keys_name, keys[keys_name])
    if key_type is not None:
        expect_type(x, 0, (key_type,))
    return Tensor(_entry_type(values_name, values[values_name]), x.shape)


def _entry_type(name: str, entries: Entries) -> str | None:
    return entries.dtype if isinstance(entries, Tensor) else _LIST_TYPES[name.partition("_")[2]]


@onnx("OneHotEncoder", since=1, domain=ML)
def one_hot_encoder(
    x: Tensor, *, cats_int64s: Ints | None = None, cats_strings: Strings | None = None, zeros: int = 1
) -> Tensor:
    """ai.onnx.ml OneHotEncoder-1."""
    _only_present({"cats_int64s": cats_int64s, "cats_strings": cats_strings})
    the_one_of(cats_int64s=cats_int64s, cats_strings=cats_strings)
    return Tensor("float32", None if x.shape is None else (*x.shape, len(cats_int64s or cats_strings or ())))


# --- maps -------------------------------------------------------------------------------------------------------------


@onnx("CastMap", since=1, domain=ML)
def cast_map(x: Type, *, cast_to: CastTo = "TO_FLOAT", map_form: MapForm = "DENSE", max_map: int = 1) -> Tensor:
    """ai.onnx.ml CastMap-1."""
    if map_form == "SPARSE" and max_map < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `max_map` is {max_map}; expected at least 1", help="use 1 or more", attribute="max_map"
        )
    dtype = {"TO_FLOAT": "float32", "TO_STRING": "string", "TO_INT64": "int64"}[cast_to]
    return Tensor(dtype, (1, max_map if map_form == "SPARSE" else None))


def _warn_of_two_vocabularies(lists: Mapping[str, object]) -> None:
    try:
        the_one_of(**lists)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))


@onnx("DictVectorizer", since=1, domain=ML)
def dict_vectorizer(
    x: Type, *, int64_vocabulary: Ints | None = None, string_vocabulary: Strings | None = None
) -> Tensor:
    """ai.onnx.ml DictVectorizer-1."""
    vocabularies = {"int64_vocabulary": int64_vocabulary, "string_vocabulary": string_vocabulary}
    key, value = (x.key, x.value) if isinstance(x, Map) else (None, None)
    name = f"{key}_vocabulary"
    if vocabularies.get(name):
        _warn_of_two_vocabularies(vocabularies)
    elif name != the_one_of(**vocabularies) and name in vocabularies:
        raise LISTS_INCONSISTENT.fault(
            f"the keys of input 0 are {key}, but `{name}` is missing",
            help=f"write the keys as `{name}`",
            attribute=the_one_of(**vocabularies),
        )
    count = len(vocabularies.get(name) or int64_vocabulary or string_vocabulary or ())
    return Tensor(value.dtype if isinstance(value, Tensor) else None, (1, count))


@onnx("ZipMap", since=1, domain=ML)
def zip_map(
    x: Tensor, *, classlabels_int64s: Ints | None = None, classlabels_strings: Strings | None = None
) -> SequenceType:
    """ai.onnx.ml ZipMap-1."""
    the_one_of(classlabels_int64s=classlabels_int64s, classlabels_strings=classlabels_strings)
    expect_rank(x, 0, 1, 2)
    rows, columns = rows_and_features(x.shape)
    labels = len(classlabels_int64s or classlabels_strings or ())
    if not agree(columns, labels, "there is a label for each column"):
        axis = features_axis(x)
        raise FEATURES_MISMATCH.fault(
            f"axis {axis} of input 0 is {columns} and there are {labels} labels: expected one label for each column",
            help=f"write {counted(columns, 'label')}, or {size_help(axis, labels)}",
            input=0,
            marks=((0, axis),),
        )
    return SequenceType(Map(label_type(classlabels_strings), Tensor("float32", ())), rows)
