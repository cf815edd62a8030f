# SPDX-License-Identifier: Apache-2.0
"""`compiled_step`: one trace, static arguments, donation, falling back, and the check."""

import functools
import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import Tracer
from jaxframes.primitives.staging import compiled_step


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


def config_of(layers=2):
    """A new nested object of the same content on each call."""
    return {"layers": [{"scale": 2, "bias": (1, None)} for _ in range(layers)], "names": {"a", "b"}}


def step(x, config, *, shift=0.0):
    assert config["names"] == {"a", "b"}
    for layer in config["layers"]:
        x = x * layer["scale"] + layer["bias"][0]
    return x + shift


X = np.arange(3, dtype=np.float32)


@pytest.mark.parametrize("as_keyword", [False, True])
def test_a_hundred_calls_are_one_trace(as_keyword):
    compiled = compiled_step(step, static=("config",))
    for i in range(100):
        x = jnp.float32(i)
        result = compiled(x, config=config_of()) if as_keyword else compiled(x, config_of())
        assert float(result) == 4 * i + 3
    assert compiled.num_traces == 1
    assert compiled.mode == "compiled"


def test_another_static_value_is_another_trace():
    compiled = compiled_step(step, static="config")
    for layers in (1, 2, 1, 2):
        expected = step(X, config_of(layers))
        np.testing.assert_array_equal(compiled(X, config_of(layers)), expected)
    assert compiled.num_traces == 2
    compiled.clear_cache()
    compiled(X, config_of())
    assert compiled.num_traces == 3


def test_values_that_python_calls_equal_are_not_taken_for_each_other():
    compiled = compiled_step(lambda x, kind: x * (2 if kind is True else 1), static="kind")
    assert [int(compiled(jnp.int32(3), kind)) for kind in (1, True, 1.0)] == [3, 6, 3]


def test_defaults_and_keywords_keep_their_meaning():
    def with_defaults(x, /, sizes=[1, 2], *, scale={"by": 3}, shift=0):  # noqa: B006
        return x * sum(sizes) * scale["by"] + shift

    compiled = compiled_step(with_defaults, static=("sizes", "scale"))
    assert int(compiled(jnp.int32(1))) == 9
    assert int(compiled(jnp.int32(1), [5], scale={"by": 1}, shift=jnp.int32(7))) == 12
    assert compiled.__name__ == "with_defaults"


def test_keywords_of_any_name_can_be_static():
    compiled = compiled_step(lambda x, **settings: x * settings["by"][0], static="by")
    assert int(compiled(jnp.int32(2), by=[4])) == 8


def test_a_partial_function_can_be_compiled():
    compiled = compiled_step(functools.partial(step, shift=1.0), static="config")
    np.testing.assert_array_equal(compiled(X, config_of()), step(X, config_of(), shift=1.0))


def test_arguments_by_position_only_can_be_static_and_donated():
    compiled = compiled_step(lambda x, config, /: x * config["scale"], static="config", donate="x")
    x = jnp.asarray(X)
    np.testing.assert_array_equal(compiled(x, {"scale": 3}), 3 * X)
    assert x.is_deleted()


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    @functools.partial(compiled_step, static=("self", "config"))
    def step(self, x, config):
        return x * self.scale * config["scale"]

    @compiled_step
    def unnamed(self, x):
        return x


def test_a_method_is_the_step_of_its_object():
    for scaled in (Scaled(2), Scaled(5)):
        np.testing.assert_array_equal(scaled.step(X, {"scale": 3}), X * scaled.scale * 3)
    assert Scaled.step.num_traces == 2
    message = "compiled_step: self must consist of arrays, got Scaled at self. Name self in static."
    with raises(TypeError, message):
        Scaled(2).unnamed(X)


def test_it_works_inside_transformations():
    compiled = compiled_step(step, static="config")
    expected = step(X, config_of())
    np.testing.assert_array_equal(jax.jit(lambda x: compiled(x, config_of()))(X), expected)
    np.testing.assert_array_equal(jax.vmap(lambda x: compiled(x, config_of()))(X), expected)
    assert float(jax.grad(lambda x: compiled(x, config_of()))(1.0)) == 4.0


def test_donated_buffers_are_gone():
    compiled = compiled_step(lambda state, x, n: state + n[0] * x, static="n", donate="state")
    state, x = jnp.zeros(3), jnp.ones(3)
    np.testing.assert_array_equal(compiled(state, x, [2]), [2, 2, 2])
    assert state.is_deleted()
    assert not x.is_deleted()
    by_keyword = jnp.zeros(3)
    compiled(state=by_keyword, x=x, n=[2])
    assert by_keyword.is_deleted()


def test_an_array_that_was_donated_is_named():
    compiled = compiled_step(lambda state, x: {"w": state["w"] + x}, donate="state")
    state = {"w": jnp.asarray(X)}
    compiled(state, X)
    message = (
        "compiled_step: arrays must not be donated or deleted, got float64[3] at state['w']. Pass "
        "what the step returned, or a copy from before the donation."
    )
    with raises(ValueError, message.replace("float64", str(state["w"].dtype))):
        compiled(state, X)


def test_an_array_is_donated_once():
    compiled = compiled_step(lambda state: jax.tree.map(jnp.negative, state), donate="state")
    x = jnp.ones(3, jnp.float32)
    message = (
        "compiled_step: donated arrays must differ, got the same float32[3] at state['a'] and "
        "state['b']. Copy one of them first, with jnp.copy."
    )
    with raises(ValueError, message):
        compiled({"a": x, "b": x})


def test_an_error_while_running_is_not_taken_for_a_donated_argument():
    def fail(x):
        raise OSError("no simulator")

    def step(x):
        return jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    with pytest.raises(Exception, match="no simulator"):
        jax.block_until_ready(compiled_step(step, donate="x")(jnp.ones(3)))


def test_lowering_takes_the_same_arguments():
    compiled = compiled_step(step, static="config")
    np.testing.assert_array_equal(compiled.lower(X, config_of()).compile()(X), step(X, config_of()))


# Programs that cannot be compiled


def needs_values(x):
    return x + 1 if x[0] > 0 else x - 1


UNTRACEABLE = {
    "bool": needs_values,
    "array": lambda x: jnp.asarray(np.asarray(x) + 1),
    "integer": lambda x: jnp.asarray(range(10)[x[0].astype(int)] + 1),
    "mask": lambda x: x[x > 0],
    "float": lambda x: jnp.asarray(float(x[0])),
    "shape": lambda x: jnp.zeros(x[0].astype(int)),
}


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_it_falls_back_once_and_warns_once(name):
    compiled = compiled_step(UNTRACEABLE[name], on_unsupported="eager")
    x = jnp.arange(1.0, 4.0)
    with pytest.warns(RuntimeWarning, match="^compiled_step: .* runs eagerly from now on") as said:
        first = compiled(x)
    assert [warning.filename for warning in said] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(compiled(x), first)
    assert compiled.mode == "eager"
    np.testing.assert_array_equal(first, UNTRACEABLE[name](x))


def test_the_warning_gives_the_reason():
    compiled = compiled_step(lambda x, config: x, static="config", on_unsupported="eager")
    message = (
        "compiled_step: <lambda> runs eagerly from now on, because it could not be compiled: "
        "compiled_step: config must consist of hashable leaves, got int64[3] at config['a']. "
        "Pass arrays as arguments that are not static."
    )
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(message)}$"):
        assert compiled(3, config={"a": np.arange(3)}) == 3
    assert compiled.mode == "eager"


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_without_falling_back_the_error_says_what_to_do(name):
    compiled = compiled_step(UNTRACEABLE[name])
    with pytest.raises((TypeError, IndexError)) as raised:
        compiled(jnp.arange(1.0, 4.0))
    assert raised.value.__notes__[-1] == (
        "compiled_step: name the argument that the program depends on in static, or pass "
        'on_unsupported="eager".'
    )
    assert compiled.mode == "compiled"


@pytest.mark.parametrize("error", [TypeError, ValueError, IndexError, KeyError])
def test_errors_of_the_function_are_raised(error):
    def wrong(x):
        raise error("mine")

    compiled = compiled_step(wrong, on_unsupported="eager")
    with pytest.raises(error, match="mine"):
        compiled(X)
    assert compiled.mode == "compiled"


def test_an_eager_run_that_fails_leaves_the_mode():
    compiled = compiled_step(needs_values, on_unsupported="eager")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(compiled)(X)
    assert compiled.mode == "compiled"


# The check


def test_the_check_compares_with_an_eager_call_and_keeps_donated_arguments():
    compiled = compiled_step(step, static="config", donate="x")
    x = jnp.arange(3.0)
    assert compiled.check(x, config_of()) <= 1e-5
    assert not x.is_deleted()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda x: {"a": x, "b": x * (1 + 1e-3)},
            "CompiledStep.check: result['b'] must agree to 1e-05 with an eager call, got a "
            "relative difference of 1.0e-03.",
        ),
        (
            lambda x: {"a": x * np.nan, "b": x * 2},
            "CompiledStep.check: result['a'] must agree to 1e-05 with an eager call, got a "
            "relative difference of inf.",
        ),
        (
            lambda x: {"a": x, "b": x[:1]},
            "CompiledStep.check: result['b'] must have the same shape and dtype, got float64[1] "
            "compiled and float64[2] eager.",
        ),
        (
            lambda x: {"a": x},
            "CompiledStep.check: compiled and eager results must have the same structure, got "
            "PyTreeDef({'a': *}) compiled and PyTreeDef({'a': *, 'b': *}) eager.",
        ),
    ],
)
def test_the_check_names_the_first_result_that_differs(wrong, message):
    def differs(x):
        return wrong(x) if isinstance(x, Tracer) else {"a": x, "b": x}

    with raises(AssertionError, message):
        compiled_step(differs).check(jnp.array([1.0, 2.0]))


def test_the_check_allows_rounding_and_no_other_integer():
    def rounded(x):
        return x.astype(jnp.bfloat16) * (1.01 if isinstance(x, Tracer) else 1.0)

    assert 0 < compiled_step(rounded).check(jnp.array([3.0])) < 0.02

    def counts(x):
        return jnp.int32(7 + isinstance(x, Tracer)), jax.random.key(0), jnp.array([np.nan, np.inf])

    with pytest.raises(AssertionError, match=re.escape("result[0] must agree to 0e+00")):
        compiled_step(counts).check(X)
    assert compiled_step(lambda x: counts(X)[1:]).check(X) == 0


# Errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"static": "confg"},
            "compiled_step: static must name arguments of step, got 'confg'. "
            "Its arguments are x, config, shift. Did you mean 'config'?",
        ),
        (
            {"donate": ("x", "y")},
            "compiled_step: donate must name arguments of step, got 'y'. "
            "Its arguments are x, config, shift.",
        ),
        (
            {"static": "config", "donate": ("x", "config")},
            "compiled_step: static and donate must not share arguments, got 'config' in both. "
            "Static values have no buffers: remove it from donate.",
        ),
        (
            {"on_unsupported": "eagre"},
            'compiled_step: on_unsupported must be "raise" or "eager", got \'eagre\'. '
            "Did you mean 'eager'?",
        ),
    ],
)
@pytest.mark.checks_arguments
def test_wrong_settings(settings, message):
    with raises(ValueError, message):
        compiled_step(step, **settings)


@pytest.mark.checks_arguments
@pytest.mark.parametrize("names", [0, (0,), None])
def test_arguments_are_named(names):
    message = (
        f"compiled_step: static must be a name or a list of names, got {names!r}. Pass the names "
        "of arguments, not their positions."
    )
    with raises(TypeError, message):
        compiled_step(step, static=names)


@pytest.mark.checks_arguments
def test_only_a_function_can_be_compiled():
    with raises(
        TypeError, "compiled_step: fn must be callable, got int. Pass a function of arrays."
    ):
        compiled_step(3)


def test_an_unhashable_static_argument():
    message = (
        "compiled_step: config must consist of hashable leaves, got int64[3] at config['a'][0]. "
        "Pass arrays as arguments that are not static."
    )
    with raises(TypeError, message):
        compiled_step(step, static="config")(X, {"a": [np.arange(3)]})


@pytest.mark.parametrize("call", [lambda f: f(X, config_of()), lambda f: f(X, config=config_of())])
def test_an_argument_that_should_be_static(call):
    message = (
        "compiled_step: config must consist of arrays, got set at config['names']. "
        "Name config in static."
    )
    with raises(TypeError, message):
        call(compiled_step(step))
