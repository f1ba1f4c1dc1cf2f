"""The nodes around a finding as an SVG drawing: boxes, and lines for values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.reporters.canvas import display, fitting
from irlint.reporters.html.layout import Layout, laid_out
from irlint.reporters.html.markup import escaped, shown
from irlint.reporters.plain import safe
from irlint.snippets.drawing import Box, Neighbourhood, Wire, WireValue

#: In pixels: the width of a small letter, the width of a large letter, and the height of a line of text.
SMALL = 6.7
LARGE = 8.1
LINE = 16

#: In pixels: the space around a drawing, the space beside a text in a box, and the space between rows.
MARGIN = 10
INSIDE = 12
BETWEEN = 34

#: The space at the right side for lines that do not lead downwards, in pixels.
DETOUR = 60

#: The largest numbers of columns of a name (NAME), of one size (SIZE), and of all sizes of a shape (SHAPE).
NAME = 30
SIZE = 14
SHAPE = 44

#: The caption of a box that stands for a value instead of a node, by the kind of the box.
CAPTIONS = {"input": "input", "output": "output", "missing": "undefined"}


def svg(around: Neighbourhood, number: int) -> str:
    """An SVG drawing. Its HTML ids contain ``number``."""
    boxes = [_Box(box, _outputs(around, index)) for index, box in enumerate(around.boxes)]
    layout = laid_out(around, [each.width for each in boxes])
    tops, bottom = _tops(layout, boxes)
    places = {
        item: (layout.middles[at, item] + MARGIN, tops[at])
        for at, row in enumerate(layout.rows)
        for item in row
        if item >= 0
    }
    parts = [*_wires(around, boxes, layout, tops, places)]
    parts += [part for index, each in enumerate(boxes) for part in each.svg(*places[index])]
    has_detour = any(places[wire.end][1] <= places[wire.start][1] for wire in around.wires)
    width, height = layout.width + 2 * MARGIN + DETOUR * has_detour, bottom + MARGIN
    fault = around.boxes[0]
    title = f"The nodes around {fault.op} {fault.name}".strip()
    return (
        f'<svg class="graph" role="img" aria-labelledby="g{number}t g{number}d" width="{width:.0f}" '
        f'height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title id="g{number}t">{shown(title)}</title>'
        f'<desc id="g{number}d">{"; ".join(_descriptions(around))}</desc>\n{"".join(parts)}</svg>\n'
    )


def _tops(layout: Layout, boxes: Sequence[_Box]) -> tuple[list[float], float]:
    """(top of each row, bottom of the drawing). The bottom is that of the shapes below the last row of boxes."""
    tops: list[float] = []
    bottom: float = MARGIN - BETWEEN
    for row in layout.rows:
        tops.append(bottom + BETWEEN)
        bottom = tops[-1] + max((boxes[item].height for item in row if item >= 0), default=0)
        bottom += max((LINE * len(boxes[item].outputs) for item in row if item >= 0), default=0)
    return tops, bottom


def _descriptions(around: Neighbourhood) -> Iterator[str]:
    """For each line of the drawing, a text for screen readers."""
    for wire in around.wires:
        start, end = around.boxes[wire.start], around.boxes[wire.end]
        yield shown(f"{wire.value.name} {_type(wire.value)} from {start.op} {start.name} to {end.op} {end.name}")


def _type(value: WireValue) -> str:
    return f"{value.dtype}[{', '.join(value.dims)}]" if value.dims is not None else value.dtype


def _outputs(around: Neighbourhood, index: int) -> list[WireValue]:
    return list({wire.value.name: wire.value for wire in around.wires if wire.start == index}.values())


class _Box:
    """A box with sizes in pixels. ``inner`` is its width. ``width`` also has room for the shapes below the box."""

    def __init__(self, box: Box, outputs: Sequence[WireValue]) -> None:
        self.box = box
        is_end = box.kind in CAPTIONS and not box.index
        self.title = _tail(box.name if is_end else box.op)
        self.name = CAPTIONS[box.kind] if is_end else _tail(box.name)
        self.constants = [(_tail(each.name, 16), _Shape(each)) for each in box.constants]
        self.outputs = [_Shape(each) for each in outputs]
        texts = [LARGE * display(self.title), SMALL * display(self.name)]
        texts += [SMALL * (display(name) + 1 + shape.columns) for name, shape in self.constants]
        self.inner = max(90.0, *texts) + 2 * INSIDE
        self.width = max([self.inner, *(SMALL * shape.columns + 10 for shape in self.outputs)])
        self.height = 46 + (LINE - 1) * len(self.constants)

    def svg(self, middle: float, top: float) -> Iterator[str]:
        """The elements of the box and of the shapes below it."""
        left = middle - self.inner / 2
        yield (
            f'<g class="box {self.box.kind}"><title>{shown(f"{self.box.op} {self.box.name}")}</title>'
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{self.inner:.1f}" height="{self.height}" rx="7"/>'
            f'<text class="op" x="{middle:.1f}" y="{top + 20:.1f}">{escaped(self.title)}</text>'
            f'<text class="name" x="{middle:.1f}" y="{top + 36:.1f}">{escaped(self.name)}</text>'
        )
        for at, (name, shape) in enumerate(self.constants, 1):
            y = top + 36 + (LINE - 1) * at
            yield f'<text class="held" x="{middle:.1f}" y="{y:.1f}">{escaped(name)} {shape.markup}</text>'
        yield "</g>\n"
        for at, shape in enumerate(self.outputs):
            yield _output_label(shape, middle, top + self.height + LINE * at + 6)


def _output_label(shape: _Shape, middle: float, top: float) -> str:
    width = SMALL * shape.columns + 8
    kind = "value at-fault" if shape.value.at_fault else "value"
    return (
        f'<g class="{kind}"><title>{shown(f"{shape.value.name}: {_type(shape.value)}")}</title>'
        f'<rect x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{LINE + 1}" rx="4"/>'
        f'<text x="{middle:.1f}" y="{top + 12.5:.1f}">{shape.markup}</text></g>\n'
    )


class _Shape:
    """The markup of a type such as ``float32[1, 64, 56, 55]``, and its number of columns."""

    def __init__(self, value: WireValue) -> None:
        self.value = value
        if value.dims is None:
            self.columns = display(safe(value.dtype)) or 1
            self.markup = f'<tspan class="type">{escaped(value.dtype or "?")}</tspan>'
            return
        sizes = [_tail(dim, SIZE) for dim in value.dims]
        axes = _shown_axes(sizes, value.marked)
        parts: list[tuple[str, bool]] = []
        for axis, before in zip(axes, [-1, *axes]):
            parts += [("…", False)] if axis > before + 1 else []
            parts.append((sizes[axis], axis in value.marked))
        parts += [("…", False)] if axes and axes[-1] < len(sizes) - 1 else []
        between = 2 * max(0, len(parts) - 1)
        self.columns = display(safe(value.dtype)) + 2 + sum(display(text) for text, _ in parts) + between
        inside = ", ".join(
            f'<tspan class="clash">{escaped(text)}</tspan>' if marked else escaped(text) for text, marked in parts
        )
        self.markup = f'<tspan class="type">{escaped(value.dtype)}</tspan>[{inside}]'


def _shown_axes(sizes: Sequence[str], marked: Sequence[int]) -> list[int]:
    """The axes whose sizes fit into SHAPE columns. Omits inner axes first, and never omits ``marked`` axes."""
    axes = list(range(len(sizes)))
    while sum(display(sizes[axis]) + 2 for axis in axes) > SHAPE and len(axes) > max(2, len(marked)):
        unmarked = [axis for axis in axes[1:-1] if axis not in marked] or [axis for axis in axes if axis not in marked]
        axes.remove(unmarked[len(unmarked) // 2])
    return axes


def _tail(text: str, columns: int = NAME) -> str:
    """The text, or an end of it that fits into ``columns`` columns. If possible, the end begins at a ``/``."""
    cleaned = safe(text)
    if display(cleaned) <= columns:
        return cleaned
    end = fitting(cleaned[::-1], columns - 1)[::-1]
    return "…" + end[max(0, end.find("/", 0, len(end) // 2)) :]


#: (horizontal center, top) of each box, by its index.
Places = Mapping[int, tuple[float, float]]


def _wires(
    around: Neighbourhood, boxes: Sequence[_Box], layout: Layout, tops: Sequence[float], places: Places
) -> Iterator[str]:
    rows = {item: at for at, row in enumerate(layout.rows) for item in row if item >= 0}
    for index, wire in enumerate(around.wires):
        if rows[wire.end] <= rows[wire.start]:
            yield _detour(wire, boxes, places, layout.width + MARGIN + DETOUR)
            continue
        x, y = places[wire.start]
        y += boxes[wire.start].height
        path = f"M{x:.1f} {y:.1f}"
        if boxes[wire.start].outputs:
            y += LINE * len(boxes[wire.start].outputs) + 6
            path += f"V{y:.1f}"
        for at in range(rows[wire.start] + 1, rows[wire.end]):
            passing = layout.middles[at, -1 - index] + MARGIN
            path += _vertical_curve(x, y, passing, tops[at])
            x, y = passing, tops[at] + max((boxes[item].height for item in layout.rows[at] if item >= 0), default=0)
            path += f"L{x:.1f} {y:.1f}"
        end_x, end_y = _end(wire, around, boxes, places), places[wire.end][1]
        path += _vertical_curve(x, y, end_x, end_y - 7)
        kind = "wire at-fault" if wire.value.at_fault and wire.end == 0 else "wire"
        yield (
            f'<path class="{kind}" d="{path}"/><path class="tip {kind}" d="M{end_x - 4:.1f} {end_y - 8:.1f}h8l-4 '
            '7z"/>\n'
        )


def _detour(wire: Wire, boxes: Sequence[_Box], places: Places, side: float) -> str:
    """A line between the right sides of two boxes, bent towards ``side``."""
    (x, y), (end_x, end_y) = places[wire.start], places[wire.end]
    x, y = x + boxes[wire.start].inner / 2, y + boxes[wire.start].height / 2
    end_x, end_y = end_x + boxes[wire.end].inner / 2, end_y + boxes[wire.end].height / 2
    path = f"M{x:.1f} {y:.1f}C{side:.1f} {y:.1f} {side:.1f} {end_y:.1f} {end_x + 7:.1f} {end_y:.1f}"
    return f'<path class="wire" d="{path}"/><path class="tip wire" d="M{end_x + 8:.1f} {end_y - 4:.1f}v8l-7 -4z"/>\n'


def _end(wire: Wire, around: Neighbourhood, boxes: Sequence[_Box], places: Places) -> float:
    """The horizontal position at which a line enters a box."""
    into = [each for each in around.wires if each.end == wire.end]
    into.sort(key=lambda each: (places[each.start][0], each.input))
    return places[wire.end][0] + boxes[wire.end].inner * ((into.index(wire) + 1) / (len(into) + 1) - 0.5)


def _vertical_curve(x: float, y: float, end_x: float, end_y: float) -> str:
    bend = max(12.0, (end_y - y) * 0.55)
    return f"C{x:.1f} {y + bend:.1f} {end_x:.1f} {end_y - bend:.1f} {end_x:.1f} {end_y:.1f}"
