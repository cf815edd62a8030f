# SPDX-License-Identifier: Apache-2.0
"""The calls in the words of pandas."""

from benchmarks.common_calls import CALLS

QUESTIONS = CALLS
