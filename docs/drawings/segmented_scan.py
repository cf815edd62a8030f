# SPDX-License-Identifier: Apache-2.0
"""A segmented sum over shards: local scans, one exchange of totals, carries."""

from itertools import accumulate

from canvas import Canvas

# The example of the page: values and segment ids of five shards, the third one empty.
VALUES = ((1, 2, 3), (4, 5, 6), (), (7, 8, 9), (10, 11, 12))
IDS = ((4, 4, 7), (7, 7, 7), (), (7, 7, 2), (2, 2, 2))


def local_scan(values: tuple[int, ...], ids: tuple[int, ...], carry: int = 0) -> list[int]:
    """The running sums of one shard; the carry goes to the rows before its first head."""
    is_head = [i > 0 and ids[i] != ids[i - 1] for i in range(len(ids))]
    rows = list(zip(values, is_head, strict=True))
    sums = list(accumulate(rows, lambda total, row: (row[0] + (0 if row[1] else total[0]), False)))
    first_head = is_head.index(True) if True in is_head else len(ids)
    return [total[0] + (carry if i < first_head else 0) for i, total in enumerate(sums)]


def carries() -> list[int]:
    """The carry into each shard: the running sum of the segment that continues there."""
    result, total, last_id = [], 0, None
    for values, ids in zip(VALUES, IDS, strict=True):
        continues = bool(ids) and ids[0] == last_id
        result.append(total if continues else 0)
        if ids:
            total = local_scan(values, ids, result[-1])[-1]
            last_id = ids[-1]
    return result


def draw() -> Canvas:
    canvas = Canvas(720, 318, "A segmented sum over five shards")
    rows = ((60, "values"), (112, "local sums"), (192, "carries"), (246, "results"))
    for y, name in rows:
        canvas.text(20, y + 18, name)
    carried = carries()
    for shard, (values, ids) in enumerate(zip(VALUES, IDS, strict=True)):
        x = 120 + 118 * shard
        canvas.text(x + 50, 30, f"shard {shard}", "middle", "bold")
        if not values:
            canvas.text(x + 50, 78, "no rows", "middle", "note")
            continue
        _cells(canvas, x, 60, values, ids)
        _cells(canvas, x, 112, local_scan(values, ids), ids)
        if carried[shard]:
            canvas.box(x + 26, 192, 48, 26, f"+{carried[shard]}", "warm", "mono")
        _cells(canvas, x, 246, local_scan(values, ids, carried[shard]), ids)
    canvas.text(120, 162, "one all_gather: totals, edge ids, heads", style="note")
    canvas.arrow(125, 172, 690, 172)
    canvas.text(
        20,
        302,
        "Colours are segments. A carry is added to the rows before the first head of its shard.",
        style="note",
    )
    return canvas


def _cells(
    canvas: Canvas, x: float, y: float, numbers: tuple[int, ...] | list[int], ids: tuple[int, ...]
) -> None:
    fills = {4: "plain", 7: "soft", 2: "warm"}
    for i, number in enumerate(numbers):
        canvas.box(x + 34 * i, y, 32, 26, str(number), fills[ids[i]], "mono")
