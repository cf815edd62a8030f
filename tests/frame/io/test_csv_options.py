# SPDX-License-Identifier: Apache-2.0
import bz2
import gzip
import io
import lzma

import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, read_csv
from pyarrow import fs

OPTIONS = [
    ("a|b\n1|2\n", {"delimiter": "|"}),
    ("1,2\n3,4\n", {"header": None}),
    ("junk\na,b\n1,2\n", {"header": 1}),
    ("a,b\n1,2\n", {"header": 0, "names": ["x", "y"]}),
    ("1,2\n3,4\n", {"names": [7, 8]}),
    ("1,2\n3,4\n", {"header": None, "index_col": 0}),
    ("a,b,c\n1,2,3\n", {"usecols": lambda label: label != "b"}),
    ("a,b\n1,x\n2,y\n3,z\n", {"nrows": 2}),
    ("a,b\n1,x\n2,y\nword,z\n", {"nrows": 2}),
    ("a,b\n1,x\n", {"nrows": 0, "dtype": {"a": "int64", "b": "str"}}),
    ("a,b\n1,NA\n-,x\n3,None\n", {"na_values": ["-"]}),
    ("a,b\n1,NA\n-,x\n", {"na_values": "-", "keep_default_na": False}),
    ("a,b\nyes,True\nno,FALSE\n", {"true_values": ["yes"], "false_values": ["no"]}),
    ("a;b\n1,5;2,25\n", {"sep": ";", "decimal": ","}),
    ("a;b\n1,234;x\n12,345,678;y\n", {"sep": ";", "thousands": ","}),
    ("a;b\n1.234,5;x\n-2,25;y\n", {"sep": ";", "thousands": ".", "decimal": ","}),
    ("a,b\n'x,y',2\n", {"quotechar": "'"}),
    ("# top\na,b # labels\n1,2\n# no row\n3,4 # last\n", {"comment": "#"}),
    ('a,b\n"x # y",2\n', {"comment": "#"}),
    ("a,b\n1,2\n1,2,3\n4,5\n", {"on_bad_lines": "skip"}),
    ("t,a\n01/02/2024,1\n03/02/2024,2\n", {"parse_dates": ["t"], "date_format": "%d/%m/%Y"}),
    ("t,a\n01/02/2024,1\n03/02/2024,2\n", {"parse_dates": [0], "dayfirst": True}),
    ("t,a\n01/02/2024,1\n03/02/2024,2\n", {"parse_dates": True, "index_col": "t"}),
    ("t,a\nsoon,1\nlater,2\n", {"parse_dates": ["t"], "date_format": "%d/%m/%Y"}),
    ("a,b\n1,\n,x\n", {"na_filter": True}),
    ("a,b\n\n1,2\n", {"skip_blank_lines": True}),
    ("a,b\n1,2\n", {"engine": "c", "low_memory": False}),
]


SHORT = [
    ("a,b,c\n1,2,3\n4,5\n6\n7,8,9\n", {}),
    ("a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,2,3\n", {"on_bad_lines": "skip"}),
    ("a,b\n1,2\n   \n\t\n3,4\n\n", {}),
    ("  \na,b\n1,2\n", {}),
    ("a\n1\n  \n3\n", {}),
    ("a\n1\n  \n3\n", {"skip_blank_lines": False}),
    ("a,b\n1,2\n\n3,4\n", {"skip_blank_lines": False}),
    ("a,b\n1,2\n  \n3,4\n", {"skip_blank_lines": False}),
    ("1,2\n3\n", {"names": ["x", "y", "z"]}),
    ("1,2\n3\n", {"header": None}),
    ("junk\na;b\n1,5;x\n2\n", {"skiprows": 1, "sep": ";", "decimal": ","}),
    ('a,b,c\n"1,x",2,"two\nlines"\n"say ""no"", please",5\n6\n', {}),
    ("a,b,c\n'1,x',2,3\n'6,'\n", {"quotechar": "'"}),
    ("a,b\r\n1,2\r\n3\r\n", {}),
    ("a,b # labels\n1\n3,4 # last\n", {"comment": "#"}),
    ("a,b\n1,x\n2\n", {"keep_default_na": False}),
    ("t,a\n2024-01-01,1\n2024-01-02\n", {"parse_dates": ["t"], "index_col": "t"}),
    ("a,b\n1,2\n3\n5,6\n", {"nrows": 2}),
]


@pytest.mark.parametrize(("text", "options"), SHORT)
def test_short_and_blank_lines_are_those_of_pandas(text, options):
    expected = pd.read_csv(io.StringIO(text, newline=""), **options)
    assert_same(read_csv(io.StringIO(text, newline=""), **options), expected)


def test_short_lines_of_files_and_chunks(tmp_path):
    text = "a,b\n" + "".join(f"{at},w\n" if at % 50 else f"{at}\n" for at in range(300_000))
    (tmp_path / "f.csv").write_text(text)
    assert_same(read_csv(tmp_path / "f.csv"), pd.read_csv(tmp_path / "f.csv"))
    chunks = pd.read_csv(tmp_path / "f.csv", chunksize=100_000)
    for one, other in zip(read_csv(tmp_path / "f.csv", chunksize=100_000), chunks, strict=True):
        assert_same(one, other)
    (tmp_path / "f.csv").write_text("a,b\n1\n1,2,3\n")
    with pytest.raises(pd.errors.ParserError, match=r"line 3 of 'the buffer|line 3 of '.*f.csv'"):
        read_csv(tmp_path / "f.csv")


@pytest.mark.parametrize(("text", "options"), OPTIONS)
def test_options_are_those_of_pandas(text, options):
    expected = pd.read_csv(io.StringIO(text), **options)
    assert_same(read_csv(io.StringIO(text), **options), expected)


def test_encodings():
    content = "é,b\nü,1\n".encode("latin-1")
    expected = pd.read_csv(io.BytesIO(content), encoding="latin-1")
    assert_same(read_csv(io.BytesIO(content), encoding="latin-1"), expected)


def test_chunks():
    text = "a,b\n" + "".join(f"{at},w{at}\n" for at in range(5)) + "last,w\n"
    expected = list(pd.read_csv(io.StringIO(text), chunksize=2))
    found = list(read_csv(io.StringIO(text), chunksize=2))
    assert len(found) == len(expected) == 3
    for one, other in zip(found, expected, strict=True):
        assert_same(one, other)
    few = list(read_csv(io.StringIO(text), chunksize=4, nrows=5))
    assert [len(one) for one in few] == [4, 1]


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz", "zip", "zst"])
def test_compressed_files_by_name(tmp_path, ending):
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    JaxFrame(frame).to_csv(tmp_path / f"f.csv.{ending}", index=False)
    if ending != "zst":
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / f"f.csv.{ending}"), frame)
    assert_same(read_csv(tmp_path / f"f.csv.{ending}"), frame)
    assert [one.name for one in tmp_path.iterdir()] == [f"f.csv.{ending}"]


def test_compressions_by_argument(tmp_path):
    text = b"a,b\n1,2\n"
    expected = pd.read_csv(io.BytesIO(text))
    for kind, content in (
        ("gzip", gzip.compress(text)), ("bz2", bz2.compress(text)), ("xz", lzma.compress(text)),
        (None, text),
    ):  # fmt: skip
        (tmp_path / "f").write_bytes(content)
        assert_same(read_csv(tmp_path / "f", compression=kind), expected)
        assert_same(read_csv(io.BytesIO(content), compression={"method": kind}), expected)
    with pytest.raises(ValueError, match="Unrecognized compression type: rar"):
        read_csv(tmp_path / "f", compression="rar")


def test_urls_and_file_systems(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]})
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    JaxFrame(frame).to_csv("f.csv", index=False, filesystem=store)
    assert (tmp_path / "f.csv").read_text() == "a\n1\n2\n"
    for source, options in (
        ("f.csv", {"filesystem": store}),
        ((tmp_path / "f.csv").as_uri(), {}),
        (str(tmp_path / "f.csv"), {"filesystem": fs.LocalFileSystem()}),
    ):
        assert_same(read_csv(source, **options), frame)
    with pytest.raises(FileNotFoundError, match=r"read_csv: no such file: 'g.csv'"):
        read_csv("g.csv", filesystem=store)
    with pytest.raises(TypeError, match=r"filesystem must be one of pyarrow.fs or of fsspec"):
        read_csv("f.csv", filesystem=3)
    with pytest.raises(ValueError, match="exclude each other"):
        read_csv("f.csv", filesystem=store, storage_options={"key": "x"})
    with pytest.raises(ValueError, match="storage_options passed"):
        read_csv("f.csv", storage_options={"key": "x"})


def test_urls_of_fsspec():
    pytest.importorskip("fsspec")
    frame = pd.DataFrame({"a": [1, 2]})
    JaxFrame(frame).to_csv("memory://folder/f.csv.gz", index=False)
    assert_same(read_csv("memory://folder/f.csv.gz"), frame)
    with pytest.raises((ValueError, ImportError), match="nowhere"):
        read_csv("nowhere://f.csv")


def test_errors_name_the_file_and_the_line(tmp_path):
    (tmp_path / "f.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(pd.errors.ParserError, match=r"line 3 of '.*f.csv'. Expected 2 columns"):
        read_csv(tmp_path / "f.csv")
    (tmp_path / "f.csv").write_text("a,b\n1,2\nx,3\n")
    with pytest.raises(pd.errors.ParserError, match=r"line 3 of '.*'. column #0: CSV conver"):
        read_csv(tmp_path / "f.csv", dtype={"a": "int64"})
    with pytest.raises(pd.errors.EmptyDataError, match="No columns to parse from file"):
        read_csv(io.StringIO(""))
    with pytest.warns(pd.errors.ParserWarning, match="expected 2 fields, saw 3"):
        read_csv(io.StringIO("a,b\n1,2\n1,2,3\n"), on_bad_lines="warn")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"quoting": 3}, NotImplementedError, "quoting=3 is not supported. Use quotechar=None"),
        ({"skiprows": [1], "comment": "#"}, NotImplementedError, "does not go with comment="),
        ({"skipfooter": 1, "nrows": 1}, ValueError, "'skipfooter' not supported with 'nrows'"),
        ({"sep": "||"}, NotImplementedError, "sep must be one character"),
        ({"sep": None}, NotImplementedError, r"sep must be one character or r'\\s\+', got N"),
        ({"header": [0, 1]}, NotImplementedError, "header must be one line"),
        ({"parse_dates": [["a", "b"]]}, NotImplementedError, "parse_dates must name single"),
        ({"on_bad_lines": len}, ValueError, "on_bad_lines must be"),
        ({"parse_dates": ["z"]}, ValueError, "Missing column provided to 'parse_dates': 'z'"),
        ({"nrows": -1}, ValueError, "'nrows' must be an integer >=0"),
        ({"chunksize": 0}, ValueError, "'chunksize' must be an integer >=1"),
        ({"sep": ";", "delimiter": ";"}, ValueError, "Specified a sep and a delimiter"),
        ({"bogus": 1}, TypeError, "unexpected keyword argument 'bogus'"),
    ],
)
def test_other_arguments_name_the_way(options, error, message):
    with pytest.raises(error, match=message):
        read_csv(io.StringIO("a,b\n1,2\n"), **options)


def test_a_file_is_written_to_a_buffer():
    sink = pa.BufferOutputStream()
    JaxFrame({"a": [1]}).to_csv(sink, index=False)
    assert sink.getvalue().to_pybytes() == b"a\n1\n"


@pytest.mark.parametrize("options", [{}, {"index_col": "b"}, {"chunksize": 2}], ids=str)
def test_objects_stay_objects(options):
    text = "a,b\n1,x\n,y\n"
    for dtype in (object, "O", {"a": object}):
        found = read_csv(io.StringIO(text), dtype=dtype, **options)
        expected = pd.read_csv(io.StringIO(text), dtype=dtype, **options)
        if "chunksize" in options:
            found, expected = next(iter(found)), next(iter(expected))
        assert_same(found, expected)
