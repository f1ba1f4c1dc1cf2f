"""The page for a browser: what stands on it, that no name becomes markup, and that it stays small enough to be read."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx.parser
import pytest
from command.process import ran
from every import of_each
from lxml import html as markup
from timing import within

from irlint.findings.faults import Rule, Severity
from irlint.findings.report import CheckedFile, Finding, Report
from irlint.reporters import html
from irlint.reporters.html.layout import laid_out
from irlint.run.files import Settings, checked
from irlint.snippets.drawing import Box, Neighbourhood, Snippet, Wire, WireValue

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
BEHIND = FIXTURES / "onnx/bad/IRL201-behind-a-convolution.onnx"
IR = FIXTURES / "openvino/bad/IRL204-pdpd-broadcast-mismatch.xml"
GOOD = FIXTURES / "onnx/good/small-detector.onnx"

#: What a page must not take for more than a name.
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- ]]> <style>*{display:none}</style>",
    "javascript:alert(1)",
    "&lt;b&gt; \u202e \x1b[31m",
    "</svg></details></main><base href=//evil>",
)


def page_of(*paths: Path) -> Any:
    report = checked([str(path) for path in paths], settings=Settings({}, drawn=True, facts=True))
    return markup.fromstring(html.rendered(report.folded()))


def text_of(element: Any) -> str:
    return " ".join(element.text_content().split())


def cells(element: Any) -> str:
    """The texts of an element, a blank between any two."""
    return " ".join(" ".join(element.itertext()).split())


def classes(root: Any, name: str) -> list[Any]:
    return root.xpath(f"//*[contains(concat(' ', @class, ' '), ' {name} ')]")


def test_a_finding_has_its_picture_its_shapes_and_its_help() -> None:
    root = page_of(BEHIND, IR, GOOD)
    first, second = root.findall(".//article")
    assert (first.get("data-rule"), first.get("data-severity")) == ("IRL201", "error")
    assert text_of(first.find("h3")).startswith("error IRL201 Add: ")
    (graph,) = first.iter("svg")
    assert [text_of(each) for each in graph.xpath(".//g[starts-with(@class, 'box')]/text[@class='op']")] == [
        "Add",
        "Relu",
        "skip",
        "Conv",
        "images",
        "y",
    ]
    assert [text_of(each) for each in graph.xpath(".//*[@class='clash']")] == ["56", "55"]
    assert "w float[64, 3, 7, 7]" in text_of(graph)
    assert [text_of(each) for each in first.xpath(".//mark[@class='clash']")] == ["56", "55"]
    assert "56 = floor((224 + 3 + 3 - 7) / 4) + 1" in text_of(first)
    assert "change 55 to 56 on axis 3" in text_of(classes(first, "help")[0])
    assert text_of(second.find(".//svg")).count("Parameter") > 1


def test_what_is_known_of_a_model_stands_above_its_findings() -> None:
    root = page_of(BEHIND, GOOD)
    assert [text_of(each) for each in root.xpath("//section/h2")] == [
        f"{BEHIND} onnx 8 · 3 nodes",
        f"{GOOD} onnx 8 · 7 nodes",
        "Rules",
    ]
    _, second = classes(root, "model")
    names = [text_of(each) for each in second.xpath(".//details/summary")]
    assert names == [
        "Contract: accepted inputs",
        "Costs: parameters, operations and memory",
        "Targets: which releases load it",
        "Values 15",
    ]
    contract, costs, targets, values = second.findall(".//details")
    assert "parameters 1592: 1592 float32" in cells(costs)
    assert "H % 4 in (0, 3)" in cells(contract)
    assert "heads float32[N, 8, (H + 1)//2, (W + 1)//2]" in cells(contract)
    assert "✓ 1.32 runs" in cells(targets)
    assert "c1 Conv float32[N, 8, (H + 1)//2, (W + 1)//2]" in cells(values)
    assert "No findings." in text_of(second)
    (rule,) = classes(root, "rule")
    assert (rule.get("id"), [each.get("href") for each in rule.iter("a")]) == ("IRL201", ["#f1"])


def test_everything_has_a_label_and_every_link_leads_somewhere() -> None:
    root = page_of(BEHIND, IR, GOOD)
    assert root.get("lang") == "en"
    ids = root.xpath("//@id")
    assert len(set(ids)) == len(ids)
    labelled = set(root.xpath("//label/@for"))
    for field in root.xpath("//input | //select"):
        assert field.get("id") in labelled or field.getparent().tag == "label"
    for graph in root.iter("svg"):
        assert graph.get("role") == "img"
        assert set(graph.get("aria-labelledby").split()) <= set(ids)
    assert all(each.find("caption") is not None and each.xpath("./thead/tr/th[@scope]") for each in root.iter("table"))
    assert {each.removeprefix("#") for each in root.xpath("//a/@href")} <= set(ids)
    assert [each.tag for each in root.iter("h1", "h2", "h3")][:3] == ["h1", "h2", "h3"]


def assert_only_the_page_speaks(text: str) -> Any:
    """Fails where anything but what the reporter writes is markup, style, script or a reference to elsewhere."""
    root = markup.fromstring(text)
    (script,), (style,) = root.iter("script"), root.iter("style")
    (policy,) = root.xpath("//meta[@http-equiv]/@content")
    for kind, element in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert not list(root.iter("img", "base", "link", "iframe", "object", "embed"))
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or name in ("style", "src", "srcset")]
        assert element.get("href", "#").startswith("#")
    outside = text.replace(style.text, "").replace(script.text, "")
    assert not re.search(r"url\(|@import|xlink", outside + style.text)
    return root


def test_no_name_of_a_model_becomes_markup(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, float[N] z) => (float[2] y) '
        "{ a = Relu (x) b = Identity (z) c = Concat <axis = 0> (a, b) y = Add (a, c) w = Odd.Op (c) }"
    )
    names = dict(zip(("x", "y", "z", "a", "b", "c"), HOSTILE))
    for node in model.graph.node:
        node.name = f"{node.op_type} {HOSTILE[0]} {HOSTILE[-1]}"
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    for value in (*model.graph.input, *model.graph.output):
        value.name = names[value.name]
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = HOSTILE[1]
    model.graph.node[-1].op_type = HOSTILE[4]
    path = tmp_path / "a<b>&'c.onnx"
    path.write_bytes(model.SerializeToString())
    report = checked([str(path)], settings=Settings({}, drawn=True, every=True, facts=True))
    root = assert_only_the_page_speaks(html.rendered(report.folded()))
    assert report.findings
    for name in HOSTILE[:4]:
        assert name in root.text_content()


def rule(code: str, severity: Severity) -> Rule:
    return Rule(code, "for-tests", severity, "For <tests>.", why=HOSTILE[0], fix=HOSTILE[1])


CLASH, STALE = rule("IRL2X1", Severity.ERROR), rule("IRL6X1", Severity.WARNING)


def wild(seed: int) -> Report:
    """A report whose every text is hostile, with a picture of any shape."""
    draw = random.Random(seed)

    def text() -> str:
        return "".join(draw.choices([*HOSTILE, "word", " ", "\n", "\0", "\ud800", "`", "形"], k=draw.randrange(4)))

    def value() -> WireValue:
        dims = draw.choice([None, tuple(text() or "1" for _ in range(draw.randrange(20)))])
        return WireValue(
            text(),
            dims,
            text(),
            tuple(draw.sample(range(len(dims or ())), min(1, len(dims or ())))),
            draw.random() < 0.5,
        )

    def picture() -> Snippet:
        count = draw.randrange(1, 14)
        boxes = tuple(
            Box(draw.choice(["node", "input", "missing"]), text(), text(), "", (value(),)) for _ in range(count)
        )
        wires = tuple(
            Wire(draw.randrange(count), draw.randrange(count), value(), draw.randrange(3))
            for _ in range(draw.randrange(20))
        )
        return Snippet(text(), notes=(text(),), around=Neighbourhood(boxes, wires))

    findings = tuple(
        Finding(
            text(),
            draw.choice([CLASH, STALE]),
            Severity.ERROR,
            text(),
            text(),
            text(),
            text(),
            text(),
            line=1,
            detail=picture(),
        )
        for _ in range(draw.randrange(8))
    )
    return Report((CheckedFile(text(), text(), text()), CheckedFile(text(), None, status="skipped")), findings, "0.1.0")


@of_each({f"wild {seed}": seed for seed in range(20)})
def test_no_text_becomes_markup(seed: int) -> None:
    report = wild(seed)
    root = assert_only_the_page_speaks(html.rendered(report))
    assert len(root.findall(".//article")) <= len(report.findings)


@pytest.mark.parametrize("seed", range(20))
def test_boxes_lie_beside_each_other(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randrange(2, 14)
    wires = [Wire(box, draw.randrange(box), WireValue("", None), draw.randrange(3)) for box in range(1, count)]
    wires += [Wire(draw.randrange(count), draw.randrange(count), WireValue("", None)) for _ in range(draw.randrange(6))]
    widths = [draw.uniform(90, 300) for _ in range(count)]
    layout = laid_out(Neighbourhood((Box("node", "Op", ""),) * count, tuple(wires)), widths)
    assert sorted(item for row in layout.rows for item in row if item >= 0) == list(range(count))
    for at, row in enumerate(layout.rows):
        boxes = sorted((layout.middles[at, item] - widths[item] / 2, widths[item]) for item in row if item >= 0)
        assert all(left + width <= other for (left, width), (other, _) in pairwise(boxes))
        assert all(-1e-6 <= left <= left + width <= layout.width + 1e-6 for left, width in boxes)


def test_a_page_of_ten_thousand_findings_stays_usable() -> None:
    around = Neighbourhood(
        (Box("fault", "Add", "/a/Add"), Box("node", "Relu", "r")), (Wire(1, 0, WireValue("r", ("1", "2"))),)
    )
    findings = tuple(
        Finding(
            "m.onnx",
            CLASH if index % 2 else STALE,
            Severity.ERROR,
            f"axis {index}",
            "help",
            node=f"/layers.{index}/Add",
            detail=Snippet("here", around=around),
        )
        for index in range(10_500)
    )
    report = Report((CheckedFile("m.onnx", "onnx"),), findings, "1")
    text = within(2, lambda: html.rendered(report))
    assert len(text) < 8_000_000
    assert (text.count("<article"), text.count("<svg")) == (html.FINDINGS, html.PICTURES)
    assert "The first 10,000 of 10,500 findings are shown" in text
    assert "200 of 10,500 findings have a drawing: the first ten of each rule in a file, and at most 200 in all" in text


def test_findings_that_say_the_same_are_one_article() -> None:
    findings = tuple(Finding("m.onnx", CLASH, Severity.ERROR, "same", node=f"n{index}") for index in range(80))
    root = markup.fromstring(html.rendered(Report((CheckedFile("m.onnx", "onnx"),), findings, "1")))
    (article,) = root.findall(".//article")
    assert text_of(article.find("details/summary")) == "the same at 79 more places"
    assert text_of(article.findall("details//li")[-1]) == "and 29 more"


def test_the_name_of_a_file_states_the_form(tmp_path: Path) -> None:
    ended = ran("check", str(BEHIND), "--output", f"{tmp_path}/new/report.html")
    assert ended.returncode == 1
    assert (tmp_path / "new/report.html").read_text("utf-8").startswith("<!DOCTYPE html>\n")


#: Colours of texts, and of the grounds on which they stand.
CONTRASTS = [
    *((text, ground) for text in ("ink", "dim", "link", "error", "warning", "note") for ground in ("ground", "card")),
    *((text, f"{text}-ground") for text in ("error", "warning", "note", "good")),
    *(("ink", ground) for ground in ("box", "code", "good-ground", "error-ground")),
    *(("dim", ground) for ground in ("box", "code")),
    ("link", "code"),
]


def luminance(colour: str) -> float:
    """How light a colour is, as WCAG 2 computes it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(scheme: str) -> None:
    style = Path(html.__file__).with_name("style.css").read_text("utf-8")
    light, dark = style.split("prefers-color-scheme: dark")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light if scheme == "light" else dark))
    for text, ground in CONTRASTS:
        low, high = sorted((luminance(colours[text]), luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def test_the_lines_of_the_model_stay_if_other_findings_follow(tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>\n'
    text = f"{head}g (float[2,3] x) => (float[2,4] y) <float[2,4] z> {{ z = Neg (x) y = Relu (z) }}"
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    (article,) = page_of(path).findall(".//article")
    parts = {text_of(each.find("summary")): each for each in article.iter("details")}
    assert list(parts) == ["1 more follows from this", "in the model's own text"]
    (lines,) = parts["in the model's own text"].iter("pre")
    assert "z = Neg (x)" in text_of(lines)


def test_a_circle_goes_round_and_lines_stand_where_no_shapes_do() -> None:
    (article,) = page_of(FIXTURES / "onnx/bad/IRL103-graph-cycle.onnx").findall(".//article")
    assert text_of(classes(article, "facts")[0].find("pre")) == "[0] z = Add (x, y)"
    assert not article.findall(".//details")
    back = [path for path in article.xpath(".//path[@class='wire']/@d") if "V" not in path]
    assert len(back) == 1
