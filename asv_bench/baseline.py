# SPDX-License-Identifier: Apache-2.0
"""Compares the ratios of a run with stored ones, and warns when one has worsened by a quarter.

A ratio is the time of the fastest other engine divided by this library's. Ratios depend less on the
machine than times do, but they are no test: a warning is a reason to measure again.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

STORED = Path(__file__).with_name("baseline.json")
SMALLEST_SHARE = 0.75


def warnings(ratios: Mapping[str, float], stored: Mapping[str, float]) -> Iterator[str]:
    """One line for each ratio below three quarters of the stored one, as GitHub annotates them."""
    for name, ratio in ratios.items():
        if name in stored and ratio < SMALLEST_SHARE * stored[name]:
            yield (
                f"::warning title=Benchmark ratio worsened::{name}: {ratio:.2f} times the speed of "
                f"the fastest other engine, {stored[name]:.2f} in the baseline."
            )


def read(path: Path = STORED) -> dict[str, float]:
    return json.loads(path.read_text()) if path.exists() else {}


def store(ratios: Mapping[str, float], path: Path = STORED) -> None:
    """Adds ratios to the stored ones; those of the same name are replaced."""
    rounded = {name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}
    path.write_text(json.dumps(read(path) | rounded, indent=2, sort_keys=True) + "\n")
