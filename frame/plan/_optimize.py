# SPDX-License-Identifier: Apache-2.0
"""The optimiser: applies the rules, in order, to a plan."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._node import Call, Node, bottom_up
from ._relations import RELATIONS
from .rules._common_subplans import share_subplans
from .rules._constant_folding import fold_constants
from .rules._filter_fusion import fuse_filters
from .rules._group_pushdown import push_groups
from .rules._key_ranges import narrow_keys
from .rules._limit_pushdown import push_limits
from .rules._predicate_pushdown import push_predicates
from .rules._projection_pushdown import push_projections
from .rules._small_build_side import build_small_side


@dataclass(frozen=True)
class Rule:
    """A rule of the optimiser.

    Attributes:
        apply: maps a plan to a plan with the same result.
        steps: the methods that it acts on; a plan without any of them stays as it is. None if it
            acts on every plan.
    """

    apply: Callable[[Any], Any]
    steps: frozenset[str] | None


def _rule(apply: Callable[[Any], Any], *steps: str) -> Rule:
    return Rule(apply, frozenset(steps))


# Plans meet in these; without them, no step comes twice.
_OF_SEVERAL_INPUTS = [name for name, one in RELATIONS.items() if one.reads_of_each is not None]

# In the order in which they are applied.
RULES: dict[str, Rule] = {
    "constant_folding": _rule(fold_constants, "filter", "assign", "column"),
    "key_ranges": _rule(narrow_keys, "merge"),
    "predicate_pushdown": _rule(push_predicates, "filter"),
    "filter_fusion": _rule(fuse_filters, "filter"),
    "limit_pushdown": _rule(push_limits, "head"),
    "group_pushdown": _rule(push_groups, "merge"),
    "small_build_side": _rule(build_small_side, "merge"),
    "projection_pushdown": Rule(push_projections, None),
    "common_subplans": _rule(share_subplans, *_OF_SEVERAL_INPUTS),
}


def optimized(root: Node, optimizations: Mapping[str, bool] | None) -> Any:
    """Applies the rules to a plan.

    Args:
        root: the plan.
        optimizations: rules to switch on or off by name; all others are on.

    Raises:
        ValueError: there is no rule of a name.
    """
    chosen = dict(optimizations or {})
    unknown = chosen.keys() - RULES.keys()
    if unknown:
        raise ValueError(
            f"optimizations: there is no rule {sorted(unknown)[0]!r}. The rules are {list(RULES)}."
        )
    steps = _steps_of(root)
    for name, rule in RULES.items():
        if chosen.get(name, True) and (rule.steps is None or rule.steps & steps):
            root = rule.apply(root)
            steps = _steps_of(root)
    return root


def _steps_of(root: Node) -> frozenset[str]:
    """The methods that a plan calls."""
    return frozenset(node.method for node in bottom_up(root) if isinstance(node, Call))
