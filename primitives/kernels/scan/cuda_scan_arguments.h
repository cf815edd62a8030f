// SPDX-License-Identifier: Apache-2.0
// The numbers that scans on a GPU take.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_ARGUMENTS_H_

#include "base/ffi_arguments.h"
#include "scan/cuda_segmented_scan.h"

namespace jaxframes {

inline ScanNumber scan_number_of(const ffi::AnyBuffer& values) {
  switch (values.element_type()) {
    case ffi::DataType::U32: return ScanNumber::kU32;
    case ffi::DataType::S32: return ScanNumber::kS32;
    case ffi::DataType::F32: return ScanNumber::kF32;
    case ffi::DataType::U64: return ScanNumber::kU64;
    case ffi::DataType::S64: return ScanNumber::kS64;
    default: return ScanNumber::kF64;
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_ARGUMENTS_H_
