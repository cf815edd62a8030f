// SPDX-License-Identifier: Apache-2.0
// Pairs the rows of two sides whose groups are equal.
#ifndef JAXFRAMES_KERNELS_JOIN_H_
#define JAXFRAMES_KERNELS_JOIN_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "huge_pages.h"
#include "thread_pool.h"

namespace jaxframes {

// Which rows come out: pairs (kInner), and left rows without a match (kLeft), and right
// ones too (kOuter, in the order of the groups); or left rows with a match (kSemi) or
// without (kAnti).
enum class How { kInner = 0, kLeft = 1, kOuter = 2, kSemi = 3, kAnti = 4 };

// Groups lie in [0, num_groups). A row that is missing is -1, and so is what lies behind
// the last pair.
struct JoinRow {
  const int32_t* left_groups;
  int64_t num_left;
  const int32_t* right_groups;
  int64_t num_right;
  int64_t num_groups;
  int64_t capacity;
  int32_t* left_rows;   // [capacity]
  int32_t* right_rows;  // [capacity]
};

// The rows of one side by group, in row order.
class GroupedRows {
 public:
  GroupedRows(const int32_t* groups, int64_t num_rows, int64_t num_groups)
      : offsets_(num_groups + 2), rows_(num_rows) {
    // Counted two places on, so that filling the rows leaves the offsets as they must be.
    for (int64_t row = 0; row < num_rows; ++row) ++offsets_[groups[row] + 2];
    for (int64_t group = 0; group < num_groups; ++group) offsets_[group + 2] += offsets_[group + 1];
    for (int64_t row = 0; row < num_rows; ++row) {
      rows_[offsets_[groups[row] + 1]++] = static_cast<int32_t>(row);
    }
  }

  int64_t size(int64_t group) const { return offsets_[group + 1] - offsets_[group]; }
  const int32_t* rows(int64_t group) const { return rows_.data() + offsets_[group]; }

 private:
  std::vector<int32_t> offsets_;
  std::vector<int32_t> rows_;
};

// Writes pairs from a place on, as far as there is room.
class PairWriter {
 public:
  PairWriter(const JoinRow& join, int64_t place) : join_(join), place_(place) {}

  bool is_full() const { return place_ >= join_.capacity; }

  void add(int32_t left_row, int32_t right_row) {
    join_.left_rows[place_] = left_row;
    join_.right_rows[place_++] = right_row;
  }
  // The left row beside each of some right rows.
  void add_all(int32_t left_row, const int32_t* right_rows, int64_t num_rows) {
    const int64_t num_fitting = std::min(num_rows, join_.capacity - place_);
    for (int64_t i = 0; i < num_fitting; ++i) add(left_row, right_rows[i]);
  }

 private:
  const JoinRow& join_;
  int64_t place_;
};

namespace internal {

// Writes what num_pairs(i) announces for each i in [0, size), by all threads:
// write(i, writer) is called where there is room. Returns how many pairs there are.
template <typename NumPairs, typename Write>
int64_t write_pairs(Executor& executor, const JoinRow& join, int64_t size, const NumPairs& num_pairs,
                 const Write& write) {
  const Chunks chunks(size, 1 << 14, executor.num_threads());
  std::vector<int64_t> places(chunks.count + 1);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t total = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      total += num_pairs(i);
    }
    places[chunk + 1] = total;
  });
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    places[chunk + 1] += places[chunk];
  }
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    PairWriter writer(join, places[chunk]);
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk) && !writer.is_full(); ++i) {
      write(i, writer);
    }
  });
  const int64_t total = places[chunks.count];
  const int64_t end = std::min(total, join.capacity);
  std::fill(join.left_rows + end, join.left_rows + join.capacity, -1);
  std::fill(join.right_rows + end, join.right_rows + join.capacity, -1);
  return total;
}

inline int64_t join_by_group(Executor& executor, const JoinRow& join, const GroupedRows& right) {
  const GroupedRows left(join.left_groups, join.num_left, join.num_groups);
  return write_pairs(
      executor, join, join.num_groups,
      [&](int64_t group) {
        const int64_t num_left = left.size(group), num_right = right.size(group);
        return std::max<int64_t>(num_left, 1) * std::max<int64_t>(num_right, 1);
      },
      [&](int64_t group, PairWriter& writer) {
        const int32_t none = -1;
        const bool has_left = left.size(group) > 0, has_right = right.size(group) > 0;
        const int32_t* const left_rows = has_left ? left.rows(group) : &none;
        const int32_t* const right_rows = has_right ? right.rows(group) : &none;
        for (int64_t i = 0; i < std::max<int64_t>(left.size(group), 1); ++i) {
          if (writer.is_full()) return;
          writer.add_all(left_rows[i], right_rows, std::max<int64_t>(right.size(group), 1));
        }
      });
}

}  // namespace internal

// The pairs come in the order of the left rows, then the right ones; for kOuter in the
// order of the groups, of which each has a row on some side. Returns how many pairs there
// are: with fewer than 2^31 rows on both sides together they are fewer than 2^60.
inline int64_t join(Executor& executor, How how, const JoinRow& join) {
  advise_huge_pages(join.left_rows, join.capacity * 4);
  advise_huge_pages(join.right_rows, join.capacity * 4);
  const GroupedRows right(join.right_groups, join.num_right, join.num_groups);
  if (how == How::kOuter) return internal::join_by_group(executor, join, right);
  const int32_t* const groups = join.left_groups;
  const auto num_matches = [&](int64_t row) { return right.size(groups[row]); };
  const auto write_row = [&](int64_t row, PairWriter& writer) {
    writer.add(static_cast<int32_t>(row), -1);
  };
  const auto write_matches = [&](int64_t row, PairWriter& writer) {
    writer.add_all(static_cast<int32_t>(row), right.rows(groups[row]), num_matches(row));
  };
  switch (how) {
    case How::kInner:
      return internal::write_pairs(executor, join, join.num_left, num_matches, write_matches);
    case How::kLeft:
      return internal::write_pairs(
          executor, join, join.num_left,
          [&](int64_t row) { return std::max<int64_t>(num_matches(row), 1); },
          [&](int64_t row, PairWriter& writer) {
            num_matches(row) == 0 ? write_row(row, writer) : write_matches(row, writer);
          });
    case How::kSemi:
    case How::kAnti: {
      const bool wants_match = how == How::kSemi;
      const auto is_wanted = [&](int64_t row) { return (num_matches(row) > 0) == wants_match; };
      return internal::write_pairs(executor, join, join.num_left, is_wanted,
                                   [&](int64_t row, PairWriter& writer) {
                                     if (is_wanted(row)) write_row(row, writer);
                                   });
    }
    case How::kOuter: break;
  }
  return 0;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_JOIN_H_
