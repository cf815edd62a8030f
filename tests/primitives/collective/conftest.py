# SPDX-License-Identifier: Apache-2.0
"""Fixtures of collectives."""

import jax
import pytest


@pytest.fixture
def like_a_tpu(monkeypatch):
    """Lowers as for TPU, and runs on CPU."""

    def of_tpu(*arguments, default, **platforms):
        return platforms.get("tpu", default)(*arguments)

    monkeypatch.setattr(jax.lax, "platform_dependent", of_tpu)
