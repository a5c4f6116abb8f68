// SPDX-License-Identifier: MIT
//
// Sensor -> filter -> logger: three threads, two buses, ended by Ctrl-C (SIGINT). Nothing that was
// accepted is lost: each stage ends when its bus is shut and empty, and then shuts the next one.
// The Tally of each bus says what became of its messages.
//
//   06_messages 0         goes on until Ctrl-C
//   06_messages 10000     interrupts itself after so many readings; 12345 if nothing is said
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <handoff/bus/message_bus.hpp>

namespace {

struct Reading {
  std::uint64_t number = 0;
  double celsius = 0;
};
struct Average {
  std::uint64_t last = 0;
  double celsius = 0;
};
struct Alarm {
  std::uint64_t number = 0;
};

using Readings = handoff::MessageBus<Reading>;
using Log = handoff::MessageBus<Average, Alarm>;

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a signal handler may set it
void interrupt(int /*signal*/) { interrupted = true; }

// Until Ctrl-C; how many it has published.
std::uint64_t sense(Readings& readings, std::uint64_t interrupt_after) {
  std::uint64_t number = 0;
  for (; !interrupted; ++number) {
    const double celsius = 20 + static_cast<double>(number % 100) / 10;
    if (readings.publish(Reading{number, celsius}) != handoff::Status::ok) break;
    if (number + 1 == interrupt_after) std::raise(SIGINT);
  }
  readings.shut();
  return number;
}

// One average for a hundred readings; an alarm for each that is hot, for which places are kept.
void filter(Readings& readings, Log& log) {
  double sum = 0;
  std::uint64_t count = 0;
  const auto on_reading = [&](const Reading& reading) {
    if (reading.celsius > 29.85) {
      (void)log.publish(Alarm{reading.number}, handoff::Admission::urgent);
    }
    sum += reading.celsius;
    if (++count % 100 != 0) return;
    (void)log.publish(Average{reading.number, sum / 100});
    sum = 0;
  };
  while (readings.wait() == handoff::Status::ok) readings.drain(on_reading);
  log.shut();
}

struct Logged {
  std::uint64_t averages = 0;
  std::uint64_t alarms = 0;
};
Logged keep_log(Log& log) {
  Logged logged;
  const auto average = log.subscribe<Average>([&](const Average&) { ++logged.averages; });
  const auto alarm = log.subscribe<Alarm>([&](const Alarm&) { ++logged.alarms; });
  while (log.wait() == handoff::Status::ok) log.drain();
  return logged;
}

void print(const char* bus, const handoff::Tally& tally) {
  std::printf("%s: %llu accepted, %llu done, %llu pending\n", bus,
              static_cast<unsigned long long>(tally.accepted),
              static_cast<unsigned long long>(tally.done),
              static_cast<unsigned long long>(tally.pending));
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGINT, interrupt);
  const std::uint64_t interrupt_after =
      count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 12'345;

  // The sensor goes on even if the filter is behind: what is too much waits, no reading is dropped.
  Readings readings({.capacity = 256, .on_full = handoff::OnFull::wait});
  Log log({.capacity = 64, .on_full = handoff::OnFull::wait, .reserve = {.urgent = 25}});
  std::uint64_t sensed = 0;
  Logged logged;
  std::thread sensor([&] { sensed = sense(readings, interrupt_after); });
  std::thread middle([&] { filter(readings, log); });
  logged = keep_log(log);
  sensor.join();
  middle.join();

  print("readings", readings.tally());
  print("log", log.tally());
  const bool whole = readings.tally().done == sensed &&
                     log.tally().done == logged.averages + logged.alarms &&
                     logged.averages == sensed / 100 && logged.alarms == sensed / 100;
  return whole ? 0 : 1;
}
