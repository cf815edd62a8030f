# SPDX-License-Identifier: Apache-2.0
"""The accessor of strings."""

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import STRINGS, mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries, StringMethods, from_pandas

METHODS = {
    "len": (), "lower": (), "upper": (), "title": (), "capitalize": (), "swapcase": (),
    "strip": ("b",), "lstrip": (), "rstrip": ("é",), "contains": ("[ab]",), "startswith": ("b",),
    "endswith": (("a", "e"),), "match": ("b",), "fullmatch": ("b|z",), "slice": (1, 3),
    "get": (1,), "find": ("a",), "rfind": ("s",), "count": ("s",), "zfill": (4,), "pad": (4,),
    "center": (5, "*"), "ljust": (3,), "rjust": (3,), "isdigit": (), "isalpha": (), "isalnum": (),
    "isupper": (), "islower": (), "isspace": (), "isascii": (), "repeat": (2,),
    "join": ("-",), "findall": ("[ab]",),
    "removeprefix": ("st",), "removesuffix": ("e",), "replace": ("a", "x"), "casefold": (),
    "isdecimal": (), "isnumeric": (), "istitle": (), "normalize": ("NFD",), "wrap": (3,),
    "slice_replace": (1, 2, "*"), "translate": ({ord("a"): "A", ord("b"): None},),
}  # fmt: skip


# Methods of several columns, with tests of their own.
OF_COLUMNS = {"cat", "extract", "get_dummies", "partition", "rpartition", "rsplit", "split"} | {
    "extractall"
}


@pytest.fixture(scope="module")
def strings():
    return pd.Series(np.random.default_rng(0).choice(np.array(STRINGS, object), 37), dtype="str")


def test_matches_pandas_for_each_method(strings):
    def all_of(s):
        return tuple(getattr(s.str, name)(*arguments) for name, arguments in METHODS.items())

    assert_parity(all_of, strings)
    assert_parity(all_of, strings.dropna(), ways=["eager"])
    assert_parity(all_of, strings[:0], ways=["eager"])
    assert_parity(lambda s: (s.str.len(), s.str.upper()), strings[3:4], ways=["eager"])


def test_every_method_is_among_them():
    public = {name for name in dir(StringMethods) if not name.startswith("_")}
    # Their tests are those of objects, because bytes are objects, and those of hashes.
    assert public == METHODS.keys() | OF_COLUMNS | {"decode", "encode"} | {"to_bytes"}


def test_kinds_of_characters():
    words = pd.Series(["12", "²", "½", "٣", "Ab Cd", "AB", "a1", " ", "", None], dtype="str")
    kinds = [name for name in METHODS if name.startswith("is")]
    assert_parity(lambda s: tuple(getattr(s.str, kind)() for kind in kinds), words, ways=["eager"])


def test_arguments(strings):
    def many(s):
        return (
            s.str.contains("A", case=False, na=True),
            s.str.contains(".", regex=False),
            s.str.replace("[ab]", "<>", regex=True),
            s.str.replace("s", "z", n=1),
            s.str[0],
            s.str[-2:],
            s.str.len() + 1.0,
        )

    assert_parity(many, strings, ways=EVERYWHERE)


@pytest.mark.filterwarnings("ignore:str.repeat. a number for:pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("dtype", ["str", "category", "string"])
def test_each_string_has_its_number_of_repeats(dtype):
    assert_parity(
        lambda f: (f.s.str.repeat(f.n), f.s.str.repeat([3, 0, 1])),
        pd.DataFrame({"s": pd.Series(["a", None, "bc"], dtype=dtype), "n": [1, 2, 3]}),
        ways=["eager", "mesh"],
    )
    assert_same_error(lambda s: s.str.repeat([1, 2]), pd.Series(["a", None, "bc"], dtype=dtype))


def test_all_missing():
    def some(s):
        return s.str.len(), s.str.upper(), s.str.contains("a"), s.str.get(0)

    assert_parity(some, pd.Series([None, None], dtype="str"), ways=["eager"])


def test_several_columns(strings):
    words = strings + " " + strings.str[:1] + " x"
    words[3] = "one two three four"

    def pieces(s):
        s = s[s.notna()] if isinstance(s, pd.Series) else s
        split = s.str.split(expand=True), s.str.rsplit(" ", n=1, expand=True)
        return *split, s.str.partition(), s.str.rpartition("s")

    assert_parity(pieces, words.dropna(), ways=["eager"])
    assert_parity(lambda s: s.str.extract("(?P<first>.)(.)"), words)
    words_without_nulls = words.dropna()
    assert_parity(lambda s: s.iloc[4:].str.split(expand=True), words_without_nulls, ways=["eager"])
    assert_parity(lambda s: s.str.get_dummies(" "), words, ways=["eager"])


@pytest.mark.parametrize("dtype", ["str", "category", "string"])
def test_columns_without_a_string(dtype):
    data = pd.Series(["a b", None, "c d e"], [5, 6, 7], dtype="str")
    missing, empty = (data.iloc[rows].astype(dtype) for rows in ([1, 1], []))
    for split in (lambda s: s.str.split(expand=True), lambda s: s.str.rsplit(" ", expand=True)):
        assert_parity(split, missing, ways=["eager"])
        assert_parity(split, empty, ways=["eager"])
    # A dictionary may have strings that no row has, and they must not change the columns.
    selected = from_pandas(data.astype(dtype)).iloc[[1, 1]]
    for series in (from_pandas(missing), selected):
        of_rows = missing.str.split(expand=True)[0]
        assert_same(series.str.partition(), pd.concat([of_rows], axis=1, keys=range(1)))
        inside_jit = jax.jit(lambda s: s.str.rpartition("-"))(series)
        assert_same(inside_jit, pd.concat([of_rows] * 3, axis=1, keys=range(3)))
    assert from_pandas(empty).str.partition().columns.tolist() == []


OF_STRINGS = ["str", "object", "string", "string[pyarrow]", pd.ArrowDtype(pa.string())]


@pytest.mark.parametrize("dtype", OF_STRINGS, ids=str)
@pytest.mark.parametrize("strings", [[], ["", ""], ["", None], [None, None], ["a_b_c", "", "d"]])
def test_parts_of_no_strings_and_of_empty_ones(dtype, strings):
    series = pd.Series(strings, dtype=dtype, name="s")

    def parts(s):
        return (
            s.str.partition("_"),
            s.str.rpartition("_"),
            *([] if dtype == "str" and strings == [None, None] else [s.str.partition("_", False)]),
            s.str.rpartition("_", expand=True),
            *(
                []
                if "pyarrow" in str(s.dtype) or strings == [None, None]
                else [s.str.encode("utf8")]
            ),
        )

    assert_parity(parts, series, ways=["eager", "mesh"])
    if strings == [None, None]:
        # The dtype does not depend on the strings: pandas has float64 of `str` without any.
        assert from_pandas(series.astype("str")).str.partition("_", False).dtype == object


def test_cat_puts_columns_together():
    frame = mixed_frame()
    frame["r"] = frame["s"].to_numpy()[::-1]

    def together(f):
        return (
            f.s.str.cat(f.r, sep="-"),
            f.s.str.cat([f.r, f.s], na_rep="?"),
        )

    assert_parity(together, frame, ways=["eager"])


def test_strings_of_a_category(strings):
    def lengths(s):
        return s.str.len(), s.str.contains("a"), s.cat.codes, s.cat.categories, s.cat.ordered

    assert_parity(lengths, strings.astype("category"), ways=["eager"])


def test_categories_that_are_strings_as_objects(strings):
    category = pd.Series(pd.Categorical(strings, pd.Index(strings.dropna().unique(), dtype=object)))
    assert_parity(lambda s: s.str.len(), category, ways=["eager", "jit"])
    # pandas gives objects where a string is missing, and for strings.
    assert_parity(lambda s: s.str.contains("a"), category.dropna(), ways=["eager", "jit"])
    made = on_device(category).str.strip().to_pandas()
    assert made.dropna().tolist() == category.str.strip().dropna().tolist()
    assert_same_error(lambda s: s.str, pd.Series(pd.Categorical([1.5, 2.5])))


@pytest.mark.parametrize("categories", [["a1", 2, "b"], ["a", 1.5, "b"], ["b", (1,), "a"]])
def test_categories_that_are_only_partly_strings(categories):
    rows = pd.Categorical([categories[i] for i in (0, 1, 2, 0)] + [None], categories)
    category = pd.Series(rows, name="c")
    assert_parity(lambda s: (s.str.contains("a"), s.str.isalpha(), s.str.find("b")), category)
    for upper in (category.str.upper, on_device(category).str.upper):
        made = upper()
        assert [made[0], made[2]] == [categories[0].upper(), categories[2].upper()]
        assert np.isnan([made[1], made[4]]).all()
    # Also if no row has a string.
    assert on_device(category)[1:2].str.upper().isna().tolist() == [True]
    assert_parity(lambda s: s[:0].str.find("b"), category, ways=["eager"])


def test_strings_that_python_stores():
    words = ["b", None, "a", "b"]
    series = pd.Series(words, dtype=pd.StringDtype("python", na_value=np.nan), name="s")
    expected = pd.Series(words, dtype="str", name="s")
    assert on_device(series).dtype == "str"
    assert_same(on_device(series), expected)
    frame = pd.DataFrame({"x": range(4)}, index=pd.Index(series)).reset_index()
    sums = on_device(frame).groupby("s").x.sum()
    assert_same(sums, frame.assign(s=expected).groupby("s").x.sum())

    def made_of(s):
        return s.str.upper(), s.str.len(), s == "a", s.fillna("c")

    # Ours are stored as pandas stores strings by default.
    assert_same(made_of(on_device(series)), made_of(expected))
    with pd.option_context("mode.string_storage", "python"):
        assert_parity(lambda s: (s.str.upper(), s.str.len(), s.isna()), pd.Series(words))
        assert_parity(lambda s: s.str.len(), pd.Series(words, dtype="category"), ways=["eager"])


def test_wrong_uses_are_pandas_errors(strings):
    frame = mixed_frame()
    for label in ("i", "x", "b", "t"):
        message = assert_same_error(lambda f, c=label: f[c].str, frame)
        assert repr(label) in message
        assert_same_error(lambda f, c=label: f[c].cat, frame)
    assert_same_error(lambda s: s.str.nonesuch(), strings)
    assert_same_error(lambda s: s.str.contains("("), strings)
    assert_same_error(lambda s: s.str.contains("a", na=3), strings)
    assert_same_error(lambda s: s.str.pad(5, side="x"), strings)
    assert_same_error(lambda s: s.str.zfill("a"), strings)
    assert_same_error(lambda f: f.s.str.cat(f.i), frame)


def test_all_strings_put_together():
    assert_parity(
        lambda s: (s.str.cat(), s.str.cat(sep="-"), s.str.cat(sep=" ", na_rep="?")),
        mixed_frame()["s"],
        ways=["eager"],
    )


@pytest.mark.parametrize("dtype", ["str", "string", "string[pyarrow]", object])
@pytest.mark.parametrize(
    "method",
    [
        lambda text: text.str.startswith("a", na=False),
        lambda text: text.str.contains("a", na=True),
        lambda text: text.str.match("a"),
        lambda text: text.str.extract("(?P<letter>[a-z])", expand=False),
        lambda text: text.str.extract(r"([a-z])(\d)"),
        lambda text: text.str.partition("b"),
        lambda text: text.str.split("b"),
        lambda text: text.str.findall("[a-z]"),
        lambda text: text.str.partition("b", expand=False),
        lambda text: text.str.encode("utf8"),
        lambda text: text.str.get_dummies("b"),
        lambda text: text.str.cat([]),
        lambda text: text.str.cat([], sep="-", na_rep="?"),
    ],
)
def test_dtypes_names_and_missing_strings(dtype, method):
    text = pd.Series(["ab1", None, "c"], dtype=dtype, name="text")
    assert_same(method(JaxSeries(text)), method(text))


def test_cat_has_the_dtype_of_the_left_side():
    texts = ["a", None, "c"]
    columns = {
        "o": pd.Series(texts, dtype=object),
        "s": pd.Series(texts, dtype="str"),
        "n": pd.Series(texts, dtype="string"),
        "a": pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
        "c": pd.Series(["x", None, None], dtype="category"),
        "m": pd.Series(["b", 1, None], dtype=object),
        "b": pd.Series([b"b", None, None], dtype=object),
    }
    frame = pd.DataFrame(columns)
    for left in "osnac":
        assert_parity(
            lambda f, own=left: (
                *(f[own].str.cat(f[other], sep="-", na_rep="?") for other in "osnac"),
                f[own].str.cat([f.o, f.s]),
                # Only the objects of rows count.
                f[f.m != 1][own].str.cat(f[f.m != 1].m, na_rep="?"),
            ),
            frame,
            ways=["eager"],
        )
    for left, right in ("om", "sm", "ms", "mo", "bs", "ob"):
        assert_same_error(lambda f, a=left, b=right: f[a].str.cat(f[b], na_rep="?"), frame)


def test_cat_takes_the_strings_of_a_list_by_position():
    strings = pd.Series(["a", "b"], [1, 0])
    others = (["x", "y"], ["x", None], pd.Index(["x", "y"]), np.array(["x", "y"], object))
    for other in others:
        assert_parity(lambda s, o=other: s.str.cat(o, na_rep="-"), strings, ways=["eager"])


LABELS = {
    "equal": ["a", "b", "c"], "another order": ["c", "a", "b"], "some": ["c", "q"], "none": [],
    "repeated": ["a", "a", "b"], "range": None,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:str.cat. labels that repeat:pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("labels", LABELS)
def test_cat_aligns_by_label(labels):
    text = pd.Series(["x", None, "z"], ["a", "b", "c"], name="text")
    texts = ["k", "l", None][: 3 if LABELS[labels] is None else len(LABELS[labels])]
    other = pd.Series(texts, LABELS[labels], dtype="str")

    def together(a, b):
        return (
            a.str.cat(b),
            a.str.cat(b, sep="-", na_rep="?"),
            a.str.cat([b, b]),
            a.str.cat(b.to_frame("k")),
            a.str.cat(b.to_frame("k").assign(l=b), sep="+", na_rep=""),
            *([b.str.cat(a)] if len(b) else []),
        )

    assert_parity(together, text, other, ways=["eager"])


def test_wrong_uses_of_cat():
    text = pd.Series(["x", None, "z"])
    message = assert_same_error(lambda s: s.str.cat(["u", "v"]), text)
    assert message.endswith("as the calling Series/Index: str.cat got 2 and 3 values.")
    assert_same_error(lambda s: s.str.cat(np.array(["u"], object)), text)
    assert "sep" in assert_same_error(lambda s: s.str.cat("-"), text)


def test_methods_of_a_category_of_nullable_strings_are_nullable():
    category = pd.Series(["a b", None, "c d"], dtype="string").astype("category")
    assert_parity(
        lambda s: (
            s.str.len(), s.str.find("b"), s.str.count("a"), s.str.contains("a"), s.str.isdigit(),
            s.str.startswith("a"), s.str.replace("a", "b"), s.str.split(expand=True),
            s.str.partition(), s.str.split(), s.str.findall("a"), s.str.partition(expand=False),
        ),
        category,
        ways=["eager"],
    )  # fmt: skip
    assert on_device(category).str.upper().dtype == "string"


def test_methods_are_not_iterable():
    with pytest.raises(TypeError, match="'StringMethods' object is not iterable"):
        iter(on_device(pd.Series(["a"])).str)


def test_dummies_are_numbers():
    words = pd.Series(["a|b"])
    for dtype in (str, "datetime64[ns]", object):
        message = assert_same_error(lambda s, t=dtype: s.str.get_dummies(dtype=t), words)
        assert message.startswith("Only numeric or boolean dtypes are supported for 'dtype'")
    assert_parity(lambda s: s.str.get_dummies(dtype="float32"), words, ways=["eager"])
