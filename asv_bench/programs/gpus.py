# SPDX-License-Identifier: Apache-2.0
"""The GPUs that programs are compiled for, as XLA's compiler wants them described."""

from typing import NamedTuple


class Gpu(NamedTuple):
    """A GPU, by NVIDIA's specifications.

    Attributes:
        device: the name that its driver reports.
        capability: the major number of its compute capability.
        multiprocessors: how many it has.
        gigahertz: the boost clock.
        bandwidth: bytes a second of its memory.
        memory: bytes of its memory.
        cache: bytes of its level 2 cache.
    """

    device: str
    capability: int
    multiprocessors: int
    gigahertz: float
    bandwidth: int
    memory: int
    cache: int

    def target_config(self) -> str:
        """XLA's description of a GPU, in the text form of its protocol buffer."""
        # The same for all of compute capability 9 and 10.
        of_multiprocessor = (
            "threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 "
            "shared_memory_per_core: 233472 threads_per_core_limit: 2048 fpus_per_core: 128 "
            "shared_memory_per_block_optin: 232448 registers_per_core_limit: 65536 "
            "registers_per_block_limit: 65536 thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 "
            "thread_dim_limit_z: 64 block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 "
            "block_dim_limit_z: 65535"
        )
        return f"""
gpu_device_info {{
  {of_multiprocessor}
  core_count: {self.multiprocessors} clock_rate_ghz: {self.gigahertz}
  memory_bandwidth: {self.bandwidth} device_memory_size: {self.memory} l2_cache_size: {self.cache}
  cuda_compute_capability {{ major: {self.capability} feature_extension: ACCELERATED_FEATURES }}
  device_vendor: "NVIDIA Corporation" name: "{self.device}" device_address_bits: 64
  platform_version: "Compute Capability {self.capability}.0a" ecc_enabled: true
  driver_version: "13.0.0" runtime_version: "13.0.0" compile_time_toolkit_version: "13.0.0"
  dnn_version: "9.10.0" pcie_bandwidth: 34359738368
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
device_description_str: "{self.device}"
"""


def is_with_kernels(chip: str) -> bool:
    """Whether programs for a chip, such as "h100 kernels", contain the CUDA kernels."""
    return chip.endswith(" kernels")


GPUS = {
    "h100": Gpu(
        "NVIDIA H100 80GB HBM3", 9, 132, 1.98, 3_352_320_000_000, 84_942_979_072, 52_428_800
    ),
    "b200": Gpu("NVIDIA B200", 10, 148, 1.965, 8_000_000_000_000, 191_503_007_744, 132_644_864),
}
# Programs of XLA alone, and those with the CUDA kernels.
GPU_CHIPS = (*GPUS, *(f"{name} kernels" for name in GPUS))
