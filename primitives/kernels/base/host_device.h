// SPDX-License-Identifier: Apache-2.0
#ifndef JAXFRAMES_KERNELS_BASE_HOST_DEVICE_H_
#define JAXFRAMES_KERNELS_BASE_HOST_DEVICE_H_

// Marks what kernels for GPU share with the host.
#ifdef __CUDACC__
#define JAXFRAMES_HOST_DEVICE __host__ __device__
#else
#define JAXFRAMES_HOST_DEVICE
#endif

#endif  // JAXFRAMES_KERNELS_BASE_HOST_DEVICE_H_
