"""``irlint broadcast``: status, forms, and what is refused."""

from __future__ import annotations

import json

import pytest
from command.process import run

from irlint.command.other_options import BROADCAST
from irlint.run.broadcasting import RULES

PDPD = """pdpd  OpenVINO: auto_broadcast="pdpd"
  Only the second shape is stretched; its axes are aligned with the axes of the first from `axis`
    on, or with the last axes if `axis` is -1.
 |   axis         0    1    2    3
 |   shape 0  [   2,   3,   4,   5 ]
 |   shape 1       [   3,   9 ]
 |                          ^ cannot be broadcast
  refused: 4 (axis 2 of input 0) against 9 (axis 1 of input 1); input 1 is aligned with input 0 from
    axis 1 on
  help: only input 1 is broadcast, and only where its size is 1:
    change its 9 to 1 or 4, or choose another axis
"""


def test_one_rule() -> None:
    done = run("broadcast", "2,3,4,5", "[3, 9]", "--rule", "pdpd", "--axis", "1")
    assert (done.returncode, done.stderr, done.stdout) == (1, "", PDPD)
    assert run("broadcast", "2,3,4,5", "3,4", "--rule", "pdpd", "--axis", "1").returncode == 0


def test_the_help_lists_every_rule() -> None:
    """``irlint.command.other_options`` cannot import the rules, because each command imports it."""
    (option,) = (each for each in BROADCAST if each.name == "rule")
    listed = option.help.partition("The rules are ")[2].rstrip(".").replace(" and ", ", ").split(", ")
    assert listed == [rule.name for rule in RULES]


def test_a_help_does_not_put_two_sizes_side_by_side() -> None:
    done = run("broadcast", "--axis", "1", "1,64,56,56", "64", "--rule", "unidirectional")
    assert "help: change 64 in input 1 to 1 or 56" in done.stdout


def test_rules_that_answer_alike_share_a_table() -> None:
    done = run("broadcast", "2,3", "3")
    assert done.returncode == 0
    assert done.stdout.count("result   [   2,   3 ]") == 1
    assert "multidirectional         ONNX" in done.stdout
    assert "not asked: broadcast-explicit needs --axis" in done.stdout


def test_json() -> None:
    found = json.loads(run("broadcast", "N,3", "1,3", "--format", "json").stdout)
    assert (found["schema"], found["shapes"], found["axis"]) == ("irlint-broadcast-1", [["N", 3], [1, 3]], None)
    assert found["rules"][0]["shape"] == ["N", 3]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["2,3"], "name at least two shapes"),
        (["2,x-", "3"], "'x-' is not a size"),
        (["2", "3", "--rule", "nunpy"], "unknown broadcast rule 'nunpy', did you mean 'numpy'?"),
        (["2", "3", "4", "--rule", "pdpd"], "pdpd takes 2 shapes, and there are 3"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str) -> None:
    done = run("broadcast", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr


def test_the_pages_of_broadcast_rules_point_to_it() -> None:
    assert "irlint broadcast" in run("explain", "IRL201").stdout
    assert "irlint broadcast" not in run("explain", "IRL300").stdout
