# SPDX-License-Identifier: Apache-2.0
"""The script of the page "Move from pandas" gives the same report with both libraries."""

from pathlib import Path

import pytest
from frame_parity import Bound, assert_same

SCRIPT = (Path(__file__).resolve().parents[1] / "docs/examples/shop_report.py").read_text()
IMPORT = "import pandas as pd\n"


def report_of(source):
    names = {"__name__": "report"}
    exec(compile(source, "shop_report.py", "exec"), names)
    return names["report"]


@pytest.fixture(scope="module")
def reports():
    assert SCRIPT.count(IMPORT) == 1
    return report_of(SCRIPT), report_of(SCRIPT.replace(IMPORT, "import jaxframes.frame as pd\n"))


def test_the_report_is_the_same(reports):
    expected, got = reports
    assert list(got) == list(expected)
    for title, table in expected.items():
        try:
            assert_same(got[title], table, Bound(16, 100.0))
        except AssertionError as error:
            raise AssertionError(f"{title}: {error}") from None
