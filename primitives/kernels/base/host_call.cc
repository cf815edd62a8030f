// SPDX-License-Identifier: Apache-2.0
// Calls an FFI handler from the host, without an XLA program around it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "base/ffi_arguments.h"
#include "base/thread_pool.h"

// The interface declares errors, and leaves their definition to whoever makes them.
struct XLA_FFI_Error {
  std::string message;
  XLA_FFI_Error_Code code;
};

namespace jaxframes {
namespace {

// Whether this thread takes subnormal numbers for zero, as XLA's threads do; returns the former
// setting.
bool flush_subnormals(bool is_on) {
#if defined(__SSE__)
  constexpr unsigned kBits = 0x8040;  // flush to zero, denormals are zero
  const unsigned before = _mm_getcsr();
  _mm_setcsr(is_on ? before | kBits : before & ~kBits);
  return (before & kBits) == kBits;
#elif defined(__aarch64__)
  constexpr uint64_t kBit = uint64_t{1} << 24;
  uint64_t before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(is_on ? before | kBit : before & ~kBit));
  return (before & kBit) != 0;
#else
  return is_on && false;
#endif
}

// As many threads as XLA's pool has. They are never joined: a process may end during a call.
StdThreadPool& host_threads() {
  static auto* pool =
      new StdThreadPool(static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u)));
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
  host_threads().schedule([task = args->task, data = args->data] {
    flush_subnormals(true);
    task(data);
  });
  return nullptr;
}

XLA_FFI_Error* count_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = host_threads().num_threads();
  return nullptr;
}

// What the handlers of this library call: errors and threads.
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
  return api;
}

}  // namespace
}  // namespace jaxframes

extern "C" JAXFRAMES_EXPORT int jaxframes_flush_subnormals(int is_on) {
  return jaxframes::flush_subnormals(is_on != 0);
}

// Calls `handler` with `num_arguments + num_results` buffers, described one after the other:
// `dtypes`, `data` and `ranks` have an element for each, `dimensions` those of all. Attributes are
// scalars, sorted by name. Returns 0, or the code of an error whose text is copied to `message`.
extern "C" JAXFRAMES_EXPORT int jaxframes_call_handler(
    XLA_FFI_Handler* handler, int64_t num_arguments, int64_t num_results, const int32_t* dtypes,
    void** data, const int64_t* ranks, int64_t* dimensions, int64_t num_attributes,
    const char** names, const int32_t* attribute_dtypes, void** attributes, char* message,
    int64_t message_bytes) {
  static const XLA_FFI_Api api = jaxframes::make_api();
  const int64_t num_buffers = num_arguments + num_results;
  std::vector<XLA_FFI_Buffer> buffers(num_buffers);
  std::vector<void*> pointers(num_buffers);
  for (int64_t i = 0; i < num_buffers; ++i) {
    buffers[i] = {XLA_FFI_Buffer_STRUCT_SIZE, nullptr, static_cast<XLA_FFI_DataType>(dtypes[i]),
                  data[i],                    ranks[i], dimensions};
    pointers[i] = &buffers[i];
    dimensions += ranks[i];
  }
  std::vector<XLA_FFI_ArgType> argument_types(num_arguments, XLA_FFI_ArgType_BUFFER);
  std::vector<XLA_FFI_RetType> result_types(num_results, XLA_FFI_RetType_BUFFER);
  std::vector<XLA_FFI_AttrType> attribute_types(num_attributes, XLA_FFI_AttrType_SCALAR);
  std::vector<XLA_FFI_ByteSpan> spans(num_attributes);
  std::vector<XLA_FFI_ByteSpan*> span_pointers(num_attributes);
  std::vector<XLA_FFI_Scalar> scalars(num_attributes);
  std::vector<void*> scalar_pointers(num_attributes);
  for (int64_t i = 0; i < num_attributes; ++i) {
    spans[i] = {names[i], std::strlen(names[i])};
    span_pointers[i] = &spans[i];
    scalars[i] = {static_cast<XLA_FFI_DataType>(attribute_dtypes[i]), attributes[i]};
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
  frame.attrs = {XLA_FFI_Attrs_STRUCT_SIZE, nullptr,           num_attributes,
                 attribute_types.data(),    span_pointers.data(), scalar_pointers.data()};
  XLA_FFI_Error* error = handler(&frame);
  if (error == nullptr) return 0;
  const int code = static_cast<int>(error->code);
  std::strncpy(message, error->message.c_str(), static_cast<size_t>(message_bytes) - 1);
  message[message_bytes - 1] = '\0';
  delete error;
  return code == 0 ? -1 : code;
}
