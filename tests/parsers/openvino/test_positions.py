"""Where start tags stand, against hand-counted places and expat."""

from __future__ import annotations

import sys

import pytest

from irlint.parsers.openvino.positions import positions

DOCUMENT = """<?xml version="1.0"?>
<!-- <net> -->
<net name="ä" version="11"
     extra='1'>
\t<a ü="1"/><![CDATA[<no>]]><b x = "<>"
  y='"'
  />
</net>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_positions(encoding, newline):
    text = DOCUMENT.replace("\n", newline)
    data = text.encode(encoding)
    found = positions(data, [0, 1, 2])
    assert [(p.line, p.column) for p in found.values()] == [(3, 1), (5, 2), (5, 28)]
    assert [(p.end_line, p.end_column) for p in found.values()] == [(4, 16), (5, 12), (7, 5)]
    plain = encoding.removesuffix("-sig")
    units = {"utf-16": "utf-16-le" if sys.byteorder == "little" else "utf-16-be"}.get(plain, plain)
    units = {"utf-32": "utf-32-le" if sys.byteorder == "little" else "utf-32-be"}.get(units, units)
    for position, start in zip(found.values(), ("<net", "<a", "<b"), strict=True):
        assert data[position.offset : position.end_offset].decode(units).startswith(start)
        assert data[position.offset : position.end_offset].decode(units).endswith(">")
    assert found[0].attributes == {"name": (3, 6, 3, 14), "version": (3, 15, 3, 27), "extra": (4, 6, 4, 15)}
    assert found[1].attributes == {"ü": (5, 5, 5, 10)}
    assert found[2].of("y") == (6, 3, 6, 8) and found[2].of("z") == found[2].of(None) == (5, 28, 7, 5)


def test_positions_agree_with_expat_past_line_65535():
    from xml.parsers import expat

    text = (
        "<net>" + "\n" * 60_000 + "".join(f"<layer\n id='{n}'>\n<é/><port/></layer>\n" for n in range(3000)) + "</net>"
    )
    expected = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: expected.append(
        (parser.CurrentLineNumber, parser.CurrentByteIndex)
    )
    parser.Parse(text.encode(), True)
    wanted = range(0, len(expected), 7)
    found = positions(text.encode(), wanted)
    assert [(found[n].line, found[n].offset) for n in wanted] == [expected[n] for n in wanted]
    assert found[wanted[-1]].line > 68_000


def test_positions_in_documents_that_are_not_well_formed():
    data = b"text <net a='&' a='<'> & <b/>\xff<c/></nett><d/>< <e/>"
    assert {n: p.offset for n, p in positions(data, range(9)).items()} == {0: 5, 1: 25, 2: 30, 3: 41, 4: 45}
