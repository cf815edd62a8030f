# SPDX-License-Identifier: Apache-2.0
"""A process that meets ever new lengths, dtypes and options keeps bounded memory."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from covering import RUNS_ALL

SCRIPT = pathlib.Path(__file__).parents[1] / "many_calls.py"
# A process may have 65,530; LLVM ends one that asks for more.
MOST_MAPS = 30_000


@pytest.mark.parametrize(
    ("num_calls", "num_devices"), [(10_000, 1), (1000, 8)] if RUNS_ALL else [(40, 1), (10, 8)]
)
def test_a_process_keeps_a_bounded_number_of_programs(num_calls, num_devices):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), str(num_calls), str(num_devices)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    found = json.loads(ended.stdout)
    assert len(found["after"]) == 10
    # Most answer: an operation may refuse a frame, not all of them.
    assert found["answers"] > num_calls * 3 // 4
    for held in found["after"]:
        assert held["programs"] <= found["most"]
        assert held["maps"] < MOST_MAPS
    if RUNS_ALL:
        # Programs are kept up to their bound, and little more memory from then on: dropped ones are
        # freed when Python collects its garbage.
        resident = [held["resident"] for held in found["after"]]
        full = next(n for n, held in enumerate(found["after"]) if held["programs"] == found["most"])
        assert max(resident[full + 1 :]) < 1.5 * resident[full]
