"""The axes that ONNX Runtime can resize in each mode of Resize and Upsample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from irlint.dims import MaybeDim, Shape, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import Relation, require_any, warn
from irlint.findings.wording import counted, either, listed
from irlint.model.tensor import Scalar, Tensor

RESIZE_MODE_UNSUPPORTED = Rule(
    "IRL523",
    "resize-mode-unsupported",
    Severity.WARNING,
    "ONNX Runtime cannot resize these axes, or this element type, in this mode.",
    why=(
        'By the specification, linear and cubic interpolation work for any tensor. ONNX Runtime supports "linear" '
        "only for tensors of two or three axes, for axes 2 and 3 or 1 and 2 of four, and for the last three of five. "
        'It supports "cubic" only for tensors of two axes, and for axes 2 and 3 of four; for axes 1 and 2 of four, '
        "it needs `antialias` or scales of at least 1. It refuses any other tensor, even if all scales are 1. In "
        '"cubic" mode without `antialias`, axes 2 and 3 of integer tensors fail at run time. With a '
        '`keep_aspect_ratio_policy` other than "stretch", it does not resize negative axes.'
    ),
    fix="Transpose the data so that the resized axes are the last two of two or four, and transpose the result back.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,8] x) => (float[1,16,16] y) <float[3] scales = {1, 2, 2}> { y = Resize <mode = "cubic"> (x, "", scales) \
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,8,8] x) => (float[1,1,16,16] y) <float[4] scales = {1, 1, 2, 2}> { y = Resize <mode = "cubic"> (x, "", \
scales) }""",
)

#: Groups of axes that can be resized together, by mode and rank.
_RESIZED: dict[str, dict[int, tuple[tuple[int, ...], ...]]] = {
    "linear": {2: ((0, 1),), 3: ((0, 1, 2),), 4: ((2, 3), (1, 2)), 5: ((2, 3, 4),)},
    "cubic": {2: ((0, 1),), 4: ((2, 3), (1, 2))},
}

#: The integer types for which ONNX Runtime implements Resize.
_INTEGERS = frozenset({"int8", "uint8", "int32"})

#: The effect of a resize on an axis: -1 shrinks the axis, 0 keeps it, 1 is any other change; None is unknown.
Change = int | None


def by_scales(scales: Sequence[Scalar]) -> list[Change]:
    """The effects of scales on their axes."""
    known = [float(scale) if isinstance(scale, (int, float)) else None for scale in scales]
    return [None if scale is None else (scale > 1) - (scale < 1) for scale in known]


def by_sizes(dims: Sequence[MaybeDim], targets: Sequence[MaybeDim], *, together: bool) -> list[Change]:
    """The effects of the new sizes ``targets`` on axes. ``together``: all axes are resized by the same scale."""
    found = [_by_size(dim, target) for dim, target in zip(dims, targets)]
    changed = next((change for change in found if change), None)
    return [changed] * len(found) if together and changed else found


def _by_size(dim: MaybeDim, target: MaybeDim) -> Change:
    equal = same(dim, target)
    if equal is None:
        return None
    return 0 if equal else -1 if isinstance(dim, int) and isinstance(target, int) and target < dim else 1


def warn_of_mode(
    x: Tensor, mode: str, changes: Sequence[Change], *, axes: Sequence[int] | None = None, antialias: bool = False
) -> None:
    """Reports a ``RESIZE_MODE_UNSUPPORTED`` fault if ONNX Runtime cannot resize the data in ``mode``.

    ``changes`` are the effects on ``axes``, by default on all axes.
    """
    ranks = _RESIZED.get(mode)
    if ranks is None or x.shape is None:
        return
    rank = len(x.shape)
    by_axis: dict[int, Change] = dict.fromkeys(range(rank), 0)
    by_axis.update(zip(range(rank) if axes is None else axes, changes))
    changed = sorted(axis for axis, change in by_axis.items() if change)
    specified = f'`mode` is "{mode}", which the specification allows for any axes'
    if rank not in ranks:
        _warn(
            f"{specified}; input 0 has {counted(rank, 'axis', 'axes')}, but ONNX Runtime supports {either(*ranks)}",
            help="give the data that number of axes, or use another mode",
        )
        return
    if not _groups(mode, rank, by_axis, antialias=antialias):
        allowed = either(*(listed([*map(str, group)]) for group in ranks[rank]))
        limits = " (without `antialias` only by scales of at least 1)" if mode == "cubic" else ""
        _warn(
            f"{specified}; {'axis' if len(changed) == 1 else 'axes'} {listed([*map(str, changed)])} of {rank} "
            f"{'is' if len(changed) == 1 else 'are'} resized, but ONNX Runtime supports axes {allowed}{limits}",
            help="transpose the data so that the resized axes are the last ones, or use several Resize nodes",
        )
    elif mode == "cubic" and x.dtype in _INTEGERS and changed and not antialias and (rank == 2 or by_axis[1] == 0):
        _warn(
            f'`mode` is "cubic" and input 0 is {x.dtype}: the specification allows it, but ONNX Runtime fails at run '
            "time",
            help="cast the data to float32 before, and the result back",
            input=0,
        )


def warn_of_negative_axes(policy: str, axes: Sequence[int]) -> None:
    """Reports a ``RESIZE_MODE_UNSUPPORTED`` fault for negative ``axes``: ONNX Runtime keeps them with this policy."""
    fault = RESIZE_MODE_UNSUPPORTED.fault(
        f'attribute `axes` is {list(axes)} and `keep_aspect_ratio_policy` is "{policy}": the specification allows it, '
        "but ONNX Runtime does not resize negative axes with this policy",
        help="count the axes from 0",
        attribute="axes",
    )
    warn(fault)


def _groups(mode: str, rank: int, by_axis: Mapping[int, Change], *, antialias: bool) -> tuple[tuple[int, ...], ...]:
    """The groups of axes that ONNX Runtime can resize and that contain all changed axes."""
    changed = {axis for axis, change in by_axis.items() if change}
    groups = tuple(group for group in _RESIZED[mode][rank] if changed <= set(group))
    if mode == "cubic" and rank == 4 and not antialias and -1 in by_axis.values():
        groups = tuple(group for group in groups if group != (1, 2))
    return groups


def require_kept(x: Tensor, mode: str, targets: Mapping[int, MaybeDim], *, antialias: bool = False) -> None:
    """Requires that all axes keep their sizes that ONNX Runtime cannot resize in ``mode``.

    ``targets`` has the new sizes by axis.
    """
    if x.shape is None or len(x.shape) not in _RESIZED.get(mode, ()):
        return
    rank = len(x.shape)
    by_axis = dict(zip(targets, by_sizes([x.shape[axis] for axis in targets], [*targets.values()], together=False)))
    groups = _groups(mode, rank, by_axis, antialias=antialias)
    kept = [[axis for axis in range(rank) if axis not in group] for group in groups]
    # ONNX Runtime needs one group outside of which all axes keep their sizes. An equivalent requirement of the form
    # "A or B": for every choice of one axis outside of each group, at least one of the chosen axes keeps its size.
    choices = list(dict.fromkeys(frozenset(axes) for axes in product(*kept)))
    for choice in choices:
        if not any(other < choice for other in choices):
            _require_one_kept(sorted(choice), x.shape, targets, mode=mode)


def _require_one_kept(axes: Sequence[int], dims: Shape, targets: Mapping[int, MaybeDim], *, mode: str) -> None:
    relations = []
    for axis in axes:
        dim, target = dims[axis], targets.get(axis, dims[axis])
        equal = same(dim, target)
        if equal or dim is None or target is None:
            return
        if equal is None:
            relations.append(Relation("==", dim, target))
    if relations:
        named = f"axis {axes[0]}" if len(axes) == 1 else f"both axes {listed([*map(str, axes)])}"
        require_any(*relations, why=f'ONNX Runtime does not resize {named} of {len(dims)} in mode "{mode}"')


def _warn(message: str, help: str, input: int | None = None) -> None:
    warn(RESIZE_MODE_UNSUPPORTED.fault(message, help=help, attribute="mode", input=input))
