# SPDX-License-Identifier: Apache-2.0
"""Level 0: one op on words, several backends. The portable XLA version of each is its definition.

Nothing here is public: `local` turns keys into words and calls these. Each room holds the ops of
one kind, in Python and in C++; `base` has the shared parts.
"""
