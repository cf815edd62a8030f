# SPDX-License-Identifier: Apache-2.0
"""Random pipelines in the words of pandas, as text: each step is an expression of `f` and `g`.

    ("f.assign(z0=f['u8'].where(f['k'] > 1))", "f[f['k'] > 1]")

pandas, a frame and a plan run the same text.
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from jaxframes import frame
from jaxframes.frame import JaxFrame
from jaxframes.frame.plan._lazy import Lazy
from jaxframes.frame.table._tracing import is_in_jit
from mode_grammar import Grammar, Pick

Pipeline = tuple[str, ...]
# Any merge of the small tables fits.
CAPACITY = 64


def run_pipeline(pipeline: Pipeline) -> Callable[[Any, Any], Any]:
    """A function of two frames, of pandas or ours or plans, that runs the steps."""

    def run(f: Any, g: Any) -> Any:
        for step in pipeline:
            f = compiled(step)(f, g)
        return f

    return run


@functools.lru_cache(None)
def compiled(step: str) -> Callable[[Any, Any], Any]:
    """A step as a function of the two frames."""
    return eval(f"lambda f, g: {step}", {"pd": pd, "merge": _merge, "concat": _concat})


def _merge(f: Any, g: Any, **how: Any) -> Any:
    if isinstance(f, JaxFrame) and is_in_jit(f):
        how["capacity"] = CAPACITY
    return f.merge(g, **how)


def _concat(frames: Sequence[Any], **how: Any) -> Any:
    is_ours = isinstance(frames[0], (JaxFrame, Lazy))
    return (frame if is_ours else pd).concat(frames, **how)


def text_of(pipeline: Pipeline) -> str:
    """The pipeline as a line of Python."""
    return "; ".join(f"f = {step}" for step in pipeline)


def pipeline(
    pick: Pick, sample: pd.DataFrame, other: pd.DataFrame, most_steps: int = 4
) -> Pipeline:
    """Steps that pandas can run on a sample of the two frames."""
    steps: list[str] = []
    now: Any = sample
    for _ in range(pick(range(1, most_steps + 1))):
        step = Grammar(pick, now, other).step()
        result = tried(compiled(step), now, other)
        if isinstance(result, Exception):
            continue
        steps.append(step)
        now = result
        if not isinstance(now, pd.DataFrame) or len(now.columns) == 0:
            break
    return tuple(steps) or ("f.head(3)",)


def tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except Exception as error:
            return error
