# SPDX-License-Identifier: Apache-2.0
"""Compares modes with pandas until a number of comparisons is done, and prints what fails.

    PYTHONPATH=tests python tests/mode_tally.py NUM_COMPARISONS SEED [pipelines|operations|both]

A comparison is one column of a result in one mode. Failures are counted by mode and by kind. The
first of each kind is made smaller and printed when it is found, three of each at the end.
"""

import collections
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import jax

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from frame_operations import OPERATIONS  # noqa: E402
from mode_check import Failure, Subject, check  # noqa: E402
from mode_inputs import PATTERNS, table_of, text_of_table  # noqa: E402
from mode_runs import MODES, SLOW, Modes, group_of  # noqa: E402
from mode_subjects import (  # noqa: E402
    OPERATION_NAMES,
    SCHEMAS,
    drawn_operation,
    drawn_pipeline,
    subject_of_steps,
)

NUM_DRAWS, NUM_MODES = 8, 7
SIZES = (0, 1, 2, 5, 7, 7)


class Tally:
    """Comparisons and failures so far."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.comparisons = 0
        self.refused: collections.Counter[tuple[str, str]] = collections.Counter()
        self.failures: dict[tuple[str, str, str], list[Failure]] = {}

    def run(self, number: int, what: str) -> None:
        """Compares one pipeline or operation on some inputs in some modes."""
        rng, picks = np.random.default_rng(number), random.Random(number)
        if what == "operations" or (what == "both" and number % 3 == 0):
            name = OPERATION_NAMES[number // 3 % len(OPERATION_NAMES)]
            subject, kinds = drawn_operation(picks.choice, OPERATIONS[name])
        else:
            subject, kinds = drawn_pipeline(picks.choice, rng, number % len(SCHEMAS))
        runner = Modes(subject.run, self.folder)
        quick = [mode for mode in MODES[1:] if mode not in SLOW]
        slow = [mode for mode, share in zip(SLOW, (4, 60, 90), strict=True) if number % share == 0]
        if subject.operation is not None and not subject.operation.jit:
            slow = [mode for mode in slow if mode != "jit"]
        for _ in range(NUM_DRAWS):
            pattern = picks.choice(PATTERNS)
            sizes = picks.choice(SIZES), picks.choice((0, 2, 3))
            tables = tuple(
                table_of(rng, kind, size, pattern) for kind, size in zip(kinds, sizes, strict=False)
            )
            modes = ["eager", *picks.sample(quick, NUM_MODES), *slow]
            done = check(subject, runner, tables, modes)
            self.comparisons += done.comparisons
            self.refused.update(done.refused)
            self._add(done.failures)

    def _add(self, failures: list[Failure]) -> None:
        blamed = set()
        for failure in failures:
            # What fails eagerly is expected to fail in plans.
            if failure.kind in blamed and failure.mode != "eager":
                continue
            blamed.add(failure.kind)
            operation = failure.subject.operation
            name = operation.name if operation else "pipeline"
            key = name, group_of(failure.mode), failure.kind
            self.failures.setdefault(key, []).append(failure)
            if len(self.failures[key]) == 1:
                print("new:", " | ".join(key))
                _show(shrunk(failure, self.folder))

    def report(self) -> None:
        """Prints the failures by kind, the most frequent first."""
        for key, failures in sorted(self.failures.items(), key=lambda one: -len(one[1])):
            print(f"{len(failures):6} {' | '.join(key)}")
            seen = set()
            for failure in sorted(failures, key=lambda one: len(one.subject.text))[:3]:
                one = shrunk(failure, self.folder)
                if one.subject.text in seen:
                    continue
                seen.add(one.subject.text)
                _show(one)
        print("refused:", *self.refused.most_common(30), sep="\n  ")


def _show(failure: Failure) -> None:
    print(f"  * {failure.mode}: {failure.subject.text}")
    for name, table in zip("fg", failure.tables, strict=False):
        print(f"    {name} = {text_of_table(table)[:400]}")
    print("    " + re.sub(r"\s+", " ", failure.found)[:300], flush=True)


def shrunk(failure: Failure, folder: Path, seconds: float = 15.0) -> Failure:
    """Fewer steps, columns and rows that fail in the same mode with the same kind."""
    end = time.monotonic() + seconds
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for subject, tables in _smaller(failure):
            if time.monotonic() > end:
                return failure
            runner = Modes(subject.run, folder)
            found = check(subject, runner, tables, ["eager", failure.mode]).failures
            same = [one for one in found if (one.mode, one.kind) == (failure.mode, failure.kind)]
            if same:
                failure, is_smaller = same[0], True
                break
    return failure


def _smaller(failure: Failure) -> Iterator[tuple[Subject, tuple[pa.Table, ...]]]:
    subject, tables = failure.subject, failure.tables
    if subject.operation is None:
        steps = subject.text.removeprefix("f = ").split("; f = ")
        for place, step in enumerate(steps):
            if len(steps) > 1:
                yield subject_of_steps(steps[:place] + steps[place + 1 :]), tables
            for less in _fewer_columns(step):
                yield subject_of_steps([*steps[:place], less, *steps[place + 1 :]]), tables
    for side, table in enumerate(tables):
        names = table.column_names if subject.operation is None and table.num_columns > 1 else []
        smaller = [table.drop_columns([label]) for label in names]
        smaller += [
            pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
            for row in range(table.num_rows)
        ]
        for less in smaller:
            yield subject, (*tables[:side], less, *tables[side + 1 :])


def _fewer_columns(step: str) -> Iterator[str]:
    if not step.startswith("f.assign("):
        return
    parts = re.split(r", (?=\w+=f\[|\w+=\(|\w+=~|\w+=f\.)", step[len("f.assign(") : -1])
    for place in range(len(parts) if len(parts) > 1 else 0):
        yield f"f.assign({', '.join(parts[:place] + parts[place + 1 :])})"


def main(num_comparisons: int, seed: int, what: str) -> None:
    """Runs until enough comparisons are done, and reports."""
    with tempfile.TemporaryDirectory() as folder:
        tally = Tally(Path(folder))
        start = last = time.monotonic()
        number = seed * 10**6
        # An interrupt ends the comparisons, not the report. Jobs in the background ignore SIGINT.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            while tally.comparisons < num_comparisons:
                number += 1
                tally.run(number, what)
                if time.monotonic() - last > 60:
                    last = time.monotonic()
                    failures = sum(map(len, tally.failures.values()))
                    print(
                        f"{tally.comparisons} in {last - start:.0f} s, {failures} fail", flush=True
                    )
        except KeyboardInterrupt:
            pass
        finally:
            print(f"{tally.comparisons} comparisons in {time.monotonic() - start:.0f} s")
            tally.report()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]), int(sys.argv[2]), (*sys.argv[3:], "both")[0])
