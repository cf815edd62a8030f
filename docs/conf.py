# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built; `make docs` does it, with warnings as errors."""

import os
import re
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[1]

project = "jaxframes"
author = "the authors of jaxframes"
copyright = f"2026, {author}"
pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
version = release = pyproject["project"]["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "demo"]
html_theme = "furo"
html_title = "jaxframes"
# Built pages are often read from a folder, so links name files.
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# Formulas are part of the page: browsers draw MathML, and no script comes from a network.
html_math_renderer = "mathml"
# Code has a copy button, and output has none.
copybutton_selector = "div.highlight:not(.output div) > pre"
copybutton_exclude = ".linenos, .gp, .go"

# Pages.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Every build runs every code cell, so pages show the results of this version. A cell that raises
# fails the build. XLA's logs are not part of a page.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600
nb_output_stderr = "remove"
# A cell that prints in a loop has one output.
nb_merge_streams = True
# Tables that a cell writes are read as those of a page.
nb_render_markdown_format = "myst"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Pages import the models and the charts that several of them show.
folders = [str(Path(__file__).with_name(name)) for name in ("examples", "drawings")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*folders, os.getenv("PYTHONPATH")]))

# Reference, from the docstrings. They describe types and shapes in words, because evaluated
# annotations cannot.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
# `Returns` is prose here: Napoleon would parse text before a colon as a type.
napoleon_custom_sections = ["Returns", "Cost", "Guarantees", ("Attributes", "params_style")]
default_role = "py:obj"
nitpick_ignore = [
    ("py:exc", name)
    for name in ("NotImplementedError", "ParserError", "RuntimeError", "TypeError", "ValueError")
]


def draw_tables(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Keeps an indented block after a colon verbatim, such as the tables of several shards."""
    for i in range(len(lines) - 2):
        indent = len(lines[i]) - len(lines[i].lstrip())
        is_table = not lines[i + 1] and lines[i + 2].startswith(" " * (indent + 1))
        if lines[i].endswith(":") and is_table:
            lines[i] += ":"


def leave_unlinked(
    app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """A single backtick is a link if its name has an entry, and code otherwise."""
    return content if node.get("reftype") == "obj" else None


def find_raw_tables(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Warns of rows of a table that a page would show with their bars."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = paragraph.astext()
        if text.startswith("|") and text.count("|") > 2:
            logger.warning("a table is shown as text: %s", text[:60], location=paragraph)


# The folders of this machine whose files appear in tracebacks, innermost first.
FOLDERS = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), str(ROOT)))


def shorten_paths(app: Sphinx, doctree: nodes.document) -> None:
    """Makes paths in outputs relative to the project or to the folder of the libraries."""
    home = re.escape(str(Path.home()))
    for output in doctree.findall(nodes.literal_block):
        if "output" not in output.get("classes", ()):
            continue
        text = output.astext()
        for folder in FOLDERS:
            short = re.sub(rf"^{home}(?=/)", "~", folder)
            text = re.sub(rf"(?:{re.escape(folder)}|{re.escape(short)})/", "", text)
        output.children = [nodes.Text(text)]
        output.rawsource = text


def visit_math(translator: Any, node: nodes.Element) -> None:
    """Writes a formula as MathML, on a line of its own if it is a block."""
    is_block = isinstance(node, nodes.math_block)
    try:
        translator.body.append(tex2mathml(node.astext(), as_block=is_block))
    except MathError as error:
        # An exception in a process of several ends the pages of that process without a word.
        logger.warning("a formula cannot be written: %s", error, location=node)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Registers the hooks; tables are marked before Napoleon parses the sections."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math, None))
    app.connect("doctree-read", shorten_paths)
    app.connect("doctree-resolved", find_raw_tables)
    app.connect("autodoc-process-docstring", draw_tables, priority=400)
    app.connect("missing-reference", leave_unlinked)
