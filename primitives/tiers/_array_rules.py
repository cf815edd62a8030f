# SPDX-License-Identifier: Apache-2.0
"""Equations that move, reduce, scan or sort elements, in NumPy."""

import math
from typing import Any

import jax
import numpy as np

from ._elementwise_rules import Equation, HostArray, HostStep, dtype_of, rule
from ._kernel_calls import kernel_step

# Calling the kernel takes longer than a few rows.
_LEAST_GATHERED = 1 << 11


@rule("broadcast_in_dim")
def _broadcast_in_dim(equation: Equation) -> HostStep | None:
    shape, axes = equation.params["shape"], equation.params["broadcast_dimensions"]
    if len(equation.invars) > 1:
        return None
    aligned = [1] * len(shape)
    for axis, size in zip(axes, equation.invars[0].aval.shape, strict=True):
        aligned[axis] = size
    dtype = np.dtype(dtype_of(equation))
    # NumPy shows no memory of the dtypes that others registered.
    is_shown = dtype.isbuiltin == 1
    # `broadcast_to` takes ten times as long as the view that it makes.
    strides, step = [], dtype.itemsize
    for size in reversed(aligned):
        strides.append(0 if size == 1 else step)
        step *= size
    strides.reverse()

    def broadcast(x: HostArray) -> HostArray:
        if not is_shown or not x.flags.c_contiguous or not x.size:
            return np.broadcast_to(x.reshape(aligned), shape)
        return np.ndarray(shape, dtype, x, 0, strides)

    return broadcast


@rule("reshape", "squeeze", "expand_dims")
def _reshape(equation: Equation) -> HostStep | None:
    if equation.params.get("dimensions") is not None and equation.primitive.name == "reshape":
        return None
    shape = equation.outvars[0].aval.shape
    return lambda x: x.reshape(shape)


@rule("transpose")
def _transpose(equation: Equation) -> HostStep | None:
    permutation = equation.params["permutation"]
    return lambda x: x.transpose(permutation)


@rule("rev")
def _rev(equation: Equation) -> HostStep | None:
    axes = equation.params["dimensions"]
    return lambda x: np.flip(x, axes)


@rule("slice")
def _slice(equation: Equation) -> HostStep | None:
    params = equation.params
    strides = params["strides"] or (1,) * len(params["start_indices"])
    window = tuple(map(slice, params["start_indices"], params["limit_indices"], strides))
    return lambda x: x[window]


def _clamped_starts(shape: tuple[int, ...], sizes: Any, starts: Any) -> list[int]:
    """Starts of windows, moved inside the array."""
    return [
        min(max(int(start), 0), rows - size)
        for start, rows, size in zip(starts, shape, sizes, strict=True)
    ]


@rule("dynamic_slice")
def _dynamic_slice(equation: Equation) -> HostStep | None:
    sizes = equation.params["slice_sizes"]

    def step(x: HostArray, *starts: Any) -> HostArray:
        inside = _clamped_starts(x.shape, sizes, starts)
        return x[tuple(slice(s, s + n) for s, n in zip(inside, sizes, strict=True))]

    return step


@rule("dynamic_update_slice")
def _dynamic_update_slice(equation: Equation) -> HostStep | None:
    def step(x: HostArray, update: HostArray, *starts: Any) -> HostArray:
        inside = _clamped_starts(x.shape, update.shape, starts)
        result = x.copy()
        result[tuple(slice(s, s + n) for s, n in zip(inside, update.shape, strict=True))] = update
        return result

    return step


@rule("stack")
def _stack(equation: Equation) -> HostStep | None:
    axis = equation.params["axis"]
    return lambda *arrays: np.stack(arrays, axis)


@rule("unstack")
def _unstack(equation: Equation) -> HostStep | None:
    axis = equation.params["axis"]
    return lambda x: list(np.moveaxis(x, axis, 0))


@rule("split")
def _split(equation: Equation) -> HostStep | None:
    axis, ends = equation.params["axis"], np.cumsum(equation.params["sizes"])[:-1]
    return lambda x: np.split(x, ends, axis)


@rule("concatenate")
def _concatenate(equation: Equation) -> HostStep | None:
    axis = equation.params["dimension"]
    return lambda *arrays: np.concatenate(arrays, axis)


@rule("pad")
def _pad(equation: Equation) -> HostStep | None:
    shape = equation.outvars[0].aval.shape
    config = equation.params["padding_config"]
    target, source = [], []
    for size, (low, high, interior) in zip(equation.invars[0].aval.shape, config, strict=True):
        if -high > size or -low > size:
            return None
        if interior:
            if low < 0 or high < 0:
                return None
            target.append(slice(low, low + max(size * (interior + 1) - interior, 0), interior + 1))
            source.append(slice(None))
            continue
        source.append(slice(max(-low, 0), size - max(-high, 0)))
        target.append(slice(max(low, 0), max(low, 0) + max(size + min(low, 0) + min(high, 0), 0)))

    def step(x: HostArray, value: HostArray) -> HostArray:
        result = np.full(shape, value, x.dtype)
        result[tuple(target)] = x[tuple(source)]
        return result

    return step


@rule("iota")
def _iota(equation: Equation) -> HostStep | None:
    shape, axis = equation.params["shape"], equation.params["dimension"]
    row_ids = np.arange(shape[axis]).astype(equation.params["dtype"])
    row_ids = np.broadcast_to(row_ids.reshape([-1] + [1] * (len(shape) - axis - 1)), shape)
    return lambda: row_ids


_REDUCTIONS: dict[str, Any] = {
    "reduce_sum": np.add, "reduce_prod": np.multiply, "reduce_min": np.minimum,
    "reduce_max": np.maximum, "reduce_and": np.bitwise_and, "reduce_or": np.bitwise_or,
    "reduce_xor": np.bitwise_xor,
}  # fmt: skip


@rule(*_REDUCTIONS)
def _reduce(equation: Equation) -> HostStep | None:
    ufunc, dtype = _REDUCTIONS[equation.primitive.name], dtype_of(equation)
    axes = tuple(equation.params["axes"])
    if not axes:
        return lambda x: x
    if ufunc in (np.minimum, np.maximum) and 0 in equation.invars[0].aval.shape:
        return None
    if dtype.kind == "f" and ufunc is np.maximum:
        return lambda x: _maximum_of(x, axes)
    if dtype.kind == "f" and ufunc is np.minimum:
        return lambda x: -_maximum_of(-x, axes)
    return lambda x: ufunc.reduce(x, axes, dtype=dtype)


def _maximum_of(x: HostArray, axes: tuple[int, ...]) -> HostArray:
    """The maximum; 0.0 rather than -0.0."""
    largest = np.max(x, axes)
    if np.any(largest == 0):
        has_plus = np.any((x == 0) & ~np.signbit(x), axes)
        zero = np.where(has_plus, x.dtype.type(0.0), x.dtype.type(-0.0))
        largest = np.where(largest == 0, zero, largest)
    return largest


@rule("argmin", "argmax")
def _arg_extreme(equation: Equation) -> HostStep | None:
    find = np.argmin if equation.primitive.name == "argmin" else np.argmax
    (axis,) = equation.params["axes"]
    dtype = equation.params["index_dtype"]
    return lambda x: find(x, axis).astype(dtype)


_SCANS: dict[str, Any] = {
    "cumsum": np.add, "cumprod": np.multiply, "cummin": np.minimum, "cummax": np.maximum,
}  # fmt: skip


@rule(*_SCANS)
def _scan(equation: Equation) -> HostStep | None:
    ufunc, dtype = _SCANS[equation.primitive.name], dtype_of(equation)
    axis, is_reversed = equation.params["axis"], equation.params["reverse"]
    if dtype.kind == "f":  # Of 0.0 and -0.0 NumPy keeps either.
        return None

    def step(x: HostArray) -> HostArray:
        x = np.flip(x, axis) if is_reversed else x
        result = ufunc.accumulate(x, axis, dtype=dtype)
        return np.flip(result, axis) if is_reversed else result

    return step


@rule("sort")
def _sort(equation: Equation) -> HostStep | None:
    params = equation.params
    num_keys, axis = params["num_keys"], params["dimension"]
    if not params["is_stable"] and (len(equation.invars) > 1 or dtype_of(equation).kind == "f"):
        return None
    if axis != len(equation.invars[0].aval.shape) - 1:
        return None
    if len(equation.invars) == 1:
        return lambda x: np.sort(x, axis, kind="stable")

    def step(*operands: HostArray) -> tuple[HostArray, ...]:
        if num_keys == 1:
            order = np.argsort(operands[0], axis, kind="stable")
        else:
            order = np.lexsort(operands[:num_keys][::-1], axis)
        return tuple(np.take_along_axis(operand, order, axis) for operand in operands)

    return step


def _takes_rows(numbers: Any) -> bool:
    """Whether a gather, or a scatter, has one row for each row id."""
    first = (0,)
    if hasattr(numbers, "collapsed_slice_dims"):
        # The axis of the one row may stay.
        fields = (numbers.collapsed_slice_dims or first, numbers.start_index_map)
        batching = (numbers.operand_batching_dims, numbers.start_indices_batching_dims)
    else:
        fields = (numbers.inserted_window_dims, numbers.scatter_dims_to_operand_dims)
        batching = (numbers.operand_batching_dims, numbers.scatter_indices_batching_dims)
    return tuple(map(tuple, fields)) == (first, first) and not any(batching)


def _are_inside(row_ids: HostArray, num_rows: int) -> bool:
    """Whether all row ids are those of rows."""
    return not row_ids.size or (bool(row_ids.min() >= 0) and bool(row_ids.max() < num_rows))


@rule("gather")
def _gather(equation: Equation) -> HostStep | None:
    params = equation.params
    operand, ids = (v.aval for v in equation.invars)
    if _takes_numbers(params, operand):
        return _gather_numbers(operand.shape, equation.outvars[0].aval.shape)
    num_batch = len(ids.shape) - 1
    is_whole = tuple(params["slice_sizes"]) == (1, *operand.shape[1:])
    numbers = params["dimension_numbers"]
    # A slice of one row may keep its axis.
    num_kept = len(operand.shape) - len(numbers.collapsed_slice_dims)
    row_axes = tuple(range(num_batch, num_batch + num_kept))
    if not _takes_rows(numbers) or not is_whole or tuple(numbers.offset_dims) != row_axes:
        return None
    shape = equation.outvars[0].aval.shape
    mode = params["mode"].name
    num_rows = operand.shape[0]
    fill: Any = params["fill_value"]
    if mode not in ("CLIP", "PROMISE_IN_BOUNDS", "FILL_OR_DROP") or num_rows == 0:
        return None
    if fill is None:
        kind = operand.dtype.kind
        fill = np.nan if kind in "fcV" else True if kind == "b" else None
        if fill is None:
            fill = np.iinfo(operand.dtype).min if kind == "i" else np.iinfo(operand.dtype).max

    is_clipped = mode != "FILL_OR_DROP"
    if len(operand.shape) == 1 and math.prod(shape) >= _LEAST_GATHERED:
        step = _gather_by_kernel(operand, shape, is_clipped, fill)
        if step is not None:
            return step

    def take(x: HostArray, row_ids: HostArray) -> HostArray:
        row_ids = row_ids[..., 0]
        if row_ids.dtype.kind == "u":  # NumPy takes large ones for negative.
            row_ids = np.minimum(row_ids, np.uint64(num_rows)).astype(np.int64)
        result = x.take(row_ids, 0, mode="clip")
        if not is_clipped:
            is_outside = (row_ids < 0) | (row_ids >= num_rows)
            if is_outside.any():
                result[is_outside] = fill
        return result.reshape(shape)

    return take


def _takes_numbers(params: Any, operand: Any) -> bool:
    """Whether a gather takes one number at each position inside a table."""
    numbers, axes = params["dimension_numbers"], tuple(range(len(operand.shape)))
    is_plain = not any((*numbers.operand_batching_dims, *numbers.offset_dims))
    is_inside = params["mode"].name == "PROMISE_IN_BOUNDS" and 0 not in operand.shape
    taken = tuple(numbers.collapsed_slice_dims), tuple(numbers.start_index_map)
    return len(axes) > 1 and is_plain and is_inside and taken == (axes, axes)


def _gather_numbers(table: tuple[int, ...], shape: tuple[int, ...]) -> HostStep:
    def take(x: HostArray, positions: HostArray) -> HostArray:
        ends = np.array(table) - 1
        # XLA takes the nearest ones of positions outside.
        positions = np.clip(positions.astype(np.int64), 0, ends)
        return x[tuple(np.moveaxis(positions, -1, 0))].reshape(shape)

    return take


def _gather_by_kernel(
    operand: Any, shape: tuple[int, ...], is_clipped: bool, fill: Any
) -> HostStep | None:
    """Rows of a column by the kernel of `gather_rows`, in half the time of NumPy's `take`."""
    num_rows, dtype = operand.shape[0], operand.dtype
    if dtype.isbuiltin != 1 or dtype.kind == "c" or num_rows >= np.iinfo(np.int32).max:
        return None
    of_ids, of_rows = (
        jax.ShapeDtypeStruct((1, math.prod(shape)), np.dtype(one)) for one in (np.int32, dtype)
    )
    rows, fills = jax.ShapeDtypeStruct((1, num_rows), dtype), np.full(1, fill, dtype)
    kernel = kernel_step("jaxframes_gather_rows_v1", [of_ids, rows, fills], [of_rows])
    if kernel is None:
        return None
    # Row ids outside of these are no rows.
    least, most = (0, num_rows - 1) if is_clipped else (-1, num_rows)

    def step(x: HostArray, row_ids: HostArray) -> HostArray:
        if row_ids.dtype != np.int32 or (is_clipped and not _are_inside(row_ids, num_rows)):
            ends = np.iinfo(row_ids.dtype)
            row_ids = row_ids.clip(max(least, ends.min), min(most, ends.max))
            row_ids = row_ids.astype(np.int32, copy=False)
        (result,) = kernel(row_ids.reshape(of_ids.shape), x[None], fills)
        return result.reshape(shape)

    return step


_COMBINE_AT: dict[str, Any] = {
    "scatter-add": np.add, "scatter-mul": np.multiply, "scatter-min": np.minimum,
    "scatter-max": np.maximum,
}  # fmt: skip


@rule("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max")
def _scatter(equation: Equation) -> HostStep | None:
    params, name = equation.params, equation.primitive.name
    operand, ids, updates = (v.aval for v in equation.invars)
    numbers = params["dimension_numbers"]
    mode = params["mode"].name
    window_axes = tuple(range(len(ids.shape) - 1, len(updates.shape)))
    if not _takes_rows(numbers) or tuple(numbers.update_window_dims) != window_axes:
        return None
    if updates.shape[len(ids.shape) - 1 :] != operand.shape[1:] or operand.shape[0] == 0:
        return None
    if mode not in ("CLIP", "PROMISE_IN_BOUNDS", "FILL_OR_DROP"):
        return None
    if name in ("scatter-min", "scatter-max") and operand.dtype.kind == "f":
        return None  # Of 0.0 and -0.0 NumPy keeps either.
    num_rows, num_updates = operand.shape[0], math.prod(ids.shape[:-1])
    combine = _COMBINE_AT.get(name)

    def step(x: HostArray, row_ids: HostArray, rows: HostArray) -> HostArray:
        row_ids = row_ids.reshape(num_updates)
        rows = rows.reshape(num_updates, *x.shape[1:])
        if not _are_inside(row_ids, num_rows):
            if mode == "CLIP":
                row_ids = row_ids.clip(0, num_rows - 1)
            else:
                is_inside = (row_ids >= 0) & (row_ids < num_rows)
                row_ids, rows = row_ids[is_inside], rows[is_inside]
        result = x.copy()
        if combine is None:
            result[row_ids] = rows
        else:
            combine.at(result, row_ids, rows)
        return result

    return step
