# SPDX-License-Identifier: Apache-2.0
import io

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame, read_feather, read_json, read_orc
from pyarrow import fs

FRAME = pd.DataFrame(
    {
        "i": [1, 2, 3],
        "x": [0.5, None, -2.0],
        "s": ["a", None, "c"],
        "t": pd.to_datetime(["2024-01-01", "2024-01-02", None]).astype("datetime64[us]"),
    }
)


@pytest.mark.parametrize("orient", ["records", "split", "index", "columns", "values", "table"])
def test_json(tmp_path, orient):
    numbers = FRAME[["i", "x", "s"]]
    expected = numbers.to_json(orient=orient)
    assert JaxFrame(numbers).to_json(orient=orient) == expected
    JaxFrame(numbers).to_json(tmp_path / "f.json", orient=orient)
    found = read_json(tmp_path / "f.json", orient=orient)
    assert_same(found, pd.read_json(io.StringIO(expected), orient=orient))


def test_lines_of_json(tmp_path):
    frame = JaxFrame(FRAME[["i", "x", "s"]])
    expected = FRAME[["i", "x", "s"]].to_json(orient="records", lines=True)
    assert frame.to_json(orient="records", lines=True) == expected
    assert frame.x.to_json() == FRAME.x.to_json()
    for name in ("f.json", "f.json.gz"):
        frame.to_json(tmp_path / name, orient="records", lines=True)
        for options in ({}, {"nrows": 2}, {"dtype": {"i": "float64"}}):
            ours = read_json(tmp_path / name, lines=True, **options)
            assert_same(ours, pd.read_json(tmp_path / name, lines=True, **options))
    with pytest.raises(NotImplementedError, match="chunksize is not supported"):
        read_json(tmp_path / "f.json", lines=True, chunksize=2)


def test_feather(tmp_path):
    FRAME.to_feather(tmp_path / "p.feather")
    assert_same(read_feather(tmp_path / "p.feather"), FRAME)
    assert_same(read_feather(tmp_path / "p.feather", columns=["s", "i"]), FRAME[["s", "i"]])
    JaxFrame(FRAME).to_feather(tmp_path / "f.feather", compression="zstd")
    assert_same(JaxFrame(pd.read_feather(tmp_path / "f.feather")), FRAME)
    with io.BytesIO() as file:
        JaxFrame(FRAME).to_feather(file)
        file.seek(0)
        assert_same(read_feather(file), FRAME)
    JaxFrame(FRAME).set_index("i").to_feather(tmp_path / "i.feather")
    assert_same(read_feather(tmp_path / "i.feather"), FRAME.set_index("i"))
    pd.testing.assert_frame_equal(
        pd.read_feather(tmp_path / "i.feather"), FRAME.set_index("i"), check_dtype=False
    )
    (tmp_path / "f.feather").write_bytes(b"nothing")
    with pytest.raises(OSError, match=r"f.feather"):
        read_feather(tmp_path / "f.feather")


def test_orc(tmp_path):
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    JaxFrame(FRAME).to_orc("f.orc", filesystem=store)
    assert_same(read_orc(tmp_path / "f.orc", columns=["i", "s"]), FRAME[["i", "s"]])
    assert_same(read_orc("f.orc", filesystem=store)[["x"]], FRAME[["x"]])
    assert_same(read_orc(io.BytesIO(JaxFrame(FRAME).to_orc()))[["x"]], FRAME[["x"]])
    assert_same_error(lambda f: f.set_index("i").to_orc(), FRAME)
    with pytest.raises(FileNotFoundError, match="read_orc: no such file"):
        read_orc(tmp_path / "g.orc")


def test_texts_are_those_of_pandas():
    assert_parity(
        lambda f: (
            f.to_string(),
            f.to_string(index=False, max_rows=2),
            f.to_html(),
            f.x.to_string(),
            *(f.to_records().tolist()[0][:2]),
        ),
        FRAME,
        ways=["eager"],
    )
    pytest.importorskip("tabulate")
    assert_parity(lambda f: (f.to_markdown(), f.i.to_markdown()), FRAME, ways=["eager"])


def test_records():
    ours, expected = JaxFrame(FRAME).to_records(index=False), FRAME.to_records(index=False)
    assert ours.dtype == expected.dtype
    np.testing.assert_array_equal(ours.i, expected.i)
