# SPDX-License-Identifier: Apache-2.0
"""The splitter search: the key of one global rank, two bits a round."""

from canvas import Canvas

SHARDS = ((1, 2, 5, 9), (2, 6, 6, 12), (0, 6, 7, 15))
RANK = 6
NUM_BITS = 4
DIGIT_BITS = 2


def counts_below(candidate: int) -> list[int]:
    """The rows of each shard below a candidate."""
    return [sum(key < candidate for key in keys) for keys in SHARDS]


def draw() -> Canvas:
    canvas = Canvas(720, 436, "Splitter search for one global rank")
    canvas.text(
        20, 30, f"Which key has rank {RANK} among the sorted rows of three shards?", style="bold"
    )
    prefix = 0
    for round_index in range(NUM_BITS // DIGIT_BITS):
        shift = NUM_BITS - DIGIT_BITS * (round_index + 1)
        candidates = [prefix | digit << shift for digit in range(1, 1 << DIGIT_BITS)]
        y = 52 + 176 * round_index
        digit = sum(sum(counts_below(candidate)) <= RANK for candidate in candidates)
        _draw_round(canvas, y, round_index, candidates, digit)
        prefix |= digit << shift
        canvas.text(490, y + 152, f"{digit} pass: bits {_known_bits(prefix, shift)}", style="bold")
    canvas.text(
        20, 422, f"The splitter is {prefix}. Only counts travel, never a row.", style="bold"
    )
    return canvas


def _known_bits(prefix: int, shift: int) -> str:
    bits = f"{prefix:0{NUM_BITS}b}"
    return bits[: NUM_BITS - shift] + "?" * shift


def _draw_round(
    canvas: Canvas, y: float, round_index: int, candidates: list[int], digit: int
) -> None:
    canvas.text(
        20,
        y + 14,
        f"Round {round_index + 1}: count the rows below",
        style="note",
    )
    for shard, keys in enumerate(SHARDS):
        top = y + 32 + 34 * shard
        canvas.text(20, top + 18, f"shard {shard}")
        for i, key in enumerate(keys):
            canvas.box(80 + 42 * i, top, 38, 26, str(key), "soft", "mono")
    for i, candidate in enumerate(candidates):
        x = 290 + 60 * i
        fill = "strong" if i < digit else "plain"
        canvas.text(x + 24, y + 24, f"< {candidate}", "middle", "note")
        counts = counts_below(candidate)
        for shard, count in enumerate(counts):
            canvas.box(x, y + 32 + 34 * shard, 48, 26, str(count), "plain", "mono")
        canvas.box(x, y + 134, 48, 26, str(sum(counts)), fill, "mono")
    canvas.text(280, y + 152, "psum", "end", "note")
    canvas.text(490, y + 60, "A candidate passes if at most", style="note")
    canvas.text(490, y + 78, f"{RANK} rows of all shards are below it.", style="note")
