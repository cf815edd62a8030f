# SPDX-License-Identifier: Apache-2.0
"""Bytes and launches of what a program for GPU calls: sorts of CUB, and the CUDA kernels.

XLA's text shows one instruction for each. A sort reads and writes its rows once for each digit of 8
bits. A kernel has scratch memory among its results, and touches little of it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_SHAPE = re.compile(r"\b(pred|bf16|[fsuc]\d+)\[([\d,]*)\]")
_ATTRIBUTE = re.compile(r"(\w+) = (-?\d+|true|false)")
_FEW_SEGMENTS = 2048  # kMostTableSegments in cuda_segment_sum.h
_ROWS_AT_ONCE = 2**16  # kMostRowsAtOnce in cuda_radix_sort.h


class Traffic(NamedTuple):
    """Bytes that are read and written, and kernels that are launched."""

    num_bytes: float
    launches: int


class Shape(NamedTuple):
    """The shape of an array in XLA's text."""

    width: int
    lengths: tuple[int, ...]
    is_floating: bool = False

    @property
    def size(self) -> int:
        return math.prod(self.lengths)

    @property
    def num_bytes(self) -> int:
        return self.width * self.size


def shapes_in(text: str) -> list[Shape]:
    """All shapes that a type or a list of operands names."""
    found = []
    for dtype, lengths in _SHAPE.findall(text):
        width = 1 if dtype == "pred" else int(re.sub(r"\D", "", dtype)) // 8
        sizes = tuple(int(n) for n in lengths.split(",") if n)
        found.append(Shape(width, sizes, dtype.startswith(("f", "bf"))))
    return found


def radix_sort(rows: int, key: int, moved: int, bits: int) -> Traffic:
    """CUB's sort: a histogram of all digits, and a pass for each digit of 8 bits."""
    passes = max(-(-bits // 8), 1)
    return Traffic(rows * (key + passes * 2 * (key + moved)), 2 + passes)


def sort_of_xla(operands: Sequence[Shape]) -> Traffic:
    """A sort in a program, as XLA passes it to CUB: a key and at most one value.

    Other sorts compare rows, about 20 passes for 2^20 rows of shared memory and memory; they count
    as one pass for each doubling of the rows beyond what a block holds.
    """
    rows = operands[0].size
    widths = [operand.width for operand in operands]
    if len(operands) <= 2:
        return radix_sort(rows, widths[0], sum(widths[1:]), 8 * widths[0])
    passes = max(1, math.ceil(math.log2(max(rows / 4096, 1))) + 1)
    return Traffic(rows * passes * 2 * sum(widths), passes)


def kernel_traffic(
    target: str, arguments: Sequence[Shape], results: Sequence[Shape], attributes: str
) -> Traffic:
    """What a CUDA kernel reads and writes, from its sources in `primitives/kernels`."""
    given = dict(_ATTRIBUTE.findall(attributes))
    name = target.removeprefix("jaxframes_cuda_").rpartition("_v")[0]
    rows, word = arguments[0].size, arguments[0].width
    if name.startswith("radix_"):
        return _sort(name, arguments, results, given)
    if name == "bucket_order":
        # Ids for the counts and the ranks; the order, and the inverse if there is one.
        return Traffic(2 * rows * word + results[0].num_bytes + results[1].num_bytes, 3)
    if name == "top_k":
        # Two passes over all rows; few rows are left after that.
        return Traffic(2 * rows * word, 12)
    if name == "merge":
        # Both sides, once more at the ends of each tile of 2,048 rows, and the results.
        return Traffic(sum(shape.num_bytes for shape in (*arguments[:2], *results)), 1)
    if name == "search":
        # Each step of a query reads a word.
        words, queries = arguments[:2]
        steps = words.lengths[-1].bit_length()
        return Traffic(queries.size * (word * (1 + steps) + 4), 1)
    if name == "count_flags":
        return Traffic(rows, 2)
    if name == "flagged_rows":
        # Of row ids nothing is read.
        return Traffic(rows + sum(2 * shape.num_bytes for shape in results), 1)
    if name == "repeat_rows":
        # The marks are cleared, written where a row begins, and read.
        marks = 4 * results[0].size
        written = results[0].num_bytes + results[1].num_bytes
        return Traffic(2 * marks + arguments[0].num_bytes + min(marks, 4 * rows) + written, 3)
    if name == "segmented_scan":
        heads = arguments[1].num_bytes
        return Traffic(arguments[0].num_bytes + heads + results[0].num_bytes, 2)
    if name == "reduce_by_key":
        # Each row is read, and each result written, once. The fourth result is scratch memory.
        read = sum(shape.num_bytes for shape in arguments)
        written = sum(shape.num_bytes for shape in (results[0], results[2], *results[4:]))
        return Traffic(read + written, 2)
    if name == "match_rows":
        read = sum(shape.num_bytes for shape in arguments)
        return Traffic(read + sum(shape.num_bytes for shape in results[:3]), 2)
    if name == "segment_sum":
        number, segments = arguments[3].width, results[0].lengths[-1]
        if segments <= _FEW_SEGMENTS:
            return Traffic(rows * (word + number), 2)
        sort = radix_sort(rows, 4, number, segments.bit_length())
        return Traffic(rows * (word + 8 + number) + sort.num_bytes, sort.launches + 2)
    if name == "segment_statistic":
        # Statistics with centers read the rows twice.
        passes = 1 + bool(results[1].size)
        return Traffic(passes * (arguments[0].num_bytes + arguments[1].num_bytes), 2 * passes)
    if name == "segment_reduce":
        return Traffic(arguments[0].num_bytes + arguments[1].num_bytes, 2)
    if name in ("histogram", "pairwise_sum"):
        return Traffic(arguments[0].num_bytes, 2)
    raise ValueError(f"The traffic of {target} is not known.")


def _sort(
    name: str, arguments: Sequence[Shape], results: Sequence[Shape], given: Mapping[str, str]
) -> Traffic:
    words, rows, bits = arguments[0], arguments[0].size, int(given["bits"])
    # Numbers hold the words of integers that are sorted by all of their bits.
    holds = bits >= 8 * words.width and not words.is_floating
    # They are turned back where they lie; words that they do not hold are gathered by row ids.
    turned_back = 0 if given.get("flip") == "0" else 2 * words.width
    restored = rows * (turned_back if holds else 4 + 2 * words.width)
    batch = rows // max(words.lengths[-1], 1)
    at_once = batch > 1 and words.width == 4 and words.lengths[-1] <= _ROWS_AT_ONCE
    key = 8 if at_once else next(n for n in (1, 2, 4, 8) if bits <= 8 * n)
    bits += (batch - 1).bit_length() if at_once else 0
    if name == "radix_sort_keys":
        sort = radix_sort(rows, key, 0, bits)
        return Traffic(rows * (words.width + key) + restored + sort.num_bytes, sort.launches + 2)
    columns = [] if name != "radix_sort_rows" else list(results[1:])
    carried, packed = 4, 0.0
    gathered: list[Shape] = []
    if columns:
        # Up to 8 bytes of columns ride in the sort, packed if there are several; the key is one of
        # them unless its number holds it. More columns are gathered by row ids.
        riding = columns[1:] if holds else columns
        width = sum(column.width for column in riding)
        if key >= 4 and 0 < width <= 8:
            carried = 4 if width <= 4 else 8
            packed = 0 if len(riding) == 1 and width == carried else 2 * rows * (width + carried)
        else:
            gathered = columns
    sort = radix_sort(rows, key, carried, bits)
    ids = 4 if name != "radix_sort_rows" or gathered else 0
    moved = sum(2 * column.num_bytes for column in gathered) + (4 * rows if gathered else 0)
    is_restored = name == "radix_sort_rows" and bool(columns) and holds and not gathered
    if name == "radix_sort_pairs":
        is_restored = at_once or not (holds and given.get("in_order") == "true")
    total = rows * (words.width + key + ids) + sort.num_bytes + moved + packed
    total += restored if is_restored else 0
    return Traffic(total, sort.launches + 1 + 2 * bool(packed) + bool(gathered) + is_restored)
