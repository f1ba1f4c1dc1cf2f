"""Groups wrong declared shapes in the branches of a node. Exporters write the shapes of one run into all branches."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.order import graphs
from irlint.records import replaced


def grouped(found: Sequence[Problem], stale: Sequence[Problem], known: Known) -> list[Problem]:
    """The problems. Only the first problem of the ``stale`` shapes in branches remains. Its message counts the
    others."""
    alternative_paths = [
        f"{body.path}/"
        for graph in graphs(known.model)
        for node in graph.nodes
        if len(node.bodies) > 1
        for _, body in node.bodies
    ]
    stale = [each for each in stale if f"{each.graph}/".startswith(tuple(alternative_paths))]
    if len(stale) < 2:
        return list(found)
    first, others = stale[0], {id(each) for each in stale[1:]}
    more = counted(len(others), "other declaration is", "other declarations are")
    message = f"{first.fault.message}; {more} stale, too, in the branches of the model"
    root = replaced(first, fault=first.fault.changed(message=message))
    grouped_ids = {id(first), *others}
    kept = [root if each is first else each for each in found if id(each) not in others]
    return [replaced(each, because=root) if id(each.because) in grouped_ids else each for each in kept]
