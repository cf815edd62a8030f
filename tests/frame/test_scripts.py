# SPDX-License-Identifier: Apache-2.0
"""Programs as people write them for pandas run with `jaxframes.frame` in its place."""

import inspect

import pandas as pd
import pytest
import scripts_of_dtypes
import scripts_of_reports
import scripts_of_sensors
import scripts_of_shops
import scripts_of_tables
from frame_parity import Bound, assert_same
from jaxframes import frame

INPUTS = ("orders", "readings")
SCRIPTS = {
    name: script
    for module in (
        scripts_of_shops,
        scripts_of_sensors,
        scripts_of_tables,
        scripts_of_dtypes,
        scripts_of_reports,
    )
    for name, script in vars(module).items()
    if inspect.isfunction(script) and name not in INPUTS
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_gives_what_it_gives_with_pandas(name):
    for got, expected in zip(SCRIPTS[name](frame), SCRIPTS[name](pd), strict=True):
        if isinstance(expected, (list, dict, str)):
            assert got == expected
        else:
            assert_same(got, expected, Bound(16, 100.0))
