# SPDX-License-Identifier: Apache-2.0
"""The tables and charts of compiled programs, from the stored figures."""

from .figures import Figures


def write_page(figures: Figures) -> None:
    """Replaces the tables of the page, and its charts."""
