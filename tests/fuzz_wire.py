"""Asks irlint and ONNX Runtime about small ONNX models whose wire format has been changed at random: ``python
tests/fuzz_wire.py --inputs 20000 --seed 1``. Counts the mutants about which both agree, and sorts the others by what
was changed and what each answers."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import onnx
from fuzz import FIXTURES, NUMBERS, SETTINGS, changed_bytes, fields, varint
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from onnx import ModelProto, parser

from irlint.findings.faults import Severity
from irlint.run.files import outcome

#: Models of at most so many bytes are changed.
LARGEST = 4096

MESSAGE, GROUP_BEGIN, GROUP_END, DELIMITED = FieldDescriptor.TYPE_MESSAGE, 3, 4, 2
FIXED = {FieldDescriptor.TYPE_FLOAT: (5, 4), FieldDescriptor.TYPE_DOUBLE: (1, 8)}
TEXT = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)

SMALL = """<ir_version: 10, opset_import: ["" : 21, "f" : 1], producer_name: "p", metadata_props: ["k" : "v"]>
g (float[2,N] x) => (float[2,N] y, float[3] w) <float[2,N] h, int64[2] unused = {1, 2}, float[3] w = {1, 2, 3}> {
  h = f.Twice (x)
  c = Constant <value = float[1] {2.0}> ()
  b = Constant <value_int = 1> ()
  t = Cast <to = 9> (b)
  i = If (t) <then_branch = then () => (float[2,N] a) { a = Relu (h) }, else_branch = other () => (float[2,N] z) { z = Neg (h) }>
  y = Concat <axis = 0> (i)
}
<domain: "f", opset_import: ["" : 21]> Twice (a) => (r) { r = Add (a, a) }"""


@dataclass
class Field:
    """A field of a message: its key and content, or the message that it holds; ``raw`` stands in place of both."""

    number: int
    wire: int
    content: bytes = b""
    message: Message | None = None
    raw: bytes | None = None
    key_bytes: int = 0
    size_bytes: int = 0
    excess: int = 0

    def written(self) -> bytes:
        if self.raw is not None:
            return self.raw
        content = self.content if self.message is None else self.message.written()
        size = b"" if self.wire != DELIMITED else longer(varint(len(content) + self.excess), self.size_bytes)
        return longer(varint(self.number << 3 | self.wire), self.key_bytes) + size + content


@dataclass
class Message:
    kind: Descriptor
    fields: list[Field] = field(default_factory=list)

    def written(self) -> bytes:
        return b"".join(each.written() for each in self.fields)

    def all(self) -> Iterator[Message]:
        yield self
        for each in self.fields:
            if each.message is not None:
                yield from each.message.all()


def longer(number: bytes, size: int) -> bytes:
    """The same varint in at least so many bytes."""
    if len(number) >= size:
        return number
    return number[:-1] + bytes([number[-1] | 128]) + b"\x80" * (size - len(number) - 1) + b"\0"


def tree(data: bytes, kind: Descriptor) -> Message:
    message = Message(kind)
    for key, content in fields(data) or []:
        known = kind.fields_by_number.get(key >> 3)
        inner = known is not None and known.type == MESSAGE and key & 7 == DELIMITED
        message.fields.append(
            Field(key >> 3, key & 7, message=tree(content, known.message_type))
            if inner
            else Field(key >> 3, key & 7, content)
        )
    return message


def any_field(known: FieldDescriptor, random: Random, depth: int) -> Field:
    """A field of a message with any contents."""
    if known.type == MESSAGE:
        return Field(known.number, DELIMITED, message=any_message(known.message_type, random, depth + 1))
    if known.type in TEXT:
        return Field(
            known.number,
            DELIMITED,
            random.choice((b"", b"x", b"y", b"key", b"location", b"\xff", b"\xc3", b"\\xff", b"a" * 200)),
        )
    wire, width = FIXED.get(known.type, (0, 0))
    many = [random.randbytes(width) if width else varint(random.choice(NUMBERS)) for _ in range(random.randrange(4))]
    if known.is_repeated and random.random() < 0.5:
        return Field(known.number, DELIMITED, b"".join(many))
    return Field(known.number, wire, many[0] if many else b"\0" * (width or 1))


def any_message(kind: Descriptor, random: Random, depth: int = 0) -> Message:
    among = [each for each in kind.fields if depth < 4 or each.type != MESSAGE]
    return Message(
        kind, [any_field(random.choice(among), random, depth) for _ in range(random.randrange(4) if among else 0)]
    )


def any_group(random: Random) -> bytes:
    """A group of any depth, at times damaged."""
    depth = random.choice((1, 1, 2, 5, 90, 92, 94, 95, 96, 97, 98, 99, 100, 101, 102))
    number = random.choice((1, 7, 15, 30, 1000))
    inside = b"".join(any_unknown(random, plain=True).written() for _ in range(random.randrange(3)))
    begin, end = varint(number << 3 | GROUP_BEGIN), varint(number << 3 | GROUP_END)
    if random.random() < 0.3:
        end = random.choice(
            (b"", varint(number + 1 << 3 | GROUP_END), longer(end, random.randrange(2, 7)), b"\0", b"\4", end + end)
        )
    return begin * depth + inside + varint(number << 3 | GROUP_END) * (depth - 1) + end


def any_unknown(random: Random, *, plain: bool = False) -> Field:
    number = random.choice(
        (100, 1000, 2**20, 2**28, 2**29 - 1, *(() if plain else (0, 2**29, 2**29 + 1, 2**29 + 8, 2**32, 2**40)))
    )
    wire = random.choice((0, 1, 2, 5) if plain and random.random() < 0.9 else range(8))
    content = {
        0: longer(varint(random.choice(NUMBERS)), random.choice((0, 0, 9, 10, 11))),
        1: b"8" * 8,
        2: b"text",
        5: b"4444",
    }
    return Field(number, wire, content.get(wire, b""), size_bytes=random.choice((0, 0, 0, 2, 5, 6)))


def _longer_key(message: Message, random: Random) -> None:
    random.choice(message.fields).key_bytes = random.randrange(2, 8)


def _longer_size(message: Message, random: Random) -> None:
    random.choice([each for each in message.fields if each.wire == DELIMITED]).size_bytes = random.randrange(2, 8)


def _wrong_size(message: Message, random: Random) -> None:
    random.choice([each for each in message.fields if each.wire == DELIMITED]).excess = random.choice(
        (-2, -1, 1, 2, 2**31 - 30, 2**31, 2**32, 2**35)
    )


def _longer_number(message: Message, random: Random) -> None:
    each = random.choice([each for each in message.fields if each.wire == 0])
    each.content = longer(each.content, random.choice((2, 5, 6, 9, 10, 11, 12)))
    if random.random() < 0.3 and len(each.content) > 1:
        each.content = each.content[:-1] + bytes([random.choice((1, 2, 3, 16, 127))])


def _unknown(message: Message, random: Random) -> None:
    message.fields.insert(random.randrange(len(message.fields) + 1), any_unknown(random))


def _group(message: Message, random: Random) -> None:
    message.fields.insert(random.randrange(len(message.fields) + 1), Field(0, 0, raw=any_group(random)))


def _known(message: Message, random: Random) -> None:
    kinds = [each for each in message.kind.fields if each.type == MESSAGE] or list(message.kind.fields)
    message.fields.insert(random.randrange(len(message.fields) + 1), any_field(random.choice(kinds), random, 0))


def _known_damaged(message: Message, random: Random) -> None:
    kinds = [each for each in message.kind.fields if each.type == MESSAGE]
    made = any_field(random.choice(kinds), random, 0)
    inner = random.choice(list(made.message.all()))
    ONCE[random.choice(list(ONCE))](inner, random) if inner.fields else _cut(inner, random)
    message.fields.insert(random.randrange(len(message.fields) + 1), made)


def _cut(message: Message, random: Random) -> None:
    data = message.written() or b"\x0a\x05"
    message.fields[:] = [Field(0, 0, raw=data[: random.randrange(len(data))] or b"\x0a")]


def _number(message: Message, random: Random) -> None:
    numbers = (*NUMBERS, *(2**32 + each for each in range(16)), *(-(2**32) + each for each in range(16)), *range(30))
    at = random.choice([at for at, each in enumerate(message.fields) if each.wire == 0])
    new = Field(message.fields[at].number, 0, varint(random.choice(numbers)))
    if random.random() < 0.5:
        message.fields[at] = new
    else:
        message.fields.insert(random.randrange(len(message.fields) + 1), new)


def _packed(message: Message, random: Random) -> None:
    at, known = random.choice(
        [
            (at, known)
            for at, each in enumerate(message.fields)
            if (known := message.kind.fields_by_number.get(each.number))
            and known.is_repeated
            and known.type not in (*TEXT, MESSAGE)
        ]
    )
    old = message.fields[at]
    wire, width = FIXED.get(known.type, (0, 0))
    size = width or 1
    if old.wire == DELIMITED and len(old.content) > size and all(each < 128 for each in old.content if not width):
        half = random.randrange(0, len(old.content), size)
        new = [
            Field(old.number, DELIMITED, old.content[:half]),
            Field(old.number, wire, old.content[half : half + size]),
        ]
        message.fields[at : at + 1] = [*new, Field(old.number, DELIMITED, old.content[half + size :])]
    else:
        message.fields[at] = Field(old.number, DELIMITED, old.content + random.choice((b"", b"", b"\x80", b"\x01")))


def _again(message: Message, random: Random) -> None:
    message.fields.insert(random.randrange(len(message.fields) + 1), random.choice(message.fields))


def _in_two(message: Message, random: Random) -> None:
    at, old = random.choice([(at, each) for at, each in enumerate(message.fields) if each.message is not None])
    half = random.randrange(len(old.message.fields) + 1)
    parts = old.message.fields[:half], old.message.fields[half:]
    message.fields[at : at + 1] = [
        Field(old.number, DELIMITED, message=Message(old.message.kind, part)) for part in parts
    ]


def _choice(message: Message, random: Random) -> None:
    group = random.choice(message.kind.oneofs)
    for _ in range(random.choice((1, 2))):
        kind = any_field(random.choice(group.fields), random, 2)
        message.fields.insert(random.randrange(len(message.fields) + 1), kind)
    if random.random() < 0.5:
        _again(message, random)


def _bytes_of_text(message: Message, random: Random) -> None:
    texts = [
        each
        for each in message.fields
        if (known := message.kind.fields_by_number.get(each.number)) and known.type == FieldDescriptor.TYPE_STRING
    ]
    each = random.choice(texts)
    each.content = random.choice(
        (b"\xff", b"\\xff", each.content + b"\xff", b"\xc3", b"\xed\xa0\x80", b"\0", each.content + b"\\xff")
    )


def _wire(message: Message, random: Random) -> None:
    random.choice(message.fields).wire = random.randrange(8)


def _byte(message: Message, random: Random) -> None:
    data = bytearray(message.written())
    for _ in range(random.choice((1, 1, 2))):
        data[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    message.fields[:] = [Field(0, 0, raw=bytes(data))]


def _left_out(message: Message, random: Random) -> None:
    del message.fields[random.randrange(len(message.fields))]


ONCE = {
    each.__name__.strip("_"): each
    for each in (
        _longer_key, _longer_size, _wrong_size, _longer_number, _unknown, _group, _known, _cut, _number, _packed, _again, _in_two, _choice,
        _bytes_of_text, _wire, _byte, _left_out,
    )
}  # fmt: skip
CHANGES = {**ONCE, "known_damaged": _known_damaged}


def full() -> ModelProto:
    """A small sound model with every message of onnx.proto that ONNX Runtime takes."""
    model = parser.parse_model(SMALL)
    graph = model.graph
    model.configuration.add(name="c", num_devices=2, device=["a", "b"])
    training = model.training_info.add()
    training.algorithm.name = "step"
    training.algorithm.node.add(op_type="Neg", input=["x"], output=["q"])
    training.update_binding.add(key="k", value="v")
    note = graph.quantization_annotation.add(tensor_name="h")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    for place in (graph, graph.node[0], graph.input[0], graph.initializer[0], model.functions[0]):
        place.metadata_props.add(key="source", value="f.py")
    spec = (
        graph.node[1]
        .device_configurations.add(configuration_id="c", pipeline_stage=1)
        .sharding_spec.add(tensor_name="h", device=[0, 1])
    )
    spec.index_to_device_group_map.add(key=1, value=[0, 1])
    spec.sharded_dim.add(axis=0).simple_sharding.add(dim_value=2, num_shards=2)
    graph.initializer[0].external_data.add(key="location", value="nowhere.bin")
    graph.value_info.add(name="nobody").type.optional_type.elem_type.sequence_type.elem_type.tensor_type.elem_type = 1
    kind = graph.value_info.add(name="nothing").type.map_type
    kind.key_type, kind.value_type.tensor_type.elem_type = 7, 1
    sparse = graph.sparse_initializer.add(dims=[4])
    sparse.values.CopyFrom(onnx.helper.make_tensor("s", 1, [1], [5.0]))
    sparse.indices.CopyFrom(onnx.helper.make_tensor("", 7, [1], [2]))
    return model


def bases(folders: Iterable[Path], runtime: Runtime) -> list[bytes]:
    """Two models of its own, each several times, and the small ones of folders in which neither irlint nor ONNX Runtime
    finds an error."""
    own = [full().SerializeToString(), parser.parse_model(SMALL).SerializeToString()]
    files = [file for folder in folders for file in sorted(folder.rglob("*.onnx")) if file.stat().st_size <= LARGEST]
    found = [data for data in (file.read_bytes() for file in files) if not runtime.answer(data) and not judged(data)]
    return found + own * max(1, len(found) * 3 // 14)


def mutant(base: bytes, random: Random) -> tuple[str, bytes]:
    """What is changed, and the bytes; of nearly one in two, bytes without regard to what they mean."""
    if random.random() < 0.45:
        return "bytes", changed_bytes(base, random)
    change, data = _one_change(base, random)
    if random.random() < 0.2 and fields(data):
        more, data = _one_change(data, random)
        change = f"{change}, {more}"
    return change, data


def _one_change(base: bytes, random: Random) -> tuple[str, bytes]:
    while True:
        model = tree(base, ModelProto.DESCRIPTOR)
        name = random.choice(list(CHANGES))
        message = random.choice(list(model.all()))
        try:
            CHANGES[name](message, random)
        except (IndexError, ValueError):
            continue
        return f"{name} in {message.kind.name}", model.written()


def answered(pipe: Connection) -> None:
    """What ONNX Runtime answers about each model: "" where it loads it, "damaged", or why it refuses it; of those that
    are to run, "fails" where it loads them, and they run with no size of 1, 2 and 4 in place of the unknown ones."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    while True:
        data, is_to_run = pipe.recv()
        try:
            with contextlib.redirect_stdout(None):
                session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            pipe.send("damaged" if type(error).__name__ == "InvalidProtobuf" else f"{type(error).__name__}: {error}")
            continue
        pipe.send("" if not is_to_run or any(_runs(session, size) for size in (1, 2, 4)) else "fails")


def _runs(session: Any, size: int) -> bool:
    import numpy as np

    try:
        fed = {}
        for each in session.get_inputs():
            dtype = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(each.type[7:-1].upper()))
            shape = [dim if isinstance(dim, int) and dim >= 0 else size for dim in each.shape]
            fed[each.name] = np.ones(shape, dtype)
        session.run(None, fed)
    except Exception:
        return False
    return True


class Runtime:
    """ONNX Runtime in a process of its own, which is started again where a model ends it."""

    def __init__(self) -> None:
        self.context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self.pipe, other = self.context.Pipe()
        self.process = self.context.Process(target=answered, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def answer(self, data: bytes, *, is_to_run: bool = False) -> str:
        """As ``answered`` says; "crashed" where that ends the process or takes a minute."""
        self.pipe.send((data, is_to_run))
        try:
            if self.pipe.poll(60):
                return str(self.pipe.recv())
        except EOFError:
            pass
        self.process.kill()
        self._start()
        return "crashed"


def judged(data: bytes) -> list[str]:
    """The errors that irlint reports."""
    found: Any = outcome(SETTINGS, "model.onnx", data)
    return [f"{each.rule.code}: {each.message}" for each in found.findings if each.severity is Severity.ERROR]


def difference(data: bytes, runtime: Runtime) -> tuple[str, str]:
    """What ONNX Runtime answers about a model, and how irlint differs, "" where they agree: of what cannot run an error
    is right."""
    errors = judged(data)
    answer = runtime.answer(data, is_to_run=bool(errors))
    if answer in ("", "fails"):
        return "loaded", f"loaded, {errors[0]}" if errors and not answer else ""
    kind = answer if answer in ("damaged", "crashed") else "refused"
    return kind, "" if errors else f"{kind}, no error: {answer}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--inputs", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--only", default="", help="changes whose name begins so")
    options.add_argument("--models", type=Path, action="append", default=[FIXTURES / "onnx"], metavar="FOLDER")
    options.add_argument("--keep", type=Path, default=None, metavar="FOLDER")
    chosen = options.parse_args()
    runtime = Runtime()
    sources = bases(chosen.models, runtime)
    kinds: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for number in range(chosen.first, chosen.first + chosen.inputs):
        random = Random(f"{chosen.seed} {number}")
        change, data = mutant(random.choice(sources), random)
        if not change.startswith(chosen.only):
            continue
        answer, found = difference(data, runtime)
        tried[answer] += 1
        if not found:
            continue
        kinds[f"{change}: {found[:150]}"] += 1
        if chosen.keep is not None and kinds[f"{change}: {found[:150]}"] < 3:
            chosen.keep.mkdir(parents=True, exist_ok=True)
            (chosen.keep / f"{chosen.seed}-{number}.onnx").write_bytes(data)
            print(f"{number}: {change}: {found[:300]}", flush=True)
    for text, count in kinds.most_common():
        print(f"{count:6d} {text}")
    print(f"{sum(tried.values())} mutants of {len(sources)} models, {sum(kinds.values())} differ; {dict(tried)}")
    return int(bool(kinds))


if __name__ == "__main__":
    sys.exit(main())
