// SPDX-License-Identifier: MIT
// A shared object as a stranger would write one: it uses what the library has for its own work and
// gives all of it back before it returns.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include <handoff/core/future.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/pool/parallel_for.hpp>
#include <handoff/pool/task_group.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/process/subprocess.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/team/thread_team.hpp>

namespace stranger {

using namespace handoff;

// A type with a name that other objects could have too, unlike a lambda's.
struct Add {
  std::atomic<int>* sum;
  void operator()() const { ++*sum; }
  void operator()(int number) const { *sum += number; }
};

void use_pools(std::atomic<int>& sum) {
  for (const PoolMode mode : {PoolMode::fixed, PoolMode::stealing, PoolMode::cached}) {
    ThreadPool pool({.mode = mode, .width = 2});
    pool.post(Add{&sum});
    sum += pool.submit([] { return 1; }).then([](int one) { return one; }).get();
    Channel<int> rang(1);
    (void)pool.post_after(std::chrono::microseconds(1), [&] { (void)rang.push(1); });
    int number = 0;
    if (rang.pop(number) == Status::ok) Add{&sum}(number);
    TaskGroup group(pool);
    group.run(Add{&sum});
    group.wait();
    parallel_for(pool, 0, 1, [&](std::size_t) { Add{&sum}(); });
    (void)pool.close(Closing::finish);
  }
}

void use_team(std::atomic<int>& sum) {
  ThreadTeam team({.width = 2});
  (void)team.run(2, [&](IndexRange range) {
    for (std::size_t i = range.first; i != range.last; ++i) Add{&sum}();
  });
}

void use_events(std::atomic<int>& sum) {
  EventQueue<int, void(int)> queue;
  queue.append_listener(1, Add{&sum});
  for (int i = 0; i < 5000; ++i) (void)queue.enqueue(1, 0);
  (void)queue.enqueue(1, 1);
  (void)queue.drain();
  CallbackList<void(int)> list;
  const auto handle = list.append(Add{&sum});
  list(1);
  (void)list.remove_and_wait(handle);
  EventDispatcher<int, void(int)> dispatcher;
  dispatcher.append_listener(1, Add{&sum});
  dispatcher.dispatch(1, 1);
}

void use_queues(std::atomic<int>& sum) {
  Channel<int> channel(4);
  std::thread other([&] {
    int number = 0;
    if (channel.pop(number) == Status::ok) Add{&sum}(number);
    use_events(sum);
  });
  (void)channel.push(1);
  other.join();
}

// The thread that starts children ends with the object.
void use_programs(std::atomic<int>& sum) {
  if (Subprocess::start({"true"}).wait().ok()) Add{&sum}();
}

}  // namespace stranger

// 25 where all went well.
extern "C" int use_the_library() {
  std::atomic<int> sum{0};
  stranger::use_pools(sum);   // 3 times 5
  stranger::use_team(sum);    // 2
  stranger::use_events(sum);  // 3
  stranger::use_queues(sum);  // 4
  stranger::use_programs(sum);  // 1
  return sum;
}
