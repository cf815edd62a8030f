# SPDX-License-Identifier: Apache-2.0
"""The self-check finds sound devices sound, and a wrong result where it is planted."""

import os
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import local, selfcheck

CHECKS = selfcheck.checks()
ARGUMENTS = ["--lengths", "4", "--most-rows", "500"]


def reported(text):
    """The verdict on each check, by its name."""
    lines = re.findall(r"^(.+?) +(\d+) lengths  (.*)$", text, re.MULTILINE)
    return {name: verdict for name, _, verdict in lines}


@pytest.mark.parametrize("is_x64", [False, True])
def test_sound_devices_are_found_sound(is_x64):
    environment = os.environ | {
        "JAX_ENABLE_X64": str(int(is_x64)),
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": "2",
    }
    ended = subprocess.run(
        [sys.executable, "-m", "jaxframes.primitives.selfcheck", *ARGUMENTS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    verdicts = reported(ended.stdout)
    assert set(verdicts.values()) == {"sound"}
    assert "radix_sort over 2 devices" in verdicts
    assert ("radix_sort of int64 with values" in verdicts) == is_x64
    assert ended.stdout.endswith("jaxframes is sound here.\n")


def test_a_wrong_row_is_found_with_its_length(monkeypatch, capsys):
    right = local.radix_argsort

    def wrong(keys):
        row_ids = right(keys)
        return row_ids.at[7].set(row_ids[8]) if keys.shape[0] > 200 else row_ids

    monkeypatch.setattr(local, "radix_argsort", wrong)
    assert selfcheck.main(ARGUMENTS) == 1
    out = capsys.readouterr().out
    verdict = reported(out)["radix_argsort of int32"]
    assert verdict.startswith("UNSOUND: 251 rows: result 0 differs in 1 rows, first in row 7: ")
    assert out.endswith("jaxframes is UNSOUND here.\n")


def test_an_error_is_a_fault(monkeypatch, capsys):
    def broken(*arguments):
        raise RuntimeError("no kernel image")

    monkeypatch.setattr(local, "top_k", broken)
    assert selfcheck.main(ARGUMENTS) == 1
    verdict = reported(capsys.readouterr().out)["top_k"]
    assert verdict == "UNSOUND: 1 rows: raises RuntimeError: no kernel image"


def test_a_fault_of_jax_alone_is_reported_and_not_blamed_on_jaxframes(monkeypatch, capsys):
    monkeypatch.setattr(jnp, "cumsum", lambda x: x + 1)
    # Others use it too.
    monkeypatch.setattr(selfcheck, "checks", lambda: CHECKS[:4])
    assert selfcheck.main(ARGUMENTS) == 0
    verdicts = reported(capsys.readouterr().out)
    assert verdicts["jnp.cumsum"].startswith("UNSOUND: 1 rows: ")
    assert verdicts["radix_argsort of int32"] == "sound"


def test_bad_arguments_end_in_a_message(capsys):
    with pytest.raises(SystemExit):
        selfcheck.main(["--lengths", "0"])
    assert "--lengths and --most-rows must be positive." in capsys.readouterr().err


@pytest.mark.parametrize("check", [check for check in CHECKS if check.is_own], ids=lambda c: c.name)
def test_no_result_depends_on_uninitialised_memory(check, monkeypatch):
    def poisoned(shape, dtype=float, **_):
        dtype = jax.dtypes.canonicalize_dtype(dtype)
        word = np.frombuffer(b"\xf5" * dtype.itemsize, np.uint8).view(dtype)
        # Booleans have no other words.
        return jnp.full(shape, dtype.kind == "b" or word[0])

    def poisoned_like(prototype, dtype=None, shape=None, **_):
        shape = jnp.shape(prototype) if shape is None else shape
        return poisoned(shape, jnp.result_type(prototype) if dtype is None else dtype)

    monkeypatch.setattr(jnp, "empty", poisoned)
    monkeypatch.setattr(jnp, "empty_like", poisoned_like)
    monkeypatch.setattr(jax.lax, "empty", poisoned)
    # Lengths of this test alone, so that its programs are traced here.
    assert selfcheck.run(check, [1237, 4099]).fault == ""
