// SPDX-License-Identifier: Apache-2.0
// A non-fatal check, executors, buffers with guard pages, and random bits.
#ifndef JAXFRAMES_TESTS_CHECK_H_
#define JAXFRAMES_TESTS_CHECK_H_

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"

namespace jaxframes_tests {

inline std::atomic<int>& num_failures() {
  static std::atomic<int> count{0};
  return count;
}

// Describes the current case for the report of a failure.
inline std::string& current_case() {
  static std::string text;
  return text;
}

inline void report(const char* file, int line, const char* what) {
  // A broken kernel fails everywhere: a few reports are enough.
  if (++num_failures() > 20) return;
  std::fprintf(stderr, "%s:%d: %s is false\n    case: %s\n", file, line, what,
               current_case().c_str());
}

#define CHECK(condition) \
  ((condition) ? (void)0 : jaxframes_tests::report(__FILE__, __LINE__, #condition))

// For each number of threads, how many pools were made, and how many tasks they were given.
struct PoolUse {
  std::atomic<int64_t> num_made{0};
  std::atomic<int64_t> num_scheduled{0};
};
constexpr int kMostThreads = 16;
inline PoolUse (&pool_use())[kMostThreads + 1] {
  static PoolUse use[kMostThreads + 1];
  return use;
}

class CountedPool final : public jaxframes::Executor {
 public:
  explicit CountedPool(int num_threads) : pool_(num_threads), use_(pool_use()[num_threads]) {
    ++use_.num_made;
  }
  int num_threads() const override { return pool_.num_threads(); }
  void schedule(std::function<void()> closure) override {
    ++use_.num_scheduled;
    pool_.schedule(std::move(closure));
  }

 private:
  jaxframes::StdThreadPool pool_;
  PoolUse& use_;
};

// TSan looks for races only, and takes ten times as long: tests skip what no threads divide, and of
// the types that threads divide alike they take one or two.
#if defined(__SANITIZE_THREAD__)
constexpr bool kFindsRaces = true;
#else
constexpr bool kFindsRaces = false;
#endif

// What the cases of a test run on: the caller alone, and pools of few threads and of more than there
// are parts.
class Executors {
 public:
  Executors() {
    executors_.push_back(std::make_unique<jaxframes::SerialExecutor>());
    for (int num_threads : {2, kFindsRaces ? 3 : 5, kFindsRaces ? 9 : kMostThreads}) {
      executors_.push_back(std::make_unique<CountedPool>(num_threads));
    }
  }

  // Another one at each call with about as many rows, so that the large cases, which threads
  // divide, meet all. The order changes with each round: each meets every second case too.
  jaxframes::Executor& next(int64_t num_rows) {
    static size_t turns[64] = {};
    const size_t size = executors_.size(), turn = turns[std::ilogb(num_rows + 1.0)]++;
    return *executors_[(turn + turn / size) % size];
  }

  std::vector<jaxframes::Executor*> all() const {
    std::vector<jaxframes::Executor*> result;
    for (const auto& executor : executors_) result.push_back(executor.get());
    return result;
  }

 private:
  std::vector<std::unique_ptr<jaxframes::Executor>> executors_;
};

template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline int finish(const char* name) {
  for (int num_threads = 2; num_threads <= kMostThreads; ++num_threads) {
    const PoolUse& use = pool_use()[num_threads];
    current_case() = "a pool of " + std::to_string(num_threads) + " threads";
    CHECK(use.num_made == 0 || use.num_scheduled > 0);
  }
  const int failures = num_failures();
  std::printf("%s: %s (%d failures)\n", name, failures == 0 ? "passed" : "FAILED", failures);
  return failures == 0 ? 0 : 1;
}

// Elements that end at an inaccessible page. With `at_front` they start after one.
template <typename T>
class GuardedArray {
 public:
  explicit GuardedArray(int64_t size, bool at_front = false) : size_(size) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t num_bytes = size * static_cast<int64_t>(sizeof(T));
    const int64_t inner = (num_bytes + page - 1) / page * page;
    mapped_bytes_ = inner + 2 * page;
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    mapped_ = static_cast<char*>(mapped);
    if (mprotect(mapped_, page, PROT_NONE) != 0) std::abort();
    if (mprotect(mapped_ + page + inner, page, PROT_NONE) != 0) std::abort();
    data_ = reinterpret_cast<T*>(mapped_ + page + (at_front ? 0 : inner - num_bytes));
    // Unwritten memory must not look like a result.
    std::memset(mapped_ + page, 0xA5, inner);
  }
  GuardedArray(const std::vector<T>& values, bool at_front = false)
      : GuardedArray(static_cast<int64_t>(values.size()), at_front) {
    std::copy(values.begin(), values.end(), data_);
  }
  ~GuardedArray() { munmap(mapped_, mapped_bytes_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  T* data() const { return data_; }
  int64_t size() const { return size_; }
  std::vector<T> values() const { return std::vector<T>(data_, data_ + size_); }
  // A read-only view: a kernel that writes its input faults.
  void protect() {
    // The emulator qemu refuses an empty range.
    if (size_ == 0) return;
    const int64_t page = sysconf(_SC_PAGESIZE);
    if (mprotect(mapped_ + page, mapped_bytes_ - 2 * page, PROT_READ) != 0) std::abort();
  }

 private:
  int64_t size_;
  int64_t mapped_bytes_;
  char* mapped_;
  T* data_;
};

// SplitMix64 (Steele, Lea and Flood 2014): one word of state, which sanitizers watch.
struct RandomBits {
  using result_type = uint64_t;
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() {
    uint64_t bits = state += 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
  }
  uint64_t state = 20;
};
inline RandomBits random_bits_of_tests;
inline RandomBits& random_bits() { return random_bits_of_tests; }

}  // namespace jaxframes_tests

#endif  // JAXFRAMES_TESTS_CHECK_H_
