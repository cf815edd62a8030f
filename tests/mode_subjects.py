# SPDX-License-Identifier: Apache-2.0
"""What the tests of modes run: pipelines, and the operations of the registry on other dtypes."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from frame_operations import OPERATIONS, Operation
from frame_parity import Bound
from mode_check import Subject
from mode_grammar import Pick
from mode_inputs import KINDS, NUMBERS, table_of
from mode_pipelines import pipeline, run_pipeline, text_of

Kinds = dict[str, str]

# Few sets of columns: frames of equal dtypes share programs.
SCHEMAS = (
    ("k u8 u8h i8h i64h u64h f64 b bh s u64 f64h i8", "k u8 i64h bh f64h b i8h"),
    ("k i64 u64 f32 f32h f64h b sh c oh i64h u8h", "k f32 u64h c f64 s u8"),
    ("k ts tns tmsh tush ds dnsh dus b s tnsh dmsh", "k ts tns tush dns b"),
    ("k i8 i8h u8 f64 f64h bh tus sh c u8h i64", "k i8 f64 bh s tus"),
    ("k y yh s f64h i64 bh", "k yh f64 s"),
    ("k zus zush zns znsh tus i8 f64h s dus", "k zus znsh f64 s"),
    ("k D Dh T Th P Ph i8 f64h s i64h", "k D Th Ph f64 s"),
    ("k I8h I64 I64h U64h F64h B Bh S Sh f64 i64h", "k I64h Bh F64h I8 Sh"),
)
# Sums of the integers at the ends of their range are rounded, and a mean once more.
ROUNDING = Bound(ulps=64, magnitude=1.0)
# The kinds that may stand in for a column of the registry.
_FAMILIES = (
    tuple(kind for kind in NUMBERS if kind[0] in "iu"),
    tuple(kind for kind in NUMBERS if kind[0] == "f"),
    *(
        tuple(kind for kind in KINDS if kind[0] == letter)
        for letter in ("b", "s", "t", "z", "d", "c", "o", "y")
    ),
)
_LIKE = {"x": "f64h", "w": "f64h", "y": "f64h", "k": "k"}


class Drawn(NamedTuple):
    """What runs, and the kinds of the columns of its frames."""

    subject: Subject
    kinds: tuple[Kinds, ...]


def drawn_pipeline(pick: Pick, rng: np.random.Generator, schema: int) -> Drawn:
    """A pipeline on one of the schemas."""
    kinds = tuple({kind: kind for kind in side.split()} for side in SCHEMAS[schema])
    f, g = (table_of(rng, kind, 6).to_pandas() for kind in kinds)
    return Drawn(subject_of_steps(pipeline(pick, f, g)), kinds)


def subject_of_steps(steps: Sequence[str]) -> Subject:
    """A pipeline as a subject."""
    text = text_of(tuple(steps))
    adds = _ADDS.search(text) is not None

    def bound(frames: Sequence[pd.DataFrame]) -> Bound:
        if not adds:
            return ROUNDING
        floats = [frame.select_dtypes("floating").to_numpy(np.float64) for frame in frames]
        finite = np.concatenate([one[np.isfinite(one)] for one in floats])
        # A larger sum is infinite, and exact.
        magnitude = np.minimum(np.abs(finite), 1e300).sum()
        return Bound(ROUNDING.ulps, max(ROUNDING.magnitude, float(magnitude)))

    return Subject(text, run_pipeline(tuple(steps)), bound)


def drawn_operation(pick: Pick, operation: Operation) -> Drawn:
    """An operation on columns of the same families, and at times one of any kind."""
    kinds = {column: pick(_family_of(column)) for column in operation.columns}
    if pick((False, False, True)):
        kinds[pick(list(kinds))] = pick(KINDS)
    return Drawn(subject_of(operation), (kinds,) * operation.num_frames)


def subject_of(operation: Operation) -> Subject:
    """An operation of the registry as a subject."""

    def bound(frames: Sequence[pd.DataFrame]) -> Bound:
        known = operation.bound(frames)
        return Bound(max(known.ulps, 4), known.magnitude)

    return Subject(operation.name, operation.run, bound, operation)


def _family_of(column: str) -> Sequence[str]:
    kind = _LIKE.get(column, column)
    if kind == "k":
        return ("k", "k", "i8", "u8h", "i64")
    return next(family for family in _FAMILIES if kind[0] == family[0][0] or kind[0] in "iu")


# Steps that add rows: floats differ by units in the last place of the sum of magnitudes.
_ADDS = re.compile(r"\b(sum|mean|cumsum|var|std|sem|skew|kurt|prod|cov|corr|describe)\b")
OPERATION_NAMES = tuple(OPERATIONS)
