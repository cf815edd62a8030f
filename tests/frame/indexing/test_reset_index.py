# SPDX-License-Identifier: Apache-2.0
"""reset_index."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "s"]]
NESTED = FRAME.set_index(["s", "k"])


def test_levels_become_columns_under_given_names():
    def reset(f):
        return (
            f.reset_index(names=["a", "b"]), f.reset_index(level=1), f.reset_index(["k", "s"]),
            f.reset_index(-1, drop=True), f.reset_index(drop=True), f.x.reset_index("s"),
        )  # fmt: skip

    assert_parity(reset, NESTED, ways=["eager"])


def test_a_nameless_index_is_called_index_or_level_0():
    taken = FRAME.rename(columns={"k": "index"})
    assert_parity(lambda f: f.reset_index(), taken, ways=["eager"])
    assert_parity(lambda f: (f.reset_index(), f.reset_index(names="n")), FRAME, ways=["jit"])


def test_of_kept_rows_it_counts_anew():
    def reset(f):
        filtered = f[f.k > 2]
        return (
            filtered.reset_index(drop=True),
            filtered.reset_index(),
            filtered.x.reset_index(name="y"),
        )

    for num_rows in (0, 1, 37):
        assert_parity(reset, FRAME[:num_rows], ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.reset_index("no"), NESTED)
    assert_same_error(lambda f: f.reset_index(5), NESTED)
    assert_same_error(lambda f: f.reset_index(), FRAME.set_index("k", drop=False))
    assert_same_error(lambda f: f.reset_index(names=["a"]), NESTED)
    assert_parity(lambda f: f.reset_index(allow_duplicates=True), FRAME.set_index("k", drop=False),
                  ways=["eager"])  # fmt: skip
