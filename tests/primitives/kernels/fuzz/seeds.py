# SPDX-License-Identifier: Apache-2.0
"""Writes the seed corpus of the fuzzer: a few calls of each target.

Usage: python seeds.py FOLDER
"""

import random
import sys
from pathlib import Path

NUM_TARGETS = 31
PER_TARGET = 12


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for target in range(NUM_TARGETS):
        for number in range(PER_TARGET):
            choose = random.Random(f"{target} {number}")
            rest = bytes(choose.randrange(256) for _ in range(8 * number))
            (folder / f"{target:02}-{number:02}").write_bytes(bytes([target, number]) + rest)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
