// SPDX-License-Identifier: Apache-2.0
// A non-fatal check, buffers with guard pages, and hard keys for sorting code.
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
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/key_order.h"
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

// What the cases of a test run on: the caller alone, and pools. Under TSan there is a pool for each
// number of threads.
class Executors {
 public:
  Executors() {
    executors_.push_back(std::make_unique<jaxframes::SerialExecutor>());
#if defined(__SANITIZE_THREAD__)
    for (int num_threads = 2; num_threads <= kMostThreads; ++num_threads) {
#else
    for (int num_threads : {2, 5, kMostThreads}) {
#endif
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
    const int64_t page = sysconf(_SC_PAGESIZE);
    if (mprotect(mapped_ + page, mapped_bytes_ - 2 * page, PROT_READ) != 0) std::abort();
  }

 private:
  int64_t size_;
  int64_t mapped_bytes_;
  char* mapped_;
  T* data_;
};

inline std::mt19937_64& random_bits() {
  static std::mt19937_64 generator(20);
  return generator;
}

inline const std::vector<std::string>& key_distributions() {
#if defined(__SANITIZE_THREAD__)
  // The division of rows among threads hardly depends on the keys, and each run is slow.
  static const std::vector<std::string> names = {"uniform", "four_values", "zipf", "floats",
                                                 "clusters", "float_corners",
                                                 "outliers"};
#else
  static const std::vector<std::string> names = {
      "uniform",    "constant", "all_max",  "four_values", "two_valued", "sorted",
      "reversed",   "rotated",  "zipf",     "blocks",      "top_bits",   "low_bits",
      "small_some", "floats",   "clusters", "long_runs",   "signed_small",
      "float_corners", "outliers", "near_ties"};
#endif
  return names;
}

template <typename Key>
std::vector<Key> make_keys(const std::string& distribution, int64_t size) {
  constexpr int kBits = 8 * sizeof(Key);
  auto& random = random_bits();
  std::vector<Key> keys(size);
  for (int64_t i = 0; i < size; ++i) {
    const uint64_t bits = random();
    Key& key = keys[i];
    key = static_cast<Key>(bits);
    if (distribution == "constant") key = 42;
    if (distribution == "all_max") key = static_cast<Key>(~Key{0});
    if (distribution == "four_values") key = static_cast<Key>(bits % 4 * 0x10001);
    if (distribution == "two_valued") key = bits % 2 ? static_cast<Key>(~Key{0}) : Key{0};
    if (distribution == "blocks") key = static_cast<Key>((i / 97) * 0x9E3779B97F4A7C15u);
    if (distribution == "top_bits") key = static_cast<Key>(key >> (kBits - 9) << (kBits - 9));
    if (distribution == "low_bits") key = static_cast<Key>(100000 + bits % 5000);
    if (distribution == "small_some" && bits % 3) key &= 0xff;
    if (distribution == "signed_small") key = static_cast<Key>(bits % 200) - Key{100};
    if (distribution == "zipf") {
      const double uniform = static_cast<double>((bits >> 11) + 1) / 9007199254740993.0;
      key = static_cast<Key>(std::min(std::pow(uniform, -1.5), 1e9));
    }
    if (distribution == "floats") {
      const double value = static_cast<double>(bits >> 11) / 9007199254740992.0;
      const float narrow = static_cast<float>(value);
      if (kBits == 64) std::memcpy(&key, &value, sizeof(Key));
      if (kBits == 32) std::memcpy(&key, &narrow, sizeof(Key));
    }
    // Groups of keys that differ in their lowest bits only.
    if (distribution == "near_ties") {
      key = static_cast<Key>((bits % 700 * 0x9E3779B97F4A7C15u & ~uint64_t{0xFFFF}) |
                             (bits >> 40 & 0xFFFF));
    }
    // Few bits in most samples, but some keys need all bits.
    if (distribution == "outliers") {
      key = static_cast<Key>(60000 + bits % 9000);
      if (i % 4099 == 77) key = bits >> 32 & 1 ? Key{0} : static_cast<Key>(~Key{0});
    }
    // Special floating point values with both signs: zeros, infinities, NaNs with payloads,
    // subnormals; and some numbers between.
    if (distribution == "float_corners") {
      constexpr int kFractionBits = kBits == 32 ? 23 : 52;
      const Key sign = static_cast<Key>(Key{1} << (kBits - 1));
      const Key infinity = sign - (Key{1} << kFractionBits);
      const Key small = static_cast<Key>(bits >> 8 & 3);
      const Key one = static_cast<Key>(infinity >> 1 & ~(Key{1} << (kFractionBits - 1)));
      const Key kinds[] = {0,   infinity, infinity + 1 + small, sign - 1 - small, small,
                           one, one + small, static_cast<Key>(key & ~sign)};
      key = kinds[bits >> 16 & 7] | (bits >> 24 & 1 ? sign : Key{0});
    }
    // Keys that share all but the lowest bits with thousands of others, so that ties remain after
    // the usual distinguishing bits.
    if (distribution == "clusters") {
      key = static_cast<Key>(static_cast<Key>(bits % 7) << (kBits - 3)) | (key & 0x3ff);
    }
    // Runs that tie up to the last bits, too long for insertion sort.
    if (distribution == "long_runs") {
      const Key run = static_cast<Key>((bits % 50) * 0x9E3779B97F4A7C15u);
      key = static_cast<Key>(run & ~Key{0x3f}) | static_cast<Key>((bits >> 32) & 0x3f);
    }
  }
  if (distribution == "sorted" || distribution == "reversed" || distribution == "rotated") {
    std::sort(keys.begin(), keys.end());
  }
  if (distribution == "reversed") std::reverse(keys.begin(), keys.end());
  if (distribution == "rotated") {
    std::rotate(keys.begin(), keys.begin() + size / 3, keys.end());
  }
  return keys;
}

// The definition of the order, and its encoding for kernels: the lowest `bits` bits of (key ^
// flip), as unsigned numbers.
template <typename KeyType>
struct IntegerCase {
  using Key = KeyType;
  Key flip;
  int bits = 8 * sizeof(Key);

  jaxframes::IntegerOrder<Key> order() const { return {flip}; }
  bool before(Key a, Key b) const {
    const uint64_t compared = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return ((a ^ flip) & compared) < ((b ^ flip) & compared);
  }
  std::string text() const {
    return "integers, flip " + std::to_string(flip) + ", compared bits " + std::to_string(bits);
  }
};

// The same for floating point: the processor's order, except for NaNs.
template <typename KeyType>
struct FloatCase {
  using Key = KeyType;
  using Value = std::conditional_t<sizeof(Key) == 4, float, double>;
  bool descending;
  int bits = 8 * sizeof(Key);

  jaxframes::FloatOrder<Key> order() const { return jaxframes::FloatOrder<Key>(descending); }
  bool before(Key a, Key b) const {
    const Value x = value(a), y = value(b);
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return descending ? x > y : x < y;
  }
  std::string text() const {
    return std::string("floating point, ") + (descending ? "descending" : "ascending");
  }

 private:
  static Value value(Key key) {
    Value value;
    std::memcpy(&value, &key, sizeof(Key));
    return value;
  }
};

// The definition: the first num_valid rows in stable order, then the others unchanged.
template <typename Case>
std::vector<int32_t> stable_order(const std::vector<typename Case::Key>& keys,
                                  int64_t num_valid, const Case& how) {
  std::vector<int32_t> row_ids(keys.size());
  std::iota(row_ids.begin(), row_ids.end(), 0);
  std::stable_sort(row_ids.begin(), row_ids.begin() + num_valid,
                   [&](int32_t a, int32_t b) { return how.before(keys[a], keys[b]); });
  return row_ids;
}

}  // namespace jaxframes_tests

#endif  // JAXFRAMES_TESTS_CHECK_H_
