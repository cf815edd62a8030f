# SPDX-License-Identifier: Apache-2.0
"""The questions of db-benchmark in the words of pandas."""

from collections.abc import Callable, Mapping
from typing import Any

IDS = ["id1", "id2", "id3", "id4", "id5", "id6"]


def _grouped(table: Any, keys: Any) -> Any:
    return table.groupby(keys, as_index=False, sort=False, observed=True)


def _spread(_: Any, t: Mapping[str, Any]) -> Any:
    answer = _grouped(t["x"], "id3").agg({"v1": "max", "v2": "min"})
    return answer.assign(spread=answer["v1"] - answer["v2"])[["id3", "spread"]]


def _largest_two(_: Any, t: Mapping[str, Any]) -> Any:
    ordered = t["x"][["id6", "v3"]].sort_values("v3", ascending=False)
    return _grouped(ordered, "id6").head(2)


def _squared_correlation(_: Any, t: Mapping[str, Any]) -> Any:
    rows = t["x"][["id2", "id4", "v1", "v2"]]
    v1, v2 = rows["v1"], rows["v2"]
    rows = rows.assign(n=1, v11=v1 * v1, v12=v1 * v2, v22=v2 * v2)
    sums = _grouped(rows, ["id2", "id4"]).sum()
    covariance = sums["n"] * sums["v12"] - sums["v1"] * sums["v2"]
    variance1 = sums["n"] * sums["v11"] - sums["v1"] * sums["v1"]
    variance2 = sums["n"] * sums["v22"] - sums["v2"] * sums["v2"]
    r2 = covariance * covariance / (variance1 * variance2)
    return sums.assign(r2=r2)[["id2", "id4", "r2"]]


QUESTIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "groupby q1": lambda _, t: _grouped(t["x"], "id1").agg({"v1": "sum"}),
    "groupby q2": lambda _, t: _grouped(t["x"], ["id1", "id2"]).agg({"v1": "sum"}),
    "groupby q3": lambda _, t: _grouped(t["x"], "id3").agg({"v1": "sum", "v3": "mean"}),
    "groupby q4": lambda _, t: _grouped(t["x"], "id4").agg(
        {"v1": "mean", "v2": "mean", "v3": "mean"}
    ),
    "groupby q5": lambda _, t: _grouped(t["x"], "id6").agg({"v1": "sum", "v2": "sum", "v3": "sum"}),
    "groupby q6": lambda _, t: _grouped(t["x"], ["id4", "id5"]).agg(
        median=("v3", "median"), std=("v3", "std")
    ),
    "groupby q7": _spread,
    "groupby q8": _largest_two,
    "groupby q9": _squared_correlation,
    "groupby q10": lambda _, t: _grouped(t["x"], IDS).agg(sum=("v3", "sum"), n=("v1", "count")),
    "join q1": lambda module, t: module.merge(t["lhs"], t["small"], on="id1"),
    "join q2": lambda module, t: module.merge(t["lhs"], t["medium"], on="id2"),
    "join q3": lambda module, t: module.merge(t["lhs"], t["medium"], on="id2", how="left"),
    "join q4": lambda module, t: module.merge(t["lhs"], t["medium"], on="id5"),
    "join q5": lambda module, t: module.merge(t["lhs"], t["big"], on="id3"),
    "sort by id6": lambda _, t: t["x"].sort_values("id6"),
    "sort by v3": lambda _, t: t["x"].sort_values("v3"),
    "sort by id3": lambda _, t: t["x"].sort_values("id3"),
    "sort by id1, id4": lambda _, t: t["x"].sort_values(["id1", "id4"]),
}

# In this library's own words. pandas has the method too, but calls a function for each group.
OWN_QUESTIONS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "groupby q8": lambda _, t: t["x"].groupby("id6")["v3"].nlargest(2).reset_index()[["id6", "v3"]],
}
