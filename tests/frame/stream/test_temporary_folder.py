# SPDX-License-Identifier: Apache-2.0
"""Folders of spilled rows, and those that killed processes leave."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from jaxframes.frame.stream import _temporary_folder
from jaxframes.frame.stream._temporary_folder import TemporaryFolder

KILLED = """
import os, signal, sys, tempfile
from jaxframes.frame.stream._temporary_folder import TemporaryFolder

tempfile.tempdir = sys.argv[1]
folder = TemporaryFolder()
open(os.path.join(folder.name, "0.parquet"), "w").close()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_goes_and_that_of_a_live_one_stays(parent):
    live = TemporaryFolder()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(parent)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(os.listdir(parent)) == 2
    other = TemporaryFolder()
    assert {live.name, other.name} == set(map(str, parent.iterdir()))
    live.cleanup()
    other.cleanup()
    assert os.listdir(parent) == []


def test_only_folders_of_that_name_are_removed(parent, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "rows").write_text("rows")
    (parent / "jaxframes-spill-link").symlink_to(elsewhere)
    (parent / "jaxframes-spill-file").write_text("file")
    (parent / "jaxframes-other").mkdir()
    names = set(os.listdir(parent))
    TemporaryFolder().cleanup()
    assert set(os.listdir(parent)) == names
    assert (elsewhere / "rows").read_text() == "rows"


def test_a_folder_that_was_removed_before_it_was_locked_is_made_again(monkeypatch):
    locked, removed = _temporary_folder._locked, []

    def late(folder):
        if not removed:
            os.rmdir(folder)
            removed.append(folder)
        return locked(folder)

    monkeypatch.setattr(_temporary_folder, "_locked", late)
    folder = TemporaryFolder()
    assert folder.name != removed[0]
    assert Path(folder.name).is_dir()
    folder.cleanup()
