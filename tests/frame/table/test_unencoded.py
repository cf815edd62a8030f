# SPDX-License-Identifier: Apache-2.0
"""Near-unique strings, which are encoded when an operation needs codes; pandas is the oracle."""

import pickle

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_examples import STRINGS, mixed_frame
from jaxframes import frame as jf
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.table import _dictionary
from jaxframes.frame.table._unencoded import UnencodedColumn
from jaxframes.shardings import make_mesh, row_sharded

NUM_ROWS = 37


@pytest.fixture
def always(monkeypatch):
    """Treats all columns of strings as near-unique."""
    monkeypatch.setattr(_dictionary, "num_repeats", lambda strings: 0 if len(strings) > 1 else 2)


def example(seed=0):
    """Strings that repeat and some missing ones, in two columns."""
    rng = np.random.default_rng(seed)
    frame = mixed_frame(NUM_ROWS, seed)[["k", "x", "s"]]
    words = np.array([*STRINGS, "\uffff", "\U0001f600", "A b", "q-r"], object)
    return frame.assign(u=pd.array(rng.choice(words, NUM_ROWS), dtype="str"))


def near_unique(seed=0):
    """Distinct strings, one of them missing."""
    words = [f"w{number:02}" for number in np.random.default_rng(seed).permutation(NUM_ROWS)]
    words[5] = None
    return example(seed).assign(s=pd.array(words, dtype="str"))


SHARDINGS = {"one device": None, "four devices": row_sharded(make_mesh(4))}


def ours(frame, sharding=None):
    result = JaxFrame(frame, sharding=sharding)
    assert isinstance(result._column("s"), UnencodedColumn)
    return result


def is_encoded(frame, label="s"):
    column = frame._column(label)
    return not isinstance(column, UnencodedColumn) or column.stored.dictionary.is_encoded


def as_pandas(result):
    return result.to_pandas() if hasattr(result, "to_pandas") else result


def assert_same(actual, expected):
    actual = as_pandas(actual)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(actual, expected)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(actual, expected)
    else:
        assert actual == expected or (pd.isna(actual) and pd.isna(expected))


MOVES = {
    "nothing": lambda f, o: f,
    "filter": lambda f, o: f[f.x > 0],
    "rows": lambda f, o: f.iloc[3:30],
    "tail": lambda f, o: f.tail(4),
    "columns": lambda f, o: f[["s", "k"]].rename(columns={"k": "l"}),
    "sort": lambda f, o: f.sort_values("k", kind="stable", ascending=False),
    "merge": lambda f, o: f.merge(o[["k", "x"]].drop_duplicates("k"), on="k", how="left"),
    "dropna": lambda f, o: f.dropna(subset=["s"]),
    "isna": lambda f, o: f.assign(n=f.s.isna()),
    "sum": lambda f, o: f.assign(n=f.x.sum()),
    "drop_duplicates": lambda f, o: f.drop_duplicates("k"),
    "count": lambda f, o: f.assign(n=f.s.count()),
    "first": lambda f, o: f.groupby("k", as_index=False).agg(s=("s", "first"), n=("s", "count")),
    "shift": lambda f, o: f.shift(2),
    "ffill": lambda f, o: f.assign(s=f.s.ffill()),
    "add": lambda f, o: f.assign(s="a" + (f.s + "b")),
    "repeat": lambda f, o: f.assign(s=f.s * 2),
    "set_index": lambda f, o: f.set_index("k").reset_index(),
}


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("name", MOVES)
def test_rows_move_without_codes(always, name, sharding):
    move, frame, other = MOVES[name], near_unique(), example(1)
    device = SHARDINGS[sharding]
    moved = move(ours(frame, device), JaxFrame(other, sharding=device))
    expected = move(frame, other)
    assert_same(moved, expected)
    assert_same(moved.to_arrow().to_pandas()["s"], expected["s"])
    assert repr(moved) == repr(expected)
    assert moved.memory_usage(deep=True).sum() > 0
    jax.block_until_ready(moved)
    assert not is_encoded(moved)


def test_concatenated_rows_have_no_codes(always):
    a, b, c = near_unique(), near_unique(1), example(2).drop(columns="s")
    for parts in ([a, b, a[:3]], [a, c], [a, a]):
        made = jf.concat([ours(p) if "s" in p else JaxFrame(p) for p in parts], ignore_index=True)
        assert_same(made, pd.concat(parts, ignore_index=True))
        assert not is_encoded(made)
    one = ours(a)
    assert_same(jf.concat([one, one[one.k > 2]]), pd.concat([a, a[a.k > 2]]))


OPERATIONS = {
    "sort": lambda f, o: f.sort_values(["s", "u"], na_position="first"),
    "descending": lambda f, o: f.sort_values("u", ascending=False, kind="stable"),
    "groupby": lambda f, o: f.groupby("s").x.sum(),
    "groupby two": lambda f, o: f.groupby(["s", "u"], sort=False, dropna=False).k.count(),
    "extremes by group": lambda f, o: f.groupby("k")[["s", "u"]].agg(["min", "max"]),
    "min": lambda f, o: f.s.min(),
    "max": lambda f, o: f.u.max(),
    "equal to one": lambda f, o: f[f.s == "b"],
    "unequal": lambda f, o: f[f.s != "b"],
    "less": lambda f, o: f[f.s < "\u00e9"],
    "compared": lambda f, o: f.assign(a=f.s == f.u, b=f.s < f.u),
    "compared with other strings": lambda f, o: f.s >= o.u,
    "isin": lambda f, o: f.s.isin(["b", "\u65e5\u672c", None, "absent"]),
    "map": lambda f, o: f.s.map({"b": 1.5, "": 2.0}),
    "replace": lambda f, o: f.s.replace({"b": "c"}),
    "merge": lambda f, o: f.merge(o, on="s", how="inner"),
    "merge outer": lambda f, o: f.merge(o, on="s", how="outer"),
    "merge with groups": lambda f, o: f.merge(f.groupby("s").x.sum().reset_index(), on="s"),
    "merge others with groups": lambda f, o: o.merge(
        f.groupby("s", as_index=False).k.max(), on="s"
    ),
    "merge of two": lambda f, o: f.merge(o, on=["s", "u"], how="left"),
    "index": lambda f, o: f.set_index("s").sort_index(),
    "loc": lambda f, o: f.dropna().drop_duplicates("s").set_index("s").loc[["b", "Z"]],
    "value_counts": lambda f, o: f.u.value_counts().sort_index(),
    "nunique": lambda f, o: f.s.nunique(),
    "unique": lambda f, o: list(f.s.dropna().unique()),
    "rank": lambda f, o: f.s.rank(),
    "category": lambda f, o: f.s.astype("category"),
    "duplicates": lambda f, o: f.drop_duplicates(["s"]),
    "fillna": lambda f, o: f.s.fillna("new"),
    "first and min": lambda f, o: f.groupby("k").s.agg(["first", "min", "last", "count"]),
    "where": lambda f, o: f.s.where(f.x > 0, "other"),
    "shift": lambda f, o: f.s.shift(2),
    "cummax": lambda f, o: f.s.dropna().cummax(),
    "added": lambda f, o: f.s + "x",
    "of few rows": lambda f, o: f.iloc[10:14].sort_values("s"),
    "few rows compared": lambda f, o: f.iloc[10:14].s == "b",
}


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_find_codes(always, name, sharding):
    operation, frame, other = OPERATIONS[name], example(), example(1)
    device = SHARDINGS[sharding]
    actual = operation(ours(frame, device), JaxFrame(other, sharding=device))
    assert_same(actual, operation(frame, other))


STRING_METHODS = {
    "upper": lambda s: s.str.upper(),
    "len": lambda s: s.str.len(),
    "len of all": lambda s: s.dropna().str.len(),
    "contains": lambda s: s.str.contains("b|Z"),
    "slice": lambda s: s.str[1:],
    "get": lambda s: s.str.get(1),
    "extract": lambda s: s.str.extract("(b)(c?)"),
    "split": lambda s: s.str.split("-", expand=True),
    "chain": lambda s: s.str.lower().str.strip("b").str.startswith("s"),
    "cat": lambda s: s.str.cat(s, sep="+"),
    "sorted": lambda s: s.str.lower().sort_values(kind="stable"),
}


@pytest.mark.parametrize("name", STRING_METHODS)
def test_string_methods(always, monkeypatch, name):
    monkeypatch.setattr("jaxframes.frame.accessors._str.LEAST_BY_THREADS", 4)
    method = STRING_METHODS[name]
    for strings in (example().u, near_unique().s):
        assert_same(method(JaxSeries(strings)), method(strings))


def test_string_methods_need_no_codes(always):
    series = JaxSeries(near_unique().s)
    assert series.str.upper().str.len().sum() == near_unique().s.str.len().sum()
    assert not series._only.stored.dictionary.is_encoded


def test_operations_inside_jit(always):
    frame = example()
    inside = jax.jit(lambda f: (f.sort_values("s"), f.s == f.u, f[f.x > 0]))
    results = inside(ours(frame))
    expected = frame.sort_values("s"), frame.s == frame.u, frame[frame.x > 0]
    for actual, one in zip(results, expected, strict=True):
        assert_same(actual, one)


def test_equal_strings_share_programs_and_pickles(always):
    one, other = (ours(near_unique()) for _ in range(2))
    assert jax.tree.structure(one) == jax.tree.structure(other)
    dictionary = one._column("s").stored.dictionary
    assert pickle.loads(pickle.dumps(dictionary)) == dictionary
    assert dictionary != dictionary.encoded[1]
    assert jax.tree.structure(one) != jax.tree.structure(ours(near_unique(1)))


@pytest.mark.parametrize("num_distinct", [5, 20_000, 70_000])
def test_a_sample_tells_near_unique_columns(num_distinct):
    strings = np.random.default_rng(0).permutation(70_000) % num_distinct
    array = pa.array(strings).cast(pa.large_string())
    repeats = _dictionary.num_repeats(array)
    assert (repeats <= 1) == (num_distinct == 70_000)
    assert (repeats > _dictionary.LEAST_REPEATS) == (num_distinct == 5)
    chunks = pa.chunked_array([array[:7], array[:0], array[7:60_000], array[60_000:]])
    assert _dictionary.num_repeats(chunks) == repeats
    assert _dictionary.num_repeats(array[:100]) == np.inf
    codes, dictionary = _dictionary.encode_strings(array)
    expected, distinct = pd.factorize(strings.astype(str), sort=True)
    np.testing.assert_array_equal(codes, expected)
    assert list(dictionary.values) == list(distinct)


def test_text_with_a_few_frequent_strings_is_near_unique():
    numbers = np.arange(70_000)
    # Few rows repeat a string, but those have many others.
    numbers[::33] = 0
    array = pa.array(numbers).cast(pa.large_string())
    assert _dictionary.num_repeats(array) > 1
    frame = jf.from_arrow(pa.table({"s": array}))
    assert isinstance(frame._column("s"), UnencodedColumn)
    assert frame.groupby("s").size().max() == len(numbers[::33])


ARROW_TYPES = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


@pytest.mark.parametrize("near", [False, True])
@pytest.mark.parametrize("kind", ARROW_TYPES)
def test_chunks_with_dictionaries_of_their_own(monkeypatch, kind, near):
    monkeypatch.setattr(_dictionary, "num_repeats", lambda strings: 2 - 2 * near)
    pieces = [["b", None, "a"], [], ["c", "b"], ["\u00e9"]]
    for chunks in (pieces, pieces[:1], [[]], [], pieces[:1] * 2, [[None]]):
        made = [pa.array(chunk, pa.string()) for chunk in chunks]
        if kind == "dictionary":
            made = [chunk.dictionary_encode() for chunk in made]
        else:
            made = [chunk.cast(ARROW_TYPES[kind]) for chunk in made]
        table = pa.table({"s": pa.chunked_array(made, ARROW_TYPES[kind])})
        assert_same(jf.from_arrow(table).astype("str"), table.to_pandas().astype("str"))
        expected = sorted(string for chunk in chunks for string in chunk if string)
        actual = jf.from_arrow(table).astype("str").sort_values("s")["s"]
        assert actual.dropna().tolist() == expected


@pytest.mark.parametrize("num_rows", [0, 3, 300])
def test_strings_that_parquet_encodes(tmp_path, num_rows):
    repeated = pd.Series(np.arange(num_rows) % 3).map({0: "b", 1: "\u00e9", 2: None}).astype("str")
    distinct = pd.Series(np.arange(num_rows)).map("string {}".format).astype("str")
    frame = pd.DataFrame({"r": repeated, "d": distinct})
    if num_rows:
        frame["c"] = repeated.astype("category")
    frame.index = pd.Index(distinct.where(distinct.index % 2 == 0, "even"), name="i", dtype="str")
    for written in (frame, frame.reset_index(drop=True), frame.set_index("r")):
        path = tmp_path / "strings.parquet"
        pq.write_table(pa.Table.from_pandas(written), path, row_group_size=100)
        assert_same(jf.read_parquet(path), written)
        assert_same(jf.read_parquet(path, columns=["d"]), written[["d"]])
    assert_same(jf.read_parquet(path, filters=[("d", "==", "string 1")]), written[1:2])
