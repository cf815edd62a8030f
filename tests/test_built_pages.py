# SPDX-License-Identifier: Apache-2.0
"""Built pages are the same on every machine and need no network; `make docs` runs these tests."""

import os
import re
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PATHS = {str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")}
# What a page loads, and not what it links to.
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(https?:)?//|@import[^;]*//")
STYLES = re.compile(r"<link\b(?=[^>]*\brel=\"stylesheet\")[^>]*\bhref=\"(https?:)?//")

MATHJAX = re.compile(r"<script\b[^>]*mathjax", re.IGNORECASE)


@pytest.fixture(scope="module")
def pages():
    """The text of each built page, by name."""
    built = os.environ.get("JAXFRAMES_PAGES")
    if built is None:
        pytest.skip("make docs runs it on its pages.")
    folder = Path(built)
    texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.html")}
    assert "index.html" in texts
    return texts


def test_every_page_is_built(pages):
    docs = ROOT / "docs"
    sources = [path.relative_to(docs) for path in docs.rglob("*.md")]
    names = {str(path.with_suffix(".html")) for path in sources if path.parts[0] != "_build"}
    assert names
    assert names <= pages.keys()


def test_pages_contain_no_path_of_the_machine(pages):
    found = {(name, path) for name, text in pages.items() for path in PATHS if path in text}
    assert not found


def test_pages_load_nothing_from_a_network(pages):
    loading = [name for name, text in pages.items() if LOADED.search(text) or STYLES.search(text)]
    assert not loading


def test_formulas_are_drawn_without_a_script(pages):
    assert "<msup>" in pages["explanation/at_scale.html"]
    assert not [name for name, text in pages.items() if MATHJAX.search(text)]


def test_code_has_copy_buttons(pages):
    assert all("copybutton.js" in text for text in pages.values())
