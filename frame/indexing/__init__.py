# SPDX-License-Identifier: Apache-2.0
"""Selection, assignment and labels: [], iloc, loc, assign, set_index and rename."""
