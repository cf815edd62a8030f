// SPDX-License-Identifier: Apache-2.0
// Pairs rows of two sides with equal group ids.
#ifndef JAXFRAMES_KERNELS_JOIN_JOIN_H_
#define JAXFRAMES_KERNELS_JOIN_JOIN_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/huge_pages.h"
#include "base/thread_pool.h"

namespace jaxframes {

// The kinds of join: pairs (kInner), plus left rows without a match (kLeft), plus right ones too
// (kOuter, in the order of the groups); or left rows with a match (kSemi) or without (kAnti).
enum class How { kInner = 0, kLeft = 1, kOuter = 2, kSemi = 3, kAnti = 4 };

// The rows of one side by group, in row order: those of group g lie in `rows` from
// offsets[g] to offsets[g + 1].
class GroupedRows {
 public:
  GroupedRows(const int32_t* offsets, const int32_t* rows, int64_t num_groups)
      : offsets_(offsets), rows_(rows), num_rows_(offsets[num_groups]) {}

  int64_t size(int64_t group) const { return offsets_[group + 1] - offsets_[group]; }
  const int32_t* rows(int64_t group) const { return rows_ + offsets_[group]; }
  // The number of rows of the group and of all later groups.
  int64_t num_from(int64_t group) const { return num_rows_ - offsets_[group]; }
  void prefetch(int64_t group) const { __builtin_prefetch(rows(group)); }

 private:
  const int32_t* offsets_;
  const int32_t* rows_;
  int64_t num_rows_;
};

// Writes `offsets` [num_groups + 2] and `rows` [num_rows]; groups lie in [0, num_groups).
inline GroupedRows group_rows(const int32_t* groups, int64_t num_rows, int64_t num_groups,
                              int32_t* offsets, int32_t* rows) {
  std::fill_n(offsets, num_groups + 2, 0);
  // Counted two entries further, so that filling the rows leaves the correct offsets.
  for (int64_t row = 0; row < num_rows; ++row) ++offsets[groups[row] + 2];
  for (int64_t group = 0; group < num_groups; ++group) offsets[group + 2] += offsets[group + 1];
  for (int64_t row = 0; row < num_rows; ++row) {
    rows[offsets[groups[row] + 1]++] = static_cast<int32_t>(row);
  }
  return GroupedRows(offsets, rows, num_groups);
}

// Whether the groups of the left rows lie in [0, num_groups), and those of `num_right` right rows
// follow each other within these. Otherwise a join would read outside of its arrays.
inline bool are_groups(Executor& executor, const int32_t* left_groups, int64_t num_left,
                       const int32_t* offsets, int64_t num_groups, int64_t num_right) {
  std::atomic<bool> holds{offsets[0] >= 0 && offsets[num_groups] <= num_right};
  const Chunks chunks(std::max(num_left, num_groups), 1 << 16, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    // Without branches, so that the loops become vector instructions.
    bool is_wrong = false;
    for (int64_t row = begin; row < std::min(end, num_left); ++row) {
      // As unsigned numbers, negative groups are greater than all others.
      is_wrong |= static_cast<uint32_t>(left_groups[row]) >= static_cast<uint64_t>(num_groups);
    }
    for (int64_t group = begin; group < std::min(end, num_groups); ++group) {
      is_wrong |= offsets[group] > offsets[group + 1];
    }
    if (is_wrong) holds.store(false, std::memory_order_relaxed);
  });
  return holds.load(std::memory_order_relaxed);
}

// The pairs of a join, and the rows of each side without a match on the other.
struct MatchCounts {
  int64_t num_pairs;
  int64_t num_unmatched_left;
  int64_t num_unmatched_right;
};

namespace internal {

// Groups in any order.
inline MatchCounts count_by_group(const int32_t* left_groups, int64_t num_left,
                                  const GroupedRows& right, int64_t num_groups) {
  std::vector<int32_t> left_sizes(num_groups);
  for (int64_t row = 0; row < num_left; ++row) ++left_sizes[left_groups[row]];
  MatchCounts counts{};
  for (int64_t group = 0; group < num_groups; ++group) {
    const int64_t on_left = left_sizes[group], on_right = right.size(group);
    counts.num_pairs += std::max<int64_t>(on_left, 1) * std::max<int64_t>(on_right, 1);
    if (on_right == 0) counts.num_unmatched_left += on_left;
    if (on_left == 0) counts.num_unmatched_right += on_right;
  }
  return counts;
}

// Groups in the order of their first rows, so that those without a left row come last.
inline MatchCounts count_by_row(Executor& executor, const int32_t* left_groups, int64_t num_left,
                                const GroupedRows& right) {
  struct Part {
    int64_t num_matches = 0;
    int64_t num_unmatched = 0;
    int32_t num_left_groups = 0;
  };
  const Chunks chunks(num_left, 1 << 14, executor.num_threads());
  std::vector<Part> parts(chunks.count);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    Part part;
    for (int64_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
      const int64_t size = right.size(left_groups[row]);
      part.num_matches += size;
      part.num_unmatched += size == 0;
      part.num_left_groups = std::max(part.num_left_groups, left_groups[row] + 1);
    }
    parts[chunk] = part;
  });
  Part all;
  for (const Part& part : parts) {
    all.num_matches += part.num_matches;
    all.num_unmatched += part.num_unmatched;
    all.num_left_groups = std::max(all.num_left_groups, part.num_left_groups);
  }
  return {all.num_matches, all.num_unmatched, right.num_from(all.num_left_groups)};
}

}  // namespace internal

// Groups come in the order of their first rows, those of the left side before those of the
// right; of an outer join in any order. With fewer than 2^31 rows on both sides together
// there are fewer than 2^60 pairs.
inline MatchCounts count_matches(Executor& executor, How how, const int32_t* left_groups,
                                 int64_t num_left, const GroupedRows& right, int64_t num_groups) {
  if (how == How::kOuter) {
    return internal::count_by_group(left_groups, num_left, right, num_groups);
  }
  MatchCounts counts = internal::count_by_row(executor, left_groups, num_left, right);
  switch (how) {
    case How::kInner: break;
    case How::kLeft: counts.num_pairs += counts.num_unmatched_left; break;
    case How::kSemi: counts.num_pairs = num_left - counts.num_unmatched_left; break;
    case How::kAnti: counts.num_pairs = counts.num_unmatched_left; break;
    case How::kOuter: break;
  }
  return counts;
}

// A missing row is -1, and so is padding.
struct JoinRow {
  const int32_t* left_groups;
  int64_t num_left;
  GroupedRows right;
  int64_t num_groups;
  int64_t capacity;
  int32_t* left_rows;   // [capacity]
  int32_t* right_rows;  // [capacity]
};

// Writes pairs from a position on, up to the capacity, and nothing from `end` on.
class PairWriter {
 public:
  PairWriter(const JoinRow& join, int64_t position, int64_t end)
      : join_(join), position_(position), end_(end) {}

  bool is_full() const { return position_ >= end_; }

  void add(int32_t left_row, int32_t right_row) {
    join_.left_rows[position_] = left_row;
    join_.right_rows[position_++] = right_row;
  }
  // Pairs the left row with each of some right rows, of which `num_readable` can be read.
  void add_all(int32_t left_row, const int32_t* right_rows, int64_t num_rows,
               int64_t num_readable) {
    if (num_rows <= kBlock && position_ + kBlock <= end_ && kBlock <= num_readable) {
      // A fixed number; later pairs overwrite the excess, which avoids a branch.
      std::fill_n(join_.left_rows + position_, kBlock, left_row);
      std::copy_n(right_rows, kBlock, join_.right_rows + position_);
      position_ += num_rows;
      return;
    }
    const int64_t num_fitting = std::min(num_rows, end_ - position_);
    for (int64_t i = 0; i < num_fitting; ++i) add(left_row, right_rows[i]);
  }

 private:
  static constexpr int64_t kBlock = 8;

  const JoinRow& join_;
  int64_t position_;
  const int64_t end_;
};

namespace internal {

// Writes num_pairs(i) pairs for each i in [0, size), by all threads: calls write(i, writer) within
// the capacity. Returns the total number of pairs.
template <typename NumPairs, typename Write>
int64_t write_pairs(Executor& executor, const JoinRow& join, int64_t size, const NumPairs& num_pairs,
                 const Write& write) {
  const Chunks chunks(size, 1 << 14, executor.num_threads());
  std::vector<int64_t> positions(chunks.count + 1);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t total = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      total += num_pairs(i);
    }
    positions[chunk + 1] = total;
  });
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    positions[chunk + 1] += positions[chunk];
  }
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    PairWriter writer(join, positions[chunk], std::min(positions[chunk + 1], join.capacity));
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk) && !writer.is_full(); ++i) {
      write(i, writer);
    }
  });
  const int64_t total = positions[chunks.count];
  const int64_t end = std::min(total, join.capacity);
  std::fill(join.left_rows + end, join.left_rows + join.capacity, -1);
  std::fill(join.right_rows + end, join.right_rows + join.capacity, -1);
  return total;
}

inline int64_t join_by_group(Executor& executor, const JoinRow& join) {
  std::vector<int32_t> offsets(join.num_groups + 2), rows(join.num_left);
  const GroupedRows left =
      group_rows(join.left_groups, join.num_left, join.num_groups, offsets.data(), rows.data());
  const GroupedRows& right = join.right;
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
          writer.add_all(left_rows[i], right_rows, std::max<int64_t>(right.size(group), 1),
                         has_right ? right.num_from(group) : 1);
        }
      });
}

}  // namespace internal

// The pairs are in the order of the left rows, then the right rows; for kOuter in the order of the
// groups. Each group has a row on some side. Returns the number of pairs, true past the capacity.
inline int64_t join(Executor& executor, How how, const JoinRow& join) {
  advise_huge_pages(join.left_rows, join.capacity * 4);
  advise_huge_pages(join.right_rows, join.capacity * 4);
  if (how == How::kOuter) return internal::join_by_group(executor, join);
  const GroupedRows& right = join.right;
  constexpr int64_t kAhead = 16;
  const int32_t* const groups = join.left_groups;
  const auto num_matches = [&](int64_t row) { return right.size(groups[row]); };
  const auto write_row = [&](int64_t row, PairWriter& writer) {
    writer.add(static_cast<int32_t>(row), -1);
  };
  const auto write_matches = [&](int64_t row, PairWriter& writer) {
    if (row + kAhead < join.num_left) right.prefetch(groups[row + kAhead]);
    const int64_t group = groups[row];
    writer.add_all(static_cast<int32_t>(row), right.rows(group), right.size(group),
                   right.num_from(group));
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

#endif  // JAXFRAMES_KERNELS_JOIN_JOIN_H_
