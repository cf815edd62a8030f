# SPDX-License-Identifier: Apache-2.0
"""groupby.head."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_head_and_tail_make_up_the_rows_of_groups():
    grouped = JaxFrame(mixed_frame()[["k", "i"]]).groupby("k")
    for n in (0, 2, 100):
        # tail(-n) holds all rows of a group but the first n.
        labels = [*grouped.head(n).index.tolist(), *grouped.tail(-n if n else 100).index.tolist()]
        assert sorted(labels) == list(range(37))


def test_numbers_beyond_the_groups_and_the_default_of_five():
    def heads(f):
        grouped = f.groupby("s", dropna=False)
        return grouped.head(), grouped.head(-100), grouped.head(100), grouped.x.head(0)

    frame = mixed_frame()[["s", "x"]]
    for num_rows in (37, 1, 0):
        assert_parity(heads, frame[:num_rows], ways=["eager"])


def test_keys_stay_columns_and_labels_of_rows_stay():
    frame = mixed_frame()[["k", "x", "s"]].set_index("s")
    assert_parity(lambda f: f.groupby("k", as_index=False).head(1), frame, ways=["jit"])


def test_a_number_is_wanted():
    assert_same_error(lambda f: f.groupby("k").head("a"), mixed_frame()[["k", "x"]])
