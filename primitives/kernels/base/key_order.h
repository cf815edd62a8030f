// SPDX-License-Identifier: Apache-2.0
// The sort orders of keys. An order maps keys to unsigned numbers of the same width, the first key
// to the smallest number, and maps numbers back to keys.
#ifndef JAXFRAMES_KERNELS_BASE_KEY_ORDER_H_
#define JAXFRAMES_KERNELS_BASE_KEY_ORDER_H_

#include <cstdint>

#include "base/host_device.h"

namespace jaxframes {

// Integers: smallest (key ^ flip) first. `flip` is 0 for unsigned keys, the sign bit
// for signed ones, and has all bits inverted for the descending order of either.
template <typename KeyType>
struct IntegerOrder {
  using Key = KeyType;
  // Keys are equal in this order only if their bits are equal.
  static constexpr bool kIsExact = true;

  Key flip = 0;

  JAXFRAMES_HOST_DEVICE Key ordered(Key key) const { return key ^ flip; }
  JAXFRAMES_HOST_DEVICE Key to_key(Key ordered) const { return ordered ^ flip; }
};

// Floating point, given as its bits: -0.0 equals 0.0, and all NaNs are equal and come
// last, in both directions.
template <typename KeyType>
class FloatOrder {
 public:
  using Key = KeyType;
  static constexpr bool kIsExact = false;

  JAXFRAMES_HOST_DEVICE explicit FloatOrder(bool descending = false)
      : flip_(descending ? static_cast<Key>(~Key{0}) : Key{0}),
        // The number of the quiet NaN just past the last infinity. It ends in the same zeros (or
        // ones) as short fractions, so a NaN needs no extra bits.
        nan_(static_cast<Key>(from_zero(descending ? kQuietNan | kSign : kQuietNan) ^ flip_)) {}

  JAXFRAMES_HOST_DEVICE Key ordered(Key key) const {
    return is_nan(key) ? nan_ : static_cast<Key>(from_zero(key) ^ flip_);
  }
  // Returns 0.0 for both zeros, and one NaN for all.
  JAXFRAMES_HOST_DEVICE Key to_key(Key ordered) const {
    const Key distance = ordered ^ flip_;
    return distance & kSign ? static_cast<Key>(distance - kSign)
                            : static_cast<Key>(Key{0} - distance);
  }

  JAXFRAMES_HOST_DEVICE static bool is_zero(Key key) { return static_cast<Key>(key << 1) == 0; }
  JAXFRAMES_HOST_DEVICE static bool is_nan(Key key) {
    return static_cast<Key>(key & ~kSign) > kInfinity;
  }

 private:
  static constexpr int kBits = 8 * sizeof(Key);
  static constexpr int kFractionBits = kBits == 32 ? 23 : 52;
  static constexpr Key kSign = Key{1} << (kBits - 1);
  static constexpr Key kInfinity = kSign - (Key{1} << kFractionBits);
  static constexpr Key kQuietNan = kInfinity | Key{1} << (kFractionBits - 1);

  // Sign and magnitude as one number: the magnitude is added to or subtracted from the middle of
  // the range, where both zeros are.
  JAXFRAMES_HOST_DEVICE static Key from_zero(Key key) {
    const Key is_negative = static_cast<Key>(Key{0} - (key >> (kBits - 1)));
    return static_cast<Key>(static_cast<Key>((key ^ is_negative) - is_negative) |
                            (~is_negative & kSign));
  }

  Key flip_;
  Key nan_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_KEY_ORDER_H_
