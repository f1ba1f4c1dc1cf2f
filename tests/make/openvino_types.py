"""Writes ``irlint/schemas/openvino_cpu.txt``: the element types that OpenVINO reads and its CPU plugin refuses to
compile.

``cd tests && python -m make.openvino_types`` asks the installed OpenVINO about the lines of
``oracles/ir_operations.txt``, and ``MORE``, that broadcast as NumPy does, with each element type in the place of that
of their Parameters; it takes a quarter of an hour, or less where operations are named: ``python -m make.openvino_types
Convolution MatMul``. What a run has asked about is written anew; of everything else, such as operations that are not
named and lines that are no more, the table stays as it is.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from oracles.ir_generator import Case, Line, document, lines
from oracles.ir_generator import line as parsed
from oracles.worker import answers

from irlint.parsers.openvino.types import element_type

TABLE = Path(__file__).resolve().parents[2] / "irlint" / "schemas" / "openvino_cpu.txt"
TYPES = [
    "boolean",
    "bf16",
    "f16",
    "f32",
    "f64",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "u2",
    "u4",
    "u8",
    "u16",
    "u32",
    "u64",
    "nf4",
    "f4e2m1",
    "f8e4m3",
    "f8e5m2",
    "f8e8m0",
    "string",
    "dynamic",
]

#: More lines, of operations that compile for more element types where their inputs or attributes are others.
MORE = (
    "FakeQuantize@1-16 f32[1,3,4,4] f32=0.0 f32=1.0 f32=0.0 f32=1.0 ; levels=256",
    "NormalizeL2@1-16 f32[1,3,4,5] i64{1} ; eps=0.001 eps_mode=add",
    "Convert@1-16 f32[2,3] ; destination_type=f32",
    "ConvertLike@1-16 f32[2,3] f32[4]",
)

#: An operation, the opsets of its line, an input, and an element type.
Place = tuple[str, str, int, str]


def groups(line: Line) -> Iterator[tuple[int, ...]]:
    """The inputs that are given a type together: Parameters of one type, all of them and each alone."""
    kinds: dict[str, list[int]] = {}
    for index, given in enumerate(line.inputs):
        if given.values is None:
            kinds.setdefault(given.dtype, []).append(index)
    for indices in kinds.values():
        yield tuple(indices)
        if len(indices) > 1:
            yield from ((index,) for index in indices)


def retyped(case: Case, indices: tuple[int, ...], dtype: str, *, opened: bool = False) -> Case:
    """The case with other types at some inputs, ``opened`` without the sizes of its Parameters."""
    inputs = [replace(given, dtype=dtype) if at in indices else given for at, given in enumerate(case.inputs)]
    if opened:
        inputs = [replace(each, dims=(-1,) * len(each.dims or ())) if each.values is None else each for each in inputs]
    return replace(case, inputs=tuple(inputs))


def asked(engine: str, cases: list[Case]) -> list[bool]:
    """Whether OpenVINO takes each case."""
    answered = answers(engine, [(".xml", *document(case)) for case in cases])
    return [each.split(" ", 1)[0] not in ("refuses", "crashes") for each in answered]


def measured(names: Collection[str]) -> Iterator[tuple[Place, bool, bool]]:
    """What is read of operations of these names, or of all for none, each with whether it is compiled with the sizes of
    its line, and with these or open ones."""
    sound = [
        (line, replace(line.case(), op=name, opset=line.opsets[-1]))
        for line in (*lines(), *map(parsed, MORE))
        if line.outputs == 1 and "pdpd" not in str(line.case())
        for name in line.names
        if not names or name in names
    ]
    sound = [pair for pair, takes in zip(sound, asked("compiled", [case for _, case in sound])) if takes]
    tried = {
        (line.opsets, indices, dtype, retyped(case, indices, dtype)): case
        for line, case in sound
        for indices in groups(line)
        for dtype in TYPES
    }
    read = [key for key, takes in zip(tried, asked("openvino", [key[3] for key in tried])) if takes]
    compiled = asked("compiled", [key[3] for key in read])
    refused = [key for key, takes in zip(read, compiled) if not takes]
    opened = [retyped(tried[key], key[1], key[2], opened=True) for key in refused]
    again = dict(zip(refused, asked("compiled", opened)))
    for key, takes in zip(read, compiled):
        opsets, indices, dtype, case = key
        for index in indices:
            place = (case.op, f"{opsets[0]}-{opsets[-1]}", index, element_type(dtype) or dtype)
            yield place, takes, takes or again[key]


def rows(places: set[Place], when: str) -> str:
    """The lines of the table for some places: inputs and operations of the same types together."""
    by_input: dict[tuple[str, str, int], list[str]] = defaultdict(list)
    for name, opsets, index, dtype in places:
        by_input[name, opsets, index].append(dtype)
    by_name: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for (name, opsets, index), dtypes in by_input.items():
        by_name[name, opsets, " ".join(sorted(dtypes))].append(index)
    together: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (name, opsets, dtypes), indices in by_name.items():
        together[opsets, ",".join(map(str, sorted(indices))), dtypes].append(name)
    ordered = sorted(together.items(), key=lambda each: (sorted(each[1]), each[0]))
    return "".join(
        f"{when} {','.join(sorted(names))} {opsets} {indices} {dtypes}\n"
        for (opsets, indices, dtypes), names in ordered
    )


def stated(when: str) -> set[Place]:
    """The places of the table that are refused ``always``, or where all sizes are ``known``."""
    found: set[Place] = set()
    for line in TABLE.read_text("ascii").splitlines()[1:]:
        kind, names, opsets, indices, *dtypes = line.split(" ")
        if kind == when:
            found |= {
                (n, opsets, int(i), dtype) for n in names.split(",") for i in indices.split(",") for dtype in dtypes
            }
    return found


def main() -> None:
    sized: dict[Place, bool] = {}
    opened: dict[Place, bool] = {}
    for place, takes, ever in measured(sys.argv[1:]):
        sized[place] = sized.get(place, False) or takes
        opened[place] = opened.get(place, False) or ever
    always = {place for place, takes in opened.items() if not takes}
    known = {place for place, takes in sized.items() if not takes and place[3] != "dynamic"} - always
    always |= stated("always") - opened.keys()
    known |= stated("known") - opened.keys() - always
    heading = TABLE.read_text("ascii").partition("\n")[0]
    TABLE.write_text(f"{heading}\n{rows(always, 'always')}{rows(known, 'known')}", "ascii")


if __name__ == "__main__":
    main()
