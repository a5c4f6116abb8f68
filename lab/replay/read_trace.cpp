// SPDX-License-Identifier: MIT
#include "replay/read_trace.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab::replay {
namespace {

// The pieces in the order of their starts, from time 0 on, and the edges with them.
void sort(Trace& trace) {
  std::vector<std::uint32_t> order(trace.pieces.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return trace.pieces[a].start_ns < trace.pieces[b].start_ns;
  });
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> place(order.size());
  const std::uint64_t first = trace.pieces[order.front()].start_ns;
  for (const std::uint32_t old : order) {
    place[old] = static_cast<std::uint32_t>(pieces.size());
    pieces.push_back(trace.pieces[old]);
    pieces.back().start_ns -= first;
  }
  trace.pieces = std::move(pieces);
  for (auto& [before, after] : trace.edges) {
    before = place[before];
    after = place[after];
  }
  std::ranges::sort(trace.edges);
  trace.edges.erase(std::ranges::unique(trace.edges).begin(), trace.edges.end());
}

// The place of a piece that waits for itself; nothing if there is none.
std::size_t find_cycle(const Trace& trace) {
  std::vector<std::uint32_t> waits(trace.pieces.size());
  for (const auto& [before, after] : trace.edges) ++waits[after];
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < waits.size(); ++i) {
    if (waits[i] == 0) free.push_back(i);
  }
  for (std::size_t done = 0; done < free.size(); ++done) {
    auto edge = std::ranges::lower_bound(trace.edges, Edge{free[done], 0});
    for (; edge != trace.edges.end() && edge->first == free[done]; ++edge) {
      if (--waits[edge->second] == 0) free.push_back(edge->second);
    }
  }
  // What is left is in a cycle or after one. From any of it backwards one comes into a cycle.
  if (free.size() == waits.size()) return waits.size();
  std::vector<std::uint32_t> before(waits.size());
  std::uint32_t at = 0;
  for (const auto& [from, to] : trace.edges) {
    if (waits[from] == 0 || waits[to] == 0) continue;
    before[to] = from;
    at = to;
  }
  for (std::size_t step = 0; step < waits.size(); ++step) at = before[at];
  return at;
}

void check(const Trace& trace, const TraceFile& file) {
  const std::size_t in_cycle = find_cycle(trace);
  if (in_cycle < trace.pieces.size()) {
    file.fail_at(trace.pieces[in_cycle].line, "waits for itself through its parents");
  }
  if (!trace.has_starts) return;
  for (const auto& [before, after] : trace.edges) {
    const Piece& parent = trace.pieces[before];
    const Piece& piece = trace.pieces[after];
    if (piece.start_ns + rounding_ns >= parent.end_ns()) continue;
    file.fail_at(piece.line,
                 fmt::format("starts before its parent in line {} has ended", parent.line));
  }
}

}  // namespace

Trace read_trace(const std::filesystem::path& path, Tick tick) {
  TraceFile file(path, std::move(tick));
  std::string_view begin = file.peek();
  if (begin.starts_with("\xef\xbb\xbf")) begin.remove_prefix(3);
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    throw UserError("{} is empty: there is nothing to replay", path.string());
  }
  const bool json = begin[first] == '{' || begin[first] == '[';
  Trace trace = begin.starts_with("# ninja log") ? read_ninja_log(file)
                : json                           ? read_chrome_trace(file)
                                                 : read_csv(file);
  if (trace.pieces.empty()) {
    throw UserError("{} has no pieces: there is nothing to replay in it", path.string());
  }
  if (std::ranges::all_of(trace.pieces,
                          [](const Piece& piece) { return piece.duration_ns == 0; })) {
    throw UserError("{}: all its pieces last 0, there is nothing to replay", path.string());
  }
  sort(trace);
  check(trace, file);
  return trace;
}

}  // namespace handoff::lab::replay
