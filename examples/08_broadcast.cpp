// SPDX-License-Identifier: MIT
//
// One stream of readings that three threads follow: a filter marks what is out of bounds, a logger
// comes after the filter and sees its marks, and a display wants the newest only. The sensor waits
// if the logger is slow, and nothing is lost at the end.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>

namespace {

struct Reading {
  int celsius;
  bool suspicious = false;
};

}  // namespace

int main() {
  using handoff::Status;
  constexpr int readings = 10'000;

  handoff::Broadcast<Reading, handoff::OneProducer> stream(64);
  handoff::Latest<int> newest;
  auto filter = stream.consumer();
  auto logger = stream.consumer({.after = {filter}});

  std::thread filtering([&] {
    const auto mark = [](Reading& reading) { reading.suspicious = reading.celsius > 90; };
    while (filter.wait_and_consume(mark) == Status::ok) {
    }
  });
  std::vector<Reading> log;
  std::thread logging([&] {
    const auto write = [&](const Reading& reading) { log.push_back(reading); };
    while (logger.wait_and_consume(write) == Status::ok) {
    }
  });
  int shown = -1;
  std::thread displaying([&] {
    std::uint64_t seen = 0;
    const auto show = [&](int celsius) { shown = celsius; };
    while (newest.read_newer(seen, show) == Status::ok) {
    }
  });

  for (int i = 0; i < readings; ++i) {
    if (stream.push({.celsius = i % 100}) != Status::ok) return 1;
    if (newest.store(i % 100) != Status::ok) return 1;
  }
  stream.close();
  newest.close();
  filtering.join();
  logging.join();
  displaying.join();

  if (log.size() != readings || shown != (readings - 1) % 100) return 1;
  for (int i = 0; i < readings; ++i) {
    const Reading& reading = log[static_cast<std::size_t>(i)];
    if (reading.celsius != i % 100 || reading.suspicious != (i % 100 > 90)) return 1;
  }
  return 0;
}
