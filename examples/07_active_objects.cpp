// SPDX-License-Identifier: MIT
//
// A sensor, a filter and a logger, each with a thread of its own, until Ctrl-C: what the sensor has
// sent is handled before they end, nothing is lost, and the Tally says so.
//
//   07_active_objects wait      // until Ctrl-C; without the word it interrupts itself
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <stop_token>
#include <thread>

#include <handoff/bus/active_object.hpp>
#include <handoff/core/closing.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>

namespace {

struct Reading {
  std::uint64_t number = 0;
  int value = 0;
};
struct Mean {  // of some readings
  std::uint64_t readings = 0;
  double value = 0;
};

// Writes down what it gets. Only its own thread touches it, so it needs no lock.
struct Logger {
  void operator()(const Mean& mean) {
    readings += mean.readings;
    last = mean.value;
  }
  std::uint64_t readings = 0;
  double last = 0;
};
using LoggerObject = handoff::ActiveObject<Logger, Mean>;

// Passes on the mean of each 100 readings, and what is left at the end.
struct Flush {};
struct Filter {
  void operator()(const Reading& reading) {
    sum += reading.value;
    if (++count == 100) pass_on();
  }
  void operator()(const Flush&) {
    if (count != 0) pass_on();
  }
  void pass_on() {
    const Mean mean{count, static_cast<double>(sum) / static_cast<double>(count)};
    if (logger->publish(mean) != handoff::Status::ok) lost += count;
    sum = 0;
    count = 0;
  }

  LoggerObject* logger;
  std::int64_t sum = 0;
  std::uint64_t count = 0;
  std::uint64_t lost = 0;
};

void print(const char* name, const handoff::Tally& tally) {
  std::printf("%-6s accepted %8llu = done %8llu + failed %llu + cancelled %llu + expired %llu\n",
              name, static_cast<unsigned long long>(tally.accepted),
              static_cast<unsigned long long>(tally.done),
              static_cast<unsigned long long>(tally.failed),
              static_cast<unsigned long long>(tally.cancelled),
              static_cast<unsigned long long>(tally.expired));
}

}  // namespace

int main(int arguments, char**) {
  // Ctrl-C is waited for here and interrupts nobody else: threads inherit what is blocked.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);

  LoggerObject logger({.name = "logger", .capacity = 64});
  handoff::ActiveObject<Filter, Reading, Flush> filter({.name = "filter", .capacity = 1024},
                                                       Filter{&logger});
  std::uint64_t sent = 0;
  std::jthread sensor([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Reading reading{sent, static_cast<int>(sent % 7)};
      if (filter.publish(reading) == handoff::Status::ok) ++sent;
      if (sent == 100'050 && arguments == 1) kill(getpid(), SIGINT);
    }
  });

  int signal = 0;
  sigwait(&interrupt, &signal);
  sensor.request_stop();
  sensor.join();
  if (filter.publish(Flush{}) != handoff::Status::ok) return 1;
  const handoff::Tally filtered = filter.close();  // in the order of the flow
  const handoff::Tally logged = logger.close();
  print("filter", filtered);
  print("logger", logged);
  std::printf("readings: %llu sent, %llu logged\n", static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(logger.state().readings));
  const bool whole = filtered.done == sent + 1 && filtered.balanced() && logged.balanced() &&
                     filter.state().lost == 0 && logger.state().readings == sent;
  return whole ? 0 : 1;
}
