# SPDX-License-Identifier: Apache-2.0
"""The implementation of each platform; one alone where the platform is known while tracing."""

from collections.abc import Callable
from typing import Any

import jax

# None, or the platform that all traced code is for. JAX's caches tell its values apart.
traced_for = jax.make_user_context(None)
# None, or the mesh in whose place all traced code will run on one device, as all devices of the
# mesh share its memory.
one_device_for = jax.make_user_context(None)


def likely_platform() -> str:
    """The platform that traced code is for if that is known; otherwise JAX's default one."""
    return traced_for.value or jax.default_backend()


def by_platform(*args: Any, default: Callable[..., Any], **platforms: Callable[..., Any]) -> Any:
    """`jax.lax.platform_dependent`, which does not trace what another platform would run."""
    platform: str | None = traced_for.value
    if platform is None and platforms:
        return jax.lax.platform_dependent(*args, default=default, **platforms)
    return platforms.get(platform or "", default)(*args)
