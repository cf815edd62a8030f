# SPDX-License-Identifier: Apache-2.0
"""The first call of each method of a frame, of its columns, groups, windows and accessors.

    python asv_bench/benchmarks/frame_first_calls.py          each call in a process of its own
    python asv_bench/benchmarks/frame_first_calls.py groups   one kind of object

The methods are those that the objects have: none is chosen. Arguments that pandas requires are
named below; a method that needs others, or that refuses these columns, is counted and left out.
"""

import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

# For this file as a script; see the package.
os.environ.setdefault("JAXFRAMES_CACHE", "off")

ROWS = 100_000
# A first call takes no longer than a glance.
MOST_SECONDS = 0.15
# Seconds after which a process is given up.
MOST_WAIT = 60

# How an object is made of a module, which is that of pandas or of this library, and of columns.
OBJECTS: dict[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "frame": lambda module, data: module.DataFrame(dict(data)),
    "numbers": lambda module, data: module.DataFrame({"x": data["x"], "y": data["y"]}),
    "floats": lambda module, data: module.Series(data["x"]),
    "integers": lambda module, data: module.Series(data["i"]),
    "strings": lambda module, data: module.Series(data["s"]),
    "groups": lambda module, data: module.DataFrame(
        {name: data[name] for name in ("k", "x", "i")}
    ).groupby("k"),
    "column of groups": lambda module, data: module.DataFrame(
        {name: data[name] for name in ("k", "x")}
    ).groupby("k")["x"],
    "rolling": lambda module, data: module.Series(data["x"]).rolling(5),
    "expanding": lambda module, data: module.Series(data["x"]).expanding(),
    "ewm": lambda module, data: module.Series(data["x"]).ewm(alpha=0.5),
    "bins of time": lambda module, data: module.Series(data["x"], index=data["t"]).resample("D"),
    "str": lambda module, data: module.Series(data["s"]).str,
    "dt": lambda module, data: module.Series(data["t"]).dt,
    "cat": lambda module, data: module.Series(data["s"]).astype("category").cat,
}

# Required arguments, by the name of the method.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "astype": ("float32",), "between": (0.0, 1.0), "isin": ([1, 2, 3],), "map": ({1: 2},),
    "replace": (1, 2), "fillna": (0,), "where": (True,), "mask": (False,), "clip": (0, 1),
    "quantile": (0.3,), "nlargest": (5,), "nsmallest": (5,), "take": ([3, 1, 2],),
    "drop": ([3, 4],), "reindex": ([5, 3, 200_000],), "query": ("x > 0",), "eval": ("x + y",),
    "set_index": ("i",), "sort_values": (), "pop": ("x",), "insert": (0, "new", 1.0), "pow": (2,),
    "rpow": (2,), "contains": ("a",), "startswith": ("a",), "endswith": ("a",), "match": ("a",),
    "fullmatch": ("a.*",), "count": ("a",), "find": ("a",), "split": ("1",), "get": (0,),
    "repeat": (2,), "strftime": ("%Y-%m",), "round": ("h",), "floor": ("h",), "ceil": ("h",),
    "agg": ("mean",), "transform": ("mean",), "apply": ("mean",), "nth": (0,), "explode": ("x",),
    "groupby": ("k",), "rolling": (5,), "melt": (), "pivot_table": ("x", "k"), "combine_first": (),
}  # fmt: skip
# Those that differ by the object.
OF_OBJECT: dict[tuple[str, str], tuple[Any, ...]] = {
    ("frame", "sort_values"): ("x",), ("numbers", "sort_values"): ("x",),
    ("frame", "nlargest"): (5, "x"), ("frame", "nsmallest"): (5, "x"),
    ("numbers", "nlargest"): (5, "x"), ("numbers", "nsmallest"): (5, "x"),
    ("numbers", "query"): ("x > y",), ("numbers", "set_index"): ("x",),
    ("str", "replace"): ("a", "b"),
    ("dt", "tz_localize"): ("UTC",), ("dt", "as_unit"): ("s",), ("numbers", "groupby"): ("y",),
    ("numbers", "round"): (1,), ("floats", "round"): (1,), ("integers", "groupby"): (None, 0),
    **{(kind, name): () for kind in ("frame", "numbers", "floats", "integers", "groups", "rolling",
        "strings", "column of groups", "expanding", "bins of time") for name in ("count", "round")},
}  # fmt: skip
# Arithmetic and joins take another object like their own.
WITH_ANOTHER = frozenset({
    "add", "sub", "mul", "div", "truediv", "floordiv", "mod", "radd", "rsub", "rmul", "rdiv",
    "rtruediv", "rfloordiv", "rmod", "eq", "ne", "lt", "le", "gt", "ge", "combine_first", "align",
    "compare", "corrwith", "dot", "merge", "equals", "update", "join",
})  # fmt: skip
# They write files or draw, ask for a random number, or copy.
LEFT_OUT = ("to_", "plot", "hist", "boxplot", "from_", "style", "pipe", "lazy", "sample", "info")


class FirstCall(NamedTuple):
    """What a first call took, or why there is none."""

    seconds: float
    reason: str | None


def columns(num_rows: int) -> dict[str, Any]:
    """Columns of each kind, with the same numbers in each process."""
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(num_rows), unit="min")
    return {
        "k": rng.integers(0, 1000, num_rows),
        "x": np.where(rng.random(num_rows) < 0.05, np.nan, rng.normal(size=num_rows)),
        "y": rng.random(num_rows),
        "i": rng.integers(0, 10_000, num_rows),
        "s": pd.array(np.array(["ab1", "cd22", "ace", "x"])[rng.integers(0, 4, num_rows)], "str"),
        "t": times,
    }


def start_jax() -> Any:
    """Starts JAX on one CPU device, in a process of its own; returns the module of frames."""
    import jax
    from jaxframes import frame

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    return frame


def methods_of(kind: str) -> list[str]:
    """The public methods that an object has here and in pandas."""
    frame = start_jax()
    data = columns(20)
    ours, theirs = (OBJECTS[kind](module, data) for module in (frame, pd))
    labels = {"k", "x", "y", "i", "s", "t"}
    names = (name for name in dir(type(ours)) if not name.startswith(("_", *LEFT_OUT)))
    # Running sums of strings are as long as the square of the rows.
    found = (name for name in names if callable(getattr(theirs, name, None)))
    return [name for name in found if name not in labels and (kind, name) != ("strings", "cumsum")]


def first_call(kind: str, name: str, num_rows: int) -> FirstCall:
    """Calls a method once, in a process that has called none."""
    import jax

    frame = start_jax()
    data = columns(num_rows)
    subject = OBJECTS[kind](frame, data)
    jax.block_until_ready(getattr(subject, "_table", None))
    arguments = OF_OBJECT.get((kind, name), ARGUMENTS.get(name, ()))
    if name in WITH_ANOTHER:
        arguments = (OBJECTS[kind](frame, data),)
        if name == "merge":
            arguments = (frame.DataFrame({"i": np.arange(100), "z": 1.0}),)
    start = time.perf_counter()
    try:
        jax.block_until_ready(getattr(subject, name)(*arguments))
    except Exception as error:  # What it refuses is not a first call.
        return FirstCall(0.0, f"{type(error).__name__}: {error}")
    return FirstCall(time.perf_counter() - start, None)


def in_fork(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call in a process that is forked before JAX has started."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    process = fork.Process(target=lambda: there.send(function(*arguments)), daemon=True)
    process.start()
    if not here.poll(MOST_WAIT):
        process.kill()
        return FirstCall(0.0, f"no result after {MOST_WAIT} s")
    result = here.recv()
    # Threads of the compiler would keep it waiting.
    process.kill()
    process.join()
    return result


def first_calls(kinds: list[str], num_rows: int = ROWS) -> dict[str, FirstCall]:
    """The first call of each method, each in a process of its own."""
    return {
        f"{kind}.{name}": in_fork(first_call, kind, name, num_rows)
        for kind in kinds
        for name in in_fork(methods_of, kind)
    }


class FirstCallsOfMethods:
    """How long do the first calls of all methods take, each in a process of its own?"""

    timeout = 1800

    def setup_cache(self):
        from .measuring import IS_SMOKE

        calls = first_calls(["ewm"] if IS_SMOKE else list(OBJECTS))
        return {name: call.seconds for name, call in calls.items() if call.reason is None}

    def track_seconds(self, seconds):
        return sum(seconds.values())

    def track_slowest(self, seconds):
        return max(seconds.values())

    def track_slow_methods(self, seconds):
        return sum(one > MOST_SECONDS for one in seconds.values())

    track_seconds.unit = track_slowest.unit = "seconds"
    track_slow_methods.unit = "methods"


def main(kinds: list[str]) -> None:
    import jaxframes.frame  # noqa: F401 (before the processes are forked)

    calls = first_calls(kinds or list(OBJECTS))
    seconds = {name: call.seconds for name, call in calls.items() if call.reason is None}
    for name, one in sorted(seconds.items(), key=lambda item: -item[1]):
        if one > MOST_SECONDS:
            print(f"{name:40s} {1000 * one:7.0f} ms")
    refused = {name: call.reason for name, call in calls.items() if call.reason is not None}
    for name, reason in refused.items():
        print(f"  without a call: {name}: {str(reason).splitlines()[0][:100]}")
    slow = sum(one > MOST_SECONDS for one in seconds.values())
    print(
        f"{len(seconds)} methods, {sum(seconds.values()):.2f} s in all, median "
        f"{1000 * float(np.median(list(seconds.values()))):.0f} ms, {slow} above "
        f"{1000 * MOST_SECONDS:.0f} ms, {len(refused)} without a call"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
