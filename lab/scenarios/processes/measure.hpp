// SPDX-License-Identifier: MIT
// Measures a link between two processes in `processes`. A contender's Link<Message> has
//
//   Link()                         before the fork: what both processes inherit
//   void open(Side side)           after it, in each process; the first one's comes first
//   void meet()                    if there: then in both at once; each may wait for the other
//   void send(make)                calls make(Message&) on a place and sends that; waits for room
//   void receive(take)             waits for a message and calls take(const Message&) on it
//
// both of which either process may do: what one sends the other receives.
#pragma once

#include "peers/threads.hpp"
#include "scenarios/processes/second_process.hpp"

namespace handoff::lab::processes {

struct Task {
  explicit Task(const Parameters& given)
      : metric(given.text("metric")), bytes(given.number("bytes")) {}

  std::string metric;
  std::size_t bytes;
  Answer* output = nullptr;
};

// A contender's own: sends all messages of an operation. The task outlives it.
Operation contender(const Task& task);

// What the second process tells the first one.
struct alignas(peers::kApart) Told {
  std::atomic<std::uint64_t> parts{0};  // done; behind the other words
  std::uint64_t received = 0;
  std::uint64_t wrong = 0;
  std::uint64_t sum = 0;
  std::uint64_t arrived_ns = 0;  // the last message of the part
};
struct Control {
  Told told;
  alignas(peers::kApart) std::atomic<int> opened{0};  // how many processes have opened the link
};

template <template <class> class Link, std::size_t bytes>
class Exchange {
 public:
  explicit Exchange(const Task& task) : task_(task), second_([this] { live(); }) {
    link_.open(Side::first);
    control_->opened.store(1, std::memory_order_release);
    await_opened(2);
    meet();
  }

  void run(Burst& burst) {
    const std::uint64_t first = next_;
    const Figures before = told();
    wrong_ = 0;
    const std::uint64_t count = timed_messages(task_.metric, bytes);
    if (task_.metric == "wake") {
      for (std::uint64_t i = 0; i < count; ++i) wake(burst);
      burst.items(static_cast<double>(count));
    } else {
      start_a_part();
      if (task_.metric == "latency") {
        burst.timed([&] { round_trips(count); });
        await_part();
        burst.items(2.0 * static_cast<double>(count));
      } else {
        send_all(burst, count);
        burst.items(static_cast<double>(count));
      }
    }
    const Figures after = told();
    *task_.output = {first, after.received - before.received, after.wrong - before.wrong + wrong_,
                     after.sum - before.sum};
  }

 private:
  using Sent = Message<bytes>;

  struct Figures {
    std::uint64_t received, wrong, sum;
  };

  // --- The first process. ---

  // The first message of a part is not timed: the other process is awake after it.
  void start_a_part() {
    send(next_);
    if (task_.metric == "latency") receive_answer(next_);
    ++next_;
    await_part();
  }

  // Flattened, as send_all() and live() are: what a way does for a message is inlined in each,
  // however many share a program.
  [[gnu::flatten]] void round_trips(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, ++next_) {
      send(next_);
      receive_answer(next_);
    }
  }

  [[gnu::flatten]] void send_all(Burst& burst, std::uint64_t count) {
    std::uint64_t ns = 0;
    burst.timed([&] {
      const std::uint64_t start = peers::clock_ns();
      for (std::uint64_t i = 0; i < count; ++i, ++next_) send(next_);
      await_part();
      ns = peers::clock_ns() - start;
    });
    burst.figure("gb_per_s", static_cast<double>(count * bytes) / static_cast<double>(ns));
  }

  void wake(Burst& burst) {
    constexpr auto idle = std::chrono::microseconds(300);  // longer than anybody spins
    constexpr int tries = 1000;
    int tried = 0;
    do {
      if (++tried > tries) throw std::runtime_error("the second process does not sleep");
      std::this_thread::sleep_for(idle);
    } while (!second_.sleeps());
    std::uint64_t start = 0;
    burst.timed([&] {
      start = peers::clock_ns();
      send(next_++);
      await_part();
    });
    burst.latencies().record(control_->told.arrived_ns - start);
  }

  void send(std::uint64_t number) {
    link_.send([number](Sent& place) { place.write(number); });
  }
  void receive_answer(std::uint64_t number) {
    link_.receive([&](const Sent& answer) { wrong_ += answer.is(answers | number) ? 0 : 1; });
  }

  void await_part() {
    ++parts_;
    peers::retry([&] { return control_->told.parts.load(std::memory_order_acquire) == parts_; });
  }
  // Between parts.
  Figures told() const {
    return {control_->told.received, control_->told.wrong, control_->told.sum};
  }

  // --- The second process. ---

  [[gnu::flatten]] void live() {
    await_opened(1);
    link_.open(Side::second);
    control_->opened.store(2, std::memory_order_release);
    meet();
    const bool answers_each = task_.metric == "latency";
    const std::uint64_t count = timed_messages(task_.metric, bytes);
    Figures figures{};
    for (std::uint64_t part = 1;; ++part) {
      // A wake is one message. Else the first one of an operation is a part of its own.
      const bool is_one = task_.metric == "wake" || part % 2 == 1;
      for (std::uint64_t i = 0; i < (is_one ? 1 : count); ++i) take(figures, answers_each);
      Told& told = control_->told;
      told.arrived_ns = peers::clock_ns();
      told.received = figures.received;
      told.wrong = figures.wrong;
      told.sum = figures.sum;
      told.parts.store(part, std::memory_order_release);
    }
  }

  void take(Figures& figures, bool answers_it) {
    const std::uint64_t number = figures.received++;
    link_.receive([&](const Sent& message) {
      figures.wrong += message.is(number) ? 0 : 1;
      figures.sum += message.weight();
    });
    if (answers_it) link_.send([number](Sent& place) { place.write(answers | number); });
  }

  // By either.
  void meet() {
    if constexpr (requires { link_.meet(); }) link_.meet();
  }
  void await_opened(int count) const {
    const bool came = peers::retry_for(std::chrono::seconds(10), [&] {
      return control_->opened.load(std::memory_order_acquire) >= count;
    });
    if (!came) throw std::runtime_error("the other process did not open the link");
  }

  const Task& task_;
  Common<Control> control_;
  Link<Sent> link_;
  std::uint64_t next_ = 0;   // the number of the next message
  std::uint64_t parts_ = 0;  // that were awaited
  std::uint64_t wrong_ = 0;  // answers in this operation
  SecondProcess second_;     // last: it has all of the above
};

template <template <class> class Link, std::size_t bytes>
Operation measure_of(const Task& task) {
  const auto exchange = std::make_shared<Exchange<Link, bytes>>(task);
  return [exchange](Burst& burst) { exchange->run(burst); };
}

template <template <class> class Link>
Operation measure(const Task& task) {
  switch (task.bytes) {
    case 8: return measure_of<Link, 8>(task);
    case 64: return measure_of<Link, 64>(task);
    case 4096: return measure_of<Link, 4096>(task);
    default: return measure_of<Link, 1048576>(task);
  }
}

}  // namespace handoff::lab::processes
