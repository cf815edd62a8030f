// SPDX-License-Identifier: Apache-2.0
// Shared parts of the FFI handlers: XLA's threads, and the checks of arguments.
#ifndef JAXFRAMES_KERNELS_BASE_FFI_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_BASE_FFI_ARGUMENTS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/key_order.h"
#include "base/thread_pool.h"
#include "xla/ffi/api/ffi.h"

#define JAXFRAMES_EXPORT __attribute__((visibility("default")))

// Exports an FFI target; everything else in the library is hidden.
#define JAXFRAMES_DEFINE_TARGET(name, function, binding)               \
  extern "C" JAXFRAMES_EXPORT XLA_FFI_Error* name(XLA_FFI_CallFrame*); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)

namespace jaxframes {

// An attribute with the bits of one word, signed or unsigned: JAX cannot pass an unsigned 64-bit
// attribute of 2^63 or more.
struct WordBits {
  uint64_t bits;
};

}  // namespace jaxframes

template <>
struct xla::ffi::AttrDecoding<jaxframes::WordBits> {
  using Type = jaxframes::WordBits;

  static std::optional<Type> Decode(XLA_FFI_AttrType type, void* attr,
                                    DiagnosticEngine& diagnostic) {
    const auto* scalar = static_cast<const XLA_FFI_Scalar*>(attr);
    if (type != XLA_FFI_AttrType_SCALAR || (scalar->dtype != XLA_FFI_DataType_S64 &&
                                            scalar->dtype != XLA_FFI_DataType_U64)) {
      return diagnostic.Emit("Wrong attribute type: expected a scalar of type s64 or u64");
    }
    return Type{*static_cast<const uint64_t*>(scalar->value)};
  }
};

namespace jaxframes {

namespace ffi = ::xla::ffi;

// XLA's intra-op threads. The caller may be one of them.
class XlaExecutor final : public Executor {
 public:
  explicit XlaExecutor(ffi::ThreadPool pool)
      : pool_(pool), num_threads_(std::max<int64_t>(pool.num_threads(), 1)) {}

  int num_threads() const override { return static_cast<int>(num_threads_); }
  void schedule(std::function<void()> closure) override {
    pool_.Schedule(std::move(closure));
  }

 private:
  ffi::ThreadPool pool_;
  const int64_t num_threads_;
};

// All axes but the last are one batch: each level of `vmap` adds one in front.
inline int64_t row_length(const ffi::AnyBuffer& rows) { return rows.dimensions().back(); }
inline int64_t batch_size(const ffi::AnyBuffer& rows) {
  int64_t size = 1;
  for (size_t axis = 0; axis + 1 < rows.dimensions().size(); ++axis) {
    size *= rows.dimensions()[axis];
  }
  return size;
}

// Records the first rule that an argument of `target` breaks. The Python wrapper has checked all of
// them with better messages: these checks guard memory.
class ArgumentChecker {
 public:
  explicit ArgumentChecker(const char* target) : target_(target) {}

  void require(bool holds, const std::string& rule) {
    if (holds || !error_.empty()) return;
    error_ = std::string(target_) + ": " + rule +
             ". This is a bug in the wrapper that calls the kernel, please report it.";
  }

  void require_rows(const ffi::AnyBuffer& buffer, const char* name, int64_t batch,
                    int64_t length) {
    const bool has_rows = buffer.dimensions().size() > 0;
    require(has_rows && batch_size(buffer) == batch && row_length(buffer) == length,
            std::string(name) + " must have shape [" + std::to_string(batch) + "," +
                std::to_string(length) + "], got " + shape_of(buffer));
  }

  // One number for each row of the batch.
  void require_scalars(const ffi::AnyBuffer& buffer, const char* name, int64_t batch) {
    require(static_cast<int64_t>(buffer.element_count()) == batch,
            std::string(name) + " must have " + std::to_string(batch) + " elements, got " +
                shape_of(buffer));
  }

  void require_dtype(const ffi::AnyBuffer& buffer, const char* name, ffi::DataType dtype) {
    require(buffer.element_type() == dtype, std::string(name) + " has the wrong dtype");
  }

  void require_scratch(const ffi::AnyBuffer& scratch, int64_t needed) {
    const int64_t given = static_cast<int64_t>(scratch.element_count());
    require_dtype(scratch, "scratch", ffi::DataType::U8);
    require(given >= needed, "scratch must have " + std::to_string(needed) + " bytes, got " +
                                 std::to_string(given));
  }

  // Words move as bits, whatever their type.
  void require_words(const ffi::AnyBuffer& words, const char* name) {
    const size_t bytes = ffi::ByteWidth(words.element_type());
    require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8,
            std::string(name) + " must have words of 1, 2, 4 or 8 bytes, got " +
                std::to_string(bytes));
  }

  // Keys are [..., num_rows] numbers of 32 or 64 bits.
  void require_keys(const ffi::AnyBuffer& keys, const char* name) {
    require(word_bytes(keys) != 0, 
            std::string(name) + " must have dtype u32, s32, f32, u64, s64 or f64");
    require(keys.dimensions().size() > 0,
            std::string(name) + " must have shape [..., num_rows], got " + shape_of(keys));
    if (!ok()) return;
    require(row_length(keys) <= std::numeric_limits<int32_t>::max(),
            std::string(name) + " must have fewer than 2^31 rows, got " +
                std::to_string(row_length(keys)));
  }

  // The valid values of `flip` depend on the keys: floating point has only its own order.
  void require_flip(const ffi::AnyBuffer& keys, WordBits flip) {
    if (!is_floating(keys)) return;
    const uint64_t used = word_bytes(keys) == 4 ? flip.bits & 0xFFFFFFFFu : flip.bits;
    const uint64_t descending = word_bytes(keys) == 4 ? 0xFFFFFFFFu : ~uint64_t{0};
    require(used == 0 || used == descending,
            "flip must be 0 or all ones for floating point, got " + std::to_string(flip.bits));
  }

  bool ok() const { return error_.empty(); }
  ffi::Error error() const { return ffi::Error::InvalidArgument(error_); }

  static int word_bytes(const ffi::AnyBuffer& keys) {
    switch (keys.element_type()) {
      case ffi::DataType::U32:
      case ffi::DataType::S32:
      case ffi::DataType::F32: return 4;
      case ffi::DataType::U64:
      case ffi::DataType::S64:
      case ffi::DataType::F64: return 8;
      default: return 0;
    }
  }

  static bool is_floating(const ffi::AnyBuffer& keys) {
    return keys.element_type() == ffi::DataType::F32 ||
           keys.element_type() == ffi::DataType::F64;
  }

  static std::string shape_of(const ffi::AnyBuffer& buffer) {
    std::string sizes;
    for (int64_t size : buffer.dimensions()) {
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    }
    return "[" + sizes + "]";
  }

 private:
  const char* target_;
  std::string error_;
};

namespace internal {
inline ffi::AnyBuffer buffer_of(const ffi::AnyBuffer& argument) { return argument; }
inline ffi::AnyBuffer buffer_of(ffi::Result<ffi::AnyBuffer> result) { return *result; }
}  // namespace internal

// The variadic arguments or results of a target. The checker records the first one that is not an
// array and ignores the rest.
template <typename Remaining>
std::vector<ffi::AnyBuffer> buffers_of(ArgumentChecker& checker, const Remaining& remaining) {
  std::vector<ffi::AnyBuffer> buffers;
  for (size_t i = 0; i < remaining.size() && checker.ok(); ++i) {
    const auto buffer = remaining.template get<ffi::AnyBuffer>(i);
    checker.require(buffer.has_value(), "all arguments and results must be arrays");
    if (checker.ok()) buffers.push_back(internal::buffer_of(*buffer));
  }
  return buffers;
}

// The data of a buffer, as unsigned words of the same width.
template <typename Word>
Word* words_of(const ffi::AnyBuffer& buffer) {
  return static_cast<Word*>(buffer.untyped_data());
}

// The count of one row of the batch, clamped, because data may exceed the number of rows.
inline int64_t count_at(const ffi::AnyBuffer& counts, int64_t row, int64_t most) {
  return std::clamp<int64_t>(words_of<int32_t>(counts)[row], 0, most);
}

// Calls kernel(order) with the order for the dtype of `keys` and for `flip`.
template <typename Kernel>
void with_order(const ffi::AnyBuffer& keys, WordBits flip, const Kernel& kernel) {
  const bool is_narrow = ArgumentChecker::word_bytes(keys) == 4;
  const uint32_t narrow_flip = static_cast<uint32_t>(flip.bits);
  if (ArgumentChecker::is_floating(keys)) {
    return is_narrow ? kernel(FloatOrder<uint32_t>(narrow_flip != 0))
                     : kernel(FloatOrder<uint64_t>(flip.bits != 0));
  }
  return is_narrow ? kernel(IntegerOrder<uint32_t>{narrow_flip})
                   : kernel(IntegerOrder<uint64_t>{flip.bits});
}

// Calls kernel(number) with a number of the accumulator type of a buffer.
template <typename Kernel>
void with_number(const ffi::AnyBuffer& numbers, const Kernel& kernel) {
  // Integers wrap around, which C++ guarantees for unsigned ones only.
  switch (numbers.element_type()) {
    case ffi::DataType::F32: return kernel(float{});
    case ffi::DataType::F64: return kernel(double{});
    case ffi::DataType::S32:
    case ffi::DataType::U32: return kernel(uint32_t{});
    default: return kernel(uint64_t{});
  }
}

// Runs a kernel, which can fail only for lack of memory.
template <typename Kernel>
ffi::Error run_kernel(const char* target, const Kernel& kernel) {
  try {
    kernel();
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted,
                      std::string(target) + ": no memory for the workspace of its threads.");
  }
  return ffi::Error::Success();
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_FFI_ARGUMENTS_H_
