// SPDX-License-Identifier: MIT
#include "replay/load.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab::replay {
namespace {

using Heap =
    std::priority_queue<std::pair<std::uint64_t, std::uint32_t>,
                        std::vector<std::pair<std::uint64_t, std::uint32_t>>, std::greater<>>;

// Begins each piece when it is ready, by one of so many threads; no threads: there are always
// enough. When the last one has ended.
std::uint64_t makespan(const LoadView& load, std::size_t threads) {
  std::vector<std::uint64_t> ready(load.pieces.size());
  std::vector<std::uint32_t> waits(load.pieces.size());
  Heap begins;
  for (std::uint32_t i = 0; i < load.pieces.size(); ++i) {
    ready[i] = load.pieces[i].arrival_ns;
    waits[i] = load.pieces[i].parents;
    if (waits[i] == 0) begins.emplace(ready[i], i);
  }
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> free(
      std::greater<>(), std::vector<std::uint64_t>(threads, 0));
  std::uint64_t last = 0;
  for (; !begins.empty();) {
    const auto [time, piece] = begins.top();
    begins.pop();
    const std::uint64_t begin = threads == 0 ? time : std::max(time, free.top());
    const std::uint64_t end = begin + load.pieces[piece].work_ns;
    if (threads != 0) {
      free.pop();
      free.push(end);
    }
    last = std::max(last, end);
    for (const std::uint32_t child : load.children_of(piece)) {
      ready[child] = std::max(ready[child], end);
      if (--waits[child] == 0) begins.emplace(ready[child], child);
    }
  }
  return last;
}

// Rounded up to two digits, so that people can calculate with it.
double rounded_up(double value) {
  const double digit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::ceil(value / digit) * digit;
}

}  // namespace

Bounds bounds_of(const LoadView& load, std::size_t width) {
  Bounds bounds;
  bounds.critical_path_ns = makespan(load, 0);
  bounds.list_ns = makespan(load, width);
  for (std::size_t i = load.pieces.size(); i-- > 0;) {
    bounds.work_ns += load.pieces[i].work_ns;
    bounds.shared_work_ns =
        std::max(bounds.shared_work_ns, load.pieces[i].arrival_ns + bounds.work_ns / width);
  }
  return bounds;
}

Load::Load(const Trace& trace, const LoadChoice& choice)
    : input_("load", load_bytes({trace.pieces.size(), trace.edges.size()})) {
  for (const Piece& piece : trace.pieces) lines_.push_back(piece.line);
  fill(trace, choice.keeps_arrivals);
  bounds_ = bounds_of(view(), choice.width);
  const double usual = static_cast<double>(bounds_.list_ns) / usual_ns;
  speed_ = choice.speed.value_or(usual > 1 ? rounded_up(usual) : 1);
  const double takes_s = static_cast<double>(bounds_.list_ns) / 1e9 / speed_;
  if (takes_s > longest_ns / 1e9) {
    throw UserError(
        "--speed {}: one replay would take {:.0f} s, more than the limit of {:.0f} s; take {:.2g} "
        "or more",
        speed_, takes_s, longest_ns / 1e9, rounded_up(takes_s * speed_ / (longest_ns / 1e9)));
  }
  fill(trace, choice.keeps_arrivals);
  bounds_ = bounds_of(view(), choice.width);
  input_.seal();
}

void Load::fill(const Trace& trace, bool keeps_arrivals) {
  const LoadHead head{trace.pieces.size(), trace.edges.size()};
  std::vector<LoadPiece> pieces(head.pieces);
  std::vector<std::uint32_t> children;
  const auto scaled = [this](std::uint64_t ns) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(ns) / speed_));
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = trace.pieces[i];
    pieces[i].arrival_ns = keeps_arrivals ? scaled(piece.start_ns) : 0;
    pieces[i].work_ns = scaled(piece.duration_ns);
    pieces[i].key = piece.key;
  }
  for (const auto& [before, after] : trace.edges) {  // sorted
    if (pieces[before].children++ == 0) {
      pieces[before].first_child = static_cast<std::uint32_t>(children.size());
    }
    children.push_back(after);
    ++pieces[after].parents;
  }
  std::byte* const bytes = input_.bytes().data();
  std::memcpy(bytes, &head, sizeof head);
  std::memcpy(bytes + sizeof head, pieces.data(), pieces.size() * sizeof(LoadPiece));
  if (children.empty()) return;
  std::memcpy(bytes + sizeof head + pieces.size() * sizeof(LoadPiece), children.data(),
              children.size() * sizeof(std::uint32_t));
}

}  // namespace handoff::lab::replay
