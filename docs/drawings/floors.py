# SPDX-License-Identifier: Apache-2.0
"""The floors of the packages, from top to bottom."""

from canvas import Canvas

FLOORS = (
    ("frame", "JaxFrame and JaxSeries: pandas' methods, translated into primitives"),
    ("primitives", "global calls: whole arrays and a mesh"),
    ("primitives/collective", "inside shard_map: one shard's rows and an axis_name"),
    ("primitives/local", "one device's rows, no communication"),
    ("primitives/kernels", "one op, several backends: XLA, and C++ on CPU"),
)
SHARED = (
    ("primitives/contract", "shared by all primitives: argument checks, key order, operators"),
    ("shardings", "shared by all floors: meshes, row layouts, set-up of processes"),
)


def draw() -> Canvas:
    canvas = Canvas(720, 382, "The floors of jaxframes; imports point down only")
    for i, (name, purpose) in enumerate(FLOORS):
        y = 20 + 48 * i
        fill = "warm" if name == "frame" else "soft"
        canvas.box(20, y, 640, 40, fill=fill)
        canvas.text(36, y + 25, name, style="bold")
        canvas.text(210, y + 25, purpose)
    for i, (name, purpose) in enumerate(SHARED):
        y = 20 + 48 * (len(FLOORS) + i)
        canvas.box(20, y, 640, 40)
        canvas.text(36, y + 25, name, style="bold")
        canvas.text(210, y + 25, purpose)
    canvas.arrow(682, 24, 682, 346)
    canvas.text(20, 372, "Each floor imports only from the floors below it.", style="note")
    return canvas
