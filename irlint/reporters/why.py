"""The origins of the sizes of a value, as text."""

from __future__ import annotations

from irlint.dims.notation import as_message
from irlint.lazy_typing import Any
from irlint.reporters.ansi import PIPE_WIDTH
from irlint.reporters.canvas import wrapped
from irlint.reporters.listing import contents, type_of
from irlint.reporters.plain import headed, safe, spelled

#: The further lines of a sentence are indented by this many columns.
MORE = 4


def rendered(why: dict[str, Any], encoding: str = "utf-8", columns: int = PIPE_WIDTH) -> str:
    """The value, then sentences on each axis; characters that ``encoding`` lacks are escaped."""
    value = wrapped(spelled(_value(why), encoding), columns, columns - MORE)
    parts = [f"{headed(why)}\n", *(f"{line}\n{' ' * MORE}" for line in value[:-1])]
    parts.append(f"{value[-1]}\n")
    groups = _groups(why["axes"])
    width = max((len(lead) for lead, _ in groups), default=0)
    for lead, sentences in groups:
        parts += _sentences(lead.ljust(width), [spelled(safe(each), encoding) for each in sentences], columns)
    if not why["axes"]:
        parts.append(f"  {_without_axes(why)}\n")
    return spelled("".join(parts), encoding)


def _value(why: dict[str, Any]) -> str:
    name = f"{why['graph']}/{why['name']}" if why["graph"] else why["name"]
    node = f' "{why["node"]}"' if why["node"] and why["node"] != why["name"] else ""
    maker = f"{why['op']}{node}  " if why["op"] else ""
    numbers = contents(why["value"])
    return safe(f"{name}  {maker}{type_of(why)}") + f"  {numbers}" * bool(numbers)


def _groups(axes: list[dict[str, Any]]) -> list[tuple[str, tuple[str, ...]]]:
    """(text for the axes, sentences about these axes) for each group of axes with the same sentences."""
    groups: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for each in axes:
        size, sentences = as_message(str(each["size"])), tuple(step["text"] for step in each["steps"])
        if len(sentences) == 1 and sentences[0].startswith(f"{size} is "):
            sentences = (sentences[0].removeprefix(size),)
        groups.setdefault(sentences, []).append((each["axis"], size))
    return [
        (
            _numbered([axis for axis, _ in numbers]),
            _with_sizes(sentences, list(dict.fromkeys(size for _, size in numbers))),
        )
        for sentences, numbers in groups.items()
    ]


def _with_sizes(sentences: tuple[str, ...], sizes: list[str]) -> tuple[str, ...]:
    """The sentences with the sizes before them, such as ``3, 224 and 224 are declared: …``."""
    if len(sentences) != 1 or not sentences[0].startswith(" is "):
        return sentences
    if len(sizes) == 1:
        return (sizes[0] + sentences[0],)
    return (f"{', '.join(sizes[:-1])} and {sizes[-1]} are {sentences[0].removeprefix(' is ')}",)


def _numbered(axes: list[int]) -> str:
    """The axes as a text, such as ``axis 0`` or ``axes 0, 2 to 5``."""
    if len(axes) == 1:
        return f"axis {axes[0]}"
    runs: list[list[int]] = []
    for axis in axes:
        if runs and axis == runs[-1][-1] + 1:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    parts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"axes {', '.join(parts)}"


def _sentences(lead: str, sentences: list[str], columns: int) -> list[str]:
    room = max(columns - len(lead) - 4, 20)
    lines = []
    for at, sentence in enumerate(sentences or ["its origin is unknown"]):
        first, *more = wrapped(sentence, room, room - MORE)
        lines.append(f"  {lead if not at else ' ' * len(lead)}  {first}\n")
        lines += [f"{' ' * (len(lead) + 4 + MORE)}{each}\n" for each in more]
    return lines


def _without_axes(why: dict[str, Any]) -> str:
    if why["shape"] is not None:
        return "it is a scalar, and has no axes" if not why["shape"] else ""
    return "not even the number of its axes is known"
