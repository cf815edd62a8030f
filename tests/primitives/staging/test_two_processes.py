# SPDX-License-Identifier: Apache-2.0
"""Two processes of two CPU devices each: host functions, their errors, and metrics."""

from two_processes import run_both


def test_host_functions_their_errors_and_metrics():
    run_both(
        """
from jaxframes.primitives import staging

calls = []


def square(x):
    calls.append(int(x))
    return x * x


xs = np.arange(6)
out = jax.ShapeDtypeStruct((), xs.dtype)
squares = staging.host_map(square, xs, out, mesh=mesh)
np.testing.assert_array_equal(whole(squares), xs * xs)
assert sorted(calls) == ([0, 1, 2, 3] if process_id == 0 else [4, 5]), calls


def fail(x):
    if x == 5:
        raise KeyError("no such row")
    return x


try:
    jax.block_until_ready(staging.host_map(fail, xs, out, mesh=mesh))
except jax.errors.JaxRuntimeError as error:
    text = {
        0: "host_map: fn failed on item 5, in another process.",
        1: "host_map: fn raised KeyError on item 5: 'no such row'",
    }[process_id]
    assert text in str(error), error
else:
    raise AssertionError("no error")
# JAX would raise the error again at the end, unless a new program takes its place.
jax.block_until_ready(staging.host_map(lambda x: x, xs, out, mesh=mesh))

# Metrics of a mesh are read by every process.
rows = shardings.host_rows(np.arange(4.0) + 4 * process_id, mesh).rows
metrics = jax.jit(lambda rows: {"mean": rows.mean(), "largest": rows.max()})(rows)
assert staging.to_host(metrics) == {"mean": 3.5, "largest": 7.0}
"""
    )
