# SPDX-License-Identifier: Apache-2.0
"""Rules that give the arrays of a tree their partition specs, by path."""

import difflib
import fnmatch
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ._arguments import check_fits, type_of
from ._compat import MeshLike, is_key
from ._specs import SpecEntry, as_spec, check_spec, named_leaves

SpecLike = PartitionSpec | tuple[SpecEntry, ...]
Rules = Mapping[str, SpecLike]


def match_specs(
    rules: Rules,
    tree: Any,
    mesh: MeshLike | None = None,
    *,
    default: SpecLike = PartitionSpec(),  # noqa: B008 - immutable
    unmatched: Literal["warn", "raise", "ignore"] = "warn",
) -> Any:
    """Gives each array of a tree the partition spec of the most specific rule for its path.

    A path joins the keys and positions of a leaf: `layers/0/attention/w`. The pattern of a rule is
    a glob for the whole path: `*` stands for any characters, slashes included, `?` for one, `[01]`
    for one of a set. The pattern with the most other characters wins. Scalars are replicated.

    Args:
        rules: partition specs by pattern.
        tree: a pytree of arrays, or of their shapes.
        mesh: the mesh to check the specs against; without one only the number of axes is checked.
        default: the spec of arrays that no pattern matches.
        unmatched: what to do about patterns that match no array.

    Returns:
        A pytree of the same structure with a `PartitionSpec` for each array.

    Raises:
        TypeError: a pattern is not a string, or a spec is not a partition spec.
        ValueError: two different rules are equally specific for a path, a spec names another axis
            than the mesh has, has more entries than the array has axes, or a mesh axis does not
            divide an array axis.

    Example:
        >>> import numpy as np
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> tree = {"up": {"w": np.ones((4, 8)), "b": np.ones(8)}, "step": np.array(3)}
        >>> rules = {"*w": P(None, "model"), "*": P("model")}
        >>> specs = shardings.match_specs(rules, tree)
        >>> specs == {"up": {"w": P(None, "model"), "b": P("model")}, "step": P()}
        True
    """
    caller = "match_specs"
    if unmatched not in ("warn", "raise", "ignore"):
        raise ValueError(
            f"{caller}: unmatched must be 'warn', 'raise' or 'ignore', got {unmatched!r}."
        )
    if not isinstance(rules, Mapping):
        raise TypeError(
            f"{caller}: rules must be partition specs by pattern, a dict, got {type_of(rules)}."
        )
    for pattern in rules:
        if not isinstance(pattern, str):
            raise TypeError(
                f"{caller}: the pattern of a rule must be a string, got {pattern!r}. Write the "
                "path of an array, such as 'layers/0/w', or a glob."
            )
    specs_of = {
        pattern: as_spec(spec, caller, f"the spec of {pattern!r}")
        for pattern, spec in rules.items()
    }
    default = as_spec(default, caller, "default")
    leaves = named_leaves(tree)
    matched: set[str] = set()
    specs = []
    for path, leaf in leaves:
        matching = [pattern for pattern in rules if fnmatch.fnmatchcase(path, pattern)]
        matched.update(matching)
        shape = np.shape(leaf)
        spec = _winner(path, matching, specs_of, default, caller) if shape else PartitionSpec()
        check_spec(spec, shape, mesh, caller, path)
        specs.append(spec)
    _report_unmatched([pattern for pattern in rules if pattern not in matched], leaves, unmatched)
    return jax.tree.unflatten(jax.tree.structure(tree), specs)


def batch_specs(tree: Any, axis: str | tuple[str, ...], mesh: MeshLike | None = None) -> Any:
    """Shards the leading axis of each array of a batch; scalars are replicated.

    Args:
        tree: a pytree of arrays, or of their shapes.
        axis: mesh axis, or several, of the rows.
        mesh: the mesh to check the specs against.

    Returns:
        A pytree of the same structure with a `PartitionSpec` for each array.

    Raises:
        ValueError: the mesh has no such axis, or it does not divide the rows.

    Example:
        >>> import numpy as np
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> specs = shardings.batch_specs({"x": np.ones((8, 2)), "step": np.array(3)}, "data")
        >>> specs == {"x": P("data"), "step": P()}
        True
    """

    def spec_of(path: str, leaf: Any) -> PartitionSpec:
        spec = PartitionSpec(axis) if np.ndim(leaf) else PartitionSpec()
        check_spec(spec, np.shape(leaf), mesh, "batch_specs", path)
        return spec

    specs = [spec_of(path, leaf) for path, leaf in named_leaves(tree)]
    return jax.tree.unflatten(jax.tree.structure(tree), specs)


def place(tree: Any, mesh: MeshLike, specs: Any) -> Any:
    """Places the arrays of a tree on a mesh.

    Args:
        tree: a pytree of arrays.
        mesh: the mesh.
        specs: a pytree of partition specs, as from `match_specs`, or one spec for all arrays.

    Returns:
        A pytree of the same structure with arrays on the mesh.

    Raises:
        TypeError: a leaf is not an array of numbers, or its integers need x64 mode.
        ValueError: the structures differ, a spec names another axis than the mesh has, has more
            entries than the array has axes, or a mesh axis does not divide an array axis. All
            arrays are checked before the first is sent.

    Example:
        >>> import numpy as np
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> tree = {"w": np.ones((4, 8), np.float32)}
        >>> w = shardings.place(tree, shardings.make_mesh(1), P("rows"))["w"]
        >>> w.sharding.spec == P("rows")
        True
    """
    caller = "place"
    leaves = named_leaves(tree)
    listed = _specs_of(tree, specs, caller)
    for (path, leaf), spec in zip(leaves, listed, strict=True):
        check_spec(spec, np.shape(leaf), mesh, caller, path or "tree")
        check_fits(leaf, caller, path or "tree")
    placed = [
        _put(leaf, NamedSharding(mesh, spec))
        for (_, leaf), spec in zip(leaves, listed, strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(tree), placed)


def _put(leaf: Any, sharding: NamedSharding) -> jax.Array:
    if is_key(leaf) and not sharding.is_fully_addressable:
        # JAX sends random keys to devices of other processes as their words only.
        words = jax.device_put(jax.random.key_data(leaf), sharding)
        return jax.random.wrap_key_data(words, impl=jax.random.key_impl(leaf))
    return jax.device_put(leaf, sharding)


def transformer_rules(axis: str = "model") -> dict[str, PartitionSpec]:
    """Rules that shard the layers of a transformer over one mesh axis, by their usual names.

    The first matrix of a pair is sharded by columns and the second by rows, so that a pair needs
    one all-reduce. Attention is sharded by heads, an embedding by rows. Pass `unmatched="ignore"`
    to `match_specs`: no model has all of these names.

    Args:
        axis: mesh axis of the shards.

    Returns:
        Partition specs by pattern.

    Example:
        >>> from jax.sharding import PartitionSpec as P
        >>> from jaxframes import shardings
        >>> rules = shardings.transformer_rules("model")
        >>> rules["*q_proj/kernel"] == P(None, "model"), rules["*o_proj/kernel"] == P("model", None)
        (True, True)
    """
    by_column, by_row = PartitionSpec(None, axis), PartitionSpec(axis, None)
    rules = {"*embedding": by_row, "*lm_head/kernel": by_column}
    for layer in ("q_proj", "k_proj", "v_proj", "up_proj", "gate_proj", "c_fc", "fc1"):
        rules |= {f"*{layer}/kernel": by_column, f"*{layer}/bias": PartitionSpec(axis)}
    for layer in ("o_proj", "out_proj", "down_proj", "fc2"):
        rules |= {f"*{layer}/kernel": by_row, f"*{layer}/bias": PartitionSpec()}
    rules |= dict.fromkeys(("*wq", "*wk", "*wv", "*w_up", "*w_gate"), by_column)
    rules |= dict.fromkeys(("*wo", "*w_down"), by_row)
    return rules


def _winner(
    path: str,
    matching: list[str],
    rules: Mapping[str, PartitionSpec],
    default: PartitionSpec,
    caller: str,
) -> PartitionSpec:
    if not matching:
        return default
    most = max(map(_specificity, matching))
    best = [pattern for pattern in matching if _specificity(pattern) == most]
    specs = {rules[pattern] for pattern in best}
    if len(specs) > 1:
        raise ValueError(
            f"{caller}: one rule must be the most specific for {path}, got equally specific rules "
            f"{', '.join(map(repr, best))}. Add a rule with more of the path."
        )
    return specs.pop()


def _specificity(pattern: str) -> int:
    """The number of characters that are not part of a wildcard."""
    count, in_set = 0, False
    for character in pattern:
        if character == "[":
            in_set = True
        elif character == "]":
            in_set = False
        elif not in_set and character not in "*?":
            count += 1
    return count


def _report_unmatched(patterns: list[str], leaves: list[tuple[str, Any]], unmatched: str) -> None:
    if not patterns or unmatched == "ignore":
        return
    paths = [path for path, _ in leaves]
    nearest = difflib.get_close_matches(patterns[0], paths, n=1, cutoff=0.3)
    remedy = f" The nearest path to {patterns[0]!r} is {nearest[0]!r}." if nearest else ""
    message = (
        f"match_specs: each rule must match an array, got none for "
        f"{', '.join(map(repr, patterns))} among {len(paths)} paths.{remedy}"
    )
    if unmatched == "raise":
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=3)


def _specs_of(tree: Any, specs: Any, caller: str) -> list[PartitionSpec]:
    structure = jax.tree.structure(tree)
    if isinstance(specs, PartitionSpec):
        return [specs] * structure.num_leaves
    is_spec = lambda leaf: isinstance(leaf, PartitionSpec)  # noqa: E731
    if jax.tree.structure(specs, is_leaf=is_spec) != structure:
        raise ValueError(
            f"{caller}: specs must have one partition spec for each array of the tree, "
            f"{structure}, got {jax.tree.structure(specs, is_leaf=is_spec)}. Make them with "
            "match_specs."
        )
    return jax.tree.leaves(specs, is_leaf=is_spec)
