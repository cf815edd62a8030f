# SPDX-License-Identifier: Apache-2.0
"""The named segment reductions, and the docstrings of their three levels.

Every level has a function for each, made of its `segment_reduce`; they differ in the words below.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class SegmentForm(NamedTuple):
    """The documentation of one reduction."""

    summary: str
    result: str
    empty: str
    derivative: str
    over_shards: str
    # The results for x [5 1 4 2 8], and for two shards, by segment.
    example: str
    sharded_example: str
    notes: str = ""


_SUM_BOUND = (
    " An integer wraps, and is the same for any number of shards. The error of a float is at "
    "most `n u` times the sum of magnitudes, for `n` rows in the segment and `u` "
    "half the spacing of floats at one; floats of 16 bits are added in float32."
)
_VALUE = "The dtype is that of `x`."
_FLOAT = "Integers and bools give JAX's default float, floats their own dtype."
_NAN = " NaN wins over every number, -0.0 is less than 0.0."

SEGMENT_FORMS = {
    "sum": SegmentForm(
        "Adds the rows of each segment.",
        "The dtype is that of `x`; bools are counted in int32.",
        "zero",
        "differentiable in `x`",
        "one `psum` of the sums",
        "[9.0, 0.0, 3.0]",
        "[9 0 6]",
        _SUM_BOUND,
    ),
    "prod": SegmentForm(
        "Multiplies the rows of each segment.",
        "The dtype is that of `x`; bools are multiplied in int32.",
        "one",
        "differentiable in `x`, even for zero rows",
        "an `all_to_all` and an `all_gather` of the products",
        "[20.0, 1.0, 2.0]",
        "[20 1 6]",
        " An integer wraps. A float lies within a factor `1 + n u` of the exact product, to first "
        "order; floats of 16 bits are multiplied in float32.",
    ),
    "min": SegmentForm(
        "Finds the minimum of each segment.",
        _VALUE,
        "infinity, or the largest value of the dtype",
        "differentiable in `x`, where ties belong to the lowest row",
        "one `pmin` of the minima",
        "[4.0, inf, 1.0]",
        "[4 inf 1]",
        _NAN,
    ),
    "max": SegmentForm(
        "Finds the maximum of each segment.",
        _VALUE,
        "minus infinity, or the smallest value of the dtype",
        "differentiable in `x`, where ties belong to the lowest row",
        "one `pmax` of the maxima",
        "[5.0, -inf, 2.0]",
        "[5 -inf 3]",
        _NAN,
    ),
    "count": SegmentForm(
        "Counts the rows of each segment.",
        "int32.",
        "zero",
        "integers have no derivative",
        "one `psum` of the counts",
        "[2, 0, 2]",
        "[2 0 3]",
    ),
    "mean": SegmentForm(
        "Averages the rows of each segment.",
        _FLOAT,
        "NaN",
        "differentiable in `x`",
        "a `psum` of the counts and one of the sums",
        "[4.5, nan, 1.5]",
        "[4.5 nan 2.0]",
        " It is the sum divided by the count; for the sum see `segment_sum`.",
    ),
    "var": SegmentForm(
        "Computes the variance of the rows of each segment.",
        _FLOAT + " NaN for a segment of at most `ddof` rows.",
        "NaN",
        "differentiable in `x`",
        "a `psum` of the counts, one of the sums and one of the squares",
        "[0.25, nan, 0.25]",
        "[0.25 nan 0.67]",
        " Two passes: the squares are of deviations from the mean of the whole segment, so "
        "nothing cancels.",
    ),
    "std": SegmentForm(
        "Computes the standard deviation of the rows of each segment.",
        _FLOAT + " NaN for a segment of at most `ddof` rows.",
        "NaN",
        "differentiable in `x`, with a zero derivative if all rows are equal",
        "a `psum` of the counts, one of the sums and one of the squares",
        "[0.5, nan, 0.5]",
        "[0.5 nan 0.82]",
        " It is the square root of `segment_var`.",
    ),
    "logsumexp": SegmentForm(
        "Computes the logarithm of the sum of exponentials of the rows of each segment.",
        _FLOAT,
        "minus infinity",
        "differentiable in `x`: the derivatives are those of `segment_softmax`",
        "a `pmax` of the maxima and a `psum` of the sums",
        "[5.313261687518223, -inf, 2.313261687518223]",
        "[5.31 -inf 3.35]",
        " Exponentials are of distances from the maximum of the segment, so that none overflows.",
    ),
    "first": SegmentForm(
        "Takes the first row of each segment.",
        "The dtype and the bits are those of `x`.",
        "zero",
        "differentiable in `x`",
        "a `pmin` of one integer and a `psum` of one row for each segment",
        "[5.0, 0.0, 1.0]",
        "[5 0 1]",
    ),
    "last": SegmentForm(
        "Takes the last row of each segment.",
        "The dtype and the bits are those of `x`.",
        "zero",
        "differentiable in `x`",
        "a `pmax` of one integer and a `psum` of one row for each segment",
        "[4.0, 0.0, 2.0]",
        "[4 0 3]",
    ),
    "any": SegmentForm(
        "Tests whether any row of each segment is nonzero.",
        "bool; NaN is not zero.",
        "False",
        "bools have no derivative",
        "one `pmax` of an integer for each segment",
        "[True, False, True]",
        "[True False True]",
    ),
    "all": SegmentForm(
        "Tests whether all rows of each segment are nonzero.",
        "bool; NaN is not zero.",
        "True",
        "bools have no derivative",
        "one `pmin` of an integer for each segment",
        "[True, True, True]",
        "[True True True]",
    ),
    "argmin": SegmentForm(
        "Finds the row id of the minimum of each segment.",
        "Ties go to the lowest row id.",
        "-1",
        "integers have no derivative",
        "two `pmin` and a `psum` of one element for each segment",
        "[2, -1, 1]",
        "[2 -1 1]",
        " NaN wins over every number; -0.0 equals 0.0.",
    ),
    "argmax": SegmentForm(
        "Finds the row id of the maximum of each segment.",
        "Ties go to the lowest row id.",
        "-1",
        "integers have no derivative",
        "a `pmax`, a `pmin` and a `psum` of one element for each segment",
        "[0, -1, 3]",
        "[0 -1 5]",
        " NaN wins over every number; -0.0 equals 0.0.",
    ),
}
SEGMENT_OPS = tuple(SEGMENT_FORMS)
HAVE_DDOF = ("var", "std")

_X = """x: array of shape `(rows, ...)`, or a pytree of them{sharded}.
    """
_ROWS = """segment_ids: segment of each row, integers of shape `(rows,)`. Rows with an id
        outside `[0, num_segments)`, negative ids included, are dropped.
    num_segments: number of segments. Static.
    """
_SETTINGS = {
    "axis_name": """axis_name: mesh axis of the rows, or a tuple of axes.
    """,
    "mesh": """mesh: mesh of the rows; one device by default.
    """,
    "num_valid": """num_valid: number of valid rows{sharded}, at the front; all rows by default.
    """,
    "fill_value": """fill_value: result of an empty segment, a number of the dtype of the
        result; {empty} by default.
    """,
    "ddof": """ddof: delta degrees of freedom; the divisor is the number of rows minus `ddof`.
        Static.
    """,
    "scattered": """scattered: {scattered}. Static.
    """,
    "axis": """axis: mesh axis or axes of the rows; all axes of the mesh by default.
    """,
}
_LOCAL_EXAMPLE = """
    >>> import jax.numpy as jnp
    >>> from jaxframes{package}
    >>> x, segment_ids = jnp.array([5.0, 1.0, 4.0, 2.0, 8.0]), jnp.array([0, 2, 0, 2, 7])
    >>> {module}.segment_{op}({x}segment_ids, 3).tolist()
    {example}
"""
_SHARDED_EXAMPLE = """
    Two shards, three segments:

        shard 0   x [5 1 4]   segment_ids [0 2 0]
        shard 1   x [2 8 3]   segment_ids [2 7 2]
        ->
        both      {example}
"""


def documented(op: str, parameters: tuple[str, ...], level: str) -> Callable[[Function], Function]:
    """Gives a function of a level the name and the docstring of its reduction."""
    form = SEGMENT_FORMS[op]
    is_collective = level == "collective"
    words = {
        "sharded": " of this shard" if is_collective else "",
        "empty": form.empty,
        "scattered": "give each shard only its piece of the segments"
        if is_collective
        else "shard the result by segments; see `segment_reduce`",
    }
    args = ("" if op == "count" else _X.format(**words)) + _ROWS
    args += "".join(_SETTINGS[name].format(**words) for name in parameters)
    shape = "int32 of shape" if op == "count" else "An array of shape"
    returns = f"{shape} `(num_segments{'' if op == 'count' else ', ...'})`, for each leaf of `x`"
    returns = f"{shape} `(num_segments,)`" if op == "count" else returns
    returns += ". " if op == "count" else f".\n    {form.result}\n    "
    returns += f"An empty segment has {form.empty}."
    raises = "TypeError: `segment_ids` are not integers, or `num_segments` is traced.\n    "
    raises += "ValueError: lengths differ, or `num_segments` is less than one"
    cost = "Work O(rows + num_segments)."
    if is_collective:
        returns += " The same on every\n    shard; with `scattered` as in `segment_reduce`."
        raises += ", or `axis_name` is no axis\n        of the enclosing `shard_map`"
        cost += f" Communication: {form.over_shards}."
        example = _SHARDED_EXAMPLE.format(example=form.sharded_example)
    else:
        cost += " No communication." if level == "local" else ""
        if level == "global":
            raises += ", or `axis` names no axis of\n        the mesh"
            returns += " On a mesh every device has\n    them, unless `scattered`."
            cost += f" Communication: {form.over_shards}."
        example = _LOCAL_EXAMPLE.format(
            package=".primitives import local" if level == "local" else " import primitives",
            module="local" if level == "local" else "primitives",
            op=op,
            x="" if op == "count" else "x, ",
            example=form.example,
        )
    if op.startswith("arg"):
        returns += {
            "local": " Row ids are int32.",
            "collective": " Row ids are global, `shard * rows + row`.",
            "global": " Row ids are positions in `x`.",
        }[level]
    guarantees = f"Deterministic; {form.derivative}.{form.notes}"
    sections = {
        "Args": args.rstrip(),
        "Returns": returns,
        "Raises": raises + ".",
        "Cost": cost,
        "Guarantees": guarantees,
        "Example": example.strip(),
    }
    text = f"{form.summary}\n\n"
    text += "\n\n".join(f"{name}:\n    {body}" for name, body in sections.items())

    def name_function(function: Function) -> Function:
        function.__name__ = function.__qualname__ = f"segment_{op}"
        function.__doc__ = text + "\n"
        return function

    return name_function
