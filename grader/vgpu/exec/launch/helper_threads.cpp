// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/helper_threads.hpp"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace membound::vgpu::exec {
namespace {

class HelperThreads {
 public:
  void share(std::size_t helpers, const std::function<void(std::size_t)>& work) {
    {
      const std::lock_guard lock(mutex_);
      if (work_ == nullptr) {
        for (; threads_ < helpers; ++threads_) std::thread([this] { help(); }).detach();
        work_ = &work;
        wanted_ = helpers;
        begun_ = 0;
      } else {
        helpers = 0;
      }
    }
    if (helpers == 1)
      wake_.notify_one();
    else if (helpers > 1)
      wake_.notify_all();
    work(0);
    if (helpers == 0) return;
    std::unique_lock lock(mutex_);
    wanted_ = 0;
    ended_.wait(lock, [this] { return busy_ == 0; });
    work_ = nullptr;
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return begun_ < wanted_; });
      const std::size_t index = ++begun_;
      const auto* const work = work_;
      ++busy_;
      lock.unlock();
      (*work)(index);
      lock.lock();
      if (--busy_ == 0) ended_.notify_one();
    }
  }

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_, ended_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t threads_ = 0, wanted_ = 0, begun_ = 0, busy_ = 0;
};

// Never destroyed: its threads wait on it until the process ends. A forked child has none of them
// and starts with new ones.
HelperThreads* shared_threads = nullptr;

HelperThreads& helper_threads() {
  static std::once_flag once;
  std::call_once(once, [] {
    shared_threads = new HelperThreads;
    pthread_atfork(nullptr, nullptr, [] { shared_threads = new HelperThreads; });
  });
  return *shared_threads;
}

}  // namespace

void share_work(std::size_t helpers, const std::function<void(std::size_t)>& work) {
  if (helpers == 0)
    work(0);
  else
    helper_threads().share(helpers, work);
}

}  // namespace membound::vgpu::exec
