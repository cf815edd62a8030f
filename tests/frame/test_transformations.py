# SPDX-License-Identifier: Apache-2.0
"""Frames are pytrees: through jit, grad, vmap, scan, donation, shard_map and export."""

import functools
from typing import Any

import hypothesis
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from compiled_program import CompiledProgram
from frame_parity import assert_same, on_device
from frame_strategies import COLUMNS, frames, special_frame
from jax.sharding import PartitionSpec as P
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.primitives import CapacityError
from jaxframes.primitives.kernels.base._library import TARGETS
from jaxframes.shardings import make_mesh, replicated, row_sharded

DIFFERENTIATED = {
    "filter": lambda f: f[f["x"] > 0]["x"].sum(),
    "sort": lambda f: f.sort_values("x", kind="stable")["x"].iloc[:3].sum(),
    "groupby": lambda f: (f.groupby("k")["x"].sum() ** 2).sum(),
    "groupby mean": lambda f: (f.groupby("k")["x"].mean() ** 2).sum(),
    "groupby var": lambda f: f.groupby("k")["x"].var().sum(),
    "merge": lambda f: (_merged(f)["x"] ** 2).sum(),
    "rolling": lambda f: (f["x"].rolling(3).mean() ** 2).sum(),
    "cumsum": lambda f: (f["x"].cumsum() ** 2).sum(),
    "shift": lambda f: (f["x"] * f["x"].shift(fill_value=0.0)).sum(),
}


def pipeline(f: Any, g: Any, **how: Any) -> Any:
    return f[f["x"] > 0].merge(g, on="k", **how).groupby("k")["y"].mean()


def left_frame(num_rows: int = 50, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"k": rng.integers(0, 6, num_rows), "x": rng.normal(size=num_rows)})


def right_frame(num_rows: int = 12, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"k": rng.integers(0, 6, num_rows), "y": rng.integers(0, 9, num_rows) / 4})


def _merged(frame: Any) -> Any:
    right = pd.DataFrame({"k": [0, 1, 1, 7]})
    if isinstance(frame, pd.DataFrame):
        return frame.merge(right, on="k")
    return frame.merge(JaxFrame(right), on="k", capacity=128)


def counted(run: Any) -> tuple[Any, list[int]]:
    """A compiled function, and a list that grows with each trace."""
    traces: list[int] = []

    @functools.wraps(run)
    def traced(*arguments):
        traces.append(1)
        return run(*arguments)

    return jax.jit(traced), traces


def test_a_pipeline_is_one_program_without_a_word_to_the_host():
    run, traces = counted(functools.partial(pipeline, capacity=256))
    inputs = [(left_frame(n, n), right_frame(m, m)) for n, m in ((50, 12), (64, 1), (3, 40))]
    # The number of rows is on the device, too: nothing is transferred.
    on_devices = [jax.device_put(tuple(map(on_device, pair))) for pair in inputs]
    results = [run(*on_devices[0])]
    with jax.transfer_guard("disallow"):
        results += [run(*pair) for pair in on_devices[1:]]
    for result, pair in zip(results, inputs, strict=True):
        assert_same(result, pipeline(*pair), ulps=2)
    assert len(traces) == 1


def test_a_chain_of_columns_is_one_fusion():
    frame = JaxFrame({name: np.arange(1.0, 1e5) for name in "abc"})
    chain = jax.jit(lambda f: (f["a"] * 2 + f["b"] - f["c"]).abs() / f["a"] > 1)
    compiled = CompiledProgram(chain.lower(frame).compile().as_text())
    assert [kind for _, kind, _ in compiled.computations[compiled.entry]].count("fusion") == 1


def test_what_does_not_fit_inside_jit_says_so_on_the_host():
    f, g = left_frame(100), right_frame()
    joined = jax.jit(lambda f, g: f.merge(g, on="k", capacity=64))(on_device(f), on_device(g))
    needed = len(f.merge(g, on="k"))
    assert needed > 64
    with pytest.raises(CapacityError, match=str(needed)):
        joined.to_pandas()
    with pytest.raises(CapacityError, match=str(needed)):
        len(joined)
    # Results computed from a result that lost rows raise, too.
    run = jax.jit(functools.partial(pipeline, capacity=64))
    needed = len(f[f["x"] > 0].merge(g, on="k"))
    assert needed > 64
    with pytest.raises(CapacityError, match=str(needed)):
        run(on_device(f), on_device(g)).to_pandas()


def test_equal_structures_are_traced_once():
    run, traces = counted(lambda f: f)
    for seed in range(100):
        frame = special_frame(["k", "s", "o", "t"], 20 + seed % 40, seed=3)
        run(on_device(frame.reset_index(drop=True).assign(s="same")))
    assert len(traces) == 1


@hypothesis.settings(max_examples=10)
@hypothesis.given(frames(("k", "s", "c", "o", "t", "b")))
def test_static_parts_are_hashable_and_equal_by_content(frame):
    one, other = (jax.tree.structure(on_device(frame.copy())) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    leaves, structure = jax.tree.flatten(on_device(frame))
    assert_same(jax.tree.unflatten(structure, leaves), frame)
    renamed = on_device(frame.rename(columns={"k": "K"}))
    assert jax.tree.structure(renamed) != structure
    relabelled = on_device(frame.rename_axis("another"))
    assert jax.tree.structure(relabelled) != structure
    if not frame["s"].isna().all():
        longer = on_device(frame.assign(s=frame["s"] + "!"))
        assert jax.tree.structure(longer) != structure


def test_trees_are_mapped_and_moved():
    frame = special_frame(COLUMNS)
    ours = on_device(frame)
    assert_same(jax.tree.map(lambda leaf: leaf, ours), frame)
    assert_same(jax.device_put(ours, jax.devices()[-1]), frame)
    assert_same(jax.block_until_ready(jax.jit(lambda f: f)(ours)), frame)
    assert list(jax.jit(lambda f: f)(ours).columns) == list(COLUMNS)
    series = on_device(frame["s"])
    assert_same(jax.tree.map(lambda leaf: leaf, series), frame["s"])


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives_in_a_float_column(name):
    function = DIFFERENTIATED[name]
    frame = left_frame(30)
    frame.loc[4, "x"] = np.nan if name in ("groupby", "groupby mean") else frame.loc[4, "x"]

    def loss(values, keys):
        return function(JaxFrame({"k": keys, "x": values}))

    x, keys = jnp.asarray(frame["x"].to_numpy()), jnp.asarray(frame["k"].to_numpy())
    gradient = jax.jit(jax.grad(loss))(x, keys)
    np.testing.assert_allclose(jax.jit(loss)(x, keys), function(frame), rtol=1e-12)
    step = 1e-6
    for row in (0, 3, 11, 29):
        up, down = frame.copy(), frame.copy()
        up.loc[row, "x"] += step
        down.loc[row, "x"] -= step
        expected = (function(up) - function(down)) / (2 * step)
        np.testing.assert_allclose(gradient[row], expected, rtol=1e-5, atol=1e-7)


def test_derivatives_in_all_leaves_of_a_frame():
    frame = left_frame()[["x"]]
    gradient = jax.grad(lambda f: (f["x"] ** 2).sum(), allow_int=True)(on_device(frame))
    derivative = jax.tree.leaves(gradient)[0]
    np.testing.assert_allclose(derivative[: len(frame)], 2 * frame["x"])
    assert not derivative[len(frame) :].any()
    with pytest.raises(TypeError, match="a tree of gradients has none"):
        gradient["x"].tolist()

    def moved(value, slope):
        return value if slope.dtype == jax.dtypes.float0 else value - slope

    result = jax.tree.map(moved, on_device(frame), gradient)
    assert_same(result, frame - 2 * frame)


def test_a_donated_frame_gives_up_its_arrays():
    frame = special_frame(["x", "k"]).reset_index(drop=True)
    ours = on_device(frame)
    run = jax.jit(lambda f: f.assign(x=f["x"] + 1), donate_argnums=0)
    result = run(ours)
    assert_same(result, frame.assign(x=frame["x"] + 1))
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(ours) if isinstance(leaf, jax.Array))


@pytest.mark.parametrize(
    "made",
    [
        lambda f: f[f["x"] > 0],
        lambda f: f * 2,
        lambda f: f.sort_values("x", kind="stable"),
        lambda f: f.head(3),
        lambda f: f.cumsum(),
        lambda f: f["x"].rank(),
        lambda f: f.rolling(2).sum(),
        lambda f: f.drop_duplicates("k"),
        lambda f: f.groupby("k")["x"].mean(),
        lambda f: f.groupby("k")["x"].transform("max"),
        lambda f: f["k"].value_counts().sort_index(),
        lambda f: f.merge(f, on="k"),
    ],
)
def test_what_was_made_of_a_frame_is_there_after_it_was_donated(made):
    frame = left_frame()
    ours = jax.jit(lambda f: f.assign(x=f["x"] + 1))(on_device(frame))
    kept = made(ours)
    jax.jit(lambda f: f + 1, donate_argnums=0)(ours)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(ours) if isinstance(leaf, jax.Array))
    assert_same(kept, made(frame.assign(x=frame["x"] + 1)), 64)


def test_a_frame_may_be_asked_for_its_shape_after_it_was_donated():
    ours = jax.jit(lambda f: f.assign(x=f["x"] + 1))(on_device(left_frame()))
    jax.jit(lambda f: f + 1, donate_argnums=0)(ours)
    assert ours.columns.tolist() == ["k", "x"]
    assert ours.sharding is None
    with pytest.raises(RuntimeError, match="deleted"):
        ours.to_pandas()


def test_looking_at_a_frame_leaves_its_leaves_as_they_are():
    step = jax.jit(lambda f: f.assign(x=f["x"] + 1))
    ours = step(on_device(left_frame(), row_sharded(make_mesh(4))))
    leaves = jax.tree.leaves(ours)
    assert len(ours) == 50
    assert all(a is b for a, b in zip(leaves, jax.tree.leaves(ours), strict=True))
    with jax.transfer_guard("disallow"):
        step(ours)


def test_rows_known_outside_are_filtered_inside_a_function():
    frame = left_frame()
    ours = on_device(frame)
    mask = ours["x"] > 0
    expected = frame[frame["x"] > 0]
    sums = jax.jit(lambda factor: ours[mask]["k"].sum() * factor)(2)
    assert int(sums) == 2 * expected["k"].sum()
    filtered = jax.jit(lambda factor: ours.loc[mask, ["x"]] * factor)(np.float64(2))
    assert_same(filtered, expected[["x"]] * 2)


def test_a_scan_carries_a_frame():
    frame = left_frame()
    ours = on_device(frame)

    def step(f, factor):
        return f.assign(x=f["x"] * factor), f["x"].sum()

    last, sums = jax.jit(lambda f, factors: jax.lax.scan(step, f, factors))(
        jax.jit(lambda f: f)(ours), jnp.array([2.0, 3.0])
    )
    assert_same(last, frame.assign(x=frame["x"] * 2 * 3))
    np.testing.assert_allclose(sums, frame["x"].sum() * np.array([1, 2]), rtol=1e-12)


def test_a_scan_over_frames_takes_them_apart():
    several = [left_frame(40, seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(on_device, several))
    sums = jax.lax.map(lambda f: f["x"].sum(), stacked)
    np.testing.assert_allclose(sums, [frame["x"].sum() for frame in several], rtol=1e-12)


def test_a_batch_of_parameters():
    frame = left_frame()

    def kept(f, limit):
        return f[f["x"] > limit].groupby("k")["x"].sum().sum(), (f["x"] > limit).sum()

    limits = np.array([-1.0, 0.0, 0.5, 9.0])
    sums, counts = jax.jit(jax.vmap(kept, (None, 0)))(on_device(frame), limits)
    for place, limit in enumerate(limits):
        expected_sum, expected_count = kept(frame, limit)
        np.testing.assert_allclose(sums[place], expected_sum, rtol=1e-12)
        assert counts[place] == expected_count


def test_a_frame_passes_through_shard_map():
    mesh = make_mesh(4)
    frame = left_frame()
    (axis,) = mesh.axis_names
    ours = jax.device_put(on_device(frame), replicated(mesh))

    @jax.jit
    @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P(axis)), out_specs=(P(), P(axis)))
    def run(f, factors):
        return f.assign(x=f["x"] * 2), (f[f["x"] > 0]["x"].sum() * factors[0])[None]

    result, sums = run(ours, jnp.arange(4.0))
    assert_same(result, frame.assign(x=frame["x"] * 2))
    positive = frame["x"][frame["x"] > 0].sum()
    np.testing.assert_allclose(sums, positive * np.arange(4), rtol=1e-12)


@pytest.mark.parametrize("platforms", [("cpu",), ("cuda", "tpu")])
def test_a_pipeline_is_exported(platforms):
    f, g = left_frame(), right_frame()
    disabled = [jax.export.DisabledSafetyCheck.custom_call(name) for name in TARGETS]
    run = jax.jit(functools.partial(pipeline, capacity=256))
    exported = jax.export.export(run, platforms=platforms, disabled_checks=disabled)(
        on_device(f), on_device(g)
    )
    assert exported.platforms == platforms
    if platforms == (jax.default_backend(),):
        restored = jax.export.deserialize(exported.serialize())
        assert_same(restored.call(on_device(f), on_device(g)), pipeline(f, g), ulps=2)


def test_a_frame_of_every_type_is_exported():
    frame = special_frame(COLUMNS)
    exported = jax.export.export(jax.jit(lambda f: f))(on_device(frame))
    restored = jax.export.deserialize(exported.serialize())
    assert_same(restored.call(on_device(frame)), frame)


def test_assignment_never_touches_another_frame():
    frame = on_device(special_frame(("k", "x", "s")))
    others = [frame.copy(), frame[["k", "x"]], frame["x"], frame.iloc[:5], frame.assign(z=1)]
    shown = [other.to_pandas() for other in others]
    frame["x"] = frame["x"] * 2
    frame["k"] = 7
    frame["new"] = frame["s"]
    for other, before in zip(others, shown, strict=True):
        assert_same(other, before)
    others[0]["k"] = others[0]["k"] + 1
    assert (frame["k"] == 7).all()
    source = np.arange(5.0)
    of_numpy = JaxFrame({"x": source})
    source[:] = -1
    assert of_numpy["x"].tolist() == [0, 1, 2, 3, 4]
    values = jnp.arange(64.0)
    of_jax = JaxFrame({"x": values})
    of_jax["x"] = of_jax["x"] + 1
    assert values[0] == 0
    array = of_jax["x"].to_numpy()
    if array.flags.writeable:
        array[:] = -1
    assert of_jax["x"].tolist() == list(range(1, 65))


def test_a_frame_inside_jit_keeps_what_it_is():
    frame = special_frame(("k", "s", "o", "t"))

    @jax.jit
    def run(f):
        assert isinstance(f, JaxFrame)
        assert isinstance(f["s"], JaxSeries)
        assert f.shape[1] == 4
        return f[["s", "k"]], f["t"]

    assert_same(run(on_device(frame)), (frame[["s", "k"]], frame["t"]))
