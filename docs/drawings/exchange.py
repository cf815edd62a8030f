# SPDX-License-Identifier: Apache-2.0
"""One exchange of skewed runs between four shards: in one hop, and in two."""

from canvas import Canvas

NUM_SHARDS = 4
# Shard 1 sends all of its rows to shard 2: one long run, the hardest case of one hop.
SOURCE, DESTINATION, ROWS = 1, 2, 8


def draw() -> Canvas:
    canvas = Canvas(720, 386, "An exchange in one hop and in two hops")
    canvas.text(20, 30, "One hop", style="bold")
    canvas.text(20, 48, "A block must hold the longest run.", style="note")
    _column(canvas, 40, 80, "source")
    _column(canvas, 230, 80, "destination")
    _run(canvas, 40, 80, SOURCE, ROWS)
    _run(canvas, 230, 80, DESTINATION, ROWS)
    canvas.arrow(124, _middle(80, SOURCE), 226, _middle(80, DESTINATION))
    canvas.text(150, _middle(80, SOURCE) + 2, "8 rows", style="note")

    canvas.text(370, 30, "Two hops", style="bold")
    canvas.text(370, 48, "Row u: through shard (u + source + destination) mod 4", style="note")
    _column(canvas, 370, 80, "source")
    _column(canvas, 490, 80, "intermediate")
    _column(canvas, 610, 80, "destination")
    _run(canvas, 370, 80, SOURCE, ROWS)
    _run(canvas, 610, 80, DESTINATION, ROWS)
    for shard in range(NUM_SHARDS):
        rows = [u for u in range(ROWS) if (u + SOURCE + DESTINATION) % NUM_SHARDS == shard]
        for i, row in enumerate(rows):
            canvas.box(490 + 40 * i, _top(80, shard) + 22, 36, 24, str(row), "strong", "mono")
        canvas.arrow(454, _middle(80, SOURCE), 486, _middle(80, shard))
        canvas.arrow(572, _middle(80, shard), 606, _middle(80, DESTINATION))
    canvas.text(20, 362, "A block of 8 rows for each pair of shards", style="note")
    canvas.text(370, 362, "A block of 2 rows of this run for each pair of shards", style="note")
    return canvas


def _top(y: float, shard: int) -> float:
    return y + 66 * shard


def _middle(y: float, shard: int) -> float:
    return _top(y, shard) + 34


def _column(canvas: Canvas, x: float, y: float, name: str) -> None:
    canvas.text(x + 40, y - 10, name, "middle", "note")
    for shard in range(NUM_SHARDS):
        canvas.text(x, _top(y, shard) + 14, f"shard {shard}", style="note")
        canvas.box(x, _top(y, shard) + 20, 80, 28, fill="empty")


def _run(canvas: Canvas, x: float, y: float, shard: int, num_rows: int) -> None:
    canvas.box(x, _top(y, shard) + 20, 80, 28, f"rows 0-{num_rows - 1}", "strong")
