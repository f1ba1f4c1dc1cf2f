"""What a release's answers about nodes of one operator have in common: the traits of those that it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

#: A rule of several traits that explains fewer refusals says nothing about other nodes.
SUPPORT = 2
MORE_SUPPORT = 3
ERROR_SUPPORT = 8

#: A rule of more traits says no more than that one node is refused.
MOST_TRAITS = 4


class Answers:
    """The nodes of one operator, as bits: those that a release reads, and those with each trait.

    ``scalars`` are the attributes that hold one number or text, ``doubtful`` the errors with which nodes of other operators
    are read.
    """

    def __init__(
        self,
        nodes: Iterable[tuple[Set[str], bool]],
        scalars: Set[str] = frozenset(),
        doubtful: Set[str] = frozenset(),
    ) -> None:
        listed = list(nodes)
        every = set().union(*(has for has, _ in listed))
        names = {each for each in every if each[0].isalpha() and not each[1:2].isdigit() and ":" not in each}
        attributes = {each for each in names if "=" not in each and each != "any"}
        numbers = (each.partition("=") for each in names if "=" in each)
        self.numbers = {name for name, _, value in numbers if value.lstrip("-").isdecimal()}
        self.untried = sorted(f"!{each}" for each in scalars - attributes)
        self.reads = sum(1 << at for at, (_, read) in enumerate(listed) if read)
        self.has = [frozenset({*has, *(f"!{each}" for each in attributes - has if "any" in has)}) for has, _ in listed]
        self.doubtful = doubtful
        self.every = (1 << len(listed)) - 1
        self.refused = [at for at, (_, read) in enumerate(listed) if not read]
        self.with_trait: dict[str, int] = {}
        for at, has in enumerate(self.has):
            for each in has:
                self.with_trait[each] = self.with_trait.get(each, 0) | 1 << at

    def those(self, rule: Iterable[str]) -> int:
        """The nodes that have every trait of a rule."""
        found = self.every
        for each in rule:
            found &= self.with_trait[each]
        return found

    def is_read_but_for(self, at: int, about: Set[str]) -> bool:
        """Whether a node is read that differs from a refused one only in what a rule is about."""
        has = self.has[at]
        same = [each for each in has if _about(each) not in about and not each.startswith("e:")]
        return bool(self.those(same) & self.reads)

    def is_pure(self, rule: Iterable[str]) -> bool:
        """Whether every node with these traits is refused."""
        return not self.those(rule) & self.reads


def rules(answers: Answers) -> list[tuple[str, ...]]:
    """The traits, several together, by which nodes are refused: each explains refusals, and none of them is read."""
    sound = [at for at in answers.refused if not any(each.startswith("e:") for each in answers.has[at])]
    if not answers.reads:
        return [("any",)] if len(sound) >= MORE_SUPPORT else []
    found: dict[tuple[str, ...], None] = {}
    left = set(answers.refused)
    for told, explain in (("", _alone), ("", _in_pairs), ("e:IRL5", _alone), ("e:IRL5", _in_pairs)):
        candidates = {at: explained for at in sorted(left) if (explained := explain(answers, at, told))}
        for rule in _chosen(answers, candidates):
            covered = {at for at in answers.refused if answers.those(rule) >> at & 1}
            if not covered:
                continue
            rule = (*rule, *_context(answers, rule, covered))
            if _holds(answers, rule, covered):
                found[rule] = None
                left -= covered
    return list(found)


def _context(answers: Answers, rule: tuple[str, ...], covered: Set[int]) -> list[str]:
    """What all nodes have in common of which a rule tells an element type, or a number in an attribute: it may not hold
    without that."""
    typed = {each[1] for each in rule if each[0] == "t" and each[1:2].isdigit()}
    common = frozenset.intersection(*(answers.has[at] for at in covered)) - set(rule)
    if len(rule) == 1 and rule[0].endswith(("=0", "=1")) and rule[0].partition("=")[0] in answers.numbers:
        return [each for each in sorted(common) if each.startswith("t0=")]
    if not typed:
        return []
    given = [each for each in common if each[0] in "cor" and each[1:2].isdigit() and each[1] in typed - {"0"}]
    without = [each for each in common if each[0] == "!" and each[1:] in answers.numbers and "0" not in typed]
    left_out = [
        each for each in common if each[0] == "n" and each[1:].isdigit() and answers.with_trait[each] != answers.every
    ]
    return sorted([*given, *without, *answers.untried, *(left_out if len(rule) > 1 else [])])


def _holds(answers: Answers, rule: tuple[str, ...], covered: Set[int]) -> bool:
    """Whether enough was asked to say so: an error, or ranks, of several nodes; else a node that is read without just that."""
    if any(each.startswith("e:") for each in rule):
        return len(covered) >= ERROR_SUPPORT
    if len(rule) == 1 and _is_weak(rule[0]):
        return len(covered) >= MORE_SUPPORT
    is_number = rule[0].partition("=")[0] in answers.numbers and rule[0].endswith(("=0", "=1"))
    if is_number and not any(each.startswith("t0=") for each in rule):
        return False
    if len(rule) > 1 and len(covered) < SUPPORT and any(trait[0] not in "<>t" for trait in rule):
        return False
    about = {_about(each) for each in rule}
    return any(answers.is_read_but_for(at, about) for at in covered)


def _about(trait: str) -> str:
    """What a trait is about: an input, the types of several, an attribute, the opset, an output."""
    if trait[0] in "<>":
        return "opset"
    if trait[0] in "td" and trait[1:2].isdigit():
        return "types"
    if trait[0] in "ncorzvy" and trait[1:2].isdigit():
        return f"{'output' if trait[0] == 'y' else 'input'} {trait[1]}"
    return trait.lstrip("!").partition("=")[0]


def _may_explain(trait: str, told: str) -> bool:
    """Whether a trait can be why a node is refused; what it is in the check is none where other traits tell that."""
    if trait == "any" or (trait[0] == "t" and trait[1] != "0" and trait.endswith("=bool")):
        return False
    if trait.startswith("e:"):
        return not trait.startswith(("e:IRL4", "e:IRL5")) or (bool(told) and trait.startswith(told))
    name, _, value = trait.partition("=")
    if value == "?" or (trait[0] == "z" and trait[1:].isdigit()):
        return False
    if not (name[0] in "r" and name[1:].isdigit()) and value.lstrip("-").isdecimal() and value not in ("0", "1"):
        return name.endswith(("to", "type"))
    return True


def _is_weak(trait: str) -> bool:
    """Whether a trait tells nothing together with another one: a rank, a type that is another one's."""
    return trait[0] in "ryvdco" and trait[1:2].isdigit()


def _blamed(answers: Answers, has: Set[str], told: str) -> list[str]:
    """The traits that may be why a node is refused: the error of one that is not sound."""
    errors = [each for each in has if each.startswith("e:") and _may_explain(each, told)]
    blamed = errors or [each for each in has if _may_explain(each, told)]
    return sorted(each for each in blamed if each not in answers.doubtful)


def _alone(answers: Answers, at: int, told: str) -> list[tuple[str, ...]]:
    return [(each,) for each in _blamed(answers, answers.has[at], told) if answers.is_pure((each,))]


def _in_pairs(answers: Answers, at: int, told: str) -> list[tuple[str, ...]]:
    """Pairs of what a node has and the read one nearest to it has not, with what else it has."""
    has = answers.has[at]
    reads = [other for other in range(len(answers.has)) if answers.reads >> other & 1]
    if not reads:
        return []
    nearest = set(min((has - answers.has[other] for other in reads), key=len))
    blamed = set(_blamed(answers, has, told))
    if any(each.startswith("e:") for each in blamed):
        nearest = blamed
    partners = [each for each in sorted(has - answers.doubtful) if _may_explain(each, told)]
    return [
        (min(one, other), max(one, other))
        for one in sorted(nearest & blamed)
        for other in partners
        if other != one and not (_is_weak(one) or _is_weak(other)) and answers.is_pure((one, other))
    ]


def _chosen(answers: Answers, candidates: dict[int, list[tuple[str, ...]]]) -> Iterator[tuple[str, ...]]:
    """First what alone explains a node, then what explains the most; of those that go together always, all together."""
    sole = {each[0] for each in candidates.values() if len(each) == 1}
    left = {at for at, each in candidates.items() if sole.isdisjoint(each)}
    yield from sorted(sole)
    while left:
        counts: dict[tuple[str, ...], set[int]] = {}
        for at in left:
            for rule in candidates[at]:
                counts.setdefault(rule, set()).add(at)
        best = max(len(each) for each in counts.values())
        alike = [rule for rule, each in sorted(counts.items()) if len(each) == best]
        covered = counts[alike[0]]
        together = sorted({trait for rule in alike if counts[rule] == covered for trait in rule})
        if len(together) <= MOST_TRAITS:
            yield tuple(together)
        left -= covered
