// SPDX-License-Identifier: MIT
//
// A program without exceptions and RTTI that uses the parts which promise to do without them, and
// misuses some: then the handler is called, and the program ends.
#include <all_headers.hpp>   // of the rooms, by CMakeLists.txt

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this is to be built with -fno-exceptions -fno-rtti"
#endif

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

[[noreturn]] void throw_something();  // throwing.cpp

namespace {

using namespace handoff;

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "bare: not so: %s\n", what);
  ++failures;
}

// How a child process ended, and what it wrote to standard error.
struct End {
  bool terminated = false;  // by std::terminate()
  std::string said;
};

End run_apart(void (*function)()) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const ::pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    function();
    ::_exit(0);
  }
  ::close(ends[1]);
  End end;
  char text[256];
  for (::ssize_t got = 0; (got = ::read(ends[0], text, sizeof text)) > 0;) {
    end.said.append(text, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  end.terminated = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return end;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

template <class Ring>
void push_and_pop(Ring& ring, const char* name) {
  int item = 0;
  expect(ring.try_push(7) == Status::ok && ring.try_pop(item) == Status::ok && item == 7, name);
}

void rings() {
  SpscRing<int> spsc(2);
  push_and_pop(spsc, "an item through SpscRing");
  MpscRing<int> mpsc(2);
  push_and_pop(mpsc, "an item through MpscRing");
  MpmcRing<int> mpmc(2);
  push_and_pop(mpmc, "an item through MpmcRing");
  SegmentQueue<int> segments;
  push_and_pop(segments, "an item through SegmentQueue");
  StealDeque<int> deque(2);
  int item = 0;
  deque.push(5);
  expect(deque.steal(item) == Status::ok && item == 5, "an item through StealDeque");
}

void channels() {
  Channel<std::unique_ptr<int>> numbers(1);
  Channel<int> others(1);
  std::thread producer([&] {
    for (int i = 1; i <= 100; ++i)
      expect(numbers.push(std::make_unique<int>(i)) == Status::ok, "pushed");
    numbers.close();
    others.close();
  });
  int sum = 0;
  while (select(on_item(numbers, [&](std::unique_ptr<int> number) { sum += *number; }),
                on_item(others, [&](int) {})) == Status::ok) {
  }
  producer.join();
  expect(sum == 5050, "all items through a Channel, by select");
}

void events() {
  EventQueue<int, void(int)> queue;
  int sum = 0;
  const auto handle = queue.append_listener(1, [&](int value) { sum += value; });
  std::thread producer([&] {
    for (int i = 1; i <= 100; ++i) expect(queue.enqueue(1, i) == Status::ok, "enqueued");
    queue.shut();
  });
  while (queue.wait() == Status::ok) queue.drain();
  producer.join();
  expect(sum == 5050, "all events to their listener");
  expect(handle.remove_and_wait(), "removed");
  expect(queue.tally().balanced() && queue.tally().done == 100, "the books are right");

  AnyData<> data(7);
  expect(data.holds<int>() && !data.holds<long>() && data.get<int>() == 7, "a type without RTTI");
  expect(AnyId(1) == AnyId(1) && AnyId(1) != AnyId(1L), "an id without RTTI");

  CallbackList<int(int)> list;
  int calls = 0;
  list.append([&](int more) { return calls += more; });
  list(3);
  expect(calls == 3, "called by its list");
}

void futures() {
  Future<int> number;
  detail::Promise<int> promise(number);
  auto next = std::move(number).then([](int n) { return n + 1; });
  std::thread maker([&] { promise.set_value(6); });
  expect(next.get() == 7, "a result from another thread, and what follows it");
  maker.join();
  Future<int> dropped;
  detail::Promise<int>(dropped).drop(Status::stopped);
  bool ran = false;
  auto behind = std::move(dropped).then([&](int) { ran = true; });
  expect(behind.is_ready() && !ran, "what follows a dropped one does not run");
  std::vector<Future<int>> parts(2);
  detail::Promise<int>(parts[0]).set_value(1);
  detail::Promise<int>(parts[1]).set_value(2);
  int sum = 0;
  for (Future<int>& part : when_all(std::move(parts)).get()) sum += part.get();
  expect(sum == 3, "many as one");
  Future<int> one;
  Future<void> other;
  detail::Promise<int>(one).set_value(1);
  detail::Promise<void>(other).set_value();
  expect(std::get<0>(when_all(std::move(one), std::move(other)).get()) == 1, "of any type");
}

void pools() {
  std::atomic<int> ran{0};
  const auto count = [&ran] { ++ran; };
  ThreadPool pool(2);
  pool.post(count);
  pool.post(count, {.name = "named", .priority = Priority::high});
  expect(pool.try_post(count) == Status::ok, "posted");
  expect(pool.submit([](int a, int b) { return a + b; }, 1, 2).get() == 3, "submitted");
  Future<int> tried;
  expect(pool.try_submit(tried, [] { return 4; }) == Status::ok && tried.get() == 4, "tried");
  expect(submit_std(pool, [] { return 5; }).get() == 5, "as std::future has it");
  std::atomic<bool> ticked{false};
  TimerHandle series = pool.post_every(std::chrono::milliseconds(1), [&] {
    ticked = true;
    ticked.notify_one();
  });
  ticked.wait(false);
  series.cancel_and_wait();
  pool.wait();
  expect(ran == 3, "all tasks");
  const Tally tally = pool.close();
  expect(tally.balanced() && tally.failed == 0, "the books are right");
  expect(pool.try_post(count) == Status::closed, "closed");
}

long fib(ThreadPool& pool, int n) {
  if (n < 2) return n;
  long a = 0;
  TaskGroup group(pool);
  group.run([&] { a = fib(pool, n - 1); });
  const long b = fib(pool, n - 2);
  group.wait();
  return a + b;
}

void groups() {
  ThreadPool pool(2);
  expect(fib(pool, 12) == 144, "divided");
  int ran = 0;
  TaskGroup group(pool, {.shared = true, .on_failure = [] { expect(false, "nothing fails"); }});
  group.run_and_wait([&] { ++ran; });
  std::thread other([&] { group.wait(); });
  other.join();
  group.cancel();
  group.run([&] { ++ran; });
  expect(group.wait(Until()) == Status::stopped && ran == 1, "cancelled");
}

template <class E>
void loop(E& executor) {
  std::vector<int> items(1000, 1);
  parallel_for(executor, 0, 1000, [&](std::size_t i) { items[i] += 1; });
  parallel_for(executor, items, [](int& item) { item += 1; }, {.block = 10});
  expect(parallel_reduce(executor, items, 1, std::identity(), std::plus<>()) == 3001, "reduced");
  std::atomic<std::size_t> sum{0};
  const Tally tally = executor.run(1000, [&](IndexRange range) { sum += range.size(); });
  expect(tally.done == 1000 && sum == 1000, "run");
}

void loops() {
  ThreadPool pool(2);
  loop(pool);
  ThreadTeam team(2);
  loop(team);
}

void log_misuse(const char* what) { std::fprintf(stderr, "misuse: %s\n", what); }

void empty_listener() {
  CallbackList<void()> list;
  list.append(UniqueFunction<void()>());
}

void empty_listener_logged() {
  set_misuse_handler(&log_misuse);
  empty_listener();
}

void too_large_a_ring() {
  set_misuse_handler(&log_misuse);
  const SpscRing<int> ring(std::numeric_limits<std::size_t>::max());
}

void get_of_a_dropped_task() {
  set_misuse_handler(&log_misuse);
  Future<int> dropped;
  detail::Promise<int>(dropped).drop(Status::stopped);
  (void)dropped.get();
}

void wait_inside_a_task() {
  set_misuse_handler(&log_misuse);
  ThreadPool pool(1);
  pool.post([&] { pool.wait(); });
  pool.wait();
}

void post_to_a_closed_pool() {
  set_misuse_handler(&log_misuse);
  ThreadPool pool(1);
  (void)pool.close();
  pool.post([] {});
}

void thrown_through_a_task() {
  set_misuse_handler(&log_misuse);
  ThreadPool pool(1);
  pool.post([] { throw_something(); });
  pool.wait();
}

void thrown_through_a_submitted_one() {
  set_misuse_handler(&log_misuse);
  ThreadPool pool(1);
  pool.submit([] { throw_something(); }).wait();
}

void thrown_through_a_group() {
  set_misuse_handler(&log_misuse);
  ThreadPool pool(1);
  TaskGroup group(pool);
  group.run([] { throw_something(); });
  group.wait();
}

void thrown_through_a_block() {
  set_misuse_handler(&log_misuse);
  ThreadTeam team(1);
  team.run(1, [](IndexRange) { throw_something(); });
}

void exceptions() {
  const End inside = run_apart(&wait_inside_a_task);
  expect(inside.terminated && contains(inside.said, "misuse: ThreadPool: wait() inside"),
         "a wait in a task ends the program");
  const End closed = run_apart(&post_to_a_closed_pool);
  expect(closed.terminated && contains(closed.said, "misuse: the task did not run: "),
         "so does a post to a closed pool");
  for (const auto thrown : {&thrown_through_a_task, &thrown_through_a_submitted_one,
                            &thrown_through_a_group, &thrown_through_a_block}) {
    const End end = run_apart(thrown);
    expect(end.terminated &&
               contains(end.said,
                        "misuse: an exception came to code that is compiled without them: planned"),
           "so does what is thrown through it");
  }
}

void misuses() {
  const End alone = run_apart(&empty_listener);
  expect(alone.terminated && !contains(alone.said, "misuse: "),
         "an empty listener ends the program");
  const End told = run_apart(&empty_listener_logged);
  expect(told.terminated && contains(told.said, "misuse: an empty function was added"),
         "an empty listener reaches the handler first");
  const End large = run_apart(&too_large_a_ring);
  expect(large.terminated && contains(large.said, "misuse: a ring has between 1 and"),
         "so does a ring without bounds");
  const End none = run_apart(&get_of_a_dropped_task);
  expect(none.terminated && contains(none.said, "misuse: the task did not run"),
         "so does the result of a task that was dropped");
  expect(!run_apart([] {}).terminated, "a program that does nothing wrong goes on");
}

}  // namespace

int main() {
  rings();
  channels();
  events();
  futures();
  pools();
  groups();
  loops();
  misuses();
  exceptions();
  return failures == 0 ? 0 : 1;
}
