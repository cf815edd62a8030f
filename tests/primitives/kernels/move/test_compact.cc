// SPDX-License-Identifier: Apache-2.0
#include "move/compact.h"

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

enum class Pattern { kScattered, kRuns, kBursts };

// Flags that are set about once in `one_in` rows, in runs of that length, or about once in
// `one_in` rows but 100 rows at a time. The other bits of their bytes are anything.
std::vector<uint8_t> make_mask(int64_t num_rows, int64_t one_in, Pattern pattern) {
  std::vector<uint8_t> mask(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const uint64_t bits = random_bits()();
    const bool is_flagged = pattern == Pattern::kRuns     ? (i / one_in) % 2
                            : pattern == Pattern::kBursts ? (i / 100) % one_in == 0
                                                          : (bits >> 8) % one_in == 0;
    mask[i] = static_cast<uint8_t>((bits & 0xFE) | is_flagged);
  }
  return mask;
}

template <typename Word>
std::vector<Word> random_words(int64_t size) {
  std::vector<Word> words(size);
  for (Word& word : words) word = static_cast<Word>(random_bits()());
  return words;
}

// The actual and the expected selection from one array. Without a source it has the row ids.
template <typename Word>
class Kept {
 public:
  Kept(const std::vector<Word>& words, const std::vector<int32_t>& flagged, int64_t capacity,
       bool has_source, bool at_front)
      : has_source_(has_source), source_(words, at_front), kept_(capacity, at_front) {
    source_.protect();
    for (int32_t row : flagged) {
      expected_.push_back(has_source ? words[row] : static_cast<Word>(row));
    }
    expected_.resize(capacity, 0);
  }

  KeptWords words() { return {!has_source_, source_.data(), kept_.data(), sizeof(Word)}; }
  void check() const { CHECK(kept_.values() == expected_); }

 private:
  const bool has_source_;
  GuardedArray<Word> source_;
  GuardedArray<Word> kept_;
  std::vector<Word> expected_;
};

// All widths in one pass, the first `num_arrays` of them.
void check_compact(Executor& executor, const std::vector<uint8_t>& mask, int64_t num_valid,
                   int64_t capacity, size_t num_arrays, bool at_front) {
  const int64_t num_rows = static_cast<int64_t>(mask.size());
  std::vector<int32_t> flagged;
  for (int64_t row = 0; row < num_valid; ++row) {
    if (mask[row] & 1) flagged.push_back(static_cast<int32_t>(row));
  }
  const int32_t num_flagged = static_cast<int32_t>(flagged.size());

  GuardedArray<uint8_t> input(mask, at_front);
  input.protect();
  GuardedArray<int32_t> before(flag_chunks(num_rows).count, at_front);
  const int32_t count = count_flags(executor, input.data(), num_rows, num_valid, before.data());
  CHECK(count == num_flagged);
  before.protect();

  if (num_flagged > capacity) flagged.resize(capacity);
  Kept<uint64_t> wide(random_words<uint64_t>(num_rows), flagged, capacity, true, at_front);
  Kept<int32_t> ids(random_words<int32_t>(num_rows), flagged, capacity, false, at_front);
  Kept<uint8_t> bytes(random_words<uint8_t>(num_rows), flagged, capacity, true, at_front);
  Kept<uint32_t> narrow(random_words<uint32_t>(num_rows), flagged, capacity, true, at_front);
  Kept<uint16_t> halves(random_words<uint16_t>(num_rows), flagged, capacity, true, at_front);
  std::vector<KeptWords> all = {wide.words(), ids.words(), bytes.words(), narrow.words(),
                                halves.words()};
  all.resize(num_arrays);
  compact(executor, Flags{input.data(), num_rows, before.data(), count}, 0, capacity, all);
  if (num_arrays > 0) wide.check();
  if (num_arrays > 1) ids.check();
  if (num_arrays > 2) bytes.check();
  if (num_arrays > 3) narrow.check();
  if (num_arrays > 4) halves.check();
}

// Counts that do not match the mask: the selection is meaningless, but nothing outside the arrays
// is read or written, which would fault.
void check_counts_that_lie(bool at_front) {
  // One thread, because overlapping chunks are a race, which sanitizers report.
  SerialExecutor executor;
  const int64_t num_rows = 200000;
  const GuardedArray<uint8_t> mask(make_mask(num_rows, 2, Pattern::kScattered), at_front);
  const GuardedArray<uint64_t> words(num_rows, at_front);
  for (int64_t capacity : {int64_t{0}, int64_t{100}, num_rows}) {
    for (int shift = 0; shift < 32; ++shift) {
      std::vector<int32_t> lies(flag_chunks(num_rows).count);
      for (int32_t& lie : lies) lie = static_cast<int32_t>(random_bits()()) >> shift;
      const GuardedArray<int32_t> before(lies, at_front);
      const int32_t count = lies[0] / 2;
      GuardedArray<uint64_t> kept(capacity, at_front);
      GuardedArray<int32_t> ids(capacity, at_front);
      compact(executor, Flags{mask.data(), num_rows, before.data(), count}, 0, capacity,
              {{false, words.data(), kept.data(), 8}, {true, nullptr, ids.data(), 4}});
      const int64_t num_kept = std::clamp<int64_t>(count, 0, capacity);
      const auto ends_in_zeros = [&](const auto& all) {
        return std::all_of(all.begin() + num_kept, all.end(), [](auto word) { return word == 0; });
      };
      CHECK(ends_in_zeros(kept.values()) && ends_in_zeros(ids.values()));
    }
  }
}

int main() {
  Executors executors;
  int index = 0;
  for (int64_t num_rows : std::initializer_list<int64_t>{0, 1, 7, 8, 9, 63, 2039, 2040, 2041, 70000, 3 * kFlagChunkRows + 3}) {
    for (int64_t one_in : {1, 2, 3, 20, 50, 1000, 1000000}) {
      for (Pattern pattern : {Pattern::kScattered, Pattern::kRuns, Pattern::kBursts}) {
        const std::vector<uint8_t> mask = make_mask(num_rows, one_in, pattern);
        for (int64_t num_valid : {num_rows, num_rows / 2, std::min<int64_t>(num_rows, 5)}) {
          for (int64_t capacity : {num_rows, num_rows / 3, num_rows + 9, int64_t{0}}) {
            ++index;
            // Many rows meet each mask, and each pair of the other two in some masks.
            if (num_rows > kFlagChunkRows && index % 5 != 0) continue;
            current_case() = std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                             " rows, one in " + std::to_string(one_in) + ", capacity " +
                             std::to_string(capacity);
            // Usually all arrays, sometimes fewer.
            const size_t num_arrays = index % 7 == 0 ? index / 7 % 5 : 5;
            check_compact(executors.next(num_rows), mask, num_valid, capacity, num_arrays,
                          index % 2);
          }
        }
      }
    }
  }
  if (!kFindsRaces) {
    check_counts_that_lie(false);
    check_counts_that_lie(true);
  }
  return finish("compact");
}
