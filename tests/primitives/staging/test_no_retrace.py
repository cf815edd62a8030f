# SPDX-License-Identifier: Apache-2.0
"""`no_retrace`: silent for compiled calls, an error for what was traced or compiled."""

import re
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.staging import RetraceError, compiled_step, no_retrace, to_host

REMEDY = "Call them before the block, with the same shapes, dtypes, shardings and static values."


def raises(message):
    return pytest.raises(RetraceError, match=f"(?m)^{re.escape(message)}$")


def new_step():
    def step(x):
        return jax.lax.add(x, x)

    return jax.jit(step)


def test_compiled_calls_are_silent():
    step, compiled = new_step(), compiled_step(lambda x, config: x, static="config")
    x = np.ones(3)
    step(x)
    compiled(x, {"layers": [1]})
    with no_retrace():
        for i in range(3):
            step(x * i)
            compiled(x * i, {"layers": [1]})


@pytest.mark.parametrize(
    "changed",
    [np.ones(4), np.ones(3, np.float32), np.ones((3, 1))],
    ids=["length", "dtype", "rank"],
)
def test_another_type_is_traced(changed):
    step = new_step()
    step(np.ones(3))
    message = (
        "no_retrace: the block must run compiled functions only, got 1 traced (step) and "
        f"1 compiled (step). {REMEDY}"
    )
    with raises(message), no_retrace():
        step(changed)


def test_another_device_is_compiled():
    step = new_step()
    x = jnp.ones(8)
    elsewhere = jax.device_put(x, jax.devices()[1])
    step(x)
    message = (
        f"no_retrace: the block must run compiled functions only, got 1 compiled (step). {REMEDY}"
    )
    with raises(message), no_retrace():
        step(elsewhere)


def test_an_unnoticed_static_value():
    step = compiled_step(lambda x, config: x, static="config")
    step(np.ones(3), {"rate": 1})
    with pytest.raises(RetraceError, match=re.escape("1 traced (<lambda>)")), no_retrace():
        step(np.ones(3), {"rate": 1.0})


def test_metrics_are_packed_by_one_program():
    to_host({"a": jnp.float32(0), "b": jnp.int32(0)})
    metrics = [{"a": jnp.float32(i), "b": jnp.int32(-i)} for i in range(3)]
    with no_retrace():
        assert [to_host(each)["b"] for each in metrics] == [0, -1, -2]


def test_an_error_of_the_block_comes_first():
    def fail():
        new_step()(np.ones(3))
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"), no_retrace():
        fail()
    # The block after it records nothing of the first.
    with no_retrace():
        pass


def test_other_threads_do_not_count():
    with no_retrace():
        thread = threading.Thread(target=lambda: new_step()(np.ones(3)))
        thread.start()
        thread.join()


def test_blocks_nest():
    step = new_step()

    @no_retrace()
    def call():
        step(np.ones(3))

    def call_twice():
        step(np.ones(3))
        call()

    with pytest.raises(RetraceError), no_retrace():
        call_twice()
