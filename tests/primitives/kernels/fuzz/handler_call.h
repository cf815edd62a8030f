// SPDX-License-Identifier: Apache-2.0
// A call of an FFI target whose buffers, attributes and threads come from the bytes of a fuzzer.
#ifndef JAXFRAMES_TESTS_FUZZ_HANDLER_CALL_H_
#define JAXFRAMES_TESTS_FUZZ_HANDLER_CALL_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "xla/ffi/api/c_api.h"

namespace jaxframes_fuzz {

// The bytes of one input, read from the front; zeros follow the last one.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t byte() { return position_ < size_ ? data_[position_++] : 0; }
  uint64_t word(int num_bytes = 8) {
    uint64_t word = 0;
    for (int i = 0; i < num_bytes; ++i) word |= uint64_t{byte()} << 8 * i;
    return word;
  }
  bool one_in(int n) { return byte() % n == static_cast<uint8_t>(n - 1); }
  // Mostly few, sometimes enough for several chunks of a loop over threads.
  int64_t length() {
    const uint8_t kind = byte();
    if (kind < 32) return kind % 8;
    if (kind < 224) return byte();
    if (kind < 252) return word(2) % 4000;
    return word(3) % 70000;
  }
  bool is_used_up() const { return position_ >= size_; }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t position_ = 0;
};

constexpr XLA_FFI_DataType kPred = XLA_FFI_DataType_PRED, kU8 = XLA_FFI_DataType_U8,
                           kS32 = XLA_FFI_DataType_S32, kU32 = XLA_FFI_DataType_U32,
                           kS64 = XLA_FFI_DataType_S64, kU64 = XLA_FFI_DataType_U64,
                           kF32 = XLA_FFI_DataType_F32, kF64 = XLA_FFI_DataType_F64;

inline XLA_FFI_DataType one_of(Bytes& bytes, std::initializer_list<XLA_FFI_DataType> types) {
  return types.begin()[bytes.byte() % types.size()];
}
inline XLA_FFI_DataType key_type(Bytes& bytes) {
  return one_of(bytes, {kU32, kS32, kF32, kU64, kS64, kF64});
}
inline bool is_floating(XLA_FFI_DataType dtype) { return dtype == kF32 || dtype == kF64; }

inline int64_t byte_width(XLA_FFI_DataType dtype) {
  switch (dtype) {
    case XLA_FFI_DataType_PRED:
    case XLA_FFI_DataType_S8:
    case XLA_FFI_DataType_U8: return 1;
    case XLA_FFI_DataType_S16:
    case XLA_FFI_DataType_U16:
    case XLA_FFI_DataType_F16:
    case XLA_FFI_DataType_BF16: return 2;
    case XLA_FFI_DataType_S32:
    case XLA_FFI_DataType_U32:
    case XLA_FFI_DataType_F32: return 4;
    case XLA_FFI_DataType_C128: return 16;
    default: return 8;
  }
}

// An array of exactly its bytes, so that the sanitizer finds each access outside. Empty ones have
// no address, as in XLA.
struct Buffer {
  XLA_FFI_DataType dtype;
  std::vector<int64_t> dimensions;
  std::shared_ptr<uint8_t> memory;

  int64_t size() const {
    int64_t size = 1;
    for (int64_t dimension : dimensions) size *= dimension;
    return size;
  }
  int64_t num_bytes() const { return size() * byte_width(dtype); }
  void allocate() {
    const int64_t bytes = num_bytes();
    memory.reset(bytes ? static_cast<uint8_t*>(std::malloc(bytes)) : nullptr, std::free);
  }
};

// How the words of an argument are chosen.
enum class Words { kAny, kFlags, kCounts };

class Call {
 public:
  explicit Call(Bytes& bytes) : bytes_(bytes) {}

  // Adds an argument. `most` is the usual bound of its words, if they count or number rows.
  Buffer& argument(XLA_FFI_DataType dtype, std::vector<int64_t> dimensions,
                   Words words = Words::kAny, int64_t most = 0) {
    Buffer buffer{dtype, std::move(dimensions), nullptr};
    maybe_break(buffer);
    for (const Buffer& other : arguments_) {
      // Two arguments may be one array.
      if (other.dtype == buffer.dtype && other.size() == buffer.size() && bytes_.one_in(16)) {
        buffer.memory = other.memory;
        arguments_.push_back(buffer);
        return arguments_.back();
      }
    }
    buffer.allocate();
    fill(buffer, words, most);
    arguments_.push_back(buffer);
    return arguments_.back();
  }

  void result(XLA_FFI_DataType dtype, std::vector<int64_t> dimensions) {
    Buffer buffer{dtype, std::move(dimensions), nullptr};
    maybe_break(buffer);
    buffer.allocate();
    if (buffer.memory) std::memset(buffer.memory.get(), 0xA5, buffer.num_bytes());
    results_.push_back(buffer);
  }

  // In the order of the names.
  void attribute(const char* name, XLA_FFI_DataType dtype, uint64_t bits) {
    attributes_.push_back({name, dtype, bits});
  }

  // Calls the target. The process ends if it changes an argument or leaves out its own name in an
  // error; returns whether it accepted the call.
  bool run(const char* target, XLA_FFI_Handler* handler, int num_threads);

 private:
  struct Attribute {
    const char* name;
    XLA_FFI_DataType dtype;
    uint64_t bits;
  };

  // What a wrong wrapper could get wrong: a dtype, a length, or the number of axes.
  void maybe_break(Buffer& buffer) {
    if (!bytes_.one_in(64)) return;
    static constexpr XLA_FFI_DataType kTypes[] = {
        XLA_FFI_DataType_PRED, XLA_FFI_DataType_U8,  XLA_FFI_DataType_S16, XLA_FFI_DataType_S32,
        XLA_FFI_DataType_U32,  XLA_FFI_DataType_F32, XLA_FFI_DataType_S64, XLA_FFI_DataType_U64,
        XLA_FFI_DataType_F64,  XLA_FFI_DataType_BF16, XLA_FFI_DataType_C128};
    const uint8_t kind = bytes_.byte();
    switch (kind % 5) {
      case 0: buffer.dtype = kTypes[bytes_.byte() % std::size(kTypes)]; break;
      case 1: buffer.dimensions.clear(); break;
      case 2: buffer.dimensions.insert(buffer.dimensions.begin(), bytes_.byte() % 4); break;
      default:
        if (buffer.dimensions.empty()) break;
        int64_t& dimension = buffer.dimensions[kind / 5 % buffer.dimensions.size()];
        dimension = std::max<int64_t>(dimension + static_cast<int8_t>(bytes_.byte()) % 4, 0);
    }
  }

  void fill(Buffer& buffer, Words words, int64_t most);

  Bytes& bytes_;
  // A reference to an argument stays valid until the next one is added.
  std::vector<Buffer> arguments_;
  std::vector<Buffer> results_;
  std::vector<Attribute> attributes_;
};

}  // namespace jaxframes_fuzz

#endif  // JAXFRAMES_TESTS_FUZZ_HANDLER_CALL_H_
