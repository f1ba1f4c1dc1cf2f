"""Operators on strings of both formats."""

from __future__ import annotations

from itertools import pairwise

from irlint.dims import MaybeDim, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.attributes import (
    ATTRIBUTE_OUT_OF_RANGE,
    LISTS_INCONSISTENT,
    expect_parallel,
    expect_regex,
    the_one_of,
)
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.broadcast import broadcast, merged
from irlint.ops.shared.element_types import common_type, expect_type
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED, expect_rank
from irlint.ops.shared.shape_inputs import known_integers

CaseChange = Literal["NONE", "LOWER", "UPPER"]
Weighting = Literal["TF", "IDF", "TFIDF"]
Strings = tuple[str, ...]

_PACK = """<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="u8" shape="LAST"/>
<output><port id="0" precision="U8"><dim>LAST</dim></port></output></layer>
<layer id="1" name="places" type="ShapeOf" version="opset3"><data output_type="i32"/><input><port id="0"/></input>
<output><port id="1" precision="I32"><dim>1</dim></port></output></layer>
<layer id="2" name="bytes" type="Parameter" version="opset1"><data element_type="u8" shape="5"/>
<output><port id="0" precision="U8"><dim>5</dim></port></output></layer>
<layer id="3" name="pack" type="StringTensorPack" version="opset15">
<input><port id="0"/><port id="1"/><port id="2"/></input>
<output><port id="3" precision="STRING"><dim>1</dim></port></output></layer>
<layer id="4" name="out" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="3" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="3" to-port="1"/>
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>\
<edge from-layer="3" from-port="3" to-layer="4" to-port="0"/>
</edges></net>"""

STRING_BOUNDS = Rule(
    "IRL514",
    "string-bounds-wrong",
    Severity.ERROR,
    "The positions at which packed strings begin and end are invalid.",
    why=(
        "A packed tensor of strings stores the bytes of all strings, and where each string begins and ends. These "
        "positions must be at least 0, in ascending order, and at most the number of bytes. OpenVINO refuses other "
        "positions when it loads the model."
    ),
    fix="Correct the positions in the message, or the bytes.",
    bad=_PACK.replace("LAST", "9"),
    good=_PACK.replace("LAST", "5"),
)


# --- ONNX -------------------------------------------------------------------------------------------------------------


@onnx("StringConcat", since=20)
def string_concat(x: Tensor, y: Tensor) -> Tensor:
    """ONNX StringConcat-20."""
    return Tensor("string", broadcast((x.shape, y.shape)))


@onnx("RegexFullMatch", since=20)
def regex_full_match(x: Tensor, *, pattern: str) -> Tensor:
    """ONNX RegexFullMatch-20."""
    expect_regex(pattern, "pattern")
    return Tensor("bool", x.shape)


@onnx("StringSplit", since=20)
def string_split(
    x: Tensor, *, delimiter: str | None = None, maxsplit: int | None = None, context: Context
) -> tuple[Tensor, Tensor]:
    """ONNX StringSplit-20: (pieces on a new last axis, number of pieces of each string)."""
    pieces = None if x.shape is None else (*x.shape, context.unknown("pieces"))
    return Tensor("string", pieces), Tensor("int64", x.shape)


#: Values of ``locale`` that ONNX Runtime accepts on every machine.
_LOCALES = (None, "", "C", "POSIX")


@onnx("StringNormalizer", since=10)
def string_normalizer(
    x: Tensor,
    *,
    case_change_action: CaseChange = "NONE",
    is_case_sensitive: int = 0,
    locale: str | None = None,
    stopwords: Strings | None = None,
) -> Tensor:
    """ONNX StringNormalizer-10."""
    if locale not in _LOCALES and (case_change_action != "NONE" or (stopwords and not is_case_sensitive)):
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                f'attribute `locale` is "{locale}": ONNX Runtime refuses the model on machines without this locale',
                help='write locale="C", or install this locale on every machine that runs the model',
                attribute="locale",
                severity=Severity.WARNING,
            )
        )
    if x.shape is None:
        return Tensor("string")
    rank = len(x.shape)
    if rank not in (1, 2) or (rank == 2 and same(x.shape[0], 1) is False):
        raise INPUT_RANK_REFUSED.fault(
            f"input 0 is {shape_text(x.shape)}; the operator accepts [C] or [1, C]",
            help="give the strings as a list",
            input=0,
        )
    remaining: MaybeDim = None if stopwords else x.shape[-1]
    return Tensor("string", (remaining,) if rank == 1 else (1, remaining))


@onnx("TfIdfVectorizer", since=9)
def tf_idf_vectorizer(
    x: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: Weighting,
    ngram_counts: Ints,
    ngram_indexes: Ints,
    pool_int64s: Ints | None = None,
    pool_strings: Strings | None = None,
    weights: Floats | None = None,
) -> Tensor:
    """ONNX TfIdfVectorizer-9."""
    expect_rank(x, 0, 1, 2)
    _check_grams(min_gram_length, max_gram_length, max_skip_count, counts=ngram_counts)
    pool = pool_strings or pool_int64s
    if not pool:
        the_one_of(pool_int64s=pool_int64s, pool_strings=pool_strings)
    _check_pool(ngram_counts, len(pool or ()))
    expect_parallel({"ngram_indexes": len(ngram_indexes)}, optional={"weights": len(weights or ())})
    if not ngram_indexes or min(ngram_indexes) < 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `ngram_indexes` is {list(ngram_indexes)}; expected positions of at least 0",
            help="write a position in the output for each n-gram",
            attribute="ngram_indexes",
        )
    rows = (None,) if x.shape is None else x.shape[:-1]
    return Tensor("float32", None if x.shape is None else (*rows, max(ngram_indexes) + 1))


def _check_grams(least: int, most: int, skips: int, *, counts: Ints) -> None:
    """Checks the lengths of n-grams and the number of skips. Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault."""
    wrong = None
    if least < 1:
        wrong = "min_gram_length", least, "at least 1"
    elif most < least:
        wrong = "max_gram_length", most, f"at least min_gram_length, which is {least}"
    elif most > len(counts):
        wrong = "max_gram_length", most, f"at most {len(counts)}, the number of entries in `ngram_counts`"
    elif skips < 0:
        wrong = "max_skip_count", skips, "at least 0"
    if wrong is not None:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{wrong[0]}` is {wrong[1]}; expected {wrong[2]}",
            help=f"correct `{wrong[0]}`",
            attribute=wrong[0],
        )


def _check_pool(begins: Ints, size: int) -> None:
    """Checks ``begins``, which holds where the n-grams of each length begin in a pool of ``size`` entries.

    Raises a ``LISTS_INCONSISTENT`` fault.
    """
    for length, (begin, end) in enumerate(zip(begins, (*begins[1:], size)), 1):
        if not 0 <= begin <= end <= size:
            raise LISTS_INCONSISTENT.fault(
                f"in the pool, the {length}-grams begin at {begin} and end before {end}; expected ascending "
                f"positions from 0 to {size}, the number of entries in the pool",
                help=f"write positions from 0 to {size} in `ngram_counts`, in ascending order",
                attribute="ngram_counts",
            )
        if (end - begin) % length:
            raise LISTS_INCONSISTENT.fault(
                f"in the pool, the {length}-grams begin at {begin} and end before {end}: {end - begin} entries are "
                f"not a multiple of {length}",
                help=f"give the {length}-grams a multiple of {length} entries",
                attribute="ngram_counts",
            )


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@openvino("StringTensorPack", since=15)
def string_tensor_pack(begins: Tensor, ends: Tensor, symbols: Tensor) -> Tensor:
    """OpenVINO StringTensorPack-15."""
    for index, x in enumerate((begins, ends)):
        expect_type(x, index, ("int32", "int64"))
    common_type((begins, ends))
    expect_type(symbols, 2, ("uint8",))
    expect_rank(symbols, 2, 1)
    shape = merged((begins.shape, ends.shape), why="each string needs a begin and an end")
    size = symbols.shape[0] if symbols.shape else None
    for index, (name, tensor) in enumerate((("begins", begins), ("ends", ends))):
        positions = known_integers(tensor)
        if positions is not None:
            _check_positions(positions, index, name, size=size)
    return Tensor("string", shape)


def _check_positions(positions: tuple[int, ...], index: int, name: str, *, size: MaybeDim) -> None:
    """Checks that positions are ascending, at least 0 and at most ``size``. Raises a ``STRING_BOUNDS`` fault."""
    text = ""
    if min(positions, default=0) < 0:
        text = f"contains {min(positions)}; expected at least 0"
    elif any(a > b for a, b in pairwise(positions)):
        text = "is not in ascending order"
    elif positions and isinstance(size, int) and max(positions) > size:
        text = f"contains {max(positions)}, but input 2 (symbols) has {counted(size, 'byte')}"
    if text:
        raise STRING_BOUNDS.fault(f"input {index} ({name}) {text}", help="correct the positions", input=index)


@openvino("StringTensorUnpack", since=15)
def string_tensor_unpack(data: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO StringTensorUnpack-15: (begins, ends, bytes of all strings)."""
    expect_type(data, 0, ("string",))
    return (
        Tensor("int32", data.shape),
        Tensor("int32", data.shape),
        Tensor("uint8", (0 if data.shape and 0 in data.shape else None,)),
    )
