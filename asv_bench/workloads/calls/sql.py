# SPDX-License-Identifier: Apache-2.0
"""The calls in SQL."""

from benchmarks.common_calls import NUM_LARGEST, WINDOW

_STATISTICS = (
    "count({0})",
    "avg({0})",
    "stddev_samp({0})",
    "min({0})",
    "quantile_cont({0}, 0.25)",
    "quantile_cont({0}, 0.5)",
    "quantile_cont({0}, 0.75)",
    "max({0})",
)


def _of_numbers(template: str) -> str:
    return ", ".join(f"{template.format(column)}::double" for column in ("i", "x", "y"))


QUESTIONS = {
    "filter": "select * from rows where x > 0.0",
    "arithmetic": "select x * 2.0 + y - i / 3.0 from rows",
    "mean of columns": "select unnest([avg(i), avg(x), avg(y)]) from rows",
    "sort_values": "select * from rows order by x",
    "sort_values by two": "select * from rows order by k, x",
    "groupby sum": "select k, sum(x) from rows group by k",
    "groupby two mean": "select k, g, avg(x), avg(y) from rows group by k, g",
    "value_counts": "select s, count(*) as n from rows group by s order by n desc",
    "merge": "select rows.*, other.z from rows join other on rows.i = other.i",
    "describe": " union all ".join(
        f"select {_of_numbers(template)} from rows" for template in _STATISTICS
    ),
    "rank": (
        "select rank() over (order by x) + (count(*) over (partition by x) - 1) / 2.0 from rows"
    ),
    "drop_duplicates": (
        "select distinct on (k, i) * exclude (row) "
        "from (select *, row_number() over () as row from rows) order by k, i, row"
    ),
    "rolling mean": (
        f"select case when count(*) over w = {WINDOW} then avg(x) over w end "
        "from (select x, row_number() over () as row from rows) "
        f"window w as (order by row rows between {WINDOW - 1} preceding and current row)"
    ),
    "nlargest": f"select * from rows order by x desc limit {NUM_LARGEST}",
    "str.upper": "select upper(s) from rows",
}
