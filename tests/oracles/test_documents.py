"""Documents that XML and pugixml, with which OpenVINO reads, understand differently: what OpenVINO refuses is an
error."""

from __future__ import annotations

from pathlib import Path

import pytest

import irlint
from irlint.checks.collisions import TENSOR_NAME_COLLISION

FIXTURE = Path(__file__).parents[2] / "fixtures" / "openvino" / "good" / "IRL205-pdpd-axis-ambiguous.xml"
NET = FIXTURE.read_text("utf-8").partition("?>")[2].lstrip()
EDGE = NET[NET.index("<edge ") : NET.index("/>", NET.index("<edge ")) + 2]
LOST = '<edge from-layer="0" from-port="0" to-layer="9" to-port="0"/>'
RESULT = NET[NET.index('<layer id="3"') : NET.index("</layers>")]
COLLISION = TENSOR_NAME_COLLISION.good.replace(
    'names="y"><dim>2</dim><dim>3</dim></port>',
    'names="x"><dim>2</dim><dim>3</dim></port><port id="1" precision="FP32" names="x"/>',
).replace('names="x"', 'names="a"', 1)

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
    "a root of another name": (NET.replace("<net ", "<nets ").replace("</net>", "</nets>"), False),
    "a root and a start of layers that are lost": ("<n" + NET.partition("<layers>")[2].replace("</layers>", ""), False),
    "an edge from nowhere, and no layers": (
        NET.replace("<layers>", "<layers/><layers>").replace(" from-layer=", " a="),
        False,
    ),
    "no data, and an edge to nowhere": (
        NET.replace('<data shape="3,4,4,5" element_type="f32"/>', "").replace("<edges>", f"<edges>{LOST}"),
        False,
    ),
    "a layer twice": (NET.replace(RESULT, RESULT * 2), True),
    "two outputs of one name and one id": (COLLISION, False),
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
