# SPDX-License-Identifier: Apache-2.0
"""`freeze` and `thaw`."""

import collections
import dataclasses
import enum
import pickle
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.primitives.staging import Frozen, freeze, thaw

Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass(frozen=True)
class Config:
    scale: object


@dataclasses.dataclass(frozen=True)
class Table:
    values: np.ndarray

    def __eq__(self, other):
        return np.array_equal(self.values, other.values)

    def __hash__(self):
        return hash(self.values.tobytes())


class Level(enum.IntEnum):
    LOW = 1


def raises(error, message):
    return pytest.raises(error, match=f"(?m)^{re.escape(message)}$")


hashable_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.binary(max_size=3),
    st.floats(), st.complex_numbers(), st.sampled_from([Level.LOW, int, np.float32(-0.0), len]),
)  # fmt: skip
hashables = st.recursive(
    hashable_leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner),
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.builds(Point, inner, inner),
    ),
    max_leaves=6,
)
objects = st.recursive(
    hashables,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashables, inner, max_size=3),
        st.sets(hashables, max_size=3),
        st.frozensets(hashables, max_size=3),
        st.builds(Point, inner, inner),
    ),
    max_leaves=12,
)


def spelled(value):
    """A text that tells apart all values with another type or another bit, in order."""
    kind = type(value).__name__
    if isinstance(value, dict):
        parts = [f"{spelled(name)}: {spelled(item)}" for name, item in value.items()]
    elif isinstance(value, (set, frozenset)):
        parts = sorted(map(spelled, value))
    elif isinstance(value, (tuple, list)):
        parts = map(spelled, value)
    else:
        parts = [repr(value)]
    return f"{kind}({', '.join(parts)})"


@given(objects)
def test_thaw_gives_back_what_was_frozen_with_all_types(value):
    assert spelled(thaw(freeze(value))) == spelled(value)


@given(objects)
def test_equal_content_in_new_objects_has_an_equal_key(value):
    again = pickle.loads(pickle.dumps(value))
    assert freeze(again) == freeze(value)
    assert hash(freeze(again)) == hash(freeze(value))
    assert pickle.loads(pickle.dumps(freeze(value))) == freeze(value)


@given(objects, objects)
def test_keys_are_equal_exactly_where_the_content_is(one, other):
    assert (freeze(one) == freeze(other)) == (spelled(one) == spelled(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (1.0, 1 + 0j),
        (1, np.int64(1)),
        (1, Level.LOW),
        (np.float32(0.0), np.float32(-0.0)),
        (Config(1), Config(True)),
        (Config(1), Config(1.0)),
        (Config(0.0), Config(-0.0)),
        (Config((1, Config(2))), Config((1, Config(2.0)))),
        ("a", b"a"),
        ("a", np.str_("a")),
        ([1], (1,)),
        ({1}, frozenset({1})),
        ({1}, {True}),
        ((1, 2), Point(1, 2)),
        ({"a": 1}, [("a", 1)]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a"}, {True: "a"}),
        ([], ()),
        ((list, 1), [1]),
        ([None], []),
    ],
)
def test_what_a_program_can_tell_apart_has_different_keys(one, other):
    assert freeze(one) != freeze(other)


def test_sets_have_no_order_and_nans_are_equal():
    assert freeze({8, 16, 0}) == freeze({0, 16, 8})
    assert freeze(float("nan")) == freeze(-float("nan"))
    assert freeze([float("nan")]) == freeze([float("nan")])


def test_a_dataclass_of_equal_content_has_an_equal_key_and_its_own_equality_counts():
    assert freeze(Config((1, "a"))) == freeze(Config((1, "a")))
    assert thaw(freeze([Config(1.0)])) == [Config(1.0)]
    assert freeze(Table(np.arange(3))) == freeze(Table(np.arange(3)))
    assert freeze(Table(np.arange(3))) != freeze(Table(np.arange(4)))


def test_frozen_objects_do_not_follow_changes():
    value = {"layers": [1, 2]}
    frozen = freeze(value)
    value["layers"].append(3)
    thaw(frozen)["layers"].append(4)
    assert thaw(frozen) == {"layers": [1, 2]}


def test_a_frozen_object_is_a_leaf_of_another():
    inner = freeze([1])
    assert thaw(freeze((inner, 2))) == (inner, 2)


def test_a_pickled_key_is_found_in_another_process():
    script = (
        "import pickle, sys; from jaxframes.primitives.staging import freeze;"
        "frozen = pickle.load(sys.stdin.buffer); assert {frozen: 1}[freeze(['a', {'b'}])] == 1"
    )
    data = pickle.dumps(freeze(["a", {"b"}]))
    subprocess.run([sys.executable, "-c", script], input=data, check=True)


def test_the_text_shows_the_object():
    assert repr(freeze({"a": [1, 2.5]})) == "Frozen({'a': [1, 2.5]})"
    assert freeze(1).__eq__(1) is NotImplemented


# Errors


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"layers": [1, (np.arange(3), 2)]},
            "freeze: obj must consist of hashable leaves, got int64[3] at obj['layers'][1][0]. "
            "Pass arrays as arguments that are not static.",
        ),
        (
            Point(1, collections.OrderedDict(a=1)),
            "freeze: obj must consist of hashable leaves, got OrderedDict at obj.y. "
            "Convert it to lists, tuples and dicts, for example with dataclasses.asdict.",
        ),
        (
            bytearray(b"a"),
            "freeze: obj must consist of hashable leaves, got bytearray at obj. "
            "Convert it to lists, tuples and dicts, for example with dataclasses.asdict.",
        ),
    ],
)
def test_an_unhashable_leaf_is_named_by_its_path(value, message):
    with raises(TypeError, message):
        freeze(value)


def test_a_traced_array_is_no_static_value():
    message = (
        "freeze: obj must consist of hashable leaves, got float32[2] at obj[0]. "
        "Pass arrays as arguments that are not static."
    )
    with raises(TypeError, message):
        jax.jit(lambda x: freeze([x]) and x)(jnp.zeros(2, jnp.float32))


def test_a_list_must_not_contain_itself():
    value = [1]
    value.append(value)
    message = (
        "freeze: obj must not contain itself, got list nested without end. "
        "Refer to the repeated part by a name or an index."
    )
    with raises(ValueError, message):
        freeze(value)


def test_only_frozen_objects_are_thawed():
    with raises(TypeError, "thaw: frozen must be a Frozen, got dict. Call freeze on it first."):
        thaw({"a": 1})
    assert isinstance(freeze(None), Frozen)
