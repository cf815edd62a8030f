# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built; `make docs` does it, with warnings as errors."""

import os
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

project = "jaxframes"
author = "the authors of jaxframes"
copyright = f"2026, {author}"
pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
version = release = pyproject["project"]["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "demo"]
html_theme = "furo"
html_title = "jaxframes"
# A built page is read from a folder as often as from a server: links name files.
html_copy_source = False

# Pages.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Every code cell is run by every build, so what a page shows is what this version does. A cell
# that raises fails the build. What XLA logs on a busy machine is no part of a page.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600
nb_output_stderr = "remove"
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Reference, from the docstrings. They say types in words, and shapes, which annotations that
# are evaluated cannot.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
# `Returns` is prose here: Napoleon would take what stands before a colon for a type.
napoleon_custom_sections = ["Returns", "Cost", "Guarantees", ("Attributes", "params_style")]
default_role = "py:obj"
nitpick_ignore = [
    ("py:exc", name) for name in ("NotImplementedError", "RuntimeError", "TypeError", "ValueError")
]


def draw_tables(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Keeps an indented block behind a colon as it stands: the tables of several shards."""
    for i in range(len(lines) - 2):
        indent = len(lines[i]) - len(lines[i].lstrip())
        is_table = not lines[i + 1] and lines[i + 2].startswith(" " * (indent + 1))
        if lines[i].endswith(":") and is_table:
            lines[i] += ":"


def leave_unlinked(
    app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """A single backtick links what has a page of its own, and is code where nothing has."""
    return content if node.get("reftype") == "obj" else None


def setup(app: Sphinx) -> None:
    """Registers the two hooks; tables are drawn before Napoleon reads the sections."""
    app.connect("autodoc-process-docstring", draw_tables, priority=400)
    app.connect("missing-reference", leave_unlinked)
