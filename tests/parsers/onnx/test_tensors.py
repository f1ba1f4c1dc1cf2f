"""The contents of tensors, in the file and beside it, held against the onnx package's own."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from parsers.onnx.models import external, field, graph, proto, varint

from irlint.model.tensor import FLOATS, Tensor
from irlint.parsers import weights
from irlint.parsers.onnx.tensors import DTYPES

# tensors

CONTENTS = {
    TensorProto.FLOAT: [1.5, -2.0, 0.1],
    TensorProto.DOUBLE: [1.5, -2.0, 1e300],
    TensorProto.FLOAT16: [1.5, -2.0, 65504.0],
    TensorProto.BFLOAT16: [1.5, -2.0, 1e30],
    TensorProto.FLOAT8E4M3FN: [1.5, -448.0, 0.002],
    TensorProto.FLOAT8E5M2: [1.5, -2.0, 57344.0],
    TensorProto.FLOAT4E2M1: [1.5, -2.0, 6.0],
    TensorProto.INT8: [1, -2, 127],
    TensorProto.UINT8: [1, 2, 255],
    TensorProto.INT16: [1, -2, 32767],
    TensorProto.UINT16: [1, 2, 65535],
    TensorProto.INT32: [1, -2, 2**31 - 1],
    TensorProto.UINT32: [1, 2, 2**32 - 1],
    TensorProto.INT64: [1, -2, 2**63 - 1],
    TensorProto.UINT64: [1, 2, 2**64 - 1],
    TensorProto.BOOL: [True, False, True],
    TensorProto.INT4: [1, -8, 7],
    TensorProto.UINT4: [1, 2, 15],
    TensorProto.INT2: [1, -2, 0],
    TensorProto.UINT2: [1, 2, 3],
}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("dtype", CONTENTS, ids=TensorProto.DataType.Name)
def test_contents(dtype, raw):
    typed = helper.make_tensor("w", dtype, [3], CONTENTS[dtype])
    array = numpy_helper.to_array(typed)
    source = numpy_helper.from_array(array, "w") if raw else typed
    assert source.HasField("raw_data") is raw
    (found,) = graph(proto(initializers=[source])).constants.values()
    kind = float if found.tensor.dtype in FLOATS else bool if dtype == TensorProto.BOOL else int
    assert found.tensor.value == tuple(map(kind, array))
    assert {type(item) for item in found.tensor.value} == {kind}
    size = weights.byte_size(found.tensor.dtype, 3)
    assert (found.stored.size, found.stored.available, found.stored.file) == (size, size, None)


@pytest.mark.parametrize("dtype", [TensorProto.COMPLEX64, TensorProto.COMPLEX128, TensorProto.STRING])
def test_what_has_no_scalars_has_no_contents(dtype):
    values = ["a", "b"] if dtype == TensorProto.STRING else [1 + 2j, 3 - 4j]
    (found,) = graph(proto(initializers=[helper.make_tensor("w", dtype, [2], values)])).constants.values()
    assert found.tensor == Tensor(DTYPES[dtype], (2,))
    assert found.stored.size == weights.byte_size(DTYPES[dtype], 2)


@pytest.mark.parametrize(("raw", "size"), [(False, 5), (True, 4)])
def test_floats_of_6_bits_are_stored_in_two_ways(raw, size):
    array = numpy_helper.to_array(helper.make_tensor("w", TensorProto.FLOAT6E2M3, [5], [1, 2, 3, 1, 0.5]))
    source = helper.make_tensor("w", TensorProto.FLOAT6E2M3, [5], array if raw else array.tolist(), raw)
    (found,) = graph(proto(initializers=[source])).constants.values()
    assert (found.tensor, found.stored.size) == (Tensor("float6_e2m3", (5,)), size)


@pytest.mark.parametrize(
    ("dtype", "dims", "fields", "size", "value"),
    [
        (1, [2], {"float_data": [1, 2, 3]}, 12, None),
        (1, [2], {"raw_data": b"1234567"}, 7, None),
        (1, [2], {}, 0, None),
        (1, [0], {}, 0, ()),
        (1, [-1], {"float_data": [1]}, 4, None),
        (1, [2**62, 2**62, 0], {}, 0, ()),
        (1, [2**62, 2**62], {"float_data": [1]}, 4, None),
        (7, [], {"int64_data": [-5]}, 8, (-5,)),
        (7, [1], {"int32_data": [5]}, 0, None),
        (22, [3], {"int32_data": [0x21, 0x0F]}, 2, (1, 2, -1)),
        (0, [1], {"float_data": [1]}, None, None),
        (99, [1], {"raw_data": b"1234"}, 4, None),
        (1, [257], {"raw_data": bytes(1028)}, 1028, None),
        (1, [256], {"raw_data": bytes(1024)}, 1024, (0.0,) * 256),
        (7, [300], {"int64_data": range(-150, 150)}, 2400, None),
    ],
)
def test_sizes_that_do_not_fit_the_shape(dtype, dims, fields, size, value):
    source = TensorProto(name="w", data_type=dtype, dims=dims, **fields)
    (found,) = graph(proto(initializers=[source])).constants.values()
    assert (found.stored.size, found.tensor.value, found.tensor.shape) == (size, value, tuple(dims))


def test_unpacked_elements_are_read_like_packed_ones():
    floats = b"".join(varint(4 << 3 | 5) + np.float32(n).tobytes() for n in (1, 2))
    ints = field(7, 5) + field(7, 2**64 - 1)
    for dtype, data, value in ((1, floats, (1.0, 2.0)), (7, ints, (5, -1))):
        tensor = field(1, 2) + field(2, dtype) + data + field(8, b"w")
        assert onnx.TensorProto.FromString(tensor).name == "w"
        (found,) = graph(field(1, 10) + field(7, field(5, tensor))).constants.values()
        assert (found.tensor.value, found.tensor.shape) == (value, (2,))


def test_a_sparse_initializer_is_a_constant_of_its_dense_shape():
    values = numpy_helper.from_array(np.float32([1, 2]), "s")
    indices = numpy_helper.from_array(np.int64([0, 5]))
    sparse = helper.make_sparse_tensor(values, indices, [3, 4])
    found = graph(proto([helper.make_node("Neg", ["s"], ["y"])], sparse_initializer=[sparse]))
    (constant,) = found.constants.values()
    assert list(found.constants) == [found.nodes[0].inputs[0]]
    assert constant.tensor == Tensor("float32", (3, 4))
    assert [part.tensor.value for part in constant.parts] == [(1.0, 2.0), (0, 5)]


@pytest.mark.parametrize("dtype", sorted(FLOATS - {"float32", "float64", "nf4"}))
def test_small_floats_are_those_of_ml_dtypes(dtype):
    exact = {"float4_e2m1": "float4_e2m1fn", "float8_e8m0": "float8_e8m0fnu"}
    kind = np.dtype("float16" if dtype == "float16" else getattr(ml_dtypes, exact.get(dtype, dtype)))
    bits = 4 if dtype == "float4_e2m1" else 8 * kind.itemsize
    codes = np.arange(1 << bits, dtype=f"u{kind.itemsize}")
    packed = (codes[::2] | codes[1::2] << 4) if bits == 4 else codes
    found = weights.contents(dtype, len(codes), packed.tobytes())
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.array(found), codes.view(kind).astype(np.float64))


@pytest.mark.parametrize(
    ("dtype", "count", "size"),
    [("int4", 3, 2), ("int2", 5, 2), ("float32", 3, 12), ("string", 2, None), (None, 2, None), ("int8", -1, None)],
)
def test_byte_size(dtype, count, size):
    assert weights.byte_size(dtype, count) == size
    assert size is None or weights.contents(dtype, count, b"\1" * (size - 1)) is None


# external data


@pytest.mark.parametrize(
    ("dims", "entries", "stored", "value"),
    [
        ((4,), {}, (None, 0, 16), (0, 1, 2, 3)),
        ((4,), {"length": "16"}, (16, 0, 16), (0, 1, 2, 3)),
        ((4,), {"length": "0"}, (None, 0, 16), (0, 1, 2, 3)),
        ((2,), {"offset": "8", "length": "8", "checksum": "c"}, (8, 8, 8), (2, 3)),
        ((4,), {"offset": "8", "length": "16"}, (16, 8, 8), None),
        ((4,), {"length": "12"}, (12, 0, 16), None),
        ((1,), {"offset": "99"}, (None, 99, -83), None),
        ((0,), {"offset": "99"}, (None, 99, 0), None),
        ((0,), {"location": "w.bin"}, (None, 0, 16), None),
        ((1000,), {}, (None, 0, 16), None),
        ((4,), {"location": "sub/../w.bin"}, (None, 0, 16), (0, 1, 2, 3)),
    ],
)
def test_external_data(tmp_path, dims, entries, stored, value):
    (tmp_path / "sub").mkdir()
    found = external(tmp_path, dims, **entries)
    assert (found.stored.size, found.stored.offset, found.stored.available) == stored
    assert found.stored.file == entries.get("location", "w.bin")
    assert (found.tensor.value, found.stored.reason) == (value, None)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"location": "../w.bin"}, "outside"),
        ({"location": "a/../../w.bin"}, "outside"),
        ({"location": "..\\w.bin"}, "outside"),
        ({"location": "/etc/hostname"}, "an absolute path"),
        ({"location": ""}, "no location"),
        ({"location": "none.bin"}, "does not exist"),
        ({"location": "a\0b"}, "a does not exist"),
        ({"location": "."}, "not a file"),
        ({"offset": "-4"}, "offset is '-4'"),
        ({"offset": "0x0"}, "offset is '0x0'"),
        ({"length": "four"}, "length is 'four'"),
    ],
)
def test_external_data_that_cannot_be_had(tmp_path, entries, reason):
    found = external(tmp_path, **entries)
    assert reason in found.stored.reason
    assert found.tensor.value is None
    assert found.stored.file == entries.get("location", "w.bin")


def test_a_git_lfs_pointer_is_no_external_data(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 16\n"
    found = external(tmp_path, data=pointer)
    assert "Git LFS pointer" in found.stored.reason
    assert found.tensor.value is None
    assert weights.is_lfs_pointer(pointer)
    assert not weights.is_lfs_pointer(pointer[1:])
