# SPDX-License-Identifier: Apache-2.0
"""The chart on the first page: drawn from stored numbers, with a caption that is true of them."""

import json
import re
from pathlib import Path

import pytest
from chart import GROUPS, chart_of_table

ROOT = Path(__file__).parents[2]
STORED = ROOT / "docs/speed.json"
# Pages that show the chart, and how each gives its alternative text.
PAGES = {"README.md": r'speed\.svg" alt="(.*?)"', "docs/index.md": r"speed\.svg\n:alt: (.*)"}
MACHINE = {"cores": 3, "processor": "abacus"}


def timing(scenario, implementation, milliseconds, rows=20_000):
    names = zip(("operation", "dtype", "distribution"), scenario, strict=True)
    measured = {"implementation": implementation, "median_ms": milliseconds, "rows": rows}
    return {**dict(names), **measured}


def texts_of(svg):
    return re.findall(r"<text[^>]*>(.*?)</text>", svg)


def test_chart_shows_each_time_and_says_what_it_is_of():
    sort, *_, merge = GROUPS
    timings = [
        timing(sort, "numpy_stable", 1234.4),
        timing(sort, "jaxframes", 3.25),
        timing(merge, "pandas", 40.0),
        timing(("not drawn", "int64", "uniform"), "jnp", 1.0, rows=7),
    ]
    texts = texts_of(chart_of_table({"timings": timings, "machine": MACHINE}))
    assert texts[:5] == [GROUPS[sort], "jaxframes", "3.2 ms", "numpy stable", "1,234 ms"]
    assert texts[5:8] == [GROUPS[merge], "pandas", "40 ms"]
    (caption,) = texts[8:]
    assert caption.startswith("Median time of a call for 20,000 rows on 3 CPU cores (abacus)")


def test_bars_of_different_numbers_of_rows_have_no_chart():
    timings = [timing(scenario, "jaxframes", 1.0, rows) for rows, scenario in enumerate(GROUPS, 8)]
    with pytest.raises(ValueError, match=r"one number of rows, got \[8, 9, 10, 11, 12, 13\]"):
        chart_of_table({"timings": timings, "machine": MACHINE})


def test_committed_chart_is_that_of_the_stored_numbers():
    report = json.loads(STORED.read_text())
    measured = {(row["operation"], row["dtype"], row["distribution"]) for row in report["timings"]}
    assert measured == set(GROUPS)
    assert STORED.with_suffix(".svg").read_text() == chart_of_table(report)


@pytest.mark.parametrize("page", PAGES)
def test_alternative_text_names_the_libraries_of_the_chart(page):
    (text,) = re.findall(PAGES[page], (ROOT / page).read_text())
    _, _, libraries = text.partition(" in ")
    timings = json.loads(STORED.read_text())["timings"]
    drawn = {row["implementation"].partition("_")[0] for row in timings}
    assert {name.lower() for name in re.findall(r"\w+", libraries)} - {"and"} == drawn
    assert not re.search(r"\d", text), "The caption of the chart says the numbers."
