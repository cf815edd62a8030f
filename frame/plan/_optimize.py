# SPDX-License-Identifier: Apache-2.0
"""The optimiser: applies the rules, in order, to a plan."""

from collections.abc import Callable, Mapping
from typing import Any

from ._node import Node
from .rules._common_subplans import share_subplans
from .rules._constant_folding import fold_constants
from .rules._filter_fusion import fuse_filters
from .rules._group_pushdown import push_groups
from .rules._key_ranges import narrow_keys
from .rules._limit_pushdown import push_limits
from .rules._predicate_pushdown import push_predicates
from .rules._projection_pushdown import push_projections
from .rules._small_build_side import build_small_side

# In the order in which they are applied.
RULES: dict[str, Callable[[Any], Any]] = {
    "constant_folding": fold_constants,
    "key_ranges": narrow_keys,
    "predicate_pushdown": push_predicates,
    "filter_fusion": fuse_filters,
    "limit_pushdown": push_limits,
    "group_pushdown": push_groups,
    "small_build_side": build_small_side,
    "projection_pushdown": push_projections,
    "common_subplans": share_subplans,
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
    for name, rule in RULES.items():
        if chosen.get(name, True):
            root = rule(root)
    return root
