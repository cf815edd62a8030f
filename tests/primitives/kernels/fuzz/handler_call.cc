// SPDX-License-Identifier: Apache-2.0
#include "fuzz/handler_call.h"

#include <algorithm>
#include <cstdio>

// The interface declares errors, and leaves their definition to whoever makes them. host_call.cc
// has one of its own, with the same members.
struct XLA_FFI_Error {
  std::string message;
  XLA_FFI_Error_Code code;
};

namespace jaxframes_fuzz {
namespace {

// A generator for the words of large arrays, which the bytes of an input are too few for.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ ^ state_ >> 29;
  }

 private:
  uint64_t state_;
};

void put(Buffer& buffer, int64_t index, uint64_t word) {
  const int64_t width = byte_width(buffer.dtype);
  std::memcpy(buffer.memory.get() + index * width, &word, std::min<int64_t>(width, 8));
}

jaxframes::StdThreadPool*& pool_of_call() {
  static jaxframes::StdThreadPool* pool = nullptr;
  return pool;
}

// Pools are kept: threads take longer to start than most calls.
jaxframes::StdThreadPool& pool_of(int num_threads) {
  static std::vector<std::unique_ptr<jaxframes::StdThreadPool>> pools(17);
  auto& pool = pools[num_threads];
  if (!pool) pool = std::make_unique<jaxframes::StdThreadPool>(num_threads);
  return *pool;
}

XLA_FFI_Error* create_error(XLA_FFI_Error_Create_Args* args) {
  return new XLA_FFI_Error{args->message, args->errc};
}
void get_message(XLA_FFI_Error_GetMessage_Args* args) {
  args->message = args->error->message.c_str();
}
void destroy_error(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }
XLA_FFI_Error* schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  pool_of_call()->schedule([task = args->task, data = args->data] { task(data); });
  return nullptr;
}
XLA_FFI_Error* count_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = pool_of_call()->num_threads();
  return nullptr;
}

// The targets for GPU pass their stream on, and no more.
XLA_FFI_Error* get_stream(XLA_FFI_Stream_Get_Args* args) {
  args->stream = nullptr;
  return nullptr;
}

XLA_FFI_Api make_api() {
  XLA_FFI_Api api{};
  api.struct_size = XLA_FFI_Api_STRUCT_SIZE;
  api.api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  api.api_version.major_version = XLA_FFI_API_MAJOR;
  api.api_version.minor_version = XLA_FFI_API_MINOR;
  api.XLA_FFI_Error_Create = create_error;
  api.XLA_FFI_Error_GetMessage = get_message;
  api.XLA_FFI_Error_Destroy = destroy_error;
  api.XLA_FFI_ThreadPool_Schedule = schedule;
  api.XLA_FFI_ThreadPool_NumThreads = count_threads;
  api.XLA_FFI_Stream_Get = get_stream;
  return api;
}

uint64_t hash_of(const std::vector<Buffer>& buffers) {
  uint64_t hash = 14695981039346656037u;
  for (const Buffer& buffer : buffers) {
    for (int64_t i = 0; i < buffer.num_bytes(); ++i) {
      hash = (hash ^ buffer.memory.get()[i]) * 1099511628211u;
    }
  }
  return hash;
}

[[noreturn]] void fail(const char* target, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", target, what.c_str());
  std::abort();
}

}  // namespace

void Call::fill(Buffer& buffer, Words words, int64_t most) {
  const int64_t size = buffer.size();
  if (size == 0) return;
  if (byte_width(buffer.dtype) > 8) std::memset(buffer.memory.get(), 0, buffer.num_bytes());
  const uint8_t kind = bytes_.byte();
  Random random(bytes_.word(2));
  const uint64_t span = static_cast<uint64_t>(std::max<int64_t>(most, 1));
  uint64_t word = 0;
  for (int64_t i = 0; i < size; ++i) {
    const uint64_t bits = random.next();
    if (words == Words::kCounts) {
      switch (kind % 8) {
        case 0: word = most; break;
        case 1: word = bits % (span + 1); break;
        case 2: word = bits; break;
        case 3: word = bytes_.word(4); break;
        case 4: word = static_cast<uint64_t>(-1); break;
        case 5: word = uint64_t{i % 2 ? 0x7FFFFFFFu : 0x80000000u}; break;
        case 6: word = std::min<uint64_t>(word + bits % 3, span); break;  // rising
        default: word = bits % span; break;
      }
    } else if (words == Words::kFlags) {
      word = kind % 3 == 0 ? bits & 1 : kind % 3 == 1 ? bits % 97 == 0 : bytes_.byte() & 1;
    } else {
      switch (kind % 8) {
        case 0: word = bits; break;
        case 1: word = bits % 4; break;
        case 2: word = bytes_.word(std::min<int64_t>(byte_width(buffer.dtype), 8)); break;
        case 3: word = kind; break;
        case 4: word = ~uint64_t{0} << kind % 64; break;
        case 5: word += bits % 3; break;  // rising
        case 6: word = bits % 1000 + 50000; break;
        // Floating point in one byte each: zeros, infinities, NaNs.
        default: word = bits % 2 ? uint64_t{0x7FF07F80} << 32 | 0x7F800000 : bits << 60; break;
      }
    }
    put(buffer, i, word);
  }
}

bool Call::run(const char* target, XLA_FFI_Handler* handler, int num_threads) {
  static const XLA_FFI_Api api = make_api();
  pool_of_call() = &pool_of(num_threads);
  std::vector<XLA_FFI_Buffer> buffers;
  std::vector<void*> pointers;
  buffers.reserve(arguments_.size() + results_.size());
  for (std::vector<Buffer>* group : {&arguments_, &results_}) {
    for (Buffer& buffer : *group) {
      buffers.push_back({XLA_FFI_Buffer_STRUCT_SIZE, nullptr, buffer.dtype, buffer.memory.get(),
                         static_cast<int64_t>(buffer.dimensions.size()),
                         buffer.dimensions.data()});
      pointers.push_back(&buffers.back());
    }
  }
  const int64_t num_arguments = arguments_.size(), num_results = results_.size();
  const int64_t num_attributes = attributes_.size();
  std::vector<XLA_FFI_ArgType> argument_types(num_arguments, XLA_FFI_ArgType_BUFFER);
  std::vector<XLA_FFI_RetType> result_types(num_results, XLA_FFI_RetType_BUFFER);
  std::vector<XLA_FFI_AttrType> attribute_types(num_attributes, XLA_FFI_AttrType_SCALAR);
  std::vector<XLA_FFI_ByteSpan> names(num_attributes);
  std::vector<XLA_FFI_ByteSpan*> name_pointers(num_attributes);
  std::vector<XLA_FFI_Scalar> scalars(num_attributes);
  std::vector<void*> scalar_pointers(num_attributes);
  for (int64_t i = 0; i < num_attributes; ++i) {
    names[i] = {attributes_[i].name, std::strlen(attributes_[i].name)};
    name_pointers[i] = &names[i];
    scalars[i] = {attributes_[i].dtype, &attributes_[i].bits};
    scalar_pointers[i] = &scalars[i];
  }
  XLA_FFI_CallFrame frame{};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.api = &api;
  frame.stage = XLA_FFI_ExecutionStage_EXECUTE;
  frame.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, num_arguments, argument_types.data(),
                pointers.data()};
  frame.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, num_results, result_types.data(),
                pointers.data() + num_arguments};
  frame.attrs = {XLA_FFI_Attrs_STRUCT_SIZE, nullptr,              num_attributes,
                 attribute_types.data(),    name_pointers.data(), scalar_pointers.data()};
  const uint64_t before = hash_of(arguments_);
  XLA_FFI_Error* const error = handler(&frame);
  if (hash_of(arguments_) != before) fail(target, "it has written an argument");
  if (error == nullptr) return true;
  const std::string message = error->message;
  delete error;
  if (message.find(target) == std::string::npos) {
    fail(target, "the error does not name it: " + message);
  }
  return false;
}

}  // namespace jaxframes_fuzz
