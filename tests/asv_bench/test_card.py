# SPDX-License-Identifier: Apache-2.0
"""The cases of a card against NumPy on this machine, and the page of a card's figures."""

import json

import jax
import pytest
from card import bits, report
from card.cases import CASES
from pages import with_tables
from programs.kernel_traffic import Shape, kernel_traffic, radix_sort, shapes_in


@pytest.mark.parametrize("name", CASES)
def test_cases_have_the_results_of_numpy(name):
    with jax.enable_x64(True):
        faults, compared = bits.check([name], [1, 300], repeats=2, workers=1)
    assert not faults
    assert compared == 4


def test_the_page_holds_the_stored_figures():
    figures = json.loads(report.STORED.read_text())
    page = report.PAGE.read_text()
    assert page == with_tables(page, report.tables(figures))
    assert figures["card"] in page
    assert figures["bits"]["faults"] == 0


def test_claims_of_the_changelog_are_in_the_figures():
    figures = json.loads(report.STORED.read_text())["microseconds"]
    for call, kernel, xla in (
        ("bucket_order 64", 1.2, 9.5),
        ("segment_sum f32 1,024", 1.0, 11.6),
        ("histogram f32 256", 0.5, 31),
    ):
        found = [figures[library][call]["100000000"] / 1e3 for library in ("native", "xla")]
        assert found == pytest.approx([kernel, xla], rel=0.1)


def test_shapes_are_read_from_the_text_of_programs():
    text = "(s32[8,100]{1,0}, pred[], bf16[3])"
    assert shapes_in(text) == [Shape(4, (8, 100)), Shape(1, ()), Shape(2, (3,), True)]


def test_a_sort_of_one_byte_takes_one_pass():
    assert radix_sort(100, 1, 4, 6) == (100 * (1 + 2 * 5), 3)
    assert radix_sort(100, 4, 4, 32) == (100 * (4 + 4 * 16), 6)


def test_kernels_count_what_they_read_and_write():
    flags, words = Shape(1, (1, 100)), Shape(4, (1, 100))
    scan = kernel_traffic("jaxframes_cuda_segmented_scan_v1", [words, flags, words], [words], "")
    assert scan == (900, 2)
    results = [words, words, Shape(4, (1, 65))]
    order = kernel_traffic("jaxframes_cuda_bucket_order_v1", [words, words], results, "")
    assert order == (1600, 3)
    with pytest.raises(ValueError, match="not known"):
        kernel_traffic("jaxframes_cuda_another_v1", [words], [words], "")
