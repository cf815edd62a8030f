# SPDX-License-Identifier: Apache-2.0
import csv
import io
import tempfile

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, read_csv, scan_csv, scan_parquet

FRAME = pd.DataFrame({"x": [1, 2, 3], "y": [0.5, None, -2.25], "s": ["a", "é", "b,c"]})


def test_what_pandas_writes_is_read(tmp_path):
    FRAME.to_csv(tmp_path / "f.csv", index=False)
    pd.testing.assert_frame_equal(read_csv(tmp_path / "f.csv").to_pandas(), FRAME)
    read = read_csv(tmp_path / "f.csv", usecols=["s", "x"], dtype={"x": "float32"})
    # As in pandas, the columns are in the order of the file.
    expected = FRAME[["x", "s"]].astype({"x": "float32"})
    pd.testing.assert_frame_equal(read.to_pandas(), expected)


def test_what_is_written_pandas_reads(tmp_path):
    JaxFrame(FRAME).to_csv(tmp_path / "f.csv", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "f.csv"), FRAME)
    text = JaxFrame(FRAME).to_csv(index=False, sep=";", header=False)
    assert text == FRAME.to_csv(index=False, sep=";", header=False)


def test_words_for_missing_values_and_names():
    text = io.StringIO("1;-\n2;b\n")
    read = read_csv(text, sep=";", names=["x", "s"], na_values=["-"])
    assert read["x"].tolist() == [1, 2]
    assert read["s"].to_pandas().isna().tolist() == [True, False]


def test_labels_of_selected_rows_are_left_out(tmp_path):
    frame = JaxFrame(FRAME)
    for rows, expected in ((frame[1:], FRAME[1:]), (frame[::2], FRAME[::2])):
        text = rows.to_csv(index=False, header=True)
        assert text == expected.to_csv(index=False)
    named = frame.set_index(FRAME.columns[0])
    assert named.to_csv(index=False).splitlines()[0].count(",") == len(FRAME.columns) - 2


def test_a_series_is_a_column(tmp_path):
    ours = JaxFrame(FRAME)
    ours.y.to_csv(tmp_path / "y.csv")
    pd.testing.assert_series_equal(pd.read_csv(tmp_path / "y.csv", index_col=0).y, FRAME.y)
    assert ours.x.rename(None).to_csv(index=False) == FRAME.x.rename(None).to_csv(index=False)
    assert ours.s.to_csv(header=False, sep=";") == FRAME.s.to_csv(header=False, sep=";")


HEADERS = [
    ("a,a\n1,2\n", {}),
    ("a,a,a.1,b,a\n1,2,3,4,5\n", {}),
    ("a,,b,\n1,2,3,4\n", {}),
    ('"a","a"\n1,2\n', {}),
    ("a;a\n1;2\n", {"sep": ";"}),
    ("z\na,a\n1,2\n", {"skiprows": 1}),
    ("a,a,b\n1,2,3\n", {"usecols": ["a.1", "b"]}),
    ("a,a,b\n1,2,3\n", {"index_col": "a.1"}),
    ("a,a,b\n1,2,3\n", {"dtype": {"a.1": "float64"}}),
    ("a,b,c\n1,2,3\n", {"usecols": ["c", "a"]}),
    ("a,b,c\n1,2,3\n", {"usecols": ("c", "a"), "index_col": "c"}),
    ("a,b,c\n1,2,3\n", {"usecols": [2, 0]}),
    (",a\n1,2\n", {"index_col": 0}),
    (",,a\n1,2,3\n", {"index_col": [0, 1]}),
    ("Unnamed: 0,a\n1,2\n", {"index_col": 0}),
    ("a,b,c\n1,2,3\n", {"index_col": 1}),
    ("a,b,c\n1,2,3\n", {"index_col": ["b", "a"]}),
    ("1,2\n3,4\n", {"names": ["x", "y"], "usecols": ["y"]}),
    ("a,b\n1,2\n", {"dtype": "float64"}),
]


@pytest.mark.parametrize(("text", "options"), HEADERS)
def test_labels_and_their_order_are_those_of_pandas(tmp_path, text, options):
    (tmp_path / "f.csv").write_text(text)
    expected = pd.read_csv(io.StringIO(text), **options)
    for source in (tmp_path / "f.csv", io.StringIO(text), io.BytesIO(text.encode())):
        pd.testing.assert_frame_equal(read_csv(source, **options).to_pandas(), expected)
    if not options:
        plan = scan_csv(tmp_path / "f.csv")
        pd.testing.assert_frame_equal(plan.collect().to_pandas(), expected)
        pd.testing.assert_frame_equal(plan.collect(batch_rows=1).to_pandas(), expected)
        last = expected.columns[-1]
        assert plan[[last, expected.columns[0]]].collect().columns.tolist()[0] == last


def test_wrong_labels_are_pandas_errors():
    with pytest.raises(ValueError, match=r"Usecols do not match columns.*\['z'\]"):
        read_csv(io.StringIO("a,b\n1,2\n"), usecols=["z"])
    with pytest.raises(ValueError, match="Duplicate names are not allowed"):
        read_csv(io.StringIO("1,2\n"), names=["x", "x"])


NUMBERS = [
    "a\n18446744073709551615\n1\n",
    "a,b\n9223372036854775808,1\n1,2\n",
    "a\n9223372036854775807\n-9223372036854775808\n",
    "a\n18446744073709551615\n1.5\n",
    "a\n1e300\n-1e19\n",
    "x,y\n4611686018427387904,1\n4611686018427387904,2\n,3\n",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_integers_of_64_bits_are_not_rounded(tmp_path, text):
    (tmp_path / "f.csv").write_text(text)
    expected = pd.read_csv(io.StringIO(text))
    pd.testing.assert_frame_equal(read_csv(tmp_path / "f.csv").to_pandas(), expected)
    plan = scan_csv(tmp_path / "f.csv")
    assert plan.schema.astype(str).tolist() == expected.dtypes.astype(str).tolist()
    pd.testing.assert_frame_equal(plan.collect().to_pandas(), expected)
    pd.testing.assert_frame_equal(plan.collect(batch_rows=1).to_pandas(), expected)
    assert float(read_csv(tmp_path / "f.csv").iloc[:, 0].max()) == float(expected.iloc[:, 0].max())


def test_sums_of_integers_with_a_hole_do_not_wrap():
    read = read_csv(io.StringIO("x,y\n4611686018427387904,1\n4611686018427387904,2\n,3\n"))
    assert float(read.x.sum()) == 2.0**63


@pytest.mark.parametrize(
    "rows", ["18446744073709551615,-1", "18446744073709551616,1", "-9223372036854775809,1"]
)
def test_integers_that_pandas_keeps_as_objects_are_refused(tmp_path, rows):
    first, second = rows.split(",")
    text = f"a,b\n{first},1\n{second},2\n"
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(NotImplementedError, match="read_csv: column 'a' has integers beyond 64"):
        read_csv(tmp_path / "f.csv")
    with pytest.raises(NotImplementedError, match="scan_csv: column 'a' has integers beyond 64"):
        scan_csv(tmp_path / "f.csv").collect(batch_rows=1)
    assert read_csv(tmp_path / "f.csv", dtype={"a": "str"}).a.tolist() == [first, second]
    assert read_csv(tmp_path / "f.csv", dtype={"a": "float64"}).a.tolist() == [
        float(first), float(second)
    ]  # fmt: skip
    with pytest.raises(NotImplementedError, match="missing ones"):
        read_csv(io.StringIO("a,b\n18446744073709551615,1\n,2\n"))


def text_of_blocks(first, last):
    """A text whose last value is not in the first block of Arrow."""
    line = f"{first},{'a' * 4000}\n"
    return "x,s\n" + line * 600 + f"{last},b\n"


@pytest.mark.parametrize(
    ("first", "last"),
    [("1", "0.5"), ("", "7"), ("", "abc"), ("", ""), ("0.5", "1"), ("1", ""), ("1", "0x1f")],
)
def test_types_are_those_of_all_rows(tmp_path, first, last):
    (tmp_path / "f.csv").write_text(text_of_blocks(first, last))
    expected = pd.read_csv(tmp_path / "f.csv", low_memory=False).astype({"s": "str"})
    if last == "0x1f":
        expected["x"] = expected["x"].astype("str")
    assert_same(read_csv(tmp_path / "f.csv"), expected)
    plan = scan_csv(tmp_path / "f.csv")
    assert plan.schema.astype(str).tolist() == expected.dtypes.astype(str).tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan[["x"]].collect(batch_rows=200), expected[["x"]])


@pytest.mark.parametrize(
    ("first", "last"),
    [("1", "abc"), ("true", "maybe"), ("2020-01-01", "x"), ("1", "9223372036854775808"),
     ("2020-01-01", "2020-01-01 10:00:00"), ("12:30", "5")],
)  # fmt: skip
def test_plans_have_the_types_that_a_read_gives(tmp_path, first, last):
    (tmp_path / "f.csv").write_text(text_of_blocks(first, last))
    expected = read_csv(tmp_path / "f.csv").to_pandas()
    plan = scan_csv(tmp_path / "f.csv")
    assert plan.schema.astype(str).tolist() == expected.dtypes.astype(str).tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan[["x"]].collect(batch_rows=200), expected[["x"]])


def test_a_text_among_floats_is_an_error_of_a_plan(tmp_path):
    (tmp_path / "f.csv").write_text(text_of_blocks("0.5", "abc"))
    plan = scan_csv(tmp_path / "f.csv")[["x"]]
    for options in ({}, {"batch_rows": 200}):
        with pytest.raises(pd.errors.ParserError, match="invalid value 'abc'"):
            plan.collect(**options)
    assert read_csv(tmp_path / "f.csv").x.tolist()[-1] == "abc"


@pytest.mark.parametrize(
    "text",
    ["x,y\n,1\n,2\n", "x,y\nNA,\nnull,\n", "x,y\n0x10,1\n0XFF,2\n", "x,y\n0x10,1\n3,2\n", "x,y\n"],
)
def test_empty_columns_and_hexadecimal_numbers(tmp_path, text):
    (tmp_path / "f.csv").write_text(text)
    expected = pd.read_csv(tmp_path / "f.csv")
    assert_same(read_csv(io.StringIO(text)), expected)
    assert_same(
        read_csv(io.StringIO(text), dtype_backend="numpy_nullable"),
        pd.read_csv(io.StringIO(text), dtype_backend="numpy_nullable"),
    )
    plan = scan_csv(tmp_path / "f.csv")
    assert plan.schema.astype(str).tolist() == expected.dtypes.astype(str).tolist()
    assert_same(plan.collect(), expected)
    assert_same(plan.collect(batch_rows=1), expected)


def test_columns_other_labels_and_text_files():
    pandas = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    options = [{"columns": ["b"]}, {"header": ["x", "y"]}, {"columns": ["b"], "header": ["y"]}]
    for how in options:
        expected = pandas.to_csv(index=False, **how)
        text = io.StringIO()
        JaxFrame(pandas).to_csv(text, index=False, **how)
        assert text.getvalue() == expected
    with pytest.raises(ValueError, match="Writing 2 cols but got 1 aliases"):
        JaxFrame(pandas).to_csv(header=["x"])


VALUES = pd.DataFrame(
    {
        "f": [1.0, None, 1e20, 1e-7], "g": np.array([0.1, 2, 3, 4], "float32"), "b": [True] * 4,
        "t": pd.to_datetime(pd.Index([0, None, 90061, 86400]), unit="s"),
        "day": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2021-01-01"]),
        "d": pd.to_timedelta(["1h", None, "2D", "1us"]), "n": pd.array([1, None, 3, 4], "Int64"),
        "z": pd.date_range("2020-01-01", periods=4, tz="Europe/Paris"),
        "p": pd.period_range("2020-01", periods=4, freq="M"),
        "c": pd.Categorical(["a", None, "b", "a"]), "s": ["a", None, 'say "b"', "c,d"],
        "o": [1, None, "x", 2.5], "y": pd.array([True, None, False, True], "boolean"),
    },
    index=pd.Index(["u", "v", "w", "x"], name="k"),
)  # fmt: skip
STYLES: list[dict[str, object]] = [
    {}, {"index": False, "na_rep": "NA"}, {"float_format": "%.2f", "decimal": ","},
    {"date_format": "%d.%m.%Y"}, {"quoting": csv.QUOTE_ALL, "quotechar": "'"},
    {"index_label": "row", "lineterminator": "\r\n"}, {"sep": "\t", "header": False},
    {"quoting": csv.QUOTE_NONE, "escapechar": "\\", "columns": ["f", "s", "o"]},
]  # fmt: skip


@pytest.mark.parametrize("how", STYLES, ids=str)
def test_the_text_is_that_of_pandas(how, tmp_path):
    path = tmp_path / "f.csv"
    two_levels = VALUES.set_index("c", append=True)
    frames = [VALUES, VALUES[:0], VALUES.reset_index()]
    for rows in frames if "index_label" in how else [*frames, two_levels]:
        expected, ours = rows.to_csv(**how), JaxFrame(rows)
        assert ours.to_csv(**how) == expected
        ours.to_csv(path, **how)
        assert path.read_bytes().decode() == expected


def test_modes_and_encodings(tmp_path):
    ours, path = JaxFrame(FRAME), tmp_path / "f.csv"
    ours.to_csv(path, encoding="latin-1")
    expected = FRAME.to_csv()
    assert path.read_bytes() == expected.encode("latin-1")
    ours.to_csv(path, mode="a", header=False, encoding="latin-1")
    assert path.read_bytes() == (expected + FRAME.to_csv(header=False)).encode("latin-1")
    with pytest.raises(FileExistsError):
        ours.to_csv(path, mode="x")
    with pytest.raises(UnicodeEncodeError):
        ours.to_csv(path, encoding="ascii")
    ours.to_csv(path, encoding="ascii", errors="replace")
    assert path.read_bytes() == expected.encode("ascii", "replace")
    with pytest.raises(NotImplementedError, match="mode='a' needs a path of this machine"):
        ours.to_csv("memory://f.csv", mode="a")
    # A file object has a mode of its own.
    with open(path, "w", encoding="latin-1") as file:
        ours.to_csv(file, mode="a", encoding="latin-1")
    assert path.read_bytes() == expected.encode("latin-1")
    with tempfile.NamedTemporaryFile("w+", encoding="latin-1") as file:
        ours.to_csv(file, encoding="latin-1")
        file.seek(0)
        assert file.read() == expected
    binary = io.BytesIO()
    ours.to_csv(binary, mode="wb", encoding="latin-1")
    assert binary.getvalue() == expected.encode("latin-1")
    with pytest.raises(ValueError, match="mode must be 'w', 'a' or 'x', got 'r'"):
        ours.to_csv(path, mode="r")
    ours.to_parquet(tmp_path / "f.parquet")
    plan = scan_parquet(tmp_path / "f.parquet")
    with pytest.raises(NotImplementedError, match="a plan over batches writes a new file"):
        plan.to_csv(path, batch_rows=2, mode="a")
    plan.to_csv(path, batch_rows=1, na_rep="-", header=["a", "b", "c"], encoding="utf-16")
    assert path.read_bytes().decode("utf-16") == FRAME.to_csv(na_rep="-", header=["a", "b", "c"])


def test_arrow_writes_faster_and_otherwise(tmp_path):
    ours, path = JaxFrame(VALUES), tmp_path / "f.csv"
    text = ours.to_csv(engine="pyarrow")
    assert text.splitlines()[1].startswith('"u",1,0.1,true,1970-01-01 00:00:00')
    ours.to_csv(path, engine="pyarrow", encoding="utf-8")
    assert path.read_text() == text
    options: list[dict[str, str]] = [{"na_rep": "-"}, {"mode": "a"}, {"encoding": "latin-1"}]
    for how in options:
        with pytest.raises(NotImplementedError, match="engine='pyarrow' has no"):
            ours.to_csv(path, engine="pyarrow", **how)
    with pytest.raises(ValueError, match="engine must be 'python' or 'pyarrow', got 'c'"):
        ours.to_csv(engine="c")


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("labels", [False, True])
def test_times_of_batches_have_one_form(unit, labels, tmp_path):
    hours = pd.to_datetime(["2020-01-01 10:00", "2020-01-02", None, "2020-01-03"], format="ISO8601")
    frame = pd.DataFrame({"t": hours.as_unit(unit), "x": [1, 2, 3, 4]})
    frame = frame.set_index("t") if labels else frame
    JaxFrame(frame).to_parquet(tmp_path / "f.parquet")
    plan = scan_parquet(tmp_path / "f.parquet")
    texts = []
    for rows in (1, 2, 4):
        plan.to_csv(tmp_path / "f.csv", batch_rows=rows, index=labels)
        texts.append((tmp_path / "f.csv").read_text())
        read = pd.read_csv(tmp_path / "f.csv", parse_dates=["t"]).t
        assert read.tolist()[:2] == list(hours[:2])
        assert read.isna().tolist()[2]
    assert texts[0] == texts[1] == texts[2]
