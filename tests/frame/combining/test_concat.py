# SPDX-License-Identifier: Apache-2.0
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import INTEGERS, mixed_frame
from frame_operations import functions_for
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, JaxSeries, concat, from_arrow
from jaxframes.shardings import make_mesh, row_sharded


def joined(parts, **options):
    """`concat` of the library of the parts."""
    values = parts.values() if isinstance(parts, dict) else parts
    ours = any(isinstance(part, (JaxFrame, JaxSeries)) for part in values)
    return (concat if ours else pd.concat)(parts, **options)


def first_side():
    return mixed_frame(37)


def second_side():
    return mixed_frame(23, seed=7)


def test_everywhere():
    assert_parity(
        lambda a, b: joined([a, b, a]),
        first_side()[["k", "x", "s"]],
        second_side()[["k", "x", "s"]],
        ways=EVERYWHERE,
    )


def test_labels_keep_the_name_of_a_range_before_integers():
    frame = pd.DataFrame({"x": [1, 2]})
    first = frame.set_axis(pd.RangeIndex(5, 9, 2, name="label"))
    for labels in (pd.Index([3, 1]), pd.Index([2, 2], name="other"), pd.RangeIndex(2)):
        other = frame.set_axis(labels)
        assert_parity(lambda a, b: (joined([a, b]), joined([b, a])), first, other, ways=["eager"])


def test_columns_that_some_parts_lack():
    other = second_side()[["s", "k"]].assign(z=1)
    assert_parity(
        lambda a, b: (
            joined([a, b]),
            joined([b, a], sort=True, ignore_index=True),
            joined([a, b], join="inner"),
            joined([b, a[["b"]]], keys=["p", "q"], names=["n"]),
        ),
        first_side(),
        other,
    )


@pytest.mark.parametrize("label", ["k", "s", "t", ["k", "s"]])
def test_keeps_labels(label):
    frames = [side.set_index(label)[["x", "b"]] for side in (first_side(), second_side())]
    assert_parity(lambda a, b: (joined([a, b]), joined({"u": a, "v": b})), *frames, ways=["eager"])


def test_numbers_have_the_common_dtype():
    dtypes = (*INTEGERS, "float32", "float64")
    frames = [pd.DataFrame({"a": np.array([1, 0], dtype)}) for dtype in dtypes]
    assert_parity(
        lambda *frames: tuple(
            joined([frame, other]) for frame in frames for other in (frames[0], frames[7])
        ),
        *frames,
        ways=["eager"],
    )
    bools = pd.DataFrame({"a": [True, False]})
    assert_parity(lambda a, b: joined([a, b]), bools, frames[3], ways=["eager"])


def test_strings_categories_times_and_objects():
    parts = [
        pd.DataFrame({"a": values})
        for values in (
            pd.Categorical(["a", None]),
            pd.Categorical(["b"]),
            pd.array(["c", None], dtype="str"),
        )
    ]
    assert_parity(
        lambda a, b, c: (joined([a, a]), joined([a, b]), joined([c, b])), *parts, ways=["eager"]
    )
    times = [pd.DataFrame({"a": pd.to_datetime(["2020"]).as_unit(unit)}) for unit in ("s", "ms")]
    assert_parity(lambda a, b: joined([a, b]), *times, ways=["eager"])
    objects = [pd.DataFrame({"a": [[1], None]}), pd.DataFrame({"a": [{}, "x"]})]
    assert_parity(lambda a, b: joined([a, b]), *objects, ways=["eager"])


def test_series():
    def of_series(a, b):
        return (
            joined([a["k"], b["k"]]),
            joined([a["k"], b["x"]]),
            joined([a["s"], b["c"]], keys=["p", "q"]),
            joined([a[["k"]], b["k"]]),
            joined([a["k"], a["x"]], axis=1),
            joined([a["k"], a["x"]], axis=1, ignore_index=True),
        )

    assert_parity(of_series, first_side(), second_side())


@pytest.mark.parametrize("num_rows", [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_few_rows(num_rows):
    frames = [mixed_frame(number) for number in num_rows]
    assert_parity(
        lambda a, b: (joined([a, b]), joined([a, b], axis=1, keys=["p", "q"])),
        *frames,
        ways=["eager"],
    )


def test_side_by_side():
    a, b = first_side()[["k", "s"]], second_side()[["b", "x"]]
    for order in (np.random.default_rng(0).permutation, np.arange):
        x = a.set_index(pd.Index(order(60)[: len(a)], name="i"))
        y = b.set_index(pd.Index(order(60)[-len(b) :], name="i"))
        assert_parity(
            lambda x, y: tuple(
                joined([x, y], axis=1, join=join, sort=sort)
                for join in ("inner", "outer")
                for sort in (False, True)
            ),
            x,
            y,
            ways=["eager"],
        )
    assert_parity(lambda a: joined([a, a], axis=1, keys=["p", "q"]), a)


def test_differentiable():
    frame = JaxFrame({"x": [1.0, 2.0, 3.0]})

    def loss(x):
        both = concat([frame.assign(x=x), frame.assign(x=x * x)])
        values = both._column("x").data
        return jnp.sum(jnp.where(both._table.is_row(), values, 0.0))

    assert jax.grad(loss)(frame._column("x").data)[:3].tolist() == [3.0, 5.0, 7.0]


@pytest.mark.parametrize("axis", [0, 1])
def test_frames_of_pandas_beside_ours(axis):
    frame = pd.DataFrame({"x": [1, 2], "s": ["a", None]}, index=[3, 4])
    other = pd.DataFrame({"x": [0.5], "t": pd.to_datetime(["2020-01-01"])}, index=[3])
    series = pd.Series([7, 8], [3, 4], name="x")
    for of_pandas, keys in (
        ([frame, other], None),
        ([frame, series], None),
        ([series, series], None),
        ([frame, other], ["p", "q"]),
    ):
        expected = pd.concat(of_pandas, axis=axis, keys=keys)
        for positions in ([], [0], [1], [0, 1]):
            mixed = [on_device(p) if i in positions else p for i, p in enumerate(of_pandas)]
            result = concat(mixed, axis=axis, keys=keys)
            assert isinstance(result, (JaxFrame, JaxSeries))
            assert_same(result, expected)


def test_frames_of_pandas_go_where_ours_lie():
    frame = pd.DataFrame({"x": range(7)})
    sharding = row_sharded(make_mesh(3))
    result = concat([frame, JaxFrame(frame, sharding=sharding)])
    assert_same(result, pd.concat([frame, frame]))
    assert result.x.to_jax().sharding.mesh.size == 3


def test_subnormal_numbers_stay_what_they_are():
    least = np.array([1e-45, -1e-45, 1.1754942e-38, -0.0, 1.0], np.float32)
    narrow, wide = pd.Series(least, name="x"), pd.Series([1.0], name="x")
    assert_parity(lambda a, b: joined([a, b]), narrow, wide)
    frames = pd.DataFrame({"k": least}), pd.DataFrame({"k": least.astype(float), "y": range(5)})
    assert_parity(lambda a, b: a.merge(b, on="k"), *frames, ways=["eager"])
    assert_parity(lambda s: s.astype("float64"), narrow)
    assert_parity(lambda f: f.groupby(f.k.astype("float64")).y.sum(), frames[1].assign(k=least))


def test_wrong_arguments_are_pandas_errors():
    frame = pd.DataFrame({"x": [1, 2]})
    wrong = [
        lambda f: joined([f], join="bogus"),
        lambda f: joined([f], axis=3),
        lambda f: joined([f], keys=["p", "q"]),
        lambda f: joined([f, f], verify_integrity=True),
        lambda f: joined([f, f], keys=["p", "q"], ignore_index=True),
        lambda f: joined([f, 1]),
        lambda f: (concat if isinstance(f, JaxFrame) else pd.concat)([]),
        lambda f: (concat if isinstance(f, JaxFrame) else pd.concat)([None]),
        lambda f: (concat if isinstance(f, JaxFrame) else pd.concat)(f),
    ]
    for operation in wrong:
        assert_same_error(operation, frame)
    doubled = frame.set_index(pd.Index([1, 1]))
    assert_same_error(lambda a, b: joined([a, b], axis=1), doubled, frame)


@pytest.mark.parametrize("other", [[1, 2], [1, None], [1.5, 2.0]])
def test_bools_with_missing_values_are_objects_beside_numbers(other):
    bools = from_arrow(pa.table({"v": [True, None]}))
    numbers = from_arrow(pa.table({"v": other}))
    assert_same(concat([bools, numbers]), pd.concat([bools.to_pandas(), numbers.to_pandas()]))
    expected = pd.concat([bools.to_pandas(), pd.DataFrame({"v": [True]})])
    assert_same(concat([bools, JaxFrame({"v": [True]})]), expected)


def test_keys_of_an_index_keep_its_dtype_and_name():
    frame = pd.DataFrame({"a": [1, 2]})
    keys = pd.CategoricalIndex(["p", "q"], categories=["q", "p", "z"], name="n")
    ours = concat([on_device(frame), None, on_device(frame)], keys=keys.insert(1, "z"))
    expected = pd.concat([frame, None, frame], keys=keys.insert(1, "z"))
    assert_same(ours, expected)


def test_attrs_are_kept_if_all_are_equal():
    first, second = on_device(pd.DataFrame({"a": [1]})), on_device(pd.DataFrame({"a": [2]}))
    first.attrs, second.attrs = {"unit": "m"}, {"unit": "m"}
    assert concat([first, second]).attrs == {"unit": "m"}
    second.attrs = {"unit": "s"}
    assert concat([first, second]).attrs == {}
    assert concat([first, second], axis=1).attrs == {}


def test_bools_mix_with_the_numbers_before_them_alone():
    values = {
        "float64": [1.5, np.nan], "float32": [2.5], "bool": [True, False], "int8": [1],
        "uint64": [2], "complex128": [1j],
    }  # fmt: skip
    frames = [pd.DataFrame({"v": pd.Series(v, dtype=d)}) for d, v in values.items()]
    for of_three in itertools.product(frames, repeat=3):
        assert_same(concat(list(map(JaxFrame, of_three))), pd.concat(of_three))


def test_equal_labels_are_sorted():
    data = pd.DataFrame({"b": [1.0], "a": [2.0]}, dtype="float32")
    found = concat([JaxFrame(data), JaxFrame(data)], sort=True)
    pd.testing.assert_frame_equal(found.to_pandas(), pd.concat([data, data], sort=True))


CATEGORIES = {
    "integers": pd.Categorical([1, 2, None, 1]),
    "whole": pd.Categorical([2, 1, 2, 1]),
    "floats": pd.Categorical([3.5, None, 4, 4]),
    "bools": pd.Categorical([True, False, None, True]),
    "times": pd.Categorical([*pd.to_datetime(["2020", "2021"]), None, pd.Timestamp("2020")]),
    "zoned": pd.Categorical(pd.to_datetime(["2020", "2021"], utc=True)),
    "strings": pd.Categorical(["a", None]),
}


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("of", [pd.Series, pd.DataFrame])
def test_categories_beside_others_are_their_values(name, of):
    others = [
        *CATEGORIES.values(),
        [1, 2],
        [0.5],
        [True],
        ["a"],
        pd.array([1, None], "Int64"),
        pd.to_datetime(["2022"]),
    ]
    first = of({"v": CATEGORIES[name]} if of is pd.DataFrame else CATEGORIES[name])
    for other in others:
        second = of({"v": other} if of is pd.DataFrame else other)
        assert_parity(lambda a, b: (joined([a, b]), joined([b, a])), first, second, ways=["eager"])


def test_categories_in_another_order_are_those_of_the_first_part():
    first = pd.DataFrame({"a": pd.Categorical([1, 2]), "b": [1, 2]})
    second = pd.DataFrame({"b": [1.5], "a": pd.Categorical([2], categories=[2, 1])})
    assert_parity(lambda a, b: (joined([a, b]), joined([b, a])), first, second)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("places", ["sfs", "fss", "nfs"])
def test_series_without_a_name_are_one_column(places, axis):
    parts = {
        "s": pd.Series([1, 2]), "n": pd.Series([5, 6], name="x"),
        "f": pd.DataFrame({"x": [1, 2], 0: [3, 4]}),
    }  # fmt: skip
    chosen = [parts[place] for place in places]
    if axis == 1 and "n" in places:
        chosen = chosen[1:]
    expected = pd.concat(chosen, axis=axis)
    assert_same(concat([on_device(part) for part in chosen], axis=axis), expected)


@pytest.mark.parametrize("index", [["x", "y"], [3, "x"]])
def test_a_frame_of_nothing_has_no_say(index):
    frame = pd.DataFrame({"a": [1, 2]}, index=index)
    assert_parity(
        lambda f, g: (joined([f, g]), joined([g, f, f]), joined([f, g], axis=1)),
        pd.DataFrame(),
        frame,
        ways=["eager"],
    )


@pytest.mark.parametrize("labels", [["b", "a"], ["b", None, "a"], [2, 1], ["b", 1], "times"])
@pytest.mark.parametrize("join", ["inner", "outer"])
def test_parts_with_the_same_labels_are_sorted_along_columns(labels, join):
    index = pd.to_datetime(["2025", "2024"]) if labels == "times" else pd.Index(labels)
    frame = pd.DataFrame({"a": range(len(index))}, index=index)
    for number in (1, 2):
        assert_parity(
            lambda f, count=number: joined([f] * count, axis=1, join=join, sort=True),
            frame,
            ways=["eager"],
        )


@pytest.mark.parametrize("sort", [False, True])
def test_a_label_of_none_stays_none(sort):
    left = pd.Series([1, 2, 3], index=pd.Index(["b", "a", None], dtype=object), name="x")
    right = pd.Series([4, 5], index=pd.Index(["b", 2], dtype=object), name="y")
    for join in ("inner", "outer"):
        for other in (right, left.rename("y")):
            assert_parity(
                lambda a, b, how=join: joined([a, b], axis=1, join=how, sort=sort),
                left,
                other,
                ways=["eager"],
            )
    assert_parity(lambda a, b: a + b, left, right, ways=["eager"])
    assert_parity(lambda a, b: b.add(a, fill_value=0), left, right, ways=["eager"])
    assert_parity(
        lambda a, b: a.join(b, how="outer"), left.to_frame(), right.to_frame(), ways=["eager"]
    )


def test_a_name_of_numpy_beside_a_tuple():
    one, two = pd.Series([1, 2], name=np.int64(2)), pd.Series([3, 4], name=(2, 0))
    assert_parity(lambda a, b: joined([a, b]), one, two, ways=["eager"])
    assert_parity(lambda a, b: a + b, one, two, ways=["eager"])


def test_a_range_that_is_sorted_stays_a_range():
    frame = JaxFrame({"x": [1, 2]})
    assert concat([frame, frame], axis=1, sort=True).index.equals(pd.RangeIndex(2))
    assert isinstance(concat([frame, frame], axis=1, sort=True).index, pd.RangeIndex)


def test_the_name_of_keys_names_a_level_of_columns():
    frame, keys = pd.DataFrame({"x": [1, 2]}), pd.Index(["a", "b"], name="k")
    parts = [on_device(frame)] * 2
    assert_same(concat(parts, axis=1, keys=keys), pd.concat([frame] * 2, axis=1, keys=keys))
    parts, series = [on_device(frame.x)] * 2, [frame.x] * 2
    assert_same(concat(parts, axis=1, keys=keys), pd.concat(series, axis=1, keys=keys))


def test_levels_need_keys():
    message = assert_same_error(
        lambda f: functions_for(f).concat([f, f], levels=[["x"]]), pd.DataFrame({"x": [1]})
    )
    assert message.startswith("levels supported only when keys is not None")


def test_sort_is_a_bool():
    message = assert_same_error(
        lambda f: functions_for(f).concat([f, f], sort="x"), pd.DataFrame({"x": [1]})
    )
    assert message.startswith("The 'sort' keyword only accepts boolean values; x was passed")


@pytest.mark.parametrize("names", [None, ["p", "q"], ["p", "q", "r"]], ids=str)
def test_keys_of_several_levels(names):
    frame = pd.DataFrame({"x": [1, 2]}, index=pd.Index([7, 5], name="i"))
    named = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["u", "v"])
    for keys in ([("a", 1), ("b", 2)], named):
        for part in (lambda f: f, lambda f: f.x):
            assert_parity(
                lambda f, k=keys, p=part: joined([p(f), p(f)[:1]], keys=k, names=names),
                frame,
                ways=["eager", "mesh"],
            )
    options = {"keys": ["a", "b"], "names": ["u", "v", "w"]}
    assert_same_error(lambda f: joined([f, f], **options), frame)


def test_labels_that_repeat_are_refused_along_each_axis():
    frame = pd.DataFrame({"x": [1, 2]}, index=["a", "b"])
    for axis in (0, 1):
        assert_same_error(
            lambda f: functions_for(f).concat([f, f], axis=axis, verify_integrity=True),  # noqa: B023
            frame,
        )
