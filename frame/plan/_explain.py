# SPDX-License-Identifier: Apache-2.0
"""Plans as text, and as a drawing for notebooks."""

import html
from collections.abc import Iterator
from typing import Any

from ._node import Call, Node, PlanNode, Scan, in_order


class Explanation(str):
    """The text of a plan, which a notebook shows as a drawing."""

    _root: PlanNode

    @classmethod
    def of(cls, root: PlanNode) -> "Explanation":
        """Explains a plan."""
        explanation = cls(plan_text(root))
        explanation._root = root
        return explanation

    def _repr_svg_(self) -> str:
        return plan_svg(self._root)

    def _repr_html_(self) -> str:
        return f"<div>{self._repr_svg_()}</div>"


def plan_text(root: PlanNode) -> str:
    """A tree of the steps, the last one first. Steps used several times have a number."""
    numbers = _numbers(root)
    shown: set[int] = set()
    lines: list[str] = []
    stack: list[tuple[Any, str, str]] = [(root, "", "")]
    while stack:
        node, first, rest = stack.pop()
        number = numbers.get(id(node))
        mark = f" [{number}]" if number else ""
        if id(node) in shown:
            lines.append(f"{first}as in [{number}]")
            continue
        shown.add(id(node))
        lines.append(f"{first}{_text(node)}{mark}")
        for position, child in reversed(list(enumerate(node.inputs))):
            is_last = position == len(node.inputs) - 1
            branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            stack.append((child, rest + branch, rest + below))
    return "\n".join(lines)


def _numbers(root: PlanNode) -> dict[int, int]:
    """A number for each step that several others use."""
    uses: dict[int, int] = {}
    for node in in_order(root):
        for child in node.inputs:
            uses[id(child)] = uses.get(id(child), 0) + 1
    repeated = [node for node in in_order(root) if uses.get(id(node), 0) > 1]
    return {id(node): number for number, node in enumerate(repeated, 1)}


def _text(node: Node) -> str:
    """The line of a step."""
    return _scan_text(node) if isinstance(node, Scan) else _call_text(node)


def _scan_text(scan: Scan) -> str:
    text = scan.source.text()
    details: list[str] = []
    if scan.columns is not None:
        details.append(f"columns {_short(list(scan.columns))}")
    if scan.predicate is not None:
        details.append(f"row groups with {scan.predicate!r}")
    if scan.limit is not None:
        details.append(f"the first {scan.limit} rows")
    return ": ".join([text, ", ".join(details)]) if details else text


def _call_text(call: Call) -> str:
    arguments = dict(call.arguments)
    name = call.method
    if name in ("filter", "column"):
        return f"{name}({next(iter(arguments.values()))!r})"
    if name == "assign":
        return f"assign({_keywords(arguments['values'])})"
    if name == "apply":
        operands = ", ".join(map(repr, arguments["operands"]))
        return f"{arguments['function']} of {operands} {_keywords(arguments['keywords'])}".rstrip()
    if name == "select":
        return f"select({_short(arguments['columns'])})"
    if name == "groupby":
        columns = arguments["columns"]
        selection = "" if columns is None else f"[{columns!r}]"
        end = f"{arguments['method']}({_keywords(arguments['options'])})"
        return f"groupby({_keywords(arguments['groups'])}){selection}.{end}"
    if name == "windows":
        start = f"{arguments['windows']}({_keywords(arguments['bounds'])})"
        return f"{start}.{arguments['method']}({_keywords(arguments['options'])})"
    return f"{name}({_keywords(arguments)})"


def _keywords(arguments: dict[Any, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def _short(labels: list[object]) -> str:
    text = ", ".join(map(repr, labels[:8]))
    return f"[{text}]" if len(labels) <= 8 else f"[{text}, ... {len(labels)} in all]"


# Sizes of the drawing, in pixels.
_LINE, _LETTER, _PADDING, _GAP = 16, 7.2, 8, 22


def plan_svg(root: PlanNode) -> str:
    """A drawing of the steps: a box for each, with arrows from its inputs."""
    boxes = dict(_placed(root))
    width = max(x + w for x, _, w, _ in (box for box, _ in boxes.values())) + _PADDING
    height = max(y + h for _, y, _, h in (box for box, _ in boxes.values())) + _PADDING
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        'font-family="monospace" font-size="12">'
    ]
    for node in in_order(root):
        (x, y, w, h), text = boxes[id(node)]
        for child in node.inputs:
            (cx, cy, cw, _), _ = boxes[id(child)]
            parts.append(
                f'<line x1="{cx + cw / 2:.0f}" y1="{cy:.0f}" x2="{x + w / 2:.0f}" '
                f'y2="{y + h:.0f}" stroke="#888"/>'
            )
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" rx="4" '
            'fill="#fff" stroke="#444"/>'
        )
        baseline = y + _PADDING / 2 + _LINE * 0.75
        parts.append(
            f'<text x="{x + _PADDING:.0f}" y="{baseline:.0f}" fill="#111">'
            f"{html.escape(text)}</text>"
        )
    return "".join([*parts, "</svg>"])


def _placed(root: PlanNode) -> Iterator[tuple[int, Any]]:
    """The box and the text of each step: inputs below, those of one depth side by side."""
    depths: dict[int, int] = {}
    for node in reversed(in_order(root)):
        depths.setdefault(id(node), 0)
        for child in node.inputs:
            depths[id(child)] = max(depths.get(id(child), 0), depths[id(node)] + 1)
    rows: dict[int, list[Any]] = {}
    for node in in_order(root):
        rows.setdefault(depths[id(node)], []).append(node)
    y = float(_PADDING)
    for depth in sorted(rows):
        x = float(_PADDING)
        for node in rows[depth]:
            text = _text(node)
            w = len(text) * _LETTER + 2 * _PADDING
            yield id(node), ((x, y, w, _LINE + _PADDING), text)
            x += w + _GAP
        y += _LINE + _PADDING + _GAP
