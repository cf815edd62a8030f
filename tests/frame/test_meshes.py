# SPDX-License-Identifier: Apache-2.0
"""The registry on meshes: pandas' results in pandas' order on any number of devices.

A few operations that move rows in different ways; the profile "long" runs all of them on every
mesh.
"""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_operations import FAMILIES, OPERATIONS
from frame_parity import assert_same, on_device
from jax.sharding import AxisType
from jaxframes.frame.table._layout import Layout
from jaxframes.frame.table._take import position
from jaxframes.shardings import make_mesh, row_sharded
from operation_parity import IS_LONG, Compared, uneven_inputs

CHOSEN = {
    1: ["sort_keys"],
    2: ["cumsum"],
    3: ["mask"],
    4: [name for name, operation in OPERATIONS.items() if operation.mesh],
    8: ["group_sum"],
}
# They use constants, look-ups in small tables, reductions over all rows, and matrix products.
EXPLICIT = ["mask", "isin", "compare_strings", "astype_category", "group_sum", "corr"]


def cases(sizes):
    """Numbers of devices, each with a group of operations that share programs."""
    if not IS_LONG:
        return [pytest.param(size, [name], id=f"{size}-{name}") for size, name in sizes]
    return [
        pytest.param(size, [operation.name for operation in operations], id=f"{size}-{family}")
        for size in dict.fromkeys(size for size, _ in sizes)
        for family, operations in FAMILIES.items()
    ]


@pytest.mark.parametrize(
    ("num_devices", "names"), cases([(size, name) for size in CHOSEN for name in CHOSEN[size]])
)
def test_matches_pandas_on_a_mesh(num_devices, names):
    compare_on(make_mesh(num_devices), names)


@pytest.mark.parametrize(("num_devices", "names"), cases([(4, name) for name in EXPLICIT]))
def test_matches_pandas_on_a_mesh_of_explicit_axes(num_devices, names):
    compare_on(make_mesh(num_devices, axis_type=AxisType.Explicit), names)


def test_places_of_rows_need_no_rows_on_a_mesh_of_explicit_axes():
    layout = Layout(make_mesh(4, axis_type=AxisType.Explicit), ("rows",))
    places = jax.jit(lambda start: start + position(64, layout))(np.int32(3))
    assert places.sharding == row_sharded(layout.mesh)
    np.testing.assert_array_equal(np.asarray(places), np.arange(3, 67))


@pytest.mark.parametrize("reduction", ["max", "median"])
def test_rows_that_groups_take_on_a_mesh_of_explicit_axes(reduction):
    # The mesh divides the number of groups, so the gathered rows are sharded.
    frame = pd.DataFrame({"k": np.arange(40) % 8, "x": np.arange(40) * 0.5 % 7})
    expected = getattr(frame.groupby("k"), reduction)()
    sharding = row_sharded(make_mesh(4, axis_type=AxisType.Explicit))
    assert_same(getattr(on_device(frame, sharding).groupby("k"), reduction)(), expected)


def test_looked_up_rows_on_a_mesh_of_explicit_axes():
    names, numbers = pd.Series(["a", "b", None, "a"]), pd.Series([1, 2, 3, 7, 1])
    sharding = row_sharded(make_mesh(4, axis_type=AxisType.Explicit))
    assert_same(on_device(names, sharding).isin(["a"]), names.isin(["a"]))
    assert_same(on_device(numbers, sharding).map({1: 10}), numbers.map({1: 10}))


@pytest.mark.parametrize("num_rows", [37, 36, 0])
def test_first_rows_on_a_mesh_of_explicit_axes(num_rows):
    frame = pd.DataFrame({"x": np.arange(num_rows) * -0.5, "k": np.arange(num_rows) % 5})
    ours = on_device(frame, row_sharded(make_mesh(4, axis_type=AxisType.Explicit)))
    np.testing.assert_array_equal(np.asarray(ours["x"].to_jax()), frame["x"])
    pd.testing.assert_frame_equal(ours.to_arrow().to_pandas(), frame)
    assert_same(ours["x"].is_monotonic_decreasing, frame["x"].is_monotonic_decreasing)
    assert_same(ours["k"].is_monotonic_increasing, frame["k"].is_monotonic_increasing)
    assert_same(
        ours["k"].where(ours["k"] > 3, ours["x"]), frame["k"].where(frame["k"] > 3, frame["x"])
    )


def compare_on(mesh, names):
    sharding = row_sharded(mesh)
    for name in names:
        operation = OPERATIONS[name]
        compared = Compared(
            operation, lambda inputs: [on_device(frame, sharding) for frame in inputs]
        )
        for inputs in uneven_inputs(operation):
            compared.check(inputs)
    if IS_LONG:
        # A process cannot map the programs of all families at once.
        jax.clear_caches()


def _shout(value):
    return f"{value}!"


def test_rows_of_functions_of_the_host_lie_on_the_devices_of_their_frame():
    frame = pd.DataFrame({"k": [1, 2, 1, 2, 1], "x": [1.0, None, 3, 4, 5], "s": list("abcde")})
    sharding = row_sharded(make_mesh(2))
    ours = on_device(frame, sharding=sharding)

    def results(f):
        return (
            f.groupby("k").x.transform(lambda s: s.fillna(s.mean())),
            f.groupby("k", group_keys=False)[["x"]].apply(lambda g: g.fillna(0)),
            f.groupby("k").x.quantile([0.25, 0.5]),
            f.apply(lambda row: f"{row.s}{row.x}", axis=1), f.s.map(_shout), f.x.apply(_shout),
            f.x.apply(pd.Series), f.x.rolling(2).apply(lambda w: float(str(w.sum()))),
        )  # fmt: skip

    for found, expected in zip(results(ours), results(frame), strict=True):
        assert_same(found, expected)
        assert found.sharding == sharding
