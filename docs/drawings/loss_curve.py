# SPDX-License-Identifier: Apache-2.0
"""Loss curves of training runs, which pages draw from what they compute."""

from collections.abc import Mapping, Sequence

from canvas import Canvas

LEFT, TOP, WIDTH, HEIGHT = 60, 20, 500, 220
COLORS = ("#0969da", "#cf222e", "#1a7f37", "#bf8700", "#8250df")


def draw(curves: Mapping[str, Sequence[float]]) -> Canvas:
    """Draws the loss of each step, one line for each run; later lines are thinner."""
    canvas = Canvas(LEFT + WIDTH + 160, TOP + HEIGHT + 50, "Losses of " + ", ".join(curves))
    every_loss = [float(loss) for losses in curves.values() for loss in losses]
    lowest, highest = min(every_loss), max(every_loss)
    most = max(len(losses) for losses in curves.values()) - 1
    for i, (name, losses) in enumerate(curves.items()):
        color, width = COLORS[i % len(COLORS)], max(1.5, 7 - 1.5 * i)
        points = [
            (LEFT + WIDTH * step / most, TOP + HEIGHT * (highest - loss) / (highest - lowest))
            for step, loss in enumerate(map(float, losses))
        ]
        canvas.line(points, color, width)
        y = TOP + 20 + 22 * i
        canvas.line([(LEFT + WIDTH + 20, y), (LEFT + WIDTH + 44, y)], color, width)
        canvas.text(LEFT + WIDTH + 52, y + 4.5, name)
    canvas.text(LEFT - 10, TOP + 5, f"{highest:.2f}", "end", "note")
    canvas.text(LEFT - 10, TOP + HEIGHT + 5, f"{lowest:.2f}", "end", "note")
    canvas.text(LEFT, TOP + HEIGHT + 28, "step 0", "start", "note")
    canvas.text(LEFT + WIDTH, TOP + HEIGHT + 28, f"step {most}", "end", "note")
    return canvas
