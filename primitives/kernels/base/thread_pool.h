// SPDX-License-Identifier: Apache-2.0
// Parallel loops over tasks; the caller takes part.
#ifndef JAXFRAMES_KERNELS_BASE_THREAD_POOL_H_
#define JAXFRAMES_KERNELS_BASE_THREAD_POOL_H_

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace jaxframes {

// Runs tasks. The kernels use this interface only; XLA's pool and the tests' pool implement it.
class Executor {
 public:
  virtual ~Executor() = default;

  // Number of threads for one loop, including the caller; at least 1.
  virtual int num_threads() const = 0;

  // Runs `closure` later on another thread, possibly after the scheduling loop has returned.
  virtual void schedule(std::function<void()> closure) = 0;
};

// The caller alone.
class SerialExecutor final : public Executor {
 public:
  int num_threads() const override { return 1; }
  void schedule(std::function<void()> closure) override { closure(); }
};

// A separate thread pool, for use outside XLA.
class StdThreadPool final : public Executor {
 public:
  explicit StdThreadPool(int num_threads) : num_threads_(num_threads) {
    for (int i = 1; i < num_threads; ++i) {
      threads_.emplace_back([this] { work(); });
    }
  }

  ~StdThreadPool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int num_threads() const override { return num_threads_; }

  void schedule(std::function<void()> closure) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(closure));
    }
    wake_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::function<void()> closure;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        closure = std::move(queue_.front());
        queue_.pop_front();
      }
      closure();
    }
  }

  const int num_threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

namespace internal {

// The shared state of the caller and its helpers, which own it together. A helper that starts after
// the end of the loop finds it alive, sees no remaining task, and never touches `task`, which is on
// the caller's stack.
template <typename Task>
struct LoopState {
  LoopState(int64_t num_tasks, const Task* task)
      : num_tasks(num_tasks), task(task) {}

  void run_tasks(int worker) {
    int64_t num_done = 0;
    for (;;) {
      const int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= num_tasks) break;
      try {
        (*task)(worker, index);
      } catch (...) {
        // The caller rethrows it: nobody catches exceptions on a pool's thread.
        std::lock_guard<std::mutex> lock(mutex);
        if (!exception) exception = std::current_exception();
      }
      ++num_done;
    }
    if (num_done == 0) return;
    // Release: the caller must see the writes of the tasks.
    const int64_t before = completed.fetch_add(num_done, std::memory_order_acq_rel);
    if (before + num_done == num_tasks) {
      std::lock_guard<std::mutex> lock(mutex);
      all_completed.notify_all();
    }
  }

  // Waits for tasks that other threads have started; never for a queued closure. So it cannot
  // deadlock on a thread of the pool.
  void wait() {
    const auto is_complete = [this] {
      return completed.load(std::memory_order_acquire) == num_tasks;
    };
    // The other threads usually finish soon too: polling for microseconds costs less than a sleep
    // and a wake-up.
    for (int i = 0; i < 4096; ++i) {
      if (is_complete()) return;
    }
    std::unique_lock<std::mutex> lock(mutex);
    all_completed.wait(lock, is_complete);
  }

  std::atomic<int64_t> next{0};
  std::atomic<int64_t> completed{0};
  const int64_t num_tasks;
  const Task* const task;
  std::mutex mutex;
  std::condition_variable all_completed;
  std::exception_ptr exception;
};

}  // namespace internal

// Calls task(worker, index) once for each index in [0, num_tasks), and returns after all calls.
// Concurrent calls have different workers in [0, executor.num_threads()): use them to index
// per-thread workspace. Rethrows the first exception of a call at the end.
template <typename Task>
void parallel_for(Executor& executor, int64_t num_tasks, const Task& task) {
  const int64_t num_workers = std::min<int64_t>(executor.num_threads(), num_tasks);
  if (num_workers <= 1) {
    for (int64_t index = 0; index < num_tasks; ++index) task(0, index);
    return;
  }
  auto state = std::make_shared<internal::LoopState<Task>>(num_tasks, &task);
  for (int worker = 1; worker < num_workers; ++worker) {
    executor.schedule([state, worker] { state->run_tasks(worker); });
  }
  state->run_tasks(0);
  state->wait();
  if (state->exception) std::rethrow_exception(state->exception);
}

// Divides `size` rows into equal contiguous chunks, for loops that keep the row order.
struct Chunks {
  // Four chunks per thread balance late or slow threads.
  Chunks(int64_t size, int64_t min_rows, int num_threads) : size(size) {
    const int64_t wanted = num_threads > 1 ? 4 * int64_t{num_threads} : 1;
    const int64_t most = std::max<int64_t>(size / min_rows, 1);
    count = std::min(wanted, most);
  }

  // The smallest number of chunks with at most `most_rows` rows each.
  static Chunks of_rows(int64_t size, int64_t most_rows) {
    Chunks chunks(size, 1, 1);
    chunks.count = std::max<int64_t>((size + most_rows - 1) / most_rows, 1);
    return chunks;
  }

  // No overflow: size < 2^31, and so is the number of chunks.
  int64_t begin(int64_t chunk) const { return size * chunk / count; }
  int64_t end(int64_t chunk) const { return begin(chunk + 1); }

  // The chunk for call `index` of a loop whose `num_threads` threads should work far apart: at
  // equal speed each thread processes its own contiguous range.
  int64_t apart(int64_t index, int num_threads) const {
    const int64_t stretch = index % num_threads;
    return stretch * (count / num_threads) + std::min(stretch, count % num_threads) +
           index / num_threads;
  }

  int64_t size;
  int64_t count;
};

// Calls each_row(executor, row) for each row of a batch. Threads divide the batch if it has enough
// rows for all; otherwise they work together on each row.
template <typename EachRow>
void for_each_row(Executor& executor, int64_t batch, int64_t num_rows,
                  const EachRow& each_row) {
  constexpr int64_t kMinTaskRows = 1 << 14;
  if (batch < executor.num_threads()) {
    for (int64_t row = 0; row < batch; ++row) each_row(executor, row);
    return;
  }
  const int64_t min_batch = std::max<int64_t>(kMinTaskRows / std::max<int64_t>(num_rows, 1), 1);
  const Chunks tasks(batch, min_batch, executor.num_threads());
  parallel_for(executor, tasks.count, [&](int, int64_t task) {
    SerialExecutor serial;
    for (int64_t row = tasks.begin(task); row < tasks.end(task); ++row) each_row(serial, row);
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_THREAD_POOL_H_
