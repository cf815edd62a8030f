# SPDX-License-Identifier: Apache-2.0
"""Runs what a user writes on pandas and on jaxframes, and compares the answers exactly.

    assert_parity(lambda f: f[f.x > 1].sort_values("y"), mixed_frame())

runs the function on the frame of pandas, then eagerly on a JaxFrame, under `jax.jit`, and on a
mesh, and compares values, dtypes, order, index, names and the class of an error.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.table._lists import ListColumn
from jaxframes.frame.table._to_host import host_array
from jaxframes.shardings import make_mesh, row_sharded

EVERYWHERE = ("eager", "jit", "mesh")


def assert_parity(
    operation: Callable[..., Any],
    *frames: pd.DataFrame | pd.Series,
    ways: Sequence[str] = ("eager", "jit"),
    ulps: int = 0,
    num_devices: int = 3,
) -> None:
    """The operation gives what pandas gives, in each of the given ways.

    Args:
        operation: a function of frames, in the words of pandas.
        frames: what it is given, as pandas has it.
        ways: "eager", "jit" and "mesh"; see EVERYWHERE.
        ulps: how many units in the last place floats may differ by.
        num_devices: of the mesh.
    """
    expected = operation(*frames)
    for way in ways:
        sharding = row_sharded(make_mesh(num_devices)) if way == "mesh" else None
        ours = [on_device(frame, sharding) for frame in frames]
        got = (jax.jit(operation) if way == "jit" else operation)(*ours)
        try:
            assert_same(got, expected, ulps)
        except AssertionError as error:
            raise AssertionError(f"{way}: {error}") from None


def assert_same_error(operation: Callable[..., Any], *frames: pd.DataFrame | pd.Series) -> str:
    """The operation raises what pandas raises; returns our message."""
    try:
        operation(*frames)
    except Exception as error:
        expected = error
    else:
        raise AssertionError("pandas raises nothing")
    # NumPy's own are private, of a public kind.
    public: Any = next(
        kind for kind in type(expected).__mro__ if kind.__module__.split(".")[0] != "numpy"
    )
    try:
        got = operation(*map(on_device, frames))
    except public as error:
        return str(error)
    raise AssertionError(f"got {got!r} in place of {expected!r}")


def on_device(frame: pd.DataFrame | pd.Series, sharding: Any = None) -> Any:
    """The same as a JaxFrame or a JaxSeries, whose padding no result may depend on."""
    if isinstance(frame, pd.Series):
        return with_arbitrary_padding(JaxSeries(frame, sharding=sharding))
    return with_arbitrary_padding(JaxFrame(frame, sharding=sharding))


def with_arbitrary_padding(frame: Any) -> Any:
    """The same rows, with values behind them that spoil whatever reads them."""
    table, num_rows = frame._table, len(frame)

    def spoiled(rows: jax.Array) -> jax.Array:
        whole = np.array(host_array(rows))
        padding = np.array(_spoiling(whole.dtype), whole.dtype)
        whole[num_rows:] = np.resize(padding, len(whole) - num_rows)
        return table.layout.place(whole)

    def spoil(rows: Any) -> Any:
        # The values of lists are not rows of the frame.
        return (
            rows.with_stored(jax.tree.map(spoiled, rows.stored)) if is_list(rows) else spoiled(rows)
        )

    columns, index = jax.tree.map(spoil, (table.columns, table.index), is_leaf=is_list)
    return frame._like(table.replace(columns=columns, index=index))


def is_list(rows: Any) -> bool:
    return isinstance(rows, ListColumn)


def _spoiling(dtype: np.dtype) -> list[Any]:
    if dtype == np.bool_:
        return [True, False]
    if dtype.kind in "iu":
        # As codes these are none of a dictionary, the first of one, and what stands for missing.
        return [np.iinfo(dtype).max, np.iinfo(dtype).min, 0, max(np.iinfo(dtype).min, -1)]
    return [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).max]


class Bound(NamedTuple):
    """How far floats may be apart: `ulps` units in the last place, of the value that pandas has and
    of a magnitude that was added up to it.
    """

    ulps: int
    magnitude: float = 0.0

    def of(self, dtype: Any) -> dict[str, float]:
        """The tolerances for floats of a dtype."""
        unit = self.ulps * float(np.finfo(dtype).eps)
        return {"rtol": unit, "atol": unit * self.magnitude}

    def on_platform(self, dtype: np.dtype) -> "Bound":
        """On GPU quotients of float32 are not rounded exactly, nor what follows from them."""
        if dtype == np.float32 and jax.default_backend() == "gpu":
            return Bound(max(self.ulps, 4), max(self.magnitude, 1.0))
        return self


def assert_same(got: Any, expected: Any, ulps: int | Bound = 0) -> None:
    """What we return is what pandas returns: values, dtypes, order, index and names."""
    bound = ulps if isinstance(ulps, Bound) else Bound(ulps)
    if isinstance(got, (JaxFrame, JaxSeries)):
        got = got.to_pandas()
    if isinstance(expected, pd.DataFrame):
        assert isinstance(got, pd.DataFrame), f"got {type(got)} in place of a frame"
        pd.testing.assert_index_equal(got.columns, expected.columns, obj="columns")
        _assert_same_types(got.columns, expected.columns)
        _assert_same_index(got.index, expected.index, bound)
        for place in range(expected.shape[1]):
            _assert_same_values(got.iloc[:, place], expected.iloc[:, place], bound)
    elif isinstance(expected, pd.Series):
        assert isinstance(got, pd.Series), f"got {type(got)} in place of a series"
        _assert_same_values(got, expected, bound)
    elif isinstance(expected, pd.Index):
        _assert_same_index(got if isinstance(got, pd.Index) else pd.Index(got), expected, bound)
    elif isinstance(expected, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_same(one, other, bound)
    elif isinstance(expected, (np.ndarray, pd.api.extensions.ExtensionArray)):
        values = got.to_numpy() if isinstance(got, pd.Series) else got
        values = host_array(values) if isinstance(values, jax.Array) else values
        assert values.shape == expected.shape, f"got {values.shape}, not {expected.shape}"
        assert values.dtype == expected.dtype, f"dtype {values.dtype}, not {expected.dtype}"
        _assert_same_values(pd.Series(values.ravel()), pd.Series(expected.ravel()), bound)
    else:
        _assert_same_scalar(got, expected, bound)


def _assert_same_index(got: pd.Index, expected: pd.Index, bound: Bound) -> None:
    """The labels are the same; the frequency that pandas finds in some is no part of them."""
    how: Any = {"exact": "equiv"}
    if bound.ulps and expected.dtype == np.float64:
        # Sums may be labels.
        how |= {"check_exact": False, **bound.of(expected.dtype)}
    pd.testing.assert_index_equal(*map(_without_freq, (got, expected)), **how)
    for level in range(expected.nlevels):
        _assert_same_types(*(one.get_level_values(level) for one in (got, expected)))


def _assert_same_types(got: Any, expected: Any) -> None:
    """Equal objects are of one type: True, 1 and 1.0 are equal, and so are a time and its date.

    Scalars of NumPy are of the type that Python has for them.
    """
    if isinstance(expected.dtype, pd.CategoricalDtype):
        got, expected = got.dtype.categories, expected.dtype.categories
    if expected.dtype != object:
        return
    # A missing bool is None or NaN in pandas; one mask stands for both.
    are_bools = all(_type_of(value) is bool or _is_null(value) for value in expected)
    for row, (one, other) in enumerate(zip(got, expected, strict=True)):
        if are_bools and _is_null(one) and _is_null(other):
            continue
        types = tuple(map(_type_of, (one, other)))
        assert types[0] == types[1], f"row {row}: got {one!r} in place of {other!r}"


def _is_null(value: Any) -> bool:
    return value is None or (_type_of(value) is float and value != value)


def _type_of(value: Any) -> type:
    for kind in (bool, int, float, complex, str):
        if isinstance(value, np.generic) and value.dtype.kind in _KINDS[kind]:
            return kind
    return type(value)


_KINDS = {bool: "b", int: "iu", float: "f", complex: "c", str: "U"}


def _without_freq(index: Any) -> Any:
    if isinstance(index, pd.MultiIndex):
        levels = [_without_freq(level) for level in index.levels]
        return index.set_levels(levels, verify_integrity=False)
    if isinstance(index, (pd.DatetimeIndex, pd.TimedeltaIndex)):
        index = index.copy()
        index.freq = None
    return index


def _assert_same_values(got: pd.Series, expected: pd.Series, bound: Bound) -> None:
    is_float = expected.dtype.kind in "fc"
    # Of a nullable dtype, that of its numbers.
    dtype = getattr(expected.dtype, "numpy_dtype", expected.dtype)
    if is_float:
        bound = bound.on_platform(dtype)
    how: Any = {"check_exact": True}
    if bound.ulps and is_float:
        how = bound.of(dtype)
    pd.testing.assert_series_equal(got, expected, **how, check_freq=False)
    _assert_same_types(got, expected)
    if is_float:
        _assert_same_zeros(_as_floats(got), _as_floats(expected))


def _as_floats(values: pd.Series) -> pd.Series:
    """Floats of a nullable dtype as those of NumPy."""
    if isinstance(values.dtype, np.dtype):
        return values
    return pd.Series(values.to_numpy(np.float64, na_value=np.nan))


def _assert_same_zeros(got: pd.Series, expected: pd.Series) -> None:
    zeros = (expected.to_numpy() == 0) & (got.to_numpy() == 0)
    for part in ("real", "imag") if expected.dtype.kind == "c" else ("real",):
        ours, theirs = getattr(got.to_numpy(), part), getattr(expected.to_numpy(), part)
        np.testing.assert_array_equal(
            np.signbit(ours)[zeros], np.signbit(theirs)[zeros], "sign of 0"
        )


def _assert_same_scalar(got: Any, expected: Any, bound: Bound) -> None:
    if isinstance(got, jax.Array):
        got = host_array(got)[()]
    if isinstance(expected, (bool, np.bool_)):
        assert isinstance(got, (bool, np.bool_)), f"got {got!r} in place of {expected!r}"
    if expected is None or isinstance(expected, (str, bool, np.bool_)):
        assert type(got) is type(expected) or not isinstance(expected, str)
        assert got == expected, f"got {got!r} in place of {expected!r}"
        return
    if expected is pd.NaT or expected is pd.NA:
        assert got is expected, f"got {got!r} in place of {expected!r}"
        return
    if expected != expected:
        assert not any(got is other for other in (pd.NaT, pd.NA)), f"got {got!r} in place of NaN"
        assert got != got, f"got {got!r} in place of {expected!r}"
        return
    if isinstance(expected, (pd.Timestamp, pd.Timedelta)):
        assert got == expected, f"got {got!r}, not {expected!r}"
        assert type(got) is type(expected)
        return
    assert np.asarray(got).dtype == np.asarray(expected).dtype, (
        f"got {np.asarray(got).dtype} in place of {np.asarray(expected).dtype}"
    )
    bound = bound.on_platform(np.asarray(expected).dtype)
    if np.asarray(expected).dtype.kind in "fc" and bound.ulps:
        tolerances = bound.of(np.asarray(expected).dtype)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(got, expected, **tolerances)  # pyright: ignore
    else:
        np.testing.assert_array_equal(got, expected)
    if np.asarray(expected).dtype.kind == "f" and expected == 0 == got:
        assert np.signbit(got) == np.signbit(expected), "sign of 0"
