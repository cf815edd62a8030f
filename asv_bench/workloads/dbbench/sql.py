# SPDX-License-Identifier: Apache-2.0
"""The questions of db-benchmark in SQL."""

IDS = "id1, id2, id3, id4, id5, id6"

# Columns of both sides, the key once.
_WITH_MEDIUM = "select lhs.*, medium.* exclude ({0}) from lhs {1} join medium using ({0})"

QUESTIONS = {
    "groupby q1": "select id1, sum(v1) from x group by id1",
    "groupby q2": "select id1, id2, sum(v1) from x group by id1, id2",
    "groupby q3": "select id3, sum(v1), avg(v3) from x group by id3",
    "groupby q4": "select id4, avg(v1), avg(v2), avg(v3) from x group by id4",
    "groupby q5": "select id6, sum(v1), sum(v2), sum(v3) from x group by id6",
    "groupby q6": "select id4, id5, median(v3), stddev_samp(v3) from x group by id4, id5",
    "groupby q7": "select id3, max(v1) - min(v2) from x group by id3",
    "groupby q8": (
        "select id6, unnest(largest) from (select id6, max(v3, 2) as largest from x group by id6)"
    ),
    "groupby q9": "select id2, id4, corr(v1, v2) ** 2 from x group by id2, id4",
    "groupby q10": f"select {IDS}, sum(v3), count(v1) from x group by {IDS}",
    "join q1": "select lhs.*, small.* exclude (id1) from lhs join small using (id1)",
    "join q2": _WITH_MEDIUM.format("id2", ""),
    "join q3": _WITH_MEDIUM.format("id2", "left"),
    "join q4": _WITH_MEDIUM.format("id5", ""),
    "join q5": "select lhs.*, big.* exclude (id3) from lhs join big using (id3)",
    "sort by id6": "select * from x order by id6",
    "sort by v3": "select * from x order by v3",
    "sort by id3": "select * from x order by id3",
    "sort by id1, id4": "select * from x order by id1, id4",
}
