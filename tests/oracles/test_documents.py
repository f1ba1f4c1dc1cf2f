"""Documents that XML and pugixml, with which OpenVINO reads, understand differently: what OpenVINO refuses is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

import irlint

FIXTURE = Path(__file__).parents[2] / "fixtures" / "openvino" / "good" / "IRL205-pdpd-axis-ambiguous.xml"
NET = FIXTURE.read_text("utf-8").partition("?>")[2].lstrip()
EDGE = NET[NET.index("<edge ") : NET.index("/>", NET.index("<edge ")) + 2]

#: A document, and whether OpenVINO reads it.
DOCUMENTS = {
    "as it is": (NET, True),
    "edges before the layers": (NET.replace("<layers>", f"<edges>{EDGE}</edges><layers>"), False),
    "a DOCTYPE": ('<!DOCTYPE net [ <!ENTITY a "x>y]>"> ]>' + NET, True),
    "a DOCTYPE in a DOCTYPE": ("<!DOCTYPE net <!X> >" + NET, True),
    "a comment in a DOCTYPE": ('<!DOCTYPE net [ <!-- > " --> ]>' + NET, True),
    "an instruction in a DOCTYPE": ('<!DOCTYPE net [ <? > " ?> ]>' + NET, True),
    "an ignored section": ("<!DOCTYPE net [ <![IGNORE[ > ]]> ]>" + NET, True),
    "a default of a version": (
        '<!DOCTYPE net [ <!ATTLIST layer version CDATA "opset1"> ]>' + NET.replace(' version="opset1"', ""),
        False,
    ),
    "a DOCTYPE that does not end": ('<!DOCTYPE net [ <!ENTITY a "x"> ' + NET, False),
    "an apostrophe in a DOCTYPE": ("<!DOCTYPE net [ it's ]>" + NET, False),
    "a DOCTYPE inside": (NET.replace("<layers>", "<!DOCTYPE net><layers>"), False),
    "an ELEMENT": ("<!ELEMENT a>" + NET, False),
    "a namespace inside": (NET.replace("<edges>", '<edges xmlns="a">'), True),
    "a namespace of an edge": (NET.replace("<edge ", '<edge xmlns:a="b" a:c="d" ', 1), True),
    "a prefix": (NET.replace("<edges>", "<a:edges>").replace("</edges>", "</a:edges>"), False),
    "a letter that no name of XML has": (NET.replace("<edge ", '<edge a\u2028="1" ', 1), True),
    "a section": (NET.replace("<dim>2</dim>", "<dim><![CDATA[2]]></dim>"), True),
    "a declaration inside": (NET.replace("<layers>", '<?xml version="1.0"?><layers>'), True),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", DOCUMENTS)
def test_openvino_and_irlint_read_the_same(name: str, tmp_path: Path) -> None:
    import openvino

    text, is_read = DOCUMENTS[name]
    path = tmp_path / "m.xml"
    path.write_text(text, "utf-8")
    try:
        openvino.Core().read_model(path)
    except Exception:
        assert not is_read
    else:
        assert is_read
    errors = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    assert (not errors) == is_read, errors
