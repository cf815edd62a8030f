// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"
#include "base/thread_pool.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Delays scheduled closures: threads that start late or never.
class LateExecutor final : public Executor {
 public:
  int num_threads() const override { return 8; }
  void schedule(std::function<void()> closure) override {
    closures_.push_back(std::move(closure));
  }
  void run_late() {
    for (auto& closure : closures_) closure();
  }

 private:
  std::vector<std::function<void()>> closures_;
};

void each_task_runs_once(int num_threads, int64_t num_tasks) {
  current_case() = std::to_string(num_threads) + " threads, " + std::to_string(num_tasks);
  StdThreadPool pool(num_threads);
  std::vector<int> num_calls(num_tasks, 0);
  std::vector<int64_t> worker_calls(num_threads, 0);
  parallel_for(pool, num_tasks, [&](int worker, int64_t task) {
    ++num_calls[task];       // a data race if a task ran twice
    ++worker_calls[worker];  // a data race if two threads were one worker
  });
  for (int calls : num_calls) CHECK(calls == 1);
}

void caller_does_not_wait_for_queued_closures() {
  current_case() = "late executor";
  LateExecutor executor;
  int64_t sum = 0;
  parallel_for(executor, 100, [&](int, int64_t task) { sum += task; });
  CHECK(sum == 4950);
  executor.run_late();  // after the loop: must not call the task any more
  CHECK(sum == 4950);
}

// All threads of a pool run loops on that pool at once. Waiting for queued closures would deadlock.
void nested_loops_end() {
  current_case() = "nested loops";
  StdThreadPool pool(4);
  std::atomic<int64_t> sum{0};
  parallel_for(pool, 16, [&](int, int64_t) {
    parallel_for(pool, 16, [&](int, int64_t) {
      parallel_for(pool, 4, [&](int, int64_t task) { sum += task; });
    });
  });
  CHECK(sum == 16 * 16 * 6);
}

void exceptions_reach_the_caller() {
  current_case() = "exception";
  StdThreadPool pool(3);
  std::atomic<int> num_calls{0};
  bool caught = false;
  try {
    parallel_for(pool, 50, [&](int, int64_t task) {
      ++num_calls;
      if (task % 10 == 3) throw std::runtime_error("task");
    });
  } catch (const std::runtime_error&) {
    caught = true;
  }
  CHECK(caught);
  CHECK(num_calls == 50);
}

void chunks_cover_all_rows() {
  for (int64_t size : {int64_t{1}, int64_t{5}, int64_t{1000}, (int64_t{1} << 31) - 1}) {
    for (int num_threads : {1, 2, 7, 128}) {
      const Chunks chunks(size, 10, num_threads);
      CHECK(chunks.count >= 1 && chunks.begin(0) == 0 && chunks.end(chunks.count - 1) == size);
      for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        CHECK(chunks.begin(chunk) < chunks.end(chunk));
      }
    }
  }
}

void chunks_apart_are_all_chunks() {
  for (int64_t count : {1, 2, 3, 7, 16, 100, 101}) {
    for (int num_threads : {1, 2, 3, 16, 128}) {
      const Chunks chunks = Chunks::of_rows(count * 10, 10);
      std::vector<int64_t> taken;
      for (int64_t index = 0; index < count; ++index) {
        taken.push_back(chunks.apart(index, num_threads));
      }
      // The first calls start one range each, and the next call continues the first range.
      for (int64_t call = 1; call < std::min<int64_t>(count, num_threads); ++call) {
        CHECK(taken[call] - taken[call - 1] >= std::max<int64_t>(count / num_threads, 1));
      }
      CHECK(taken[0] == 0 && (count <= num_threads || taken[num_threads] == 1));
      std::sort(taken.begin(), taken.end());
      for (int64_t chunk = 0; chunk < count; ++chunk) CHECK(taken[chunk] == chunk);
    }
  }
}

int main() {
  for (int num_threads = 1; num_threads <= 16; ++num_threads) {
    for (int64_t num_tasks : {0, 1, 2, 15, 16, 17, 10000}) {
      each_task_runs_once(num_threads, num_tasks);
    }
  }
  for (int repeat = 0; repeat < 50; ++repeat) each_task_runs_once(4, 8);
  caller_does_not_wait_for_queued_closures();
  nested_loops_end();
  exceptions_reach_the_caller();
  chunks_cover_all_rows();
  chunks_apart_are_all_chunks();
  return finish("thread_pool");
}
