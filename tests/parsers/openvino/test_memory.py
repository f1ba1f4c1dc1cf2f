"""Documents that are mostly one thing of no use: reading one takes less than three times its size."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from irlint import parsers

NET = (Path(__file__).parents[3] / "fixtures/openvino/good/IRL205-pdpd-axis-ambiguous.xml").read_text("utf-8")
SIZE = 8_000_000

DOCUMENTS = {
    "blanks before the layers": NET.replace("<layers>", " " * SIZE + "<layers>"),
    "blanks among the layers": NET.replace("<layers>", "<layers>" + " " * SIZE),
    "a text": NET.replace("</dim>", f"{'x' * SIZE}</dim>", 1),
    "an attribute": NET.replace("<data ", f'<data a="{"x" * SIZE}" ', 1),
    "a name": NET.replace('name="add"', f'name="{"x" * SIZE}"'),
    "a comment": NET.replace("<layers>", f"<layers><!--{'x' * SIZE}-->"),
    "information": NET.replace("</net>", f'<rt_info><a value="{"x" * SIZE}"/></rt_info></net>'),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_memory(name: str, tmp_path: Path) -> None:
    data = DOCUMENTS[name].encode()
    parsers.read(tmp_path / "m.xml", NET.encode())
    tracemalloc.start()
    try:
        model = parsers.read(tmp_path / "m.xml", data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert model.graph is not None
    assert peak < 2 * len(data)
    assert ("IRL011" in [each.fault.rule.code for each in model.problems]) == (name == "a name")
