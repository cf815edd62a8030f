# SPDX-License-Identifier: Apache-2.0
"""Times of two or more forms of each computation, which pages draw from what they measure."""

from collections.abc import Mapping

from canvas import Canvas, Fill

LEFT, TOP, WIDTH, BAR, GAP = 230, 48, 330, 18, 16
FILLS: tuple[Fill, ...] = ("strong", "warm", "soft")


def draw(cases: Mapping[str, Mapping[str, float]]) -> Canvas:
    """Draws the seconds of each form, one group of bars for each case; its longest bar is full."""
    forms = list(dict.fromkeys(form for seconds in cases.values() for form in seconds))
    height = TOP + sum(len(seconds) * BAR + GAP for seconds in cases.values()) + 4
    canvas = Canvas(LEFT + WIDTH + 160, height, "Processor time of " + ", ".join(cases))
    for i, form in enumerate(forms):
        canvas.box(LEFT + 150 * i, 18, 14, 14, fill=FILLS[i % len(FILLS)])
        canvas.text(LEFT + 150 * i + 20, 30, form)
    y = TOP
    for case, seconds in cases.items():
        canvas.text(LEFT - 12, y + BAR * len(seconds) / 2 + 4.5, case, "end")
        longest = max(seconds.values())
        for form, of_form in seconds.items():
            length = max(2.0, WIDTH * of_form / longest)
            canvas.box(LEFT, y + 1, length, BAR - 2, fill=FILLS[forms.index(form) % len(FILLS)])
            canvas.text(LEFT + length + 8, y + 13.5, _readable(of_form), style="note")
            y += BAR
        y += GAP
    return canvas


def _readable(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
