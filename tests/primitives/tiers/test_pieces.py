# SPDX-License-Identifier: Apache-2.0
"""Few rows in pieces have the same results, and XLA's client runs their programs at once."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import backend, staging
from jaxframes.primitives.tiers import _background, _tiered
from jaxframes.shardings import make_mesh, row_sharded

pytestmark = pytest.mark.skipif(backend().cpu != "native", reason="interpreted with the kernels")

# From so many operations on elements, XLA's CPU client runs a program on another thread.
LEAST_OPERATIONS_OF_A_THREAD = 1000


def quotients():
    return staging.tiered(
        lambda x, y: staging.by_pieces(lambda x, y: x.astype(y.dtype) / y, x, y), in_pieces=True
    )


def compiled(function):
    """Compiles the program of the only signature."""
    (entry,) = function._entries.values()
    return entry.compile()


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 129, 200, 320, 640, 1000, 1024, 4096, 4224])
def test_results_do_not_depend_on_the_pieces(rows):
    x = np.random.default_rng(rows).integers(-9, 9, rows)
    y = np.random.default_rng(rows).standard_normal(rows)
    divide = quotients()
    for _ in range(2):
        np.testing.assert_array_equal(divide(jnp.asarray(x), jnp.asarray(y)), x / y)
        if rows and _tiered.mode() != "compiled":
            compiled(divide)


@pytest.mark.parametrize("rows", [320, 640, 1024, 4096])
def test_programs_of_few_rows_are_run_at_once(monkeypatch, rows):
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    divide = quotients()
    divide(jnp.ones(rows, int), jnp.ones(rows))
    assert compiled(divide).cost_analysis()["flops"] < LEAST_OPERATIONS_OF_A_THREAD


def test_other_programs_have_no_pieces(monkeypatch):
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    x, y = jnp.ones(1024, int), jnp.ones(1024)
    divide = quotients()
    assert "while" not in jax.jit(divide).lower(x, y).as_text()
    sharded = jax.device_put((x, y), row_sharded(make_mesh(2)))
    np.testing.assert_array_equal(divide(*sharded), y)
    (entry,) = divide._entries.values()
    assert "while" not in entry.compile().as_text()


def test_a_program_is_traced_once_more_when_it_is_compiled(monkeypatch):
    monkeypatch.setattr(_tiered, "mode", lambda: "auto")
    monkeypatch.setattr(_tiered.Entry, "compile_seconds", 1e9)
    num_traces = []

    @staging.tiered
    def plain(x):
        num_traces.append(x)
        return x + 1

    def negative(x):
        num_traces.append(x)
        return staging.by_pieces(lambda x: -x, x)

    for function, expected in ((plain, 1), (staging.tiered(negative, in_pieces=True), 2)):
        num_traces.clear()
        for seconds in (1e9, 0.0, 0.0):
            monkeypatch.setattr(_tiered.Entry, "compile_seconds", seconds)
            function(jnp.ones(1024))
        _background.wait_until_compiled()
        assert len(num_traces) == expected


def test_rows_of_several_lengths_raise():
    message = (
        "by_pieces: rows must be one-dimensional, of one length, got float32[3] and float32[2]."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        staging.by_pieces(jnp.add, jnp.ones(3, jnp.float32), jnp.ones(2, jnp.float32))
