# SPDX-License-Identifier: Apache-2.0
"""Files appear when they are complete; links, pipes and failures leave what was there."""

import os
import threading

import pandas as pd
import pytest
from jaxframes.frame import JaxFrame
from jaxframes.frame.io._files import _replacing

FRAME = pd.DataFrame({"x": [1, 2, 3]})


def written(kind, path):
    JaxFrame(FRAME).to_csv(path, index=False) if kind == "csv" else JaxFrame(FRAME).to_parquet(path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_replaced_and_a_link_is_followed(tmp_path, kind):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    written(kind, link)
    assert link.is_symlink()
    read = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(read, FRAME)
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = []
    reader = threading.Thread(target=lambda: said.append(pipe.read_text()))
    reader.start()
    written("csv", pipe)
    reader.join()
    assert said == ["x\n1\n2\n3\n"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_failure_leaves_the_old_file(tmp_path, kind, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*_):
        raise OSError("planted")

    monkeypatch.setattr(_replacing.os, "replace", fail)
    with pytest.raises(OSError, match="planted"):
        written(kind, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_is_no_file(tmp_path):
    message = f"to_csv: {str(tmp_path)!r} is a folder. Give the name of a file."
    with pytest.raises(IsADirectoryError) as raised:
        written("csv", tmp_path)
    assert str(raised.value) == message
