// SPDX-License-Identifier: Apache-2.0
#include "reduce/cuda_segment_statistic.h"

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "reduce/cuda_segment_statistic.cuh"
#include "reduce/cuda_segment_tables.cuh"

namespace jaxframes {
namespace {

template <typename Number>
struct Line {
  SegmentsOnGpu<int32_t> segments;
  const Number* numbers;
  Number* results;
  Number* centers;
  StatisticMemory<Number> memory;
  Number ddof;
  cudaStream_t stream;

  template <typename Operator, bool kIsCounted, typename Term, typename Finish>
  cudaError_t combine(const Term& term, const Finish& finish) const {
    return combine_few<Operator, kIsCounted>(segments, numbers, term, memory.partial,
                                             memory.partial_counts, finish, stream);
  }

  cudaError_t product() const {
    return combine<Times, false>(NumberItself{}, StoreResult<Number>{results});
  }
  cudaError_t mean(Number* means) const {
    return combine<Plus, true>(NumberItself{}, StoreMean<Number>{means, memory.counts});
  }
  cudaError_t spread(bool is_root) const {
    JAXFRAMES_RETURN_IF_FAILED(mean(centers));
    return combine<Plus, false>(SquaredDistance<Number>{centers},
                                StoreSpread<Number>{results, memory.counts, ddof, is_root});
  }
  template <typename Finish>
  cudaError_t exponentials(const Finish& finish) const {
    JAXFRAMES_RETURN_IF_FAILED(
        (combine<Greatest, false>(NumberItself{}, StoreGreatest<Number>{centers})));
    return combine<Plus, false>(Exponential<Number>{centers}, finish);
  }

  cudaError_t run(SegmentStatistic statistic) const {
    switch (statistic) {
      case SegmentStatistic::kProduct: return product();
      case SegmentStatistic::kMean: return mean(results);
      case SegmentStatistic::kVariance: return spread(false);
      case SegmentStatistic::kDeviation: return spread(true);
      case SegmentStatistic::kExponentials: return exponentials(StoreResult<Number>{results});
      default: return exponentials(StoreLogarithm<Number>{results, centers});
    }
  }
};

template <typename Number>
cudaError_t run_lines(const CudaSegmentStatistic& call, void* scratch, cudaStream_t stream) {
  for (int64_t line = 0; line < call.batch; ++line) {
    // A null pointer stands for a first id of zero, and for rows that are all valid.
    const SegmentsOnGpu<int32_t> segments{call.ids + line * call.num_rows, nullptr, nullptr,
                                          call.num_rows, static_cast<uint64_t>(call.num_segments)};
    CudaScratch memory(scratch);
    const Line<Number> of_line{
        segments,
        static_cast<const Number*>(call.numbers) + line * call.num_rows,
        static_cast<Number*>(call.results) + line * call.num_segments,
        static_cast<Number*>(call.centers) + line * call.num_segments,
        StatisticMemory<Number>::take(memory, call.num_rows, call.num_segments),
        static_cast<Number>(call.ddof),
        stream};
    JAXFRAMES_RETURN_IF_FAILED(of_line.run(call.statistic));
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cuda_segment_statistic(const CudaSegmentStatistic& call, void* scratch,
                                   cudaStream_t stream) {
  return call.number_bytes == 4 ? run_lines<float>(call, scratch, stream)
                                : run_lines<double>(call, scratch, stream);
}

}  // namespace jaxframes
