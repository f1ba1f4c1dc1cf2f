"""The notation of a case: one line says a model, what irlint answers, and where an engine answers something else.

    onnx Concat@13 float32[2,3] float32[2,N] ; axis=1 -> float32[2,N+3]
    onnx Concat@4,11,13 float32[2,3] float32[4,5] ; axis=1 -> IRL322
    openvino Concat@1 float32[2,3] float32[2,?] ; axis=1 -> float32[2,3..]
    openvino TopK@3,11(2) float32[2,9] int64=3 ; axis=1 mode=max sort=value -> float32[2,3] int32[2,3]
    onnx Clip@13 float32[2] _ float32=6.0 -> float32[2]
    onnx MaxPool@22 float32[1,3,5,5] ; kernel_shape=[6,6] -> float32[1,3,0,0] (IRL316) (IRL316) | onnxruntime refuses
    onnx@21 (float[2,3] x, float[~4|3~] b) => (y) { [n] y = Add (x, b) } -> ~IRL201:n|sound~
    openvino sound `version="11"` by `version="12"` -> IRL007:2
    onnx values `"k" dims: 3 data_type: 1` by `"k" dims: 3 data_type: 0` -> IRL708:k

An operator stands with its version (of the operator set, and of ``opset1`` and so on in an IR), several versions or
several names of which the same is true between commas, and the number of its outputs in parentheses, where it is not 1.
An input is

    float32[2,N,?,3..8]      an input of the model; ``[...]`` is one of unknown rank, ``[]`` a scalar int64{1,2}
    int64=3      a constant of one axis, and a scalar; ``float32[2,1]{0.5,1.5}`` and, all alike, ``float32[9,9]{0.0}`` _
    none, between others

and its attributes follow behind `` ; ``. A model of several nodes is written in ONNX's own text syntax, a change of a
document as its name in ``ir_documents.py`` or, in protobuf's text format, in ``onnx_documents.py``, a text in it, and
what stands there instead.

Behind ``->`` stand the element types and shapes of the outputs, with their contents where they are known, then the
codes of warnings in parentheses; or the codes of errors and warnings, a colon behind them with the node (of an IR, the
line); or ``sound``, where nothing but that is asked; of several nodes, only findings that follow from no other.
``~a|b~`` makes two cases of a line: one with each a, one with each b.

An engine that is asked says the same, or what follows its name behind `` | ``: ``takes``, ``refuses`` (it loads),
``fails`` (it runs), ``crashes``, other types, ``agrees`` in one of two alternatives, or ``varies`` with the
instructions of the processor. Behind the name may stand the release up to which that held: ``onnxruntime<1.32 fails``
is true of the releases before 1.32.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from irlint.model.tensor import BITS

FOLDER = Path(__file__).parent

Value = int | float | bool | str


@dataclass(frozen=True)
class Given:
    """An input: of the model where ``values`` is None, else a constant. ``dims`` of None is an unknown rank, a dim of
    None is open."""

    dtype: str
    dims: tuple[int | str | None, ...] | None
    values: tuple[Value, ...] | None = None

    def __str__(self) -> str:
        if self.values is None:
            return f"{self.dtype}[{'...' if self.dims is None else _dims(self.dims)}]"
        values = self.values
        if self.dims == ():
            return f"{self.dtype}={_value(values[0])}"
        if len(values) > 1 and len({(type(value), value) for value in values}) == 1:
            return f"{self.dtype}[{_dims(self.dims)}]{{{_value(values[0])}}}"
        shape = "" if self.dims == (len(values),) else f"[{_dims(self.dims)}]"
        return f"{self.dtype}{shape}{{{','.join(map(_value, values))}}}"


@dataclass(frozen=True)
class Operator:
    """A model of one operator; attributes of an IR are texts."""

    format: str
    name: str
    version: str
    inputs: tuple[Given | None, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    outputs: int = 1

    @property
    def names(self) -> tuple[str, str]:
        """Domain and operator."""
        domain, _, name = self.name.rpartition(".")
        return domain, name

    def __str__(self) -> str:
        outputs = f"({self.outputs})" if self.outputs != 1 else ""
        head = f"{self.format} {self.name}@{self.version}{outputs}"
        inputs = ["_" if given is None else str(given) for given in self.inputs]
        attributes = [f"{name}={_attribute(value, self.format)}" for name, value in self.attributes.items()]
        return " ".join([head, *inputs, *([";", *attributes] if attributes else [])])


@dataclass(frozen=True)
class Text:
    """A model in ONNX's text syntax."""

    opset: str
    text: str

    format = "onnx"

    def __str__(self) -> str:
        return f"onnx@{self.opset} {self.text}" if self.opset else f"onnx {self.text}"


@dataclass(frozen=True)
class Change:
    """A document of a format by its name, a text that occurs in it once, and what stands there instead."""

    format: str
    base: str
    old: str
    new: str

    def __str__(self) -> str:
        old, new = (text.replace("\n", "\\n") for text in (self.old, self.new))
        return f"{self.format} {self.base} `{old}` by `{new}`"


@dataclass(frozen=True)
class Case:
    """A model, what irlint answers, and what each engine answers that answers something else."""

    model: Operator | Text | Change
    expected: str
    engines: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.model} -> {self.expected}" + "".join(f" | {name} {text}" for name, text in self.engines.items())


# --- files ------------------------------------------------------------------------------------------------------------


def files() -> list[Path]:
    """The files of cases."""
    return sorted(FOLDER.glob("*/*.txt"))


def lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are cases, with their numbers."""
    numbered = enumerate(path.read_text("utf-8").splitlines(), 1)
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]


def groups(path: Path) -> list[tuple[str, list[tuple[int, str]]]]:
    """The lines by what they are of: the operator, or the comment above them, or the document that is changed."""
    found: dict[str, list[tuple[int, str]]] = {}
    comment = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("#"):
            comment = line.strip("# ")
        elif line:
            named = re.match(r"(onnx|openvino) (\S+?)(@| `)", line)
            found.setdefault(f"{named[1]} {named[2]}" if named else comment, []).append((number, line))
    return list(found.items())


def cases(line: str) -> Iterator[Case]:
    """The cases of a line: each alternative, each name and each version."""
    for text in alternatives(line):
        case = _case(text)
        if not isinstance(case.model, Operator):
            yield case
            continue
        for name in case.model.name.split(","):
            for version in case.model.version.split(","):
                yield replace(case, model=replace(case.model, name=name, version=version))


def alternatives(line: str) -> list[str]:
    """``a ~b|c~ d`` as ``a b d`` and ``a c d``."""
    parts = line.split("~")
    if len(parts) == 1:
        return [line]
    assert len(parts) % 2, f"an odd number of ~ in: {line}"
    choices = [part.split("|") for part in parts[1::2]]
    assert len({len(choice) for choice in choices}) == 1, f"alternatives of different number in: {line}"
    result = []
    for chosen in zip(*choices):
        parts[1::2] = chosen
        result.append("".join(parts))
    return result


def _case(line: str) -> Case:
    model, arrow, rest = line.rpartition(" -> ")
    assert arrow, f"no -> in: {line}"
    expected, *engines = rest.split(" | ")
    engine_words = dict(text.split(" ", 1) for text in engines)
    return Case(_model(model), expected, engine_words)


def _model(text: str) -> Operator | Text | Change:
    head, rest = text.split(" ", 1)
    if head.startswith("onnx@"):
        return Text(head[5:], rest)
    if head == "onnx" and rest.startswith("<"):
        return Text("", rest)
    change = re.fullmatch(r"(\S+) `(.*)` by `(.*)`", rest)
    if change is not None:
        base, old, new = change.groups()
        return Change(head, base, old.replace("\\n", "\n"), new.replace("\\n", "\n"))
    assert head in ("onnx", "openvino"), f"a line begins with onnx or openvino: {text}"
    return operator(head, rest)


def operator(format: str, text: str) -> Operator:
    """A model of one operator, from ``NAME@VERSION(OUTPUTS) INPUTS ; ATTRIBUTES``."""
    words = list(_words(text))
    found = re.fullmatch(r"(.+)@([^(@]+)(?:\((\d+)\))?", words[0])
    assert found is not None, f"expected is NAME@VERSION: {words[0]}"
    end = words.index(";") if ";" in words else len(words)
    inputs = tuple(None if word == "_" else given(word) for word in words[1:end])
    pairs = (word.split("=", 1) for word in words[end + 1 :])
    attributes = {name: _read_attribute(value, format) for name, value in pairs}
    return Operator(format, found[1], found[2], inputs, attributes, int(found[3] or 1))


def _words(text: str) -> Iterator[str]:
    """The words between blanks that stand in no quotes."""
    return (match[0] for match in re.finditer(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+', text))


_GIVEN = re.compile(r"(\w+)(?:\[([^\]]*)\])?(?:\{(.*)\}|=(.*))?", re.DOTALL)


def given(text: str) -> Given:
    """An input from its text."""
    found = _GIVEN.fullmatch(text)
    assert found is not None, f"no input: {text}"
    dtype, dims, values, scalar = found.groups()
    typed = dtype in BITS or dtype == "string" or (values is None and scalar is None)
    assert typed, f"no element type: {dtype} in {text}; attributes stand behind ` ; `"
    if scalar is not None:
        return Given(dtype, (), (_read_value(scalar, dtype),))
    shape = None if dims == "..." else tuple(map(_read_dim, filter(None, (dims or "").split(","))))
    if values is None:
        assert dims is not None, f"an input has a shape or contents: {text}"
        return Given(dtype, shape)
    entries = tuple(_read_value(value, dtype) for value in _entries(values))
    if dims is None:
        return Given(dtype, (len(entries),), entries)
    assert shape is not None
    count = _product(shape)
    return Given(dtype, shape, entries * count if len(entries) == 1 else entries)


def _product(dims: Sequence[int | str | None]) -> int:
    result = 1
    for dim in dims:
        assert isinstance(dim, int)
        result *= dim
    return result


def _entries(text: str) -> list[str]:
    return re.findall(r'"(?:\\.|[^"\\])*"|[^,]+', text)


def _dims(dims: Sequence[int | str | None]) -> str:
    return ",".join("?" if dim is None else str(dim) for dim in dims)


def _read_dim(text: str) -> int | str | None:
    return None if text == "?" else int(text) if text.lstrip("-").isdecimal() else text


def _value(value: Value) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _read_value(text: str, dtype: str) -> Value:
    if text.startswith('"'):
        return str(json.loads(text))
    if text in ("true", "false"):
        return text == "true"
    return float(text) if "float" in dtype or not text.lstrip("-").isdecimal() else int(text)


_BARE = re.compile(r"[A-Za-z_][^\s\",\[\]{}=]*")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|inf|nan)")


def _attribute(value: object, format: str) -> str:
    if format == "openvino":
        text = str(value)
        return text if re.fullmatch(r'[^\s"~|]+', text) else json.dumps(text, ensure_ascii=False)
    if isinstance(value, str):
        bare = _BARE.fullmatch(value) and not _NUMBER.fullmatch(value)
        return value if bare else json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(json.dumps(entry) if isinstance(entry, str) else repr(entry) for entry in value)}]"
    return str(value) if isinstance(value, Given) else repr(value)


def _read_attribute(text: str, format: str) -> object:
    if text.startswith('"'):
        return json.loads(text)
    if format == "openvino":
        return text
    if text.startswith("["):
        return [_read_attribute(entry, format) for entry in _entries(text[1:-1])]
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("-+").isdecimal() else float(text)
    return given(text) if re.search(r"[\[{=]", text) else text
