# SPDX-License-Identifier: Apache-2.0
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_examples import INTEGERS, complexes, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes import frame, primitives
from jaxframes.frame import JaxFrame, merge
from jaxframes.primitives import CapacityError

HOWS = ("inner", "left", "right", "outer", "left_anti", "right_anti")


def left_side(num_rows=37):
    return mixed_frame(num_rows)


def right_side(num_rows=23):
    return mixed_frame(num_rows, seed=7).rename(columns={"x": "x2"})


def merged(left, right, **options):
    """Merges with a capacity if the frames are ours."""
    if isinstance(left, JaxFrame) and options.get("how") != "cross":
        options["capacity"] = 320
    return left.merge(right, **options)


@pytest.mark.parametrize("how", HOWS)
def test_matches_pandas_for_each_kind_of_key(how):
    def merged_by_each(left, right):
        return tuple(
            left.merge(right, how=how, on=key, indicator=True)
            for key in ("k", "y", "b", "s", "c", "t", ["k", "s"])
        )

    assert_parity(merged_by_each, left_side(), right_side(), ways=["eager"])


def test_sorts_by_the_key():
    def merged_by_each(left, right):
        return tuple(
            left.merge(right, how=how, on=key, sort=True)
            for how, key in (("inner", "s"), ("left", ["k", "s"]), ("right", "c"), ("inner", "t"))
        )

    assert_parity(merged_by_each, left_side(), right_side(), ways=["eager"])


def test_inside_jit():
    def merged_in_each_way(left, right):
        left, right = left[["k", "s", "x", "i"]], right[["k", "s", "b", "i"]]
        return tuple(merged(left, right, how=how, on=["k", "s"]) for how in HOWS[:5])

    assert_parity(merged_in_each_way, left_side(), right_side(), ways=["jit"])


def test_on_a_mesh():
    def merged_in_each_way(left, right):
        left, right = left[["k", "s", "x"]], right[["k", "s", "b"]]
        return merged(left, right, how="outer", on="k")

    assert_parity(merged_in_each_way, left_side(), right_side(), ways=["mesh"])


def test_every_row_with_every_row():
    def crossed(left, right):
        return left[["k", "s"]].merge(right[["k", "b"]], how="cross", suffixes=("", "_r"))

    assert_parity(crossed, left_side(5), right_side(7), ways=["eager", "jit"])


@pytest.mark.parametrize("how", ["inner", "outer"])
def test_integers_and_floats_match_by_value(how):
    def merged_by_each(left, *others):
        return tuple(left.merge(other, how=how, on="k") for other in others)

    keys = pd.Series([3, 1, 2, 2])
    lefts = {dtype: pd.DataFrame({"k": keys.astype(dtype)}) for dtype in ("int8", "uint64")}
    others = [
        pd.DataFrame({"k": pd.Series([2, 5, 3]).astype(dtype), "z": [1, 2, 3]})
        for dtype in (*INTEGERS, "float32", "float64")
    ]
    for left in lefts.values():
        assert_parity(merged_by_each, left, *others, ways=["eager"])


def test_keys_of_other_categories_and_units():
    categories = [
        pd.DataFrame({"k": pd.Categorical(["b", "c", None], categories=order), "x": [1, 2, 3]})
        for order in (["b", "c"], ["c", "b"], ["c", "b", "a"])
    ]
    for how in ("inner", "outer"):
        for other in categories[1:]:
            assert_parity(
                lambda a, b, how=how: a.merge(b, how=how, on="k"),
                categories[0],
                other,
                ways=["eager"],
            )
    seconds = pd.DataFrame({"k": pd.to_datetime(["2020", "2021"]).as_unit("s"), "x": [1, 2]})
    millis = pd.DataFrame({"k": pd.to_datetime(["2021", "2022"]).as_unit("ms")})
    assert_parity(
        lambda a, b: tuple(a.merge(b, how=how, on="k") for how in HOWS[:5]),
        seconds,
        millis,
        ways=["eager"],
    )


def test_keys_under_different_labels_and_suffixes():
    def merged_in_each_way(left, right):
        return (
            left.merge(right, how="outer", left_on="k", right_on="i", suffixes=("", "_r")),
            left.merge(right, left_on=["k", "b"], right_on=["k", "b"], suffixes=("_l", None)),
            left.merge(
                right.drop(columns="s")
                if isinstance(right, pd.DataFrame)
                else right[[label for label in right if label != "s"]],
                how="right",
                on=["k", "c"],
                indicator="from",
            ),
        )

    assert_parity(merged_in_each_way, left_side(), right_side(), ways=["eager"])


@pytest.mark.parametrize("how", HOWS)
def test_labels_of_rows_as_keys(how):
    left, right = left_side().set_index("k"), right_side().set_index("k").rename_axis("q")
    assert_parity(
        lambda a, b: (
            a.merge(b, how=how, left_index=True, right_index=True),
            a.merge(b, how=how, left_on="i", right_index=True),
            a.merge(b, how=how, right_on="i", left_index=True),
        ),
        left[["i", "s"]],
        right[["i", "x2"]],
        ways=["eager"],
    )
    assert_parity(
        lambda a, b: (a.merge(b, how=how, on="k"), b.merge(a, how=how, on="k")),
        left[["s"]],
        right_side()[["k", "x2"]],
        ways=["eager"],
    )


@pytest.mark.parametrize("num_rows", [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_few_rows(num_rows):
    left, right = left_side(num_rows[0]), right_side(num_rows[1])
    assert_parity(
        lambda a, b: tuple(a.merge(b, how=how, on="k") for how in HOWS), left, right, ways=["eager"]
    )


def test_objects_of_the_host_travel():
    left = pd.DataFrame({"k": [1, 2, 3], "o": [[1], {"a": 2}, "x"]})
    right = pd.DataFrame({"k": [3, 4, 1]})
    assert_parity(lambda a, b: a.merge(b, how="outer", on="k"), left, right, ways=["eager"])


def test_a_series_has_a_name():
    left, right = left_side()[["k"]], right_side()["k"]
    assert_parity(lambda a, b: a.merge(b, on="k"), left, right, ways=["eager"])
    assert_same_error(lambda a, b: a.merge(b, on="k"), left, right.rename(None))


def test_wrong_arguments_are_pandas_errors():
    left = pd.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]})
    right = pd.DataFrame({"k": [1, 2, 2], "x": [1, 2, 3], "s": ["a", "b", "c"]})
    wrong = [
        {"how": "bogus"},
        {"on": "bogus"},
        {"left_on": "k"},
        {"on": "k", "left_on": "k"},
        {"on": "k", "left_index": True},
        {"left_on": ["k", "x"], "right_on": "k"},
        {"on": "k", "suffixes": (None, None)},
        {"on": "k", "suffixes": {"_x", "_y"}},
        {"on": "k", "indicator": "x"},
        {"on": "k", "indicator": 1},
        {"on": "k", "validate": "bogus"},
        {"on": "k", "validate": "1:1"},
        {"on": "k", "validate": "one_to_many"},
        {"on": "k", "validate": "many_to_one"},
        {"how": "cross", "on": "k"},
        {"left_on": "k", "right_on": "s"},
        {"left_index": True},
    ]
    for options in wrong:
        assert_same_error(lambda a, b, options=options: a.merge(b, **options), left, right)
    assert "'bogus'" in assert_same_error(lambda a, b: a.merge(b, on="bogus"), left, right)
    assert_same_error(lambda a, b: a.merge(b), left, right[["s"]])
    assert_same_error(lambda a: a.merge([1], on="k"), left)


def test_checks_that_keys_are_distinct():
    left, right = pd.DataFrame({"k": [1.0, np.nan]}), pd.DataFrame({"k": [1.0, 1.0]})
    assert_parity(lambda a, b: a.merge(b, validate="1:m"), left, right, ways=["eager"])


def test_too_small_a_capacity_is_never_silent():
    left, right = JaxFrame({"k": [1, 1, 2]}), JaxFrame({"k": [1, 1, 2], "y": [1, 2, 3]})
    with pytest.raises(CapacityError, match="capacity=5"):
        left.merge(right, on="k", capacity=4)

    @jax.jit
    def run(left, right):
        return left.merge(right, on="k", capacity=4)[["y"]]

    result = run(left, right)
    for read in (len, JaxFrame.to_pandas, lambda frame: frame.y.tolist()):
        with pytest.raises(CapacityError, match="capacity=5"):
            read(result)
    with pytest.raises(ValueError, match="capacity must be the maximum number of result rows"):
        jax.jit(lambda a, b: a.merge(b, on="k"))(left, right)


def test_one_program_for_all_lengths():
    traces = []

    @jax.jit
    def run(left, right):
        traces.append(None)
        return left.merge(right, how="left", on="k", capacity=64)

    for num_rows in (0, 1, 5, 37):
        left, right = left_side(num_rows)[["k", "i"]], right_side(num_rows)[["k", "x2"]]
        right = right.drop_duplicates("k", ignore_index=True)
        assert_same(run(JaxFrame(left), JaxFrame(right)), left.merge(right, how="left", on="k"))
    assert len(traces) == 1


def test_differentiable_in_columns_of_both_sides():
    left = JaxFrame({"k": [1, 2, 2, 3], "x": [1.0, 2.0, 3.0, 4.0]})
    right = JaxFrame({"k": [2, 1, 2], "y": [5.0, 6.0, 7.0]})

    def loss(x, y, how):
        a, b = left.assign(x=x), right.assign(y=y)
        frame = a.merge(b, how=how, on="k", capacity=64)
        has_value = frame._table.is_row() & ~frame._column("y").missing()
        y = jnp.where(has_value, frame._column("y").data, 0.0)
        return jnp.sum(jnp.where(has_value, frame._column("x").data, 0.0) * y)

    x, y = left._column("x").data, right._column("y").data
    for gradient in (jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1)), static_argnums=2)):
        by_x, by_y = gradient(x, y, "inner")
        assert by_x[:4].tolist() == [6.0, 12.0, 12.0, 0.0]
        assert by_y[:3].tolist() == [5.0, 1.0, 5.0]
    by_x, _ = jax.grad(loss, (0, 1))(x, y, "left")
    assert by_x[:4].tolist() == [6.0, 12.0, 12.0, 0.0]


def test_maps_over_a_parameter():
    left, right = JaxFrame({"k": [1, 2, 2, 3]}), JaxFrame({"k": [2, 1, 2], "y": [5.0, 6.0, 7.0]})

    def total(scale):
        frame = left.assign(x=scale).merge(right, on="k", capacity=64)
        product = frame._column("x").data * frame._column("y").data
        return jnp.sum(jnp.where(frame._table.is_row(), product, 0.0))

    assert jax.vmap(total)(jnp.array([1.0, 2.0])).tolist() == [30.0, 60.0]


def test_a_function_of_two_frames():
    left, right = left_side()[["k"]], right_side()[["k", "i"]]
    expected = pd.merge(left, right, on="k")
    assert_same(merge(JaxFrame(left), JaxFrame(right), on="k"), expected)


def test_complex_keys():
    left, right = complexes(), complexes(seed=4)[["k", "z", "w"]][:20]

    def merged(left, right):
        return left.merge(right, on="z", how="outer"), left.merge(right, on=["k", "w"], how="left")

    assert_parity(merged, left, right, ways=["eager"])
    with pytest.raises(NotImplementedError, match="'x'"):
        JaxFrame(left).merge(JaxFrame(right), left_on="x", right_on="z")


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "cross", "left_anti"])
def test_a_merge_enters_few_files_before_the_primitive(how):
    left = JaxFrame({"k": np.arange(9) % 4, "x": np.arange(9.0)})
    right = JaxFrame({"k": np.arange(5) % 3, "y": np.arange(5.0)})
    folder = os.path.dirname(frame.__file__)
    ops = os.path.dirname(primitives.__file__)
    entered, is_there = set(), []

    def note(call, event, _):
        path = call.f_code.co_filename
        if event == "call" and path.startswith(ops):
            is_there.append(path)
        elif event == "call" and not is_there and path.startswith(folder):
            entered.add(os.path.relpath(path, folder))

    # Compiled functions are not entered again; clearing the caches makes each run trace them.
    jax.clear_caches()
    sys.setprofile(note)
    try:
        left.merge(right, how=how, **({} if how == "cross" else {"on": "k"}))
    finally:
        sys.setprofile(None)
    assert is_there
    assert len(entered) <= 12, " ".join(sorted(entered))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "left_anti", "right_anti"])
@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("sizes", [(7, 40), (40, 7), (40, 40), (1, 0), (0, 40)])
def test_strings_of_which_some_are_on_one_side_alone(how, sort, sizes):
    rng = np.random.default_rng(sizes)
    names = np.array(["", "b", "a", "ä", None, "ab", "zz", "c"], object)
    # Each side has strings before, between and after those of the other one.
    sides = [
        pd.DataFrame(
            {"k": rng.choice(names[start : start + 6], size), f"v{start}": np.arange(size)}
        ).astype({"k": "str"})
        for start, size in zip((0, 2), sizes, strict=True)
    ]
    for change in (lambda side: side, lambda side: side[side["k"] != "zz"]):
        frames = [change(JaxFrame(side)) for side in sides]
        expected = change(sides[0]).merge(change(sides[1]), on="k", how=how, sort=sort)
        result = frames[0].merge(frames[1], on="k", how=how, sort=sort)
        pd.testing.assert_frame_equal(result.to_pandas(), expected)


KEYS = {
    "floats": [1.0, 2.0],
    "bools": [True, False],
    "strings": ["a", "b"],
    "datetimes": pd.to_datetime(["2024-01-01", "2024-01-02"]),
    "zoned times": pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize("Europe/Berlin"),
    "timedeltas": pd.to_timedelta([1, 2]),
    "periods": pd.PeriodIndex(["2024-01", "2024-02"], freq="M"),
    "dates": pd.array([1, 2], "date32[pyarrow]"),
}
# Pairs that are merged as objects.
COERCED = [
    {"bools", "floats"}, {"bools", "strings"}, {"periods", "datetimes"}, {"periods", "timedeltas"},
]  # fmt: skip


@pytest.mark.parametrize("left", KEYS)
@pytest.mark.parametrize("right", KEYS)
def test_keys_of_two_kinds_are_refused_as_in_pandas_or_by_name(left, right):
    a, b = (pd.DataFrame({"k": KEYS[side]}) for side in (left, right))
    if left == right:
        return
    refusal = None
    try:
        pd.merge(a, b, on="k")
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        with pytest.raises(ValueError, match="You are trying to merge on") as raised:
            merge(JaxFrame(a), JaxFrame(b), on="k")
        assert str(raised.value).partition("columns")[2] == refusal.partition("columns")[2]
        return
    # pandas compares the values of these as objects.
    if {left, right} in COERCED:
        assert_same(merge(JaxFrame(a), JaxFrame(b), on="k"), pd.merge(a, b, on="k"))
        return
    with pytest.raises(NotImplementedError, match=r"merge: key 'k' must .* Convert .* with astype"):
        merge(JaxFrame(a), JaxFrame(b), on="k")
    a, b = a.astype(object), b.astype(object)
    assert_same(merge(JaxFrame(a), JaxFrame(b), on="k").k, pd.merge(a, b, on="k").k)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "left_anti", "right_anti"])
def test_keys_of_two_zones_have_one_zone_whatever_the_rows(how):
    berlin = pd.to_datetime(["2024-01-01", "2024-01-02"]).tz_localize("Europe/Berlin")
    found = set()
    for left, right in ((2, 2), (2, 1), (0, 2), (2, 0), (0, 0)):
        a = pd.DataFrame({"t": berlin[:left], "x": range(left)})
        b = pd.DataFrame({"t": berlin[:right].tz_convert("UTC"), "y": range(right)})
        merged = merge(JaxFrame(a), JaxFrame(b), on="t", how=how)
        lazy = JaxFrame(a).lazy().merge(JaxFrame(b).lazy(), on="t", how=how)
        for dtype in (merged.t.dtype, lazy.schema["t"], lazy.collect().t.dtype):
            found.add(str(dtype))
        if left and right and "anti" not in how:
            assert merged.t.dtype == pd.merge(a, b, on="t", how=how).t.dtype
    assert len(found) == 1


OF_OBJECTS = {
    "bools": ([True, False], [True, "x"]),
    "bools and bools": ([True, False], [True, True]),
    "integers": ([1, 2], [2, 3]),
    "strings": (["a", "b"], ["b", 1]),
    "nullable": (pd.array([1, 2], "Int64"), [1, 3]),
}


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "left_anti"])
@pytest.mark.parametrize("name", OF_OBJECTS)
def test_a_key_beside_objects_has_objects(name, how):
    own, objects = OF_OBJECTS[name]
    a = pd.DataFrame({"k": own, "x": [0, 1]})
    b = pd.DataFrame({"k": pd.Series(objects, dtype=object), "y": [0, 1]})
    for left, right in ((a, b), (b, a)):
        assert_parity(lambda a, b: a.merge(b, on="k", how=how), left, right, ways=["eager"])
        plan = JaxFrame(left).lazy().merge(JaxFrame(right).lazy(), on="k", how=how)
        assert_same(plan.collect(), left.merge(right, on="k", how=how))
        assert str(plan.schema["k"]) == "object"


def test_bools_beside_objects_inside_jit():
    a = pd.DataFrame({"k": [True, False], "x": [0, 1]})
    b = pd.DataFrame({"j": pd.Series([True, None], dtype=object), "y": [0, 1]})

    def joined(a, b, **capacity):
        return a.merge(b, left_on="k", right_on="j", how="left", **capacity)

    got = jax.jit(lambda a, b: joined(a, b, capacity=8))(JaxFrame(a), JaxFrame(b))
    assert got.k.tolist() == joined(a, b).k.tolist()
    assert_same(got[["x", "y"]], joined(a, b)[["x", "y"]])


def test_a_key_by_the_first_level_of_its_label():
    columns = pd.MultiIndex.from_tuples([("a", "1"), ("a", "2"), ("id", "")])
    left = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=columns)
    right = pd.DataFrame([[7, 8, 6]], columns=columns)
    assert_parity(lambda f, g: f.merge(g, on="id", how="left"), left, right, ways=["eager"])


@pytest.mark.parametrize("how", ["inner", "left", "outer"])
def test_a_key_of_several_levels_beside_objects(how):
    left = pd.DataFrame({("p", "a"): ["1", "2", None], ("p", "b"): ["4", "5", "6"]}, dtype="string")
    right = pd.DataFrame({("p", "a"): ["1", "2", "5"], ("p", "c"): ["7", "8", "9"]}, dtype=object)
    assert_parity(lambda f, g: f.merge(g, on=[("p", "a")], how=how), left, right, ways=["eager"])
