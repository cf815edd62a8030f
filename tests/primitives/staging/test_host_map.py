# SPDX-License-Identifier: Apache-2.0
"""`host_map`: the answers and calls of each strategy, transformations, its cache and errors.

That calls run at the same time is shown by a barrier, which a sequential run could not pass.
"""

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from host_errors import fails
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax.test_util import check_grads
from jaxframes import shardings
from jaxframes.primitives.staging import RetraceError, host_map, no_retrace

PATIENCE = 60


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


class Recorded:
    """A host function of an item with two fields, and the items that it was called with."""

    out = {  # noqa: RUF012
        "sum": jax.ShapeDtypeStruct((), np.float32),
        "pair": (jax.ShapeDtypeStruct((2,), np.int32),),
    }

    def __init__(self):
        self.calls = []

    def __call__(self, item):
        self.calls.append(int(item["id"]))
        total = item["row"].sum(dtype=np.float32)
        return {"sum": total, "pair": (np.array([item["id"], -item["id"]], np.int32),)}

    def expected(self, xs):
        rows = [{"id": i, "row": r} for i, r in zip(xs["id"], xs["row"], strict=True)]
        results = [Recorded()(row) for row in rows]
        return jax.tree.map(lambda *leaves: np.stack(leaves), *results)


def items(num_items):
    # No row is zero, as padding would be.
    rows = np.arange(3 * num_items, dtype=np.float32).reshape(num_items, 3) + 1
    return {"id": np.arange(num_items, dtype=np.int32) + 1, "row": rows}


STRATEGIES = {
    "auto": {},
    "sequential": {"strategy": "sequential", "workers": 1},
    "threads": {"strategy": "threads"},
    "auto threads": {"workers": 3},
    "chunks": {"strategy": "threads", "workers": 2, "chunk": 3},
    "mesh": {"strategy": "mesh", "workers": 4},
    "all devices": {"strategy": "mesh"},
}


def assert_same(result, expected):
    jax.tree.map(np.testing.assert_array_equal, result, expected)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("num_items", [1, 2, 8, 10])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_equals_a_list_comprehension_and_calls_once_for_each_item(strategy, num_items, jitted):
    fn, xs = Recorded(), items(num_items)
    run = lambda xs: host_map(fn, xs, fn.out, **STRATEGIES[strategy])  # noqa: E731
    result = (jax.jit(run) if jitted else run)(xs)
    assert_same(result, fn.expected(xs))
    assert sorted(fn.calls) == list(range(1, num_items + 1))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_items(strategy):
    fn = Recorded()
    result = host_map(fn, items(0), fn.out, **STRATEGIES[strategy])
    assert jax.tree.map(jnp.shape, result) == {"sum": (0,), "pair": ((0, 2),)}
    assert fn.calls == []


def test_a_sequential_eager_call_keeps_the_order_of_calls():
    fn = Recorded()
    host_map(fn, items(10), fn.out)
    assert fn.calls == list(range(1, 11))


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("num_items", [3, 8, 10])
def test_ten_items_on_four_devices(axis_type, jitted, num_items):
    fn, xs = Recorded(), items(num_items)
    mesh = shardings.make_mesh(4, axis_type=axis_type)
    run = lambda xs: host_map(fn, xs, fn.out, mesh=mesh)  # noqa: E731
    result = (jax.jit(run) if jitted else run)(xs)
    assert_same(result, fn.expected(xs))
    assert sorted(fn.calls) == list(range(1, num_items + 1))


def test_a_mesh_of_two_axes_is_one_row_of_devices():
    fn, xs = Recorded(), items(10)
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)
    assert_same(host_map(fn, xs, fn.out, mesh=mesh), fn.expected(xs))


def test_rows_that_are_sharded_already():
    fn, xs = Recorded(), items(8)
    placed = jax.device_put(xs, NamedSharding(shardings.make_mesh(4), PartitionSpec("rows")))
    run = jax.jit(lambda xs: host_map(fn, xs, fn.out))
    assert_same(run(placed), fn.expected(xs))
    assert fn.calls == list(range(1, 9))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_under_vmap(strategy):
    fn, xs = Recorded(), items(12)
    batched = jax.tree.map(lambda leaf: leaf.reshape(2, 2, 3, *leaf.shape[1:]), xs)
    run = lambda xs: host_map(fn, xs, fn.out, **STRATEGIES[strategy])  # noqa: E731
    result = jax.vmap(jax.vmap(run, in_axes=1, out_axes=1))(batched)
    flat = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(12, *leaf.shape[3:]), result)
    assert_same(flat, fn.expected(xs))
    assert sorted(fn.calls) == list(range(1, 13))


def test_under_vmap_of_one_of_two_arrays():
    out = jax.ShapeDtypeStruct((), np.int64)
    run = lambda a, b: host_map(lambda x: x[0] + 10 * x[1], (a, b), out, workers=2)  # noqa: E731
    a, b = np.arange(6).reshape(2, 3), np.arange(3)
    np.testing.assert_array_equal(jax.vmap(run, in_axes=(0, None))(a, b), a + 10 * b)


@pytest.mark.parametrize("workers", [1, 2])
def test_inside_shard_map(workers):
    fn, xs = Recorded(), items(8)
    mesh, rows = shardings.make_mesh(4), PartitionSpec("rows")

    def shard(xs):
        result = host_map(fn, xs, fn.out, workers=workers)
        # Shards differ, and JAX must know it.
        return result, jax.lax.psum(result["sum"].sum(), "rows")

    run = jax.shard_map(shard, mesh=mesh, in_specs=rows, out_specs=(rows, PartitionSpec()))
    result, total = jax.jit(run)(xs)
    assert_same(result, fn.expected(xs))
    assert float(total) == xs["row"].sum()
    assert sorted(fn.calls) == list(range(1, 9))


def test_inside_a_loop():
    out = jax.ShapeDtypeStruct((), np.int32)

    def body(total, x):
        return total + host_map(lambda x: x * x, x[None], out)[0], None

    total, _ = jax.jit(lambda xs: jax.lax.scan(body, jnp.int32(0), xs))(
        jnp.arange(5, dtype="int32")
    )
    assert int(total) == 30


def test_an_unused_result_causes_no_calls_under_jit():
    fn = Recorded()

    @jax.jit
    def run(xs):
        host_map(fn, xs, fn.out)
        return xs["id"]

    jax.block_until_ready(run(items(3)))
    assert fn.calls == []
    host_map(fn, items(3), fn.out)
    assert fn.calls == [1, 2, 3]


def test_python_numbers_of_any_width():
    out = [jax.ShapeDtypeStruct((), dtype) for dtype in ("bfloat16", "int8", "bool", "complex64")]
    result = host_map(lambda x: [0.5, -3, True, 1j], np.zeros(2), out)
    assert [leaf[1].item() for leaf in result] == [0.5, -3, True, 1j]


def test_large_arrays():
    xs = jnp.ones((4, 1 << 19), jnp.float32)
    out = jax.ShapeDtypeStruct((1 << 19,), jnp.float32)
    run = jax.jit(
        lambda xs: host_map(lambda x: 2 * x, jnp.sin(xs), out, strategy="mesh", workers=2)
    )
    np.testing.assert_array_equal(run(xs), 2 * jnp.sin(xs))


# At the same time


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 2},
        {"workers": 4, "chunk": 1},
        {"strategy": "mesh", "workers": 2},
        {"strategy": "mesh", "workers": 4},
    ],
)
def test_as_many_calls_at_a_time_as_workers(options):
    barrier = threading.Barrier(options["workers"])

    def meet(x):
        barrier.wait(PATIENCE)
        return x

    xs = np.arange(2 * options["workers"])
    out = jax.ShapeDtypeStruct((), xs.dtype)
    np.testing.assert_array_equal(host_map(meet, xs, out, **options), xs)


def test_a_sequential_call_has_one_at_a_time():
    threads = set()

    def note(x):
        threads.add(threading.get_ident())
        return x

    host_map(note, np.arange(8), jax.ShapeDtypeStruct((), np.int64))
    assert len(threads) == 1


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"strategy": "mesh", "workers": 4}])
def test_eager_calls_of_one_function_share_a_program(options):
    fn, xs = Recorded(), items(3)
    host_map(fn, xs, fn.out, **options)
    with no_retrace():
        host_map(fn, xs, fn.out, **options)
    with pytest.raises(RetraceError), no_retrace():
        host_map(Recorded(), xs, fn.out, **options)


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"strategy": "mesh", "workers": 4}])
def test_calls_of_one_method_or_cache_share_a_program(options):
    fn, xs, cache, key = Recorded(), items(3), {}, lambda item: int(item["id"])
    run = lambda: (  # noqa: E731
        host_map(fn.__call__, xs, fn.out, **options),
        host_map(fn, xs, fn.out, cache=cache, key=key, **options),
    )
    run()
    with no_retrace():
        run()
    with pytest.raises(RetraceError), no_retrace():
        host_map(fn, xs, fn.out, cache={}, key=key, **options)


# Cache


def test_the_cache_keeps_values_of_a_function_that_fills_one_buffer():
    buffer, cache, xs = np.zeros(2, np.float32), {}, np.arange(6, dtype=np.float32).reshape(3, 2)

    def fill(x):
        buffer[:] = 2 * x
        return buffer

    for _ in range(2):
        result = host_map(fill, xs, jax.ShapeDtypeStruct((2,), np.float32), cache=cache)
        np.testing.assert_array_equal(result, 2 * xs)


@pytest.mark.parametrize(
    "options", [{}, {"workers": 4, "chunk": 1}, {"strategy": "mesh", "workers": 4}]
)
def test_each_key_is_called_once(options):
    fn, cache = Recorded(), {}
    xs = jax.tree.map(lambda leaf: np.tile(leaf[:3], (4,) + (1,) * (leaf.ndim - 1)), items(3))
    run = lambda xs: host_map(  # noqa: E731
        fn, xs, fn.out, cache=cache, key=lambda item: int(item["id"]), **options
    )
    assert_same(run(xs), fn.expected(xs))
    assert sorted(fn.calls) == [1, 2, 3]
    assert sorted(cache) == [1, 2, 3]
    assert_same(jax.jit(run)(xs), fn.expected(xs))
    assert len(fn.calls) == 3


def test_without_a_key_the_bytes_of_an_item_are_it():
    calls, cache = [], {}

    def note(x):
        calls.append(float(x["a"]))
        return x["a"]

    xs = {"a": np.array([0.0, -0.0, 1.0, 0.0]), "b": np.zeros(4, np.int32)}
    out = jax.ShapeDtypeStruct((), np.float64)
    for _ in range(2):
        host_map(note, xs, out, cache=cache)
    assert [np.signbit(call) for call in calls] == [False, True, False]
    assert len(cache) == 3


def test_another_thread_waits_for_the_result_of_the_first():
    entered, calls = threading.Event(), []

    def slow(x):
        calls.append(int(x))
        entered.set()
        assert not threading.Event().wait(0.05)
        return x

    xs = np.zeros(4, np.int64)
    out = jax.ShapeDtypeStruct((), np.int64)
    result = host_map(slow, xs, out, workers=4, chunk=1, cache={})
    np.testing.assert_array_equal(result, xs)
    assert calls == [0]


def test_what_failed_is_not_cached():
    cache, is_ready = {}, []

    def fail_once(x):
        if not is_ready:
            is_ready.append(True)
            raise ValueError("mine")
        return x

    xs, out = np.zeros(3, np.int64), jax.ShapeDtypeStruct((), np.int64)
    with fails("host_map: fn or key raised ValueError on item 0: mine"):
        jax.block_until_ready(host_map(fail_once, xs, out, cache=cache))
    assert cache == {}
    np.testing.assert_array_equal(host_map(fail_once, xs, out, cache=cache), xs)


# Derivatives


SCALAR = jax.ShapeDtypeStruct((), np.float64)


def cube(x):
    return x**3


def cubes(xs, **options):
    """Cubes, with a derivative that calls the host too."""

    def jvp(xs, tangents, results):
        slopes = host_map(
            lambda x: 3 * x**2, xs, SCALAR, jvp=lambda xs, dxs, _: 6 * xs * dxs, **options
        )
        return slopes * tangents

    return host_map(cube, xs, SCALAR, jvp=jvp, **options)


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"strategy": "mesh", "workers": 4}])
def test_with_a_derivative(options):
    xs = np.array([0.5, -1.0, 2.0])
    check_grads(lambda xs: cubes(xs, **options), (xs,), order=2)
    gradient = jax.jit(jax.grad(lambda xs: cubes(xs, **options).sum()))(xs)
    np.testing.assert_allclose(gradient, 3 * xs**2)


def test_a_derivative_of_a_tree_of_rows():
    out = {"y": SCALAR}

    def jvp(xs, tangents, results):
        return {"y": (xs["w"] * tangents["x"] + xs["x"] * tangents["w"]).sum(axis=1)}

    def loss(xs):
        return host_map(lambda x: {"y": x["w"] @ x["x"]}, xs, out, jvp=jvp)["y"].sum()

    rng = np.random.default_rng(0)
    xs = {"w": rng.normal(size=(3, 2)), "x": rng.normal(size=(3, 2))}
    gradient = jax.grad(loss)(xs)
    np.testing.assert_allclose(gradient["w"], xs["x"])
    np.testing.assert_allclose(gradient["x"], xs["w"])


@pytest.mark.parametrize(
    ("jvp", "got"),
    [
        (lambda xs, dxs, ys: None, "None"),
        (lambda xs, dxs, ys: jnp.ones((3, 2)), "float64[3,2]"),
        (lambda xs, dxs, ys: dxs.sum(), "float64[]"),
        (lambda xs, dxs, ys: dxs.astype(jnp.float32), "float32[3]"),
        (lambda xs, dxs, ys: (dxs,), "('float64[3]',)"),
    ],
)
def test_a_derivative_has_the_form_of_the_results(jvp, got):
    message = (
        "host_map: jvp must return tangents of the structure, shapes and dtypes of the results, "
        f"float64[3], got {got}."
    )
    with raises(TypeError, message):
        jax.grad(lambda xs: host_map(cube, xs, SCALAR, jvp=jvp).sum())(np.ones(3))


def test_without_a_derivative_the_error_names_the_argument():
    message = (
        "host_map: a derivative needs the argument jvp, got None. Pass a JAX function "
        "jvp(xs, tangents, results), or jax.lax.stop_gradient(xs) in place of xs."
    )
    with raises(ValueError, message):
        jax.grad(lambda xs: host_map(cube, xs, SCALAR).sum())(np.ones(3))


def test_constants_need_no_derivative():
    def loss(scale):
        fixed = host_map(cube, np.arange(3.0), SCALAR)
        stopped = host_map(cube, jax.lax.stop_gradient(scale * jnp.ones(3)), SCALAR)
        indexed = host_map(lambda i: float(i), jnp.arange(3), SCALAR)
        return (scale * (fixed + stopped + indexed)).sum()

    np.testing.assert_allclose(jax.grad(loss)(2.0), 9 + 24 + 3)


# Errors


def failing_on(index, num_items=6, **options):
    def fail(x):
        if x == index:
            raise KeyError("no such row")
        return x

    xs = np.arange(num_items)
    return host_map(fail, xs, jax.ShapeDtypeStruct((), xs.dtype), **options)


@pytest.mark.parametrize(
    "options", [{}, {"workers": 2}, {"strategy": "mesh", "workers": 2}, {"strategy": "mesh"}]
)
def test_an_error_of_the_function_names_the_item(options):
    with fails("host_map: fn raised KeyError on item 3: 'no such row'"):
        jax.block_until_ready(failing_on(3, **options))


def test_an_error_under_vmap_names_the_place_in_the_batch():
    out = jax.ShapeDtypeStruct((), np.int64)

    def fail(x):
        raise ValueError("mine") if x == 5 else AssertionError

    run = jax.vmap(lambda xs: host_map(lambda x: x if x != 5 else fail(x), xs, out))
    with fails("host_map: fn raised ValueError on item (1, 2): mine"):
        jax.block_until_ready(run(np.arange(6).reshape(2, 3)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"y": np.zeros(2, np.float32)},
            "host_map: fn must return float32[3] at result['y'], got float32[2] on item 0. "
            "Correct out, or convert what fn returns.",
        ),
        (
            {"y": np.zeros(3)},
            "host_map: fn must return float32[3] at result['y'], got float64[3] on item 0. "
            "Correct out, or convert what fn returns.",
        ),
        (
            {"y": 0.5},
            "host_map: fn must return float32[3] at result['y'], got float on item 0. "
            "Correct out, or convert what fn returns.",
        ),
        (
            np.zeros(3, np.float32),
            "host_map: fn must return the structure of out, PyTreeDef({'y': *}), got "
            "PyTreeDef(*) on item 0. Correct out, or what fn returns.",
        ),
    ],
)
def test_another_result_than_promised(value, message):
    out = {"y": jax.ShapeDtypeStruct((3,), np.float32)}
    with fails(message):
        jax.block_until_ready(host_map(lambda x: value, np.arange(2), out))


class Unreadable:
    def __array__(self, *args, **kwargs):
        raise LookupError("no array")


@pytest.mark.parametrize("strategy", ["sequential", "mesh"])
def test_a_result_that_cannot_be_read_names_the_item(strategy):
    out = jax.ShapeDtypeStruct((), np.float32)
    message = (
        "host_map: fn must return arrays and numbers, got Unreadable on item 0, which raised "
        "LookupError: no array. Convert what fn returns."
    )
    with fails(message):
        jax.block_until_ready(
            host_map(lambda x: Unreadable(), np.arange(8), out, strategy=strategy)
        )


def test_a_python_number_that_does_not_fit():
    message = (
        "host_map: fn must return int8[] at result, got int on item 1. "
        "Correct out, or convert what fn returns."
    )
    with fails(message):
        out = jax.ShapeDtypeStruct((), np.int8)
        jax.block_until_ready(host_map(lambda x: 100 * int(x), np.arange(3) + 1, out))


XS, OUT = np.arange(4), jax.ShapeDtypeStruct((), np.int64)


@pytest.mark.checks_arguments
@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fn": 3}, "host_map: fn must be callable, got int."),
        ({"key": 3, "cache": {}}, "host_map: key must be callable, got int."),
        ({"jvp": 3}, "host_map: jvp must be callable, got int."),
        (
            {"cache": []},
            "host_map: cache must be a mapping of results by key, got list. Pass a dict.",
        ),
    ],
)
def test_functions_and_caches_of_another_form(options, message):
    out = jax.ShapeDtypeStruct((), np.float32)
    with raises(TypeError, message):
        host_map(**({"fn": abs, "xs": np.arange(3), "out": out} | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strategy": "thread"},
            "host_map: strategy must be one of auto, sequential, threads, mesh, got 'thread'. "
            "Did you mean 'threads'?",
        ),
        (
            {"chunk": 2},
            "host_map: chunk must come with the strategy threads, got sequential. "
            "Leave chunk out, or pass strategy='threads'.",
        ),
        (
            {"strategy": "sequential", "workers": 2},
            "host_map: the strategy sequential has one worker, got workers=2. "
            "Leave workers out, or pass strategy='threads'.",
        ),
        ({"workers": 0}, "host_map: workers must be at least 1, got 0."),
        (
            {"key": lambda x: int(x)},
            "host_map: key must come with a cache, got key alone. Pass cache={}, or leave key out.",
        ),
    ],
)
def test_options_that_do_not_fit(options, message):
    with raises(ValueError, message):
        host_map(int, XS, OUT, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"strategy": "threads"},
            "host_map: mesh must come with the strategy mesh, got threads. "
            "Leave mesh out, or pass strategy='mesh'.",
        ),
        (
            {"workers": 3},
            "host_map: mesh and workers must not both be given, got workers=3 and a mesh of 2 "
            "devices. Leave workers out.",
        ),
    ],
)
def test_a_mesh_fits_its_strategy(options, message):
    with raises(ValueError, message):
        host_map(int, XS, OUT, mesh=shardings.make_mesh(2), **options)


def test_too_few_devices():
    message = (
        "host_map: workers must be at most the 8 devices that JAX sees, got 9. On CPU, set "
        "jax_num_cpu_devices before the first JAX call to have more. JAX says: "
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}Number of devices 8 must be"):
        host_map(int, XS, OUT, strategy="mesh", workers=9)


def test_no_mesh_inside_shard_map():
    message = (
        "host_map: the strategy mesh must be outside shard_map, got a call inside it. There, each "
        "device calls for its own rows: pass strategy='sequential' or 'threads'."
    )
    rows = PartitionSpec("rows")
    mesh = shardings.make_mesh(2)
    inside = jax.shard_map(
        lambda xs: host_map(int, xs, OUT, strategy="mesh"), mesh=mesh, in_specs=rows, out_specs=rows
    )
    with raises(ValueError, message):
        inside(XS)


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("xs", "out", "error", "message"),
    [
        (
            XS,
            {"y": np.float32},
            TypeError,
            "host_map: out must consist of jax.ShapeDtypeStruct, got type at out['y']. "
            "Pass the shape and dtype of the result of one item.",
        ),
        (
            ["a", "b"],
            OUT,
            TypeError,
            "host_map: xs must be an array of numbers, got <U1[]. "
            "Encode it as integers first (numpy.unique with return_inverse, or a view).",
        ),
        (
            (np.arange(3), np.arange(4)),
            OUT,
            ValueError,
            "host_map: every leaf of xs must have the same number of rows along its leading axis, "
            "got int64[3], int64[4].",
        ),
    ],
)
def test_wrong_rows_and_results(xs, out, error, message):
    with raises(error, message):
        host_map(int, xs, out)


def test_sixty_four_bits_need_their_mode(x64_off):
    message = (
        "host_map: 64-bit results need JAX's x64 mode, got int64 at out. "
        'Call jax.config.update("jax_enable_x64", True) first, or return 32 bits.'
    )
    with raises(TypeError, message):
        host_map(int, np.arange(3, dtype=np.int32), OUT)


def test_maps_from_several_threads():
    fn, xs = Recorded(), items(10)
    run = jax.jit(lambda xs: host_map(fn, xs, fn.out, workers=2))
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(run, [xs] * 8):
            assert_same(result, fn.expected(xs))
