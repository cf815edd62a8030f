// SPDX-License-Identifier: Apache-2.0
#include "move/gather.h"

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

enum class Ids { kRandom, kAscending, kConsecutive, kReversed, kSomeOutside, kAllOutside };

std::vector<int32_t> make_ids(Ids kind, int64_t num_ids, int64_t num_rows) {
  std::vector<int32_t> ids(num_ids);
  for (int64_t i = 0; i < num_ids; ++i) {
    const int64_t bits = static_cast<int64_t>(random_bits()() >> 1);
    const int64_t most = std::max<int64_t>(num_rows, 1);
    int64_t id = bits % most;
    if (kind == Ids::kConsecutive) id = (num_rows / 3 + i) % most;
    if (kind == Ids::kReversed) id = most - 1 - i % most;
    if (kind == Ids::kSomeOutside && i % 3 == 0) id = i % 2 ? -1 - bits % 9 : num_rows + bits % 9;
    if (kind == Ids::kAllOutside) id = i % 2 ? std::numeric_limits<int32_t>::min() : num_rows;
    ids[i] = static_cast<int32_t>(id);
  }
  if (kind == Ids::kAscending) std::sort(ids.begin(), ids.end());
  return ids;
}

// Words of one width, as bytes: the actual and the expected rows.
class Gathered {
 public:
  Gathered(int64_t word_bytes, const std::vector<int32_t>& ids, int64_t num_rows, bool at_front)
      : word_bytes_(word_bytes),
        source_(random_bytes(num_rows * word_bytes), at_front),
        fill_(random_bytes(word_bytes), at_front),
        gathered_(static_cast<int64_t>(ids.size()) * word_bytes, at_front) {
    expected_.reserve(ids.size() * word_bytes);
    for (int32_t id : ids) {
      const bool is_row = 0 <= id && id < num_rows;
      const uint8_t* const word = is_row ? source_.data() + id * word_bytes : fill_.data();
      expected_.insert(expected_.end(), word, word + word_bytes);
    }
    source_.protect();
    fill_.protect();
  }

  GatheredWords words() { return {source_.data(), gathered_.data(), fill_.data(), word_bytes_}; }
  void check() const { CHECK(gathered_.values() == expected_); }

 private:
  static std::vector<uint8_t> random_bytes(int64_t size) {
    std::vector<uint8_t> bytes(size);
    for (int64_t i = 0; i < size; i += 8) {
      const uint64_t bits = random_bits()();
      std::memcpy(bytes.data() + i, &bits, std::min<int64_t>(size - i, 8));
    }
    return bytes;
  }

  const int64_t word_bytes_;
  GuardedArray<uint8_t> source_;
  GuardedArray<uint8_t> fill_;
  GuardedArray<uint8_t> gathered_;
  std::vector<uint8_t> expected_;
};

void check_gather(Executor& executor, const std::vector<int32_t>& ids, int64_t num_rows,
                  bool at_front, int64_t least_packed_bytes) {
  GuardedArray<int32_t> row_ids(ids, at_front);
  row_ids.protect();
  Gathered bytes(1, ids, num_rows, at_front), halves(2, ids, num_rows, at_front),
      narrow(4, ids, num_rows, at_front), wide(8, ids, num_rows, at_front),
      widest(16, ids, num_rows, at_front);
  // More than one packed row.
  Gathered more(16, ids, num_rows, at_front), most(16, ids, num_rows, at_front),
      last(8, ids, num_rows, at_front);
  gather_rows(executor, row_ids.data(), static_cast<int64_t>(ids.size()), num_rows, 0,
              {wide.words(), bytes.words(), widest.words(), narrow.words(), halves.words(),
               more.words(), most.words(), last.words()},
              least_packed_bytes);
  for (const Gathered* words :
       {&bytes, &halves, &narrow, &wide, &widest, &more, &most, &last}) {
    words->check();
  }
}

int main() {
  Executors executors;
  int index = 0;
  for (int64_t num_rows : {0, 1, 9, 5000, 140001}) {
    for (int64_t num_ids : {0, 1, 7, 2047, 2048, 2049, 140001}) {
      for (Ids kind : {Ids::kRandom, Ids::kAscending, Ids::kConsecutive, Ids::kReversed,
                       Ids::kSomeOutside, Ids::kAllOutside}) {
        ++index;
        current_case() = std::to_string(num_ids) + " ids of " + std::to_string(num_rows) +
                         " rows, kind " + std::to_string(static_cast<int>(kind));
        // Random ids of most rows are gathered from packed rows.
        const int64_t least_packed_bytes = 1 << 16;
        check_gather(executors.next(num_ids), make_ids(kind, num_ids, num_rows), num_rows,
                     index % 2, least_packed_bytes);
      }
    }
  }
  return finish("gather");
}
