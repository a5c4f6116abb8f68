// SPDX-License-Identifier: MIT
// What people write without a library: a std::thread for each member but the caller, joined.
#include <thread>

#include "scenarios/grain/measure.hpp"

namespace handoff::lab::grain {
namespace {

class Threads {
 public:
  explicit Threads(std::size_t width) : width_(width) {}

  template <class Body>
  void loop(std::size_t count, const Body& body) {
    const auto block = [&](std::size_t member) {
      const std::size_t end = count * (member + 1) / width_;
      for (std::size_t i = count * member / width_; i < end; ++i) body(i);
    };
    std::vector<std::thread> others;
    for (std::size_t member = 1; member < width_; ++member) others.emplace_back(block, member);
    block(0);
    for (std::thread& other : others) other.join();
  }

 private:
  std::size_t width_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Threads>(task); }

}  // namespace handoff::lab::grain
