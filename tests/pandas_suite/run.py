# SPDX-License-Identifier: Apache-2.0
"""Runs folders of pandas' tests, each in a process of its own, and prints the report."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pandas

_PANDAS = Path(pandas.__file__).parent
_HERE = Path(__file__).parent
# The frame serves these; the rest of pandas' tests is about indexes, blocks, dtypes and files.
FOLDERS = [
    "reductions",
    "groupby",
    "reshape",
    "strings",
    "resample",
    "frame/methods",
    "series/methods",
    "series/accessors",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders or files below pandas/tests")
    parser.add_argument("--variants", type=int, default=3, help="parameters of a test; 0: all")
    parser.add_argument("--out", type=Path, default=Path("build/pandas"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(_HERE.parent)}
    for folder in arguments.folders or FOLDERS:
        outcomes = (arguments.out / f"{folder.replace('/', '-')}.jsonl").resolve()
        pytest = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--no-header", "-W", "ignore"]
        # pandas' configuration is not in its wheel, and ours is not for its tests.
        plugins = ["-p", "pandas_suite.plugin", "-p", "no:cacheprovider", "-c", os.devnull]
        options = [f"--rootdir={_PANDAS}", f"--outcomes={outcomes}", "--variants"]
        tests = [str(arguments.variants), str(_PANDAS / "tests" / folder)]
        subprocess.run(
            [*pytest, *plugins, *options, *tests], env=environment, cwd=arguments.out, check=False
        )
    subprocess.run([sys.executable, str(_HERE / "report.py"), str(arguments.out)], check=True)


if __name__ == "__main__":
    main()
