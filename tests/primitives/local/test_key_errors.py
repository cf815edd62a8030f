# SPDX-License-Identifier: Apache-2.0
"""What every primitive that takes keys says of keys that it cannot take, word for word."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import local

pytestmark = [pytest.mark.checks_arguments, pytest.mark.covered_apart]

IDS = np.arange(3, dtype=np.int32)
# Each calls one primitive with keys of three rows, with the name of the argument.
CALLS = {
    "radix_sort": (lambda keys: local.radix_sort(keys), "keys"),
    "radix_argsort": (lambda keys: local.radix_argsort(keys), "keys"),
    "segmented_sort": (lambda keys: local.segmented_sort(keys, IDS), "keys"),
    "top_k": (lambda x: local.top_k(x, 2), "x"),
    "merge": (lambda keys: local.merge(keys, keys), "a_keys"),
    "searchsorted": (lambda keys: local.searchsorted(keys, keys), "sorted_keys"),
}
NUMBERS = "{caller}: {name} must be an array of numbers"
ENCODE = "Encode it as integers first (numpy.unique with return_inverse, or a view)."
DTYPES = (
    "bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32 "
    "and float64"
)
BAD_KEYS = {
    "complex": (
        lambda: jnp.zeros(3, jnp.complex64),
        TypeError,
        "{caller}: {name} must be of one of the dtypes " + DTYPES + ", got complex64[3].",
    ),
    "float8": (
        lambda: jnp.zeros(3, jnp.float8_e4m3fn),
        TypeError,
        "{caller}: {name} must be of one of the dtypes " + DTYPES + ", got float8_e4m3fn[3].",
    ),
    "strings": (lambda: np.array(["ab", "c"]), TypeError, NUMBERS + ", got <U2[2]. " + ENCODE),
    "objects": (
        lambda: np.array(["ab", None], object),
        TypeError,
        NUMBERS + ", got object[2]. " + ENCODE,
    ),
    "dates": (
        lambda: np.zeros(3, "M8[s]"),
        TypeError,
        NUMBERS + ", got datetime64[s][3]. " + ENCODE,
    ),
    "random keys": (
        lambda: jax.random.split(jax.random.key(0), 3),
        TypeError,
        NUMBERS + ", got key<fry>[3]. Pass jax.random.key_data of it.",
    ),
    "two-dimensional": (
        lambda: np.zeros((2, 3), np.float32),
        ValueError,
        "{caller}: {name} must be one-dimensional, got float32[2,3]. Use jax.vmap for a batch, a "
        "tuple of arrays for several columns.",
    ),
    "scalar": (
        lambda: np.float32(3),
        ValueError,
        "{caller}: {name} must be one-dimensional, got float32[]. Use jax.vmap for a batch, a "
        "tuple of arrays for several columns.",
    ),
    "no columns": (
        tuple,
        ValueError,
        "{caller}: {name} must be at least one array, got an empty tuple.",
    ),
    "columns of two lengths": (
        lambda: (np.zeros(3, np.int32), np.zeros(4, np.int8)),
        ValueError,
        "{caller}: {name} must have the same length, got int32[3], int8[4].",
    ),
}


@pytest.mark.parametrize("bad_keys", BAD_KEYS)
@pytest.mark.parametrize("caller", CALLS)
def test_refuses_keys(caller, bad_keys):
    call, name = CALLS[caller]
    make, error, message = BAD_KEYS[bad_keys]
    with pytest.raises(error) as raised:
        call(make())
    assert str(raised.value) == message.format(caller=caller, name=name)


@pytest.mark.parametrize("caller", CALLS)
def test_refuses_more_rows_than_row_ids_count(caller):
    call, _ = CALLS[caller]
    with pytest.raises(ValueError, match=caller) as raised:
        jax.eval_shape(call, jax.ShapeDtypeStruct((2**31,), jnp.int8))
    assert str(raised.value) == (
        f"{caller}: a shard must hold fewer than 2**31 rows, got int8[2147483648]. "
        "Spread the rows over more devices."
    )


@pytest.mark.parametrize("keys", [np.arange(3), np.arange(3.0), [2**40, 1, 2]], ids=repr)
@pytest.mark.parametrize("caller", CALLS)
def test_refuses_64_bit_keys_without_x64(caller, keys, x64_off):
    call, name = CALLS[caller]
    with pytest.raises(TypeError) as raised:
        call(keys)
    dtype = "float64" if keys is not None and np.asarray(keys).dtype.kind == "f" else "int64"
    assert str(raised.value) == (
        f"{caller}: 64-bit {name} need JAX's x64 mode, got {dtype}[3]. "
        'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
    )


def test_refuses_a_64_bit_jax_array_without_x64():
    keys = jnp.arange(3)
    with jax.enable_x64(False), pytest.raises(TypeError, match="64-bit keys need JAX's x64 mode"):
        local.radix_sort(keys)


KEYS = np.array([3, 1, 2], np.int32)
ERRORS = [
    pytest.param(
        {"keys": KEYS, "values": {"a": KEYS, "b": np.zeros((2, 3))}},
        ValueError,
        "radix_sort: every leaf of values must have 3 rows along its leading axis, "
        "got float64[2,3].",
        id="values of another length",
    ),
    pytest.param(
        {"keys": KEYS, "values": 1.5},
        ValueError,
        "radix_sort: every leaf of values must have 3 rows along its leading axis, got ~float64[].",
        id="a scalar among the values",
    ),
    pytest.param(
        {"keys": KEYS, "descending": (True, False)},
        ValueError,
        "radix_sort: descending must name a direction for each of the 1 keys, got 2.",
        id="directions",
    ),
    pytest.param(
        {"keys": KEYS, "descending": 1},
        TypeError,
        "radix_sort: descending must be a bool, or one bool for each key, got int.",
        id="an integer direction",
    ),
    pytest.param(
        {"keys": KEYS, "bits": 33},
        ValueError,
        "radix_sort: bits must be in [1, 32], got 33.",
        id="too many bits",
    ),
    pytest.param(
        {"keys": KEYS, "bits": 0},
        ValueError,
        "radix_sort: bits must be in [1, 32], got 0.",
        id="no bits",
    ),
    pytest.param(
        {"keys": KEYS.astype(np.float32), "bits": 8},
        TypeError,
        "radix_sort: bits must be None for a key of floating point, got bits=8 for float32[3]. "
        "Leave bits out, or sort integers.",
        id="bits of a float",
    ),
    pytest.param(
        {"keys": (KEYS, KEYS), "bits": (8,)},
        ValueError,
        "radix_sort: bits must be given for each of the 2 keys, got 1.",
        id="bits of one of two keys",
    ),
    pytest.param(
        {"keys": KEYS, "num_valid": 4},
        ValueError,
        "radix_sort: num_valid must be in [0, 3], got 4.",
        id="num_valid too large",
    ),
    pytest.param(
        {"keys": KEYS, "num_valid": jnp.zeros(1, jnp.int32)},
        TypeError,
        "radix_sort: num_valid must be an integer scalar, got int32[1].",
        id="num_valid of one row",
    ),
    pytest.param(
        {"keys": KEYS, "num_valid": jnp.float32(2)},
        TypeError,
        "radix_sort: num_valid must be an integer scalar, got float32[].",
        id="a float num_valid",
    ),
    pytest.param(
        {"keys": KEYS, "num_valid": 2.0},
        TypeError,
        "radix_sort: num_valid must be a Python integer, got float.",
        id="a Python float num_valid",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "message"), ERRORS)
def test_radix_sort_refuses(arguments, error, message):
    with pytest.raises(error) as raised:
        local.radix_sort(**arguments)
    assert str(raised.value) == message


TRACED = {
    "bits": (
        jnp.int32(3),
        "radix_sort: bits must be a Python integer, because shapes depend on it, got the traced "
        "int32[]. Mark it static (static_argnames in jax.jit).",
    ),
    "descending": (
        jnp.bool_(True),
        "radix_sort: descending must be a Python bool, because the program depends on it, got the "
        "traced bool[]. Mark it static (static_argnames in jax.jit).",
    ),
}


@pytest.mark.parametrize("argument", TRACED)
def test_radix_sort_refuses_a_traced_static(argument):
    value, message = TRACED[argument]
    with pytest.raises(TypeError) as raised:
        jax.jit(lambda traced: local.radix_sort(KEYS, **{argument: traced}))(value)
    assert str(raised.value) == message
