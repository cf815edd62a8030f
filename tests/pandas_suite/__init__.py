# SPDX-License-Identifier: Apache-2.0
"""pandas' own tests, with the frame in place of pandas' frame and series."""
