"""Rules about whole models: each is a function from what is known of a model to the problems that it sees."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from irlint.model import Graph, Model, Problem
from irlint.propagate import Known

#: The modules of this package; each has a function ``problems(known)``.
CHECKS = ("structure", "constants", "declared")


def problems(known: Known) -> list[Problem]:
    """What every check says of a model."""
    found: list[Problem] = []
    for name in CHECKS:
        found += import_module(f"{__name__}.{name}").problems(known)
    return found


def graphs(model: Model) -> Iterator[Graph]:
    """Every graph of a model: the main one, the bodies inside it, and the functions."""
    waiting = [function.graph for function in reversed(tuple(model.functions.values()))]
    if model.graph is not None:
        waiting.append(model.graph)
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += reversed([body for node in graph.nodes for _, body in node.bodies])
