"""The sizes that a model accepts, as code or options of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from irlint.contracts.fitting import UNBOUNDED_RANGE
from irlint.contracts.profiles import Profile, SymbolicSize, progression
from irlint.dims import Expr, MaybeDim, evaluated
from irlint.reporters.pasted import comment, literal, pasted, word


def rendered(profile: Profile, tool: str) -> str:
    """The text for ``tool``, a key of FORMS. Comments state the conditions that the tool cannot express."""
    return pasted([*map(comment, profile.notes), *FORMS[tool](profile)])


def _torch(profile: Profile) -> Iterator[str]:
    from irlint.reporters.exporting import lines

    return lines(profile)


def _onnxruntime(profile: Profile) -> Iterator[str]:
    yield "import onnxruntime"
    yield ""
    yield "options = onnxruntime.SessionOptions()"
    frees = profile.symbols.values()
    if any(free.fixed is None and free.label for free in frees):
        yield comment("an override fixes a size, and each of these inputs also accepts other sizes:")
    for free in frees:
        if free.fixed is None and free.label:
            of = " and ".join(free.conditions) or "any size"
            yield comment(
                f"options.add_free_dimension_override_by_name({literal(free.label)}, {free.least})  # of {of}"
            )
    for free in frees:
        if free.fixed is not None and free.label:
            yield f"options.add_free_dimension_override_by_name({literal(free.label)}, {free.fixed})"
    for free in frees:
        if not free.label:
            yield comment(f"{free.name} has no name in the model, so no override can set it")
    yield from notes(profile, "an override")
    yield f"session = onnxruntime.InferenceSession({literal(profile.path)}, options)"
    overrides = [f"-f {word(f'{free.label}:{free.least}')}" for free in frees if free.label]
    if overrides:
        yield comment(f"with the smallest sizes: onnxruntime_perf_test -I {' '.join(overrides)} {word(profile.path)}")


def _openvino(profile: Profile) -> Iterator[str]:
    yield "import openvino as ov"
    yield ""
    yield f"model = ov.Core().read_model({literal(profile.path)})"
    yield from _gap_comments(profile)
    yield from notes(profile, "a range")
    reshaped = [
        (at, name, shape)
        for at, (name, shape) in enumerate(profile.inputs)
        if shape is not None and any(isinstance(dim, Expr) for dim in shape)
    ]
    yield from _without_rank(profile)
    if not reshaped:
        if all(shape is not None for _, shape in profile.inputs):
            yield comment("every size is fixed: nothing to reshape")
        return
    yield "model.reshape({"
    for at, name, shape in reshaped:
        dims = ", ".join(_range(dim, profile) for dim in shape)
        key, note = (literal(name), "") if profile.named else (str(at), f"  {comment(name)}")
        yield f"    {key}: [{dims}],{note}"
    yield "})"


def _range(dim: MaybeDim, profile: Profile) -> str:
    free = free_of(dim, profile)
    if free is None:
        return str(dim) if isinstance(dim, int) else "-1"
    if free.fixed is not None:
        return str(free.fixed)
    least, greatest = free.sizes.least, free.sizes.greatest
    return "-1" if (least, greatest) == (1, None) else f"ov.Dimension({least}, {-1 if greatest is None else greatest})"


def _without_rank(profile: Profile) -> Iterator[str]:
    for name, shape in profile.inputs:
        if shape is None:
            yield comment(f"{name}: the number of axes is not declared")


def _trtexec(profile: Profile) -> Iterator[str]:
    for free in leaders(profile):
        if free.is_unbounded:
            yield comment(
                f"{free.name} has no upper end of its own; {free.greatest} is a guess of at most {UNBOUNDED_RANGE} "
                "times the least:"
                f" --assume '{free.name} <= {free.greatest}' states it"
            )
    yield from _gap_comments(profile)
    yield from notes(profile, "a range")
    yield from _without_rank(profile)
    resized = [
        (name, shape)
        for name, shape in profile.inputs
        if shape is not None and any(isinstance(dim, Expr) for dim in shape)
    ]
    for name, _ in resized:
        if "'" in name:
            yield comment(f"{name}: trtexec accepts no name with a quote")
    words = [f"trtexec --onnx={word(profile.path)}"]
    for flag, point in (("min", "least"), ("opt", "middle"), ("max", "greatest")):
        shapes = [f"{_trt_name(name)}:{_sized(shape, profile, point)}" for name, shape in resized]
        if shapes:
            words.append(f"  --{flag}Shapes={word(','.join(shapes))}")
    for line in words[:-1]:
        yield f"{line} \\"
    yield words[-1]


def _sized(shape: tuple[MaybeDim, ...], profile: Profile, point: str) -> str:
    sizes = []
    for dim in shape:
        known = {name: getattr(free, point) for name, free in profile.symbols.items()}
        sizes.append(str(dim if dim is None else evaluated(dim, known)))
    return "x".join(sizes)


def _trt_name(name: str) -> str:
    return name if name.replace("_", "").replace(".", "").replace("/", "").isalnum() else f"'{name}'"


def free_of(dim: MaybeDim, profile: Profile) -> SymbolicSize | None:
    """The symbol, if ``dim`` is a single symbol of the profile; else None."""
    return profile.symbols.get(str(dim)) if isinstance(dim, Expr) else None


def leaders(profile: Profile) -> list[SymbolicSize]:
    """The symbols without those that must equal an earlier symbol."""
    return [free for free in profile.symbols.values() if free.leader == free.name]


def _gap_comments(profile: Profile) -> Iterator[str]:
    """A comment for each size that accepts only some values of a range."""
    for free in leaders(profile):
        found = progression(free.sizes)
        if not found.is_complete or found.step > 1:
            yield comment(f"{' and '.join(free.conditions)} must be true, but the range also contains other sizes")


def notes(profile: Profile, tool: str) -> Iterator[str]:
    """Comments on the conditions that ``tool`` cannot express."""
    for text in (*profile.equal, *profile.together):
        yield comment(f"{text} must also be true, but {tool} cannot express that")
    yield from of_branches(profile)


def of_branches(profile: Profile) -> Iterator[str]:
    """Comments on conditions that hold only if a branch runs."""
    for when, text in profile.branches:
        yield comment(f"{text} must be true if {when} runs")


FORMS: Mapping[str, Callable[[Profile], Iterator[str]]] = {
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "trtexec": _trtexec,
}
