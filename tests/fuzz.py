"""Checks fixtures that have been changed at random, and reports each that irlint crashes on, takes long for, or leaves
a node of unjudged: ``python tests/fuzz.py --inputs 20000 --seed 1``; where --keep names a folder, these files are kept
there."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, ModelProto, NodeProto

from irlint.dims import TooComplex
from irlint.findings.report import Report
from irlint.reporters.forms import FORMS
from irlint.run.contract import contract_data
from irlint.run.files import Outcome, Settings, outcome

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

#: Findings that say that a file, or a node of it, has not been judged.
NOT_JUDGED = ("IRL008", "IRL010", "IRL599")

#: A check may take so many seconds of a small file.
SECONDS = 10.0

#: Numbers at which something changes, and texts that stand for numbers or steer what shows them.
NUMBERS = (0, 1, -1, 2, 3, 7, 64, 255, 256, 257, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63))
TEXTS = (
    "", "0", "-1", "1", "?", "...", "1..", "nan", "inf", "-inf", "1e999", "9" * 30, "9" * 5000, "a" * 3000, "N", "\x1b"
        "[2J", "\n::err"
        "or::",
    "true", "é", "same_u"
        "pper", "numpy", "f32", "i64", "u4", "string", "opset1", "opset16", "Add", "Concat", "Loop", "ij,"
            "jk->ik", ",,", "<", "&#0;",
)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 3e38, float("inf"), float("nan"))


def changed_bytes(data: bytes, random: Random) -> bytes:
    """Some bytes replaced, left out, put in, repeated, or cut off."""
    result = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        at = random.randrange(len(result) + 1)
        length = random.choice((1, 1, 2, 4, 8, 50))
        match random.randrange(6):
            case 0:
                result[at : at + length] = random.randbytes(length)
            case 1:
                del result[at : at + length]
            case 2:
                result[at:at] = random.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * length
            case 3:
                result[at:at] = result[at : at + length]
            case 4 if at < len(result):
                result[at] ^= 1 << random.randrange(8)
            case 5 if random.random() < 0.2:
                del result[at:]
    return bytes(result)


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    result = b""
    while number > 127:
        result += bytes([number & 127 | 128])
        number >>= 7
    return result + bytes([number])


def fields(data: bytes) -> list[tuple[int, bytes]] | None:
    """The fields of a message as their keys and contents, None for what is none."""
    found, at = [], 0
    try:
        while at < len(data):
            key, at = _number(data, at)
            start = at
            wire = key & 7
            if wire == 2:
                length, start = _number(data, at)
                at = start + length
            elif wire == 0:
                _, at = _number(data, at)
            elif wire in (1, 5):
                at += 8 if wire == 1 else 4
            else:
                return None
            if at > len(data) or not key >> 3:
                return None
            found.append((key, data[start:at]))
    except IndexError:
        return None
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def changed_fields(data: bytes, random: Random, depth: int = 0) -> bytes:
    """A field of a message, or of one in it, replaced, left out, repeated or moved."""
    found = fields(data)
    if not found or depth > 12:
        return changed_bytes(data, random) if random.random() < 0.3 else random.choice(TEXTS).encode()
    at = random.randrange(len(found))
    key, content = found[at]
    if key & 7 == 2 and random.random() < 0.75:
        found[at] = key, changed_fields(content, random, depth + 1)
    else:
        match random.randrange(5):
            case 0:
                del found[at]
            case 1:
                found.insert(random.randrange(len(found)), (key, content))
            case 2:
                found.insert(random.randrange(len(found)), found.pop(at))
            case 3:
                found[at] = key & 7 | random.randrange(1, 30) << 3, content
            case _:
                found[at] = (key & ~7, varint(random.choice(NUMBERS)))
    return b"".join(varint(key) + (varint(len(text)) if key & 7 == 2 else b"") + text for key, text in found)


def nodes(model: ModelProto) -> list[NodeProto]:
    """The nodes of a model, with those of its bodies and functions."""
    found: list[NodeProto] = []
    waiting = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        for attribute in node.attribute:
            waiting += [*attribute.g.node, *(inner for graph in attribute.graphs for inner in graph.node)]
    return found


def changed_model(data: bytes, random: Random) -> bytes:
    """Attributes, operators, inputs, declared sizes, constants or opsets replaced."""
    try:
        model = onnx.load_from_string(data)
    except DecodeError:
        return changed_bytes(data, random)
    for _ in range(random.choice((1, 1, 2, 4))):
        _change(model, random)
    return model.SerializeToString()


def _change(model: ModelProto, random: Random) -> None:
    among = nodes(model)
    node = random.choice(among) if among else NodeProto()
    match random.randrange(8):
        case 0 if node.attribute:
            _change_attribute(random.choice(node.attribute), random)
        case 1 if node.attribute:
            node.attribute.remove(random.choice(node.attribute))
        case 2:
            node.op_type = random.choice(among or [node]).op_type
        case 3 if node.input:
            names = [name for each in among for name in (*each.input, *each.output)]
            node.input[random.randrange(len(node.input))] = random.choice((*names, "", "nobody"))
        case 4:
            node.input.append(random.choice((*node.input, *node.output, "")))
        case 5 if model.opset_import:
            random.choice(model.opset_import).version = random.choice((*range(1, 27), *NUMBERS))
        case 6:
            _change_declaration(model, random)
        case 7 if model.graph.initializer:
            tensor = random.choice(model.graph.initializer)
            tensor.data_type = random.choice((tensor.data_type, *range(25)))
            tensor.dims[:] = [random.choice((*tensor.dims, *NUMBERS)) for _ in range(random.randrange(5))]


def _change_attribute(attribute: AttributeProto, random: Random) -> None:
    match random.randrange(4):
        case 0:
            attribute.type = random.choice(list(AttributeProto.AttributeType.values()))
        case 1:
            attribute.i, attribute.f = random.choice(NUMBERS), random.choice(FLOATS)
        case 2:
            attribute.ints[:] = [random.choice((*attribute.ints, *NUMBERS)) for _ in range(random.randrange(8))]
        case 3:
            attribute.s = random.choice(TEXTS).encode()


def _change_declaration(model: ModelProto, random: Random) -> None:
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    if not values:
        return
    tensor = random.choice(values).type.tensor_type
    if random.random() < 0.3:
        tensor.elem_type = random.choice(range(25))
        return
    dim = random.choice(tensor.shape.dim) if tensor.shape.dim else tensor.shape.dim.add()
    if random.random() < 0.5:
        dim.dim_value = random.choice(NUMBERS)
    else:
        dim.dim_param = random.choice(TEXTS)


_TAG = re.compile(r"<[^<>]*>")
_VALUE = re.compile(r'"[^"<>]*"|>[^<>\s][^<>]*<')


def changed_document(data: bytes, random: Random) -> bytes:
    """Values of attributes and texts replaced, and tags left out, repeated or moved."""
    text = data.decode("utf-8", "replace")
    for _ in range(random.choice((1, 1, 2, 4))):
        values, tags = list(_VALUE.finditer(text)), list(_TAG.finditer(text))
        if not values or not tags:
            break
        if random.random() < 0.7:
            found, other = random.choice(values), random.choice(values)
            new = random.choice((other[0][1:-1], random.choice(TEXTS), str(random.choice(NUMBERS))))
            text = f"{text[: found.start() + 1]}{new}{text[found.end() - 1 :]}"
            continue
        tag, place = random.choice(tags), random.choice(tags).start()
        kept = text if random.random() < 0.5 else text[: tag.start()] + text[tag.end() :]
        text = kept[:place] + tag[0] * random.randrange(2) + kept[place:]
    return text.encode("utf-8", "replace")


CHANGES = {
    ".onnx": (changed_bytes, changed_fields, changed_fields, changed_model, changed_model, changed_model),
    ".xml": (changed_bytes, changed_document, changed_document, changed_document),
}


def inputs(seed: int) -> Iterator[tuple[Path, bytes]]:
    """Changed fixtures without end, each reproduced by the seed and its number alone."""
    files = [file for file in sorted(FIXTURES.rglob("*")) if file.suffix in CHANGES]
    contents = {file: file.read_bytes() for file in files}
    number = 0
    while True:
        random = Random(f"{seed} {number}")
        file = random.choice(files)
        yield file, random.choice(CHANGES[file.suffix])(contents[file], random)
        number += 1


SHOWN = {"color": False, "every": False, "quiet": False, "columns": 80, "encoding": "utf-8"}
SETTINGS = Settings({}, drawn=True, timeout=SECONDS)


def fault(file: Path, data: bytes) -> str:
    """What is wrong with how irlint takes an input, "" for nothing."""
    try:
        found: Outcome = outcome(SETTINGS, str(file), data)
        if found.error is not None:
            return f"it cannot be opened: {found.error}"
        for finding in found.findings:
            if finding.rule.code in NOT_JUDGED:
                return f"{finding.rule.code}: {finding.message}"
        report = Report((found.file,), found.findings, "")
        for name in ("text", "json", "sarif"):
            form = FORMS[name]
            text = form.rendered(report, **({} if form.document else SHOWN))
            if not form.document and "\x1b" in text:
                return f"{name}: an escape sequence"
        if found.file.status == "checked":
            contract_data(str(file), data)
    except (ValueError, TooComplex) as error:
        return "" if type(error).__name__ == "NotReadable" else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=None, help="stop after so long, however many were tried")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=None, metavar="FOLDER")
    options = parser.parse_args()
    until = None if options.seconds is None else time.monotonic() + options.seconds
    tried, faults = 0, 0
    for tried, (file, data) in enumerate(inputs(options.seed), 1):
        text = fault(file, data)
        if text:
            faults += 1
            print(f"input {tried} of seed {options.seed} ({file.name}): {text[:300]}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{tried}{file.suffix}").write_bytes(data)
        if tried >= options.inputs or (until is not None and time.monotonic() > until):
            break
    print(f"{tried} inputs of seed {options.seed}: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
