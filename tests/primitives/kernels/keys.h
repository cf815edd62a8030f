// SPDX-License-Identifier: Apache-2.0
// Hard keys for sorting code, and the definition of their order.
#ifndef JAXFRAMES_TESTS_KEYS_H_
#define JAXFRAMES_TESTS_KEYS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "base/key_order.h"
#include "check.h"

namespace jaxframes_tests {

inline const std::vector<std::string>& key_distributions() {
  // The division of rows among threads hardly depends on the keys.
  static const std::vector<std::string> of_threads = {
      "uniform", "four_values", "zipf", "floats", "clusters", "float_corners", "outliers"};
  static const std::vector<std::string> all = {
      "uniform",    "constant", "all_max",  "four_values", "two_valued", "sorted",
      "reversed",   "rotated",  "zipf",     "blocks",      "top_bits",   "low_bits",
      "small_some", "floats",   "clusters", "long_runs",   "signed_small",
      "float_corners", "outliers", "near_ties"};
  return kFindsRaces ? of_threads : all;
}

// Special floating point values with both signs: zeros, infinities, NaNs with payloads, subnormals;
// and some numbers between.
template <typename Key>
Key float_corner(uint64_t bits) {
  constexpr int kBits = 8 * sizeof(Key), kFractionBits = kBits == 32 ? 23 : 52;
  const Key sign = static_cast<Key>(Key{1} << (kBits - 1));
  const Key infinity = sign - (Key{1} << kFractionBits);
  const Key small = static_cast<Key>(bits >> 8 & 3);
  const Key one = static_cast<Key>(infinity >> 1 & ~(Key{1} << (kFractionBits - 1)));
  const Key kinds[] = {0,   infinity,    infinity + 1 + small, sign - 1 - small,
                       small, one, one + small, static_cast<Key>(bits & ~sign)};
  return kinds[bits >> 16 & 7] | (bits >> 24 & 1 ? sign : Key{0});
}

template <typename Key>
std::vector<Key> make_keys(const std::string& distribution, int64_t size) {
  constexpr int kBits = 8 * sizeof(Key);
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;
  const Key all_ones = static_cast<Key>(~Key{0});
  std::vector<Key> keys(size);
  const auto fill = [&](const auto& make_key) {
    for (int64_t i = 0; i < size; ++i) keys[i] = static_cast<Key>(make_key(i, random_bits()()));
  };
  if (distribution == "constant") {
    fill([](int64_t, uint64_t) { return 42; });
  } else if (distribution == "all_max") {
    fill([&](int64_t, uint64_t) { return all_ones; });
  } else if (distribution == "four_values") {
    fill([](int64_t, uint64_t bits) { return bits % 4 * 0x10001; });
  } else if (distribution == "two_valued") {
    fill([&](int64_t, uint64_t bits) { return bits % 2 ? all_ones : Key{0}; });
  } else if (distribution == "blocks") {
    fill([](int64_t i, uint64_t) { return (i / 97) * kFactor; });
  } else if (distribution == "top_bits") {
    fill([](int64_t, uint64_t bits) { return bits >> (kBits - 9) << (kBits - 9); });
  } else if (distribution == "low_bits") {
    fill([](int64_t, uint64_t bits) { return 100000 + bits % 5000; });
  } else if (distribution == "small_some") {
    fill([](int64_t, uint64_t bits) { return bits % 3 ? bits & 0xff : bits; });
  } else if (distribution == "signed_small") {
    fill([](int64_t, uint64_t bits) { return bits % 200 - 100; });
  } else if (distribution == "zipf") {
    fill([](int64_t, uint64_t bits) {
      const double uniform = static_cast<double>((bits >> 11) + 1) / 9007199254740993.0;
      return std::min(std::pow(uniform, -1.5), 1e9);
    });
  } else if (distribution == "floats") {
    fill([](int64_t, uint64_t bits) {
      using Value = std::conditional_t<kBits == 64, double, float>;
      const Value value = static_cast<Value>(static_cast<double>(bits >> 11) / 9007199254740992.0);
      Key key;
      std::memcpy(&key, &value, sizeof(Key));
      return key;
    });
  } else if (distribution == "near_ties") {
    // Groups of keys that differ in their lowest bits only.
    fill([](int64_t, uint64_t bits) {
      return (bits % 700 * kFactor & ~uint64_t{0xFFFF}) | (bits >> 40 & 0xFFFF);
    });
  } else if (distribution == "outliers") {
    // Few bits in most samples, but some keys need all bits.
    fill([&](int64_t i, uint64_t bits) {
      if (i % 4099 == 77) return bits >> 32 & 1 ? Key{0} : all_ones;
      return static_cast<Key>(60000 + bits % 9000);
    });
  } else if (distribution == "float_corners") {
    fill([](int64_t, uint64_t bits) { return float_corner<Key>(bits); });
  } else if (distribution == "clusters") {
    // Keys that share all but the lowest bits with thousands of others, so that ties remain after
    // the usual distinguishing bits.
    fill([](int64_t, uint64_t bits) { return (bits % 7) << (kBits - 3) | (bits & 0x3ff); });
  } else if (distribution == "long_runs") {
    // Runs that tie up to the last bits, too long for insertion sort.
    fill([](int64_t, uint64_t bits) {
      return (bits % 50 * kFactor & ~uint64_t{0x3f}) | (bits >> 32 & 0x3f);
    });
  } else {
    fill([](int64_t, uint64_t bits) { return bits; });
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

#endif  // JAXFRAMES_TESTS_KEYS_H_
