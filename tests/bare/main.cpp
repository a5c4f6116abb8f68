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

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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
  misuses();
  return failures == 0 ? 0 : 1;
}
