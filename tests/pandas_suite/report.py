# SPDX-License-Identifier: Apache-2.0
"""Prints the outcomes of pandas' tests: how many of each kind for a folder, and the causes."""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path

KINDS = [
    *("passed", "refused", "wrong", "documented", "lenient", "text", "error", "slow"),
    "out of scope",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the files of outcomes")
    parser.add_argument("--causes", type=int, default=20, help="the causes to print for a kind")
    parser.add_argument("--kinds", nargs="*", default=["wrong", "refused"])
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    causes: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(arguments.folder.glob("*.jsonl")):
        count = counts.setdefault(path.stem, Counter())
        for line in path.read_text().splitlines():
            outcome = json.loads(line)
            count[outcome["kind"]] += 1
            key = f"{outcome['cause']} ({outcome['where']})"
            causes[outcome["kind"]][key].append(outcome["test"])
    counts["all"] = sum(counts.values(), Counter())
    print(f"{'tests':24}", *(f"{kind:>12}" for kind in KINDS), "  share in scope")
    for name, count in counts.items():
        in_scope = count.total() - count["out of scope"]
        share = f"{100 * count['passed'] / max(in_scope, 1):12.0f}%"
        print(f"{name:24}", *(f"{count[kind]:12}" for kind in KINDS), share)
    for kind in arguments.kinds:
        print(f"\n{kind}, by cause")
        ordered = sorted(causes[kind].items(), key=lambda each: -len(each[1]))
        for cause, tests in ordered[: arguments.causes]:
            print(f"{len(tests):5} {cause}\n      {tests[0]}")


if __name__ == "__main__":
    main()
