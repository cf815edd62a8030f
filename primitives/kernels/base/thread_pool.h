// SPDX-License-Identifier: Apache-2.0
// Loops over tasks in which the caller takes part.
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

// Where tasks run. The kernels know this interface only; XLA's pool and the
// tests' own pool implement it.
class Executor {
 public:
  virtual ~Executor() = default;

  // Threads that may work on one loop, the caller among them; at least 1.
  virtual int num_threads() const = 0;

  // Runs `closure` at some time on some other thread. It may start late, even
  // after the loop that scheduled it has returned.
  virtual void schedule(std::function<void()> closure) = 0;
};

// The caller alone.
class SerialExecutor final : public Executor {
 public:
  int num_threads() const override { return 1; }
  void schedule(std::function<void()> closure) override { closure(); }
};

// Threads of our own, for use outside XLA.
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

// What the caller and its helpers share. Helpers own it together with the
// caller, so a helper that starts after the loop has ended finds it alive, sees
// that no task is left, and never touches `task`, which is on the caller's stack.
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
        // The caller rethrows it: a pool's thread has nobody to tell.
        std::lock_guard<std::mutex> lock(mutex);
        if (!exception) exception = std::current_exception();
      }
      ++num_done;
    }
    if (num_done == 0) return;
    // Release: the caller must see what the tasks wrote.
    const int64_t before = completed.fetch_add(num_done, std::memory_order_acq_rel);
    if (before + num_done == num_tasks) {
      std::lock_guard<std::mutex> lock(mutex);
      all_completed.notify_all();
    }
  }

  // Waits for tasks that other threads have taken, hence started; never for a
  // closure that is still queued. So it cannot deadlock on a pool's own thread.
  void wait() {
    const auto is_complete = [this] {
      return completed.load(std::memory_order_acquire) == num_tasks;
    };
    // The other threads are mostly about to end too: some microseconds of
    // polling cost less than a sleep and a wake-up.
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

// Calls task(worker, index) once for each index in [0, num_tasks), and returns
// when all calls have. Calls that run at the same time have different workers,
// in [0, executor.num_threads()): use it to index per-thread workspace. Rethrows
// the first exception of a call, after all of them.
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

// `size` rows in equal contiguous chunks, for loops that keep the row order.
struct Chunks {
  // Four chunks a thread even out threads that start late or run slower.
  Chunks(int64_t size, int64_t min_rows, int num_threads) : size(size) {
    const int64_t wanted = num_threads > 1 ? 4 * int64_t{num_threads} : 1;
    const int64_t most = std::max<int64_t>(size / min_rows, 1);
    count = std::min(wanted, most);
  }

  // As many as there have to be for none to have more than `most_rows`.
  static Chunks of_rows(int64_t size, int64_t most_rows) {
    Chunks chunks(size, 1, 1);
    chunks.count = std::max<int64_t>((size + most_rows - 1) / most_rows, 1);
    return chunks;
  }

  // No overflow: size < 2^31, and there are fewer chunks than that.
  int64_t begin(int64_t chunk) const { return size * chunk / count; }
  int64_t end(int64_t chunk) const { return begin(chunk + 1); }

  // The chunk that call `index` of a loop takes, for `num_threads` threads to be far apart: each
  // goes through a stretch of its own as long as none is faster than others.
  int64_t apart(int64_t index, int num_threads) const {
    const int64_t stretch = index % num_threads;
    return stretch * (count / num_threads) + std::min(stretch, count % num_threads) +
           index / num_threads;
  }

  int64_t size;
  int64_t count;
};

// Calls each_row(executor, row) for each row of a batch. Threads share out the
// batch where that occupies them all; else they work together on each row.
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
