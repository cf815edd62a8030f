# SPDX-License-Identifier: Apache-2.0
"""explode and json_normalize: fixed cases, compared with pandas."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxSeries, json_normalize

MEMBERS = {
    "lists": [[1, 2], [3], [4, 5, 6]],
    "an empty list": [[1], [], [2]],
    "only empty lists": [[], [], []],
    "a missing one": [[1], None, [2, 3]],
    "nan": [np.nan, [1.5], [2.5, np.nan]],
    "scalars among lists": [[1, 2], 3, "four"],
    "no lists": ["a", 1, None],
    "strings": [["a", "b"], ["ab"], []],
    "missing members": [[None, 1], [np.nan], [pd.NaT]],
    "tuples": [(1, 2), (), (3,)],
    "arrays": [np.array([1, 2]), np.array([]), np.array([3.5])],
    "series": [pd.Series([1, 2]), pd.Series([], dtype=object), pd.Series([3])],
    "lists of lists": [[[1], [2, 3]], [[]], [4]],
    "dicts": [[{"a": 1}], {"b": 2}, [{"c": 3}, {}]],
    "times": [[pd.Timestamp(0), pd.NaT], [], [pd.Timestamp("2020")]],
    "bools": [[True], [False, True], []],
    "several types": [[1, "a", 2.5], [True, None], [b"x"]],
    "sets of one": [{1}, set(), {"a"}],
}
LABELS = {
    "a range": None,
    "words": ["p", "q", "r"],
    "labels twice": [7, 7, 8],
    "times": pd.DatetimeIndex(["2020", "2021", "2022"], name="when"),
    "levels": pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 1)], names=["x", None]),
}


def exploded(f):
    return (
        f.l.explode(),
        f.l.explode(ignore_index=True),
        f.explode("l"),
        f.explode(["l"], ignore_index=True),
    )


def test_lists_of_each_kind():
    for members in MEMBERS.values():
        lists = pd.Series(members, dtype=object)
        assert_parity(exploded, pd.DataFrame({"x": [1.5, 2.5, 3.5], "l": lists}), ways=["eager"])


def test_rows_with_labels():
    for labels in LABELS.values():
        frame = pd.DataFrame(
            {"l": [[1, 2], [], ["a"]], "s": ["u", None, "v"], "m": [(0, 1), 2, (3,)]}, index=labels
        )
        assert_parity(exploded, frame, ways=["eager"])
        assert_parity(exploded, frame[:0], ways=["eager"])
        several = frame.assign(s=pd.Series([["u", "w"], [], "v"], frame.index, dtype=object))
        assert_parity(
            lambda f: (f.explode(["l", "m"]), f.explode(["m", "l"]), f.explode(["l", "s"])),
            several.assign(l=[[1, 2], [], "a"]),
            ways=["eager"],
        )


def test_what_cannot_be_exploded():
    frame = pd.DataFrame({"l": [[1, 2], []], "m": [[1], []], "x": [1, 2]})
    assert "matching" in assert_same_error(lambda f: f.explode(["l", "m"]), frame)
    assert "matching" in assert_same_error(lambda f: f.explode(["l", "x"]), frame)
    assert "nonempty" in assert_same_error(lambda f: f.explode([]), frame)
    assert "unique" in assert_same_error(lambda f: f.explode(["l", "l"]), frame)
    assert "bogus" in assert_same_error(lambda f: f.explode("bogus"), frame)
    assert_same_error(lambda f: f.explode("l"), frame.set_axis(["l", "l", "x"], axis=1))


FLAT = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
HOLES = [{"a": 1}, {"b": "y"}, {}]
NESTED = [{"a": {"b": {"c": 1, "d": "x"}}, "e": 0.5}, {"a": {"b": {"c": 2}, "f": True}}]
STATES = [
    {
        "state": "Florida",
        "info": {"governor": "Scott", "years": {"from": 2011}},
        "counties": [{"name": "Dade", "pop": 12}, {"name": "Broward", "pop": 40}],
    },
    {"state": "Ohio", "info": {"governor": "Kasich"}, "counties": [{"name": "Summit", "pop": 3}]},
    {"state": "Utah", "info": {"governor": "Herbert"}, "counties": []},
]
DEEP = [{"x": {"y": [{"z": [1, 2]}, {"z": [3]}]}, "k": 1}, {"x": {"y": [{"z": []}]}, "k": 2}]
RECORDS = [
    *((data, {}) for data in (FLAT, HOLES, NESTED, STATES, DEEP, FLAT[0], NESTED[0], [], [{}])),
    *((NESTED, {"max_level": level}) for level in (0, 1, 2)),
    *((NESTED, {"sep": sep}) for sep in ("_", "/", "")),
    *((STATES, {"max_level": level}) for level in (0, 1)),
    (STATES, {"record_path": "counties"}),
    (STATES, {"record_path": ["counties"]}),
    (STATES, {"record_path": "counties", "meta": "state"}),
    (STATES, {"record_path": "counties", "meta": ["state"]}),
    (STATES, {"record_path": "counties", "meta": ["state", ["info", "governor"]]}),
    (STATES, {"record_path": "counties", "meta": [["info", "governor"]], "sep": "_"}),
    (STATES, {"record_path": "counties", "meta": ["state"], "meta_prefix": "m."}),
    (STATES, {"record_path": "counties", "record_prefix": "r."}),
    (STATES, {"record_path": "counties", "meta": "state", "record_prefix": "r",
              "meta_prefix": "m"}),
    (STATES, {"record_path": "counties", "meta": [["info", "years", "from"]], "errors": "ignore"}),
    (STATES, {"record_path": "counties", "meta": ["bogus"], "errors": "ignore"}),
    (DEEP, {"record_path": ["x", "y"]}),
    (DEEP, {"record_path": ["x", "y", "z"]}),
    (DEEP, {"record_path": ["x", "y", "z"], "meta": ["k"]}),
    (DEEP, {"record_path": ["x", "y"], "meta": "k", "record_prefix": "_"}),
    *(([{"v": value}], {}) for value in (
        None, 1, 2.5, True, "s", [1, 2], (1, 2), [], {"w": None}, {"w": {"u": []}}, np.nan,
        pd.Timestamp(0), np.int8(3), 2**40, -0.0, "",
    )),
    ([{"t": pd.Timestamp("2020"), "u": {"t": pd.NaT}}, {"t": None}], {}),
    ([{"a": 1}, {"a": 2.5}, {"a": None}], {}),
    ([{"a": True}, {"a": None}], {}),
    ([{1: {2: 3}}], {}),
    (pd.Series(FLAT, index=["p", "q"]), {}),
]  # fmt: skip


def test_nested_records():
    assert len(RECORDS) >= 50
    for data, how in RECORDS:
        assert_same(json_normalize(data, **how), pd.json_normalize(data, **how))
    series = pd.Series(NESTED, index=[5, 6])
    assert_same(json_normalize(JaxSeries(series)), pd.json_normalize(series))


@pytest.mark.parametrize(
    "how",
    [{"record_path": "bogus"}, {"record_path": "counties", "meta": "bogus"},
     {"record_path": "state"}, {"errors": "bogus", "record_path": "counties", "meta": "bogus"}],
)  # fmt: skip
def test_wrong_paths_are_pandas_errors(how):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        pd.json_normalize(STATES, **how)
    with pytest.raises(expected.type):
        json_normalize(STATES, **how)
