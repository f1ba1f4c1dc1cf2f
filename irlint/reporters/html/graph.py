"""The nodes around a finding as an SVG drawing: nodes are boxes, and shapes are beside the lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.reporters.canvas import display, fitting
from irlint.reporters.html.layout import Layout, laid_out
from irlint.reporters.html.markup import escaped, shown
from irlint.reporters.plain import safe
from irlint.snippets.drawing import Box, Carried, Neighbourhood

#: The width of a character in small and in large letters, and the height of a line.
SMALL = 6.7
LARGE = 8.1
LINE = 16

#: The space around a drawing, inside a box, and between rows (which has the shapes).
MARGIN = 10
INSIDE = 12
BETWEEN = 34

#: A line that leads back passes this far to the right of the boxes.
ROUND = 60

#: The largest number of columns of a name (its end is kept), of a size, and of a shape.
NAME = 30
SIZE = 14
SHAPE = 44

#: The captions of boxes that are not nodes.
CAPTIONS = {"input": "input", "output": "output", "missing": "nothing makes it"}


def drawn(picture: Neighbourhood, number: int) -> str:
    """An SVG drawing. ``number`` distinguishes it from others on the page."""
    sizes = [_Sized(box, _given(picture, index)) for index, box in enumerate(picture.boxes)]
    layout = laid_out(picture, [each.width for each in sizes])
    tops: list[float] = []
    y: float = MARGIN
    for row in layout.rows:
        tops.append(y)
        y += max((sizes[item].height for item in row if item >= 0), default=0) + BETWEEN
        y += max((LINE * len(sizes[item].given) for item in row if item >= 0), default=0)
    places = {
        item: (layout.middles[at, item] + MARGIN, tops[at])
        for at, row in enumerate(layout.rows)
        for item in row
        if item >= 0
    }
    parts = [*_wires(picture, sizes, layout, tops, places)]
    parts += [part for index, each in enumerate(sizes) for part in each.drawn(*places[index])]
    rows = {item: at for at, row in enumerate(layout.rows) for item in row}
    back = any(rows[wire.end] <= rows[wire.start] for wire in picture.wires)
    width, height = layout.width + 2 * MARGIN + ROUND * back, y - BETWEEN + MARGIN
    fault = picture.boxes[0]
    title = f"The nodes around {fault.op} {fault.name}".strip()
    return (
        f'<svg class="graph" role="img" aria-labelledby="g{number}t g{number}d" width="{width:.0f}" '
        f'height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><title id="g{number}t">{shown(title)}</title>'
        f'<desc id="g{number}d">{"; ".join(_descriptions(picture))}</desc>\n{"".join(parts)}</svg>\n'
    )


def _descriptions(picture: Neighbourhood) -> Iterator[str]:
    """The drawing in words, for screen readers."""
    for wire in picture.wires:
        start, end = picture.boxes[wire.start], picture.boxes[wire.end]
        yield shown(f"{wire.value.name} {_type(wire.value)} from {start.op} {start.name} to {end.op} {end.name}")


def _type(value: Carried) -> str:
    return f"{value.dtype}[{', '.join(value.dims)}]" if value.dims is not None else value.dtype


def _given(picture: Neighbourhood, index: int) -> list[Carried]:
    """The output values of a box, each once."""
    return list({wire.value.name: wire.value for wire in picture.wires if wire.start == index}.values())


class _Sized:
    """A box with its size. It is as wide as its text and the shape below it."""

    def __init__(self, box: Box, given: Sequence[Carried]) -> None:
        self.box = box
        stands_in = box.kind in CAPTIONS and not box.index
        self.title = _tail(box.name if stands_in else box.op)
        self.name = CAPTIONS[box.kind] if stands_in else _tail(box.name)
        self.held = [(_tail(each.name, 16), _Shape(each)) for each in box.held]
        self.given = [_Shape(each) for each in given]
        inside = [LARGE * display(self.title), SMALL * display(self.name)]
        inside += [SMALL * (display(name) + 1 + shape.columns) for name, shape in self.held]
        self.body = max(90.0, *inside, 0) + 2 * INSIDE
        self.width = max([self.body, *(SMALL * shape.columns + 10 for shape in self.given)])
        self.height = 46 + (LINE - 1) * len(self.held)

    def drawn(self, middle: float, top: float) -> Iterator[str]:
        left = middle - self.body / 2
        yield (
            f'<g class="box {self.box.kind}"><title>{shown(f"{self.box.op} {self.box.name}")}</title>'
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{self.body:.1f}" height="{self.height}" rx="7"/>'
            f'<text class="op" x="{middle:.1f}" y="{top + 20:.1f}">{escaped(self.title)}</text>'
            f'<text class="name" x="{middle:.1f}" y="{top + 36:.1f}">{escaped(self.name)}</text>'
        )
        for at, (name, shape) in enumerate(self.held, 1):
            y = top + 36 + (LINE - 1) * at
            yield f'<text class="held" x="{middle:.1f}" y="{y:.1f}">{escaped(name)} {shape.markup}</text>'
        yield "</g>\n"
        for at, shape in enumerate(self.given):
            yield _label(shape, middle, top + self.height + LINE * at + 6)


def _label(shape: _Shape, middle: float, top: float) -> str:
    """The shape of a value under the box that makes it. Its background hides the line behind it."""
    width = SMALL * shape.columns + 8
    kind = "value at-fault" if shape.value.at_fault else "value"
    return (
        f'<g class="{kind}"><title>{shown(f"{shape.value.name}: {_type(shape.value)}")}</title>'
        f'<rect x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{LINE + 1}" rx="4"/>'
        f'<text x="{middle:.1f}" y="{top + 12.5:.1f}">{shape.markup}</text></g>\n'
    )


class _Shape:
    """``float32[1, 64, 56, 55]`` with its clashing sizes marked. Some of many sizes are omitted, but never clashing
    ones."""

    def __init__(self, value: Carried) -> None:
        self.value = value
        if value.dims is None:
            self.columns, self.markup = (
                display(safe(value.dtype)) or 1,
                f'<tspan class="type">{escaped(value.dtype or "?")}</tspan>',
            )
            return
        sizes = [_tail(dim, SIZE) for dim in value.dims]
        kept = list(range(len(sizes)))
        while sum(display(sizes[at]) + 2 for at in kept) > SHAPE and len(kept) > max(2, len(value.marked)):
            free = [at for at in kept[1:-1] if at not in value.marked] or [at for at in kept if at not in value.marked]
            kept.remove(free[len(free) // 2])
        parts: list[tuple[str, bool]] = []
        for at, before in zip(kept, [-1, *kept]):
            parts += [("…", False)] if at > before + 1 else []
            parts.append((sizes[at], at in value.marked))
        parts += [("…", False)] if kept and kept[-1] < len(sizes) - 1 else []
        self.columns = (
            display(safe(value.dtype)) + 2 + sum(display(text) for text, _ in parts) + 2 * max(0, len(parts) - 1)
        )
        inside = ", ".join(
            f'<tspan class="clash">{escaped(text)}</tspan>' if marked else escaped(text) for text, marked in parts
        )
        self.markup = f'<tspan class="type">{escaped(value.dtype)}</tspan>[{inside}]'


def _tail(text: str, columns: int = NAME) -> str:
    """The end of a text, at most ``columns`` characters, from the beginning of a part. The end of a name distinguishes
    it best."""
    cleaned = safe(text)
    if display(cleaned) <= columns:
        return cleaned
    end = fitting(cleaned[::-1], columns - 1)[::-1]
    return "…" + end[max(0, end.find("/", 0, len(end) // 2)) :]


def _wires(
    picture: Neighbourhood,
    sizes: Sequence[_Sized],
    layout: Layout,
    tops: Sequence[float],
    places: dict[int, tuple[float, float]],
) -> Iterator[str]:
    """The lines between boxes. Lines into one box end side by side; lines that lead back pass on the right."""
    rows = {item: at for at, row in enumerate(layout.rows) for item in row if item >= 0}
    for index, wire in enumerate(picture.wires):
        (x, y), (end_x, end_y) = places[wire.start], places[wire.end]
        if rows[wire.end] <= rows[wire.start]:
            side = layout.width + MARGIN + ROUND
            x, y = x + sizes[wire.start].body / 2, y + sizes[wire.start].height / 2
            end_x, end_y = end_x + sizes[wire.end].body / 2, end_y + sizes[wire.end].height / 2
            path = f"M{x:.1f} {y:.1f}C{side:.1f} {y:.1f} {side:.1f} {end_y:.1f} {end_x + 7:.1f} {end_y:.1f}"
            yield (
                f'<path class="wire" d="{path}"/><path class="tip wire" d="M{end_x + 8:.1f} {end_y - 4:.1f}v8l-7 '
                '-4z"/>\n'
            )
            continue
        y += sizes[wire.start].height
        into = [each for each in picture.wires if each.end == wire.end]
        into.sort(key=lambda each: (places[each.start][0], each.input))
        end_x += sizes[wire.end].body * ((into.index(wire) + 1) / (len(into) + 1) - 0.5)
        path = f"M{x:.1f} {y:.1f}"
        if sizes[wire.start].given:
            y += LINE * len(sizes[wire.start].given) + 6
            path += f"V{y:.1f}"
        for at in range(rows[wire.start] + 1, rows[wire.end]):
            passing = layout.middles[at, -1 - index] + MARGIN
            path += _curve(x, y, passing, tops[at])
            x, y = passing, tops[at] + max((sizes[item].height for item in layout.rows[at] if item >= 0), default=0)
            path += f"L{x:.1f} {y:.1f}"
        path += _curve(x, y, end_x, end_y - 7)
        kind = "wire at-fault" if wire.value.at_fault and wire.end == 0 else "wire"
        yield (
            f'<path class="{kind}" d="{path}"/><path class="tip {kind}" d="M{end_x - 4:.1f} {end_y - 8:.1f}h8l-4 '
            '7z"/>\n'
        )


def _curve(x: float, y: float, end_x: float, end_y: float) -> str:
    bend = max(12.0, (end_y - y) * 0.55)
    return f"C{x:.1f} {y + bend:.1f} {end_x:.1f} {end_y - bend:.1f} {end_x:.1f} {end_y:.1f}"
