# SPDX-License-Identifier: Apache-2.0
"""Rules from paths to partition specs, and the placement of trees by them."""

import fnmatch
import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxframes import shardings
from jaxframes.frame import JaxFrame

NAMES = st.sampled_from(["w", "b", "wq", "up", "norm", "0", "x.y"])
SHAPES = st.lists(st.sampled_from([1, 2, 4, 6, 8]), max_size=3).map(tuple)
LEAVES = SHAPES.map(lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32))
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(NAMES, inner, min_size=1, max_size=3)
        | st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
GLOBS = st.sampled_from(["*", "*w", "*/w", "up/*", "*b", "w*", "*[01]*", "?/w", "*norm/b", "*x.y*"])
SPECS = st.sampled_from(
    [P(), P("data"), P(None, "model"), P(("data", "model")), P("model", "data")]
)
SIZES = {"data": 4, "model": 2}


@functools.cache
def mesh():
    return shardings.mesh_spec(**SIZES).build()


def path_of(path):
    """A path as the rules see it, written anew."""
    names = [getattr(entry, "key", getattr(entry, "idx", None)) for entry in path]
    return "/".join(map(str, names))


def expected_spec(rules, path, shape):
    """The spec of a leaf, or what is wrong with it."""
    if not shape:
        return P()
    matching = [(len(re.sub(r"\[.*?\]|[*?]", "", glob)), glob) for glob in rules
                if fnmatch.fnmatchcase(path, glob)]  # fmt: skip
    best = {rules[glob] for length, glob in matching if length == max(matching)[0]}
    if len(best) > 1:
        return "equally specific"
    spec = best.pop() if best else P()
    if len(spec) > len(shape):
        return "at most one entry"
    for length, entry in zip(shape, spec, strict=False):
        names = (entry,) if isinstance(entry, str) else entry or ()
        if length % int(np.prod([SIZES[name] for name in names])):
            return "is not a multiple of"
    return spec


@settings(max_examples=200)
@given(TREES, st.dictionaries(GLOBS, SPECS, max_size=4))
def test_the_most_specific_rule_wins(tree, rules):
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    wanted = [expected_spec(rules, path_of(path), leaf.shape) for path, leaf in leaves]
    wrong = [one for one in wanted if isinstance(one, str)]

    def matched():
        return shardings.match_specs(rules, tree, mesh(), unmatched="ignore")

    if wrong:
        with pytest.raises(ValueError, match=wrong[0]):
            matched()
        return
    specs = jax.tree.leaves(matched(), is_leaf=lambda leaf: isinstance(leaf, P))
    assert specs == wanted


def parameters():
    ones = functools.partial(np.ones, dtype=np.float32)
    layer = {"attention": {"q_proj": {"kernel": ones((8, 8)), "bias": ones(8)}}}
    layer["attention"]["o_proj"] = {"kernel": ones((8, 8)), "bias": ones(8)}
    return {"layers": [layer, layer], "embedding": ones((12, 8)), "step": np.array(3, np.int32)}


def test_a_transformer_is_placed_by_the_ready_rules():
    rules = shardings.transformer_rules("model")
    specs = shardings.match_specs(rules, parameters(), mesh(), unmatched="ignore")
    attention = specs["layers"][1]["attention"]
    assert attention["q_proj"] == {"kernel": P(None, "model"), "bias": P("model")}
    assert attention["o_proj"] == {"kernel": P("model", None), "bias": P()}
    assert specs["embedding"] == P("model", None)
    assert specs["step"] == P()
    placed = shardings.place(parameters(), mesh(), specs)
    kernel = placed["layers"][0]["attention"]["q_proj"]["kernel"]
    assert kernel.sharding == NamedSharding(mesh(), P(None, "model"))
    assert kernel.addressable_shards[0].data.shape == (8, 4)
    jax.tree.map(np.testing.assert_array_equal, placed, parameters())


def test_a_batch_and_the_columns_of_a_frame():
    frame = JaxFrame({"a": np.arange(8), "b": np.arange(8.0)})
    columns = {name: frame[name].to_jax() for name in frame.columns}
    specs = shardings.match_specs({"*": P("data")}, columns, mesh())
    assert specs == {"a": P("data"), "b": P("data")}
    assert specs == shardings.batch_specs(columns, "data", mesh())
    placed = shardings.place(columns, mesh(), specs)
    assert placed["a"].addressable_shards[0].data.shape == (2,)
    np.testing.assert_array_equal(placed["b"], np.arange(8.0))
    tree = {"x": np.ones((8, 3)), "step": np.array(0)}
    assert shardings.batch_specs(tree, ("data", "model")) == {
        "x": P(("data", "model")),
        "step": P(),
    }


def test_rules_that_match_nothing_are_reported():
    tree = {"layers": {"w": np.ones(4)}}
    message = (
        "match_specs: each rule must match an array, got none for 'layer/w' among 1 paths. The "
        "nearest path to 'layer/w' is 'layers/w'."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$"):
        shardings.match_specs({"layer/w": P("data"), "*": P()}, tree)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        shardings.match_specs({"layer/w": P("data"), "*": P()}, tree, unmatched="raise")


def test_annotations_are_in_the_program():
    def double(x):
        return shardings.constrain({"x": x * 2}, None, "model", mesh=mesh())["x"]

    x = jax.device_put(np.ones((8, 8)), shardings.named(mesh(), "data"))
    lowered = jax.jit(double).lower(x)
    assert '[{}, {"model"}]' in lowered.as_text()
    assert lowered.compile()(x).sharding.is_equivalent_to(shardings.named(mesh(), None, "model"), 2)
    with jax.set_mesh(mesh()):
        result = jax.jit(lambda x: shardings.constrain(x + 1, ("data", "model")))(x)
    assert result.addressable_shards[0].data.shape == (1, 8)
    explicit = shardings.mesh_spec(data=None, model=2, axis_types=AxisType.Explicit).build()
    with jax.set_mesh(explicit):
        result = jax.jit(lambda x: shardings.constrain(x + 1, "data"))(np.ones((8, 8)))
    assert result.sharding.spec == P("data", None)


# Errors

TREE = {"up": {"w": np.ones((6, 4), np.float32)}}


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shardings.match_specs({"*w": P("modle")}, TREE, mesh()),
            "match_specs: the spec of up/w must name axes of the mesh, ('data', 'model'), got "
            "'modle' in P('modle'). Did you mean 'model'?",
        ),
        (
            lambda: shardings.match_specs({"*w": P(None, None, "data")}, TREE),
            "match_specs: the spec of up/w must have at most one entry for each of its 2 axes, got "
            "P(None, None, 'data') for shape (6, 4).",
        ),
        (
            lambda: shardings.match_specs({"*w": P("data")}, TREE, mesh()),
            "match_specs: the mesh must divide each sharded axis of up/w, got shape (6, 4) with "
            "P('data'): 6 is not a multiple of 4, the size of 'data'. Pad the axis, "
            "or shard another.",
        ),
        (
            lambda: shardings.match_specs({"up/*": P(), "?p/w": P("data"), "*p/w": P()}, TREE),
            "match_specs: one rule must be the most specific for up/w, got equally specific rules "
            "'up/*', '?p/w', '*p/w'. Add a rule with more of the path.",
        ),
        (
            lambda: shardings.match_specs({}, TREE, unmatched="shout"),
            "match_specs: unmatched must be 'warn', 'raise' or 'ignore', got 'shout'.",
        ),
        (
            lambda: shardings.place(TREE, mesh(), {"up": P()}),
            "place: specs must have one partition spec for each array of the tree, "
            "PyTreeDef({'up': {'w': *}}), got PyTreeDef({'up': *}). Make them with match_specs.",
        ),
        (
            lambda: shardings.place(TREE, mesh(), P("data")),
            "place: the mesh must divide each sharded axis of up/w, got shape (6, 4) with "
            "P('data'): 6 is not a multiple of 4, the size of 'data'. Pad the axis, "
            "or shard another.",
        ),
        (
            lambda: shardings.batch_specs(TREE, ("data", "model"), mesh()),
            "batch_specs: the mesh must divide each sharded axis of up/w, got shape (6, 4) with "
            "P(('data', 'model')): 6 is not a multiple of 8, the size of 'data' x "
            "'model'. Pad the axis, or shard another.",
        ),
        (
            lambda: shardings.named(mesh(), "data", "data"),
            "named: spec must name each mesh axis once, got P('data', 'data').",
        ),
        (
            lambda: shardings.named(mesh(), "rows"),
            "named: spec must name axes of the mesh, ('data', 'model'), got 'rows' in P('rows').",
        ),
        (
            lambda: shardings.constrain(np.ones(4), "data"),
            "constrain: a mesh must be in scope, got none. Pass mesh=, or call it inside "
            "jax.set_mesh(mesh).",
        ),
        (
            lambda: shardings.constrain(np.ones(6), "data", mesh=mesh()),
            "constrain: the mesh must divide each sharded axis of x, got shape (6,) with "
            "P('data'): 6 is not a multiple of 4, the size of 'data'. Pad the axis, "
            "or shard another.",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()


def test_nothing_is_sent_before_all_is_checked(monkeypatch):
    monkeypatch.setattr(jax, "device_put", lambda *_: pytest.fail("an array was sent"))
    tree = {"a": np.ones(8), "b": np.ones(6)}
    with pytest.raises(ValueError, match="of b, got shape"):
        shardings.place(tree, mesh(), P("data"))


def test_rules_must_be_a_dict():
    rules = [("*", P())]
    with pytest.raises(TypeError, match="match_specs: rules must be partition specs by pattern, a"):
        shardings.match_specs(rules, {"w": np.ones(4)})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: shardings.match_specs({"*w": "data"}, TREE),
            "match_specs: the spec of '*w' must be a partition spec, got 'data'. Write P('data').",
        ),
        (
            lambda: shardings.match_specs({"*w": None}, TREE),
            "match_specs: the spec of '*w' must be a partition spec, got None. Write P() for whole "
            "arrays.",
        ),
        (
            lambda: shardings.match_specs({}, TREE, default="data"),
            "match_specs: default must be a partition spec, got 'data'. Write P('data').",
        ),
        (
            lambda: shardings.match_specs({3: P()}, TREE),
            "match_specs: the pattern of a rule must be a string, got 3. Write the path of an "
            "array, such as 'layers/0/w', or a glob.",
        ),
        (
            lambda: shardings.named(mesh(), P("data")),
            "named: spec must consist of mesh axes, got a partition spec, P('data'), among them. "
            "Pass its entries, *spec.",
        ),
        (
            lambda: shardings.place({"name": np.array(["x"])}, mesh(), P()),
            "place: name must be an array of numbers, got <U1[1]. Encode it as integers first, or "
            "keep it out of the tree.",
        ),
    ],
)
def test_what_is_no_spec_or_array(call, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        call()


@pytest.mark.parametrize("value", [2**40, -(2**31) - 1])
def test_integers_are_not_wrapped_around(x64_off, value):
    message = (
        "place: integers that need 64 bits need JAX's x64 mode, got int64[2] at step. Call "
        'jax.config.update("jax_enable_x64", True) first.'
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        shardings.place({"step": np.array([0, value])}, mesh(), P())
    placed = shardings.place({"step": np.array([0, 2**31 - 1])}, mesh(), P())
    assert placed["step"].tolist() == [0, 2**31 - 1]


def test_a_number_can_be_constrained():
    assert float(shardings.constrain(3.0, mesh=mesh())) == 3.0
