# SPDX-License-Identifier: Apache-2.0
import io

import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, read_csv

FRAME = pd.DataFrame({"x": [1, 2, 3], "y": [0.5, None, -2.25], "s": ["a", "é", "b,c"]})


def test_what_pandas_writes_is_read(tmp_path):
    FRAME.to_csv(tmp_path / "f.csv", index=False)
    pd.testing.assert_frame_equal(read_csv(tmp_path / "f.csv").to_pandas(), FRAME)
    read = read_csv(tmp_path / "f.csv", usecols=["s", "x"], dtype={"x": "float32"})
    expected = FRAME[["s", "x"]].astype({"x": "float32"})
    pd.testing.assert_frame_equal(read.to_pandas(), expected)


def test_what_is_written_pandas_reads(tmp_path):
    JaxFrame(FRAME).to_csv(tmp_path / "f.csv", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "f.csv"), FRAME)
    text = JaxFrame(FRAME).to_csv(index=False, sep=";", header=False)
    assert text.splitlines()[0] == '1;0.5;"a"'


def test_words_for_missing_values_and_names():
    text = io.StringIO("1;-\n2;b\n")
    read = read_csv(text, sep=";", names=["x", "s"], na_values=["-"])
    assert read["x"].tolist() == [1, 2]
    assert read["s"].to_pandas().isna().tolist() == [True, False]


def test_a_category_is_no_dtype_of_a_file():
    with pytest.raises(NotImplementedError, match="read_csv: dtype must not be a category"):
        read_csv(io.StringIO("x\na\n"), dtype={"x": "category"})


def test_labels_of_selected_rows_are_left_out(tmp_path):
    frame = JaxFrame(FRAME)
    for rows, expected in ((frame[1:], FRAME[1:]), (frame[::2], FRAME[::2])):
        text = rows.to_csv(index=False, header=True)
        assert text.splitlines()[0].replace('"', "") == ",".join(FRAME.columns)
        assert len(text.splitlines()) == len(expected) + 1
    named = frame.set_index(FRAME.columns[0])
    assert named.to_csv(index=False).splitlines()[0].count(",") == len(FRAME.columns) - 2


def test_a_series_is_a_column(tmp_path):
    ours = JaxFrame(FRAME)
    ours.y.to_csv(tmp_path / "y.csv")
    pd.testing.assert_series_equal(pd.read_csv(tmp_path / "y.csv", index_col=0).y, FRAME.y)
    assert ours.x.rename(None).to_csv(index=False) == ours[["x"]].to_csv(index=False).replace(
        "x", "0"
    )
    assert ours.s.to_csv(header=False, sep=";").splitlines()[2] == '2;"b,c"'
