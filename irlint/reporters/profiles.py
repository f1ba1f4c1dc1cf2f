"""The sizes that a model takes, as code and options for the tools that want them, ready to be pasted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword

from irlint.contracts.profiles import OPEN_RANGE, Free, Profile, Progression, progression
from irlint.dims import Expr, MaybeDim
from irlint.reporters.plain import safe


def rendered(profile: Profile, tool: str) -> str:
    """The text for a tool of ``FORMS``; lines that no condition needs are left out, and comments say what it cannot express."""
    notes = (f"# {safe(note)}" for note in profile.notes)
    return "".join(f"{line}\n" for line in (*notes, *FORMS[tool](profile)))


def _torch(profile: Profile) -> Iterator[str]:
    names = {name: _identifier(name) for name in profile.symbols}
    yield "from torch.export import Dim"
    yield ""
    for free in _leaders(profile):
        if free.fixed is not None:
            yield f"# {names[free.name]} is {free.fixed}"
            continue
        found = progression(free.sizes)
        note = "" if found.whole else f"  # of {' and '.join(free.said)}"
        if _count(found) == 1:
            yield f"# {names[free.name]} is {found.first}{note.replace('#', 'out', 1)}"
        else:
            yield f"{names[free.name]} = {_dim(names[free.name], found)}{note}"
    yield from _notes(profile, "torch")
    yield "dynamic_shapes = {"
    for name, shape in profile.inputs:
        if shape is None:
            yield f"    # {safe(name)}: nothing tells how many axes it has"
            continue
        axes = ", ".join(f"{axis}: {text}" for axis, text in _dynamic(shape, profile, names))
        yield f"    {_text(name)}: {{{axes}}},"
    yield "}"


def _dynamic(shape: tuple[MaybeDim, ...], profile: Profile, names: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """The axes whose sizes are not fixed, with what stands for each."""
    for axis, dim in enumerate(shape):
        free = _free(dim, profile)
        if free is not None and free.fixed is None and _count(progression(free.sizes)) != 1:
            yield axis, names[free.leader]


def _dim(name: str, found: Progression) -> str:
    """``32*Dim("H_by_32", min=1, max=40)``; what stands under a step of torch counts from the rest."""
    rest = found.first % found.step
    low, high = (None if end is None else (end - rest) // found.step for end in (found.first, found.last))
    limits = "" if low == 1 and found.step == 1 else f", min={low}"
    limits += "" if high is None else f", max={high}"
    if found.step == 1:
        return f'Dim("{name}"{limits})'
    return f'{found.step} * Dim("{name}_by_{found.step}"{limits})' + (f" + {rest}" if rest else "")


def _count(found: Progression) -> int | None:
    return None if found.last is None else (found.last - found.first) // found.step + 1


def _onnxruntime(profile: Profile) -> Iterator[str]:
    yield "import onnxruntime"
    yield ""
    yield "options = onnxruntime.SessionOptions()"
    choosable = next((free for free in _leaders(profile) if free.fixed is None), None)
    if choosable is not None:
        yield f"# the least sizes; others by options such as --assume '{choosable.name} == {choosable.usual}'"
    yield from _notes(profile, "an override")
    overrides = []
    for free in profile.symbols.values():
        if not free.label:
            yield f"# {free.name} has no name in the model, and no override can reach it"
            continue
        of = " and ".join(free.said) or "any size"
        note = "" if free.fixed is not None else f"  # of {of}"
        yield f"options.add_free_dimension_override_by_name({_text(free.label)}, {free.least}){note}"
        overrides.append(f"-f {_word(f'{free.label}:{free.least}')}")
    yield f"session = onnxruntime.InferenceSession({_text(profile.path)}, options)"
    if overrides:
        yield f"# onnxruntime_perf_test {' '.join(overrides)} {_word(profile.path)}"


def _openvino(profile: Profile) -> Iterator[str]:
    yield "import openvino as ov"
    yield ""
    yield f"model = ov.Core().read_model({_text(profile.path)})"
    yield from _gaps(profile)
    yield from _notes(profile, "a range")
    reshaped = [
        (at, name, shape)
        for at, (name, shape) in enumerate(profile.inputs)
        if shape is not None and any(isinstance(dim, Expr) for dim in shape)
    ]
    if not reshaped:
        yield "# every size is fixed: nothing to reshape"
        return
    yield "model.reshape({"
    for at, name, shape in reshaped:
        dims = ", ".join(_range(dim, profile) for dim in shape)
        key, note = (_text(name), "") if profile.named else (str(at), f"  # {safe(name)}")
        yield f"    {key}: [{dims}],{note}"
    yield "})"


def _range(dim: MaybeDim, profile: Profile) -> str:
    free = _free(dim, profile)
    if free is None:
        return str(dim) if isinstance(dim, int) else "-1"
    if free.fixed is not None:
        return str(free.fixed)
    least, greatest = free.sizes.least, free.sizes.greatest
    return "-1" if (least, greatest) == (1, None) else f"ov.Dimension({least}, {-1 if greatest is None else greatest})"


def _trtexec(profile: Profile) -> Iterator[str]:
    for free in _leaders(profile):
        if free.is_open:
            yield (
                f"# {free.name} has no upper end of its own; {free.greatest} is a guess of at most {OPEN_RANGE} times the least:"
                f" --assume '{free.name} <= {free.greatest}' says it"
            )
    yield from _gaps(profile)
    yield from _notes(profile, "a range")
    lines = [f"trtexec --onnx={_word(profile.path)}"]
    for flag, point in (("min", "least"), ("opt", "usual"), ("max", "greatest")):
        shapes = [
            f"{_trt_name(name)}:{_sized(shape, profile, point)}"
            for name, shape in profile.inputs
            if shape is not None and any(isinstance(dim, Expr) for dim in shape)
        ]
        if shapes:
            lines.append(f"  --{flag}Shapes={_word(','.join(shapes))}")
    yield " \\\n".join(lines)


def _sized(shape: tuple[MaybeDim, ...], profile: Profile, point: str) -> str:
    sizes = []
    for dim in shape:
        free = _free(dim, profile)
        sizes.append(str(dim if free is None else getattr(free, point)))
    return "x".join(sizes)


def _trt_name(name: str) -> str:
    return name if name.replace("_", "").replace(".", "").replace("/", "").isalnum() else f"'{name}'"


def _word(text: str) -> str:
    """A text as one word of a shell's line."""
    from shlex import quote

    if quote(text) == text or set(text) & set('"$`\\!'):
        return quote(text)
    return f'"{text}"'


def _text(text: str) -> str:
    """A text as Python writes it, in double quotes where it can be."""
    written = repr(text)
    return written if '"' in text or "'" in text else f'"{written[1:-1]}"'


def _free(dim: MaybeDim, profile: Profile) -> Free | None:
    return profile.symbols.get(str(dim)) if isinstance(dim, Expr) else None


def _leaders(profile: Profile) -> list[Free]:
    """The symbols that stand for themselves."""
    return [free for free in profile.symbols.values() if free.leader == free.name]


def _gaps(profile: Profile) -> Iterator[str]:
    """What single sizes have to fulfil between their bounds."""
    for free in _leaders(profile):
        found = progression(free.sizes)
        if not found.whole or found.step > 1:
            yield f"# {' and '.join(free.said)} has to hold, and a range takes more"


def _notes(profile: Profile, tool: str) -> Iterator[str]:
    """What several sizes have to fulfil, and what a branch demands."""
    for text in profile.together if tool == "torch" else (*profile.equal, *profile.together):
        yield f"# {text} has to hold too, and {tool} cannot say that"
    for when, text in profile.branches:
        yield f"# {text} has to hold where {safe(when)} runs"


def _identifier(name: str) -> str:
    """A name of Python that is none of its own, nor one that the text uses."""
    return f"{name}_" if iskeyword(name) or name in ("Dim", "dynamic_shapes") else name


FORMS: Mapping[str, Callable[[Profile], Iterator[str]]] = {
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "trtexec": _trtexec,
}
