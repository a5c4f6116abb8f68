// SPDX-License-Identifier: MIT
#include "replay/lanes.hpp"

namespace handoff::lab::replay {
namespace {

constexpr std::size_t most_lanes = 10'000;
constexpr std::size_t deepest = 10'000;  // spans in spans

}  // namespace

std::uint32_t Lanes::lane(const std::string& name) {
  const auto [found, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.push_back({name, {}, {}, {}});
  return found->second;
}

void Lanes::add(std::uint32_t lane, std::uint64_t start_ns, std::uint64_t end_ns,
                std::size_t line) {
  if (lanes_.size() > most_lanes) {
    file_.fail_at(line, fmt::format("there are more than {} threads up to here", most_lanes));
  }
  std::vector<Span>& spans = lanes_[lane].spans;
  auto first = std::ranges::partition_point(
      spans, [&](const Span& span) { return span.end_ns <= start_ns; });
  auto last = first;
  for (; last != spans.end() && last->start_ns < end_ns; ++last) {
    const Span& other = *last;
    if (other.start_ns <= start_ns + rounding_ns && end_ns <= other.end_ns + rounding_ns) {
      ++nested_;
      return;
    }
    const bool inside =
        start_ns <= other.start_ns + rounding_ns && other.end_ns <= end_ns + rounding_ns;
    const std::uint64_t both = std::min(end_ns, other.end_ns) - std::max(start_ns, other.start_ns);
    if (inside) continue;
    if (both > rounding_ns) {
      file_.fail_at(line, fmt::format("overlaps the span of line {} on the same thread ({}), and "
                                      "neither lies in the other",
                                      other.line, shown(lanes_[lane].name)));
    }
    if (other.start_ns >= start_ns) break;
    first = last + 1;  // it only touches
  }
  Span span{start_ns, end_ns, line, take_waits(lanes_[lane], start_ns, end_ns)};
  for (auto it = first; it != last; ++it) span.waits_ns += it->waits_ns;
  const auto inner = static_cast<std::size_t>(last - first);
  if (inner == 0 && kept_ == most_pieces) {
    ++left_out_;
    return;
  }
  nested_ += inner;
  kept_ = kept_ + 1 - inner;
  spans.insert(spans.erase(first, last), span);
}

// Where the traces' order is that of the ends, a wait comes before what it lies in.
void Lanes::add_wait(std::uint32_t lane, std::uint64_t start_ns, std::uint64_t end_ns) {
  ++waits_;
  std::vector<Span>& spans = lanes_[lane].spans;
  const auto after = std::ranges::partition_point(
      spans, [&](const Span& span) { return span.start_ns <= start_ns; });
  if (after != spans.begin() && end_ns <= (after - 1)->end_ns) {
    (after - 1)->waits_ns += end_ns - start_ns;
    return;
  }
  std::vector<Wait>& waits = lanes_[lane].waits;
  if (waits.size() == most_pieces) waits.clear();  // all this time in no piece
  waits.push_back({start_ns, end_ns});
}

// Of those that lie in a piece; earlier ones lie in none.
std::uint64_t Lanes::take_waits(Lane& lane, std::uint64_t start_ns, std::uint64_t end_ns) {
  std::uint64_t sum = 0;
  std::erase_if(lane.waits, [&](const Wait& wait) {
    const bool inside = start_ns <= wait.start_ns && wait.end_ns <= end_ns;
    if (inside) sum += wait.end_ns - wait.start_ns;
    return inside || wait.end_ns <= start_ns;
  });
  return sum;
}

void Lanes::begin(std::uint32_t lane, std::uint64_t time_ns, std::size_t line, bool waits) {
  std::vector<Open>& open = lanes_[lane].open;
  if (open.size() == deepest) {
    file_.fail_at(line, fmt::format("more than {} spans have begun and not ended", deepest));
  }
  open.push_back({time_ns, line, waits});
}

void Lanes::end(std::uint32_t lane, std::uint64_t time_ns, std::size_t line) {
  std::vector<Open>& open = lanes_[lane].open;
  if (open.empty()) {
    ++unbegun_;
    return;
  }
  const Open span = open.back();
  open.pop_back();
  if (time_ns < span.start_ns) {
    file_.fail_at(line, fmt::format("ends the span of line {} before it starts", span.line));
  }
  if (span.waits) {
    add_wait(lane, span.start_ns, time_ns);
  } else if (std::ranges::all_of(open, [](const Open& one) { return one.waits; })) {
    add(lane, span.start_ns, time_ns, span.line);
  } else {
    ++nested_;
  }
}

void Lanes::flow_from(const std::string& arrow, Moment from) {
  flows_.insert_or_assign(arrow, from);
}

void Lanes::flow_to(const std::string& arrow, Moment to, bool goes_on) {
  const auto found = flows_.find(arrow);
  if (found == flows_.end()) {
    ++useless_links_;
    return;
  }
  links_.push_back({found->second, to});
  if (goes_on) {
    found->second = to;
  } else {
    flows_.erase(found);
  }
}

const Lanes::Span* Lanes::at(Moment moment) const {
  const std::vector<Span>& spans = lanes_[moment.lane].spans;
  const auto after = std::ranges::partition_point(
      spans, [&](const Span& span) { return span.start_ns <= moment.time_ns; });
  if (after == spans.begin() || (after - 1)->end_ns < moment.time_ns) return nullptr;
  return &*(after - 1);
}

// False if it is none: a piece that had begun before the other one ended did not wait for its end.
bool Lanes::add_edge(Trace& trace, Moment from, Moment to) {
  const Span* const before = at(from);
  const Span* const after = at(to);
  if (before != nullptr && before == after) return true;  // both ends lie in one piece
  if (before == nullptr || after == nullptr) return false;
  if (after->start_ns + rounding_ns < before->end_ns) return false;
  trace.edges.emplace_back(before->piece, after->piece);
  return true;
}

void Lanes::add_links(Trace& trace) {
  for (const auto& [id, span] : waiting_) {
    const auto found = ids_.find(id);
    if (found == ids_.end() || !add_edge(trace, found->second, span)) ++useless_links_;
  }
  std::vector<Link> arrivals;
  for (const Link& link : links_) {
    if (add_edge(trace, link.from, link.to)) continue;
    const Span* const after = at(link.to);
    if (after == nullptr || after->start_ns + rounding_ns < link.to.time_ns) {
      ++useless_links_;
    } else {
      arrivals.push_back(link);
    }
  }
  std::vector<bool> waits(trace.pieces.size());
  for (const auto& [before, after] : trace.edges) waits[after] = true;
  for (const Link& link : arrivals) {
    Piece& piece = trace.pieces[at(link.to)->piece];
    if (waits[at(link.to)->piece]) continue;
    piece.start_ns = std::min(piece.start_ns, link.from.time_ns);
  }
}

void Lanes::finish(Trace& trace) {
  for (Lane& lane : lanes_) {
    unended_ += lane.open.size();
    for (Span& span : lane.spans) {
      span.piece = static_cast<std::uint32_t>(trace.pieces.size());
      const std::uint64_t whole = span.end_ns - span.start_ns;
      trace.pieces.push_back({span.start_ns, whole - std::min(whole, span.waits_ns), span.line});
    }
  }
  add_links(trace);
  trace.left_out = left_out_;
  add_notes(trace);
}

void Lanes::add_notes(Trace& trace) const {
  const auto note = [&](std::size_t count, const char* what) {
    if (count > 0) trace.notes.push_back(fmt::format("{} {}", count, what));
  };
  note(waits_, "waits of its threads are not replayed");
  note(nested_, "spans lie inside others and belong to them");
  note(unended_, "spans have no end: they are left out");
  note(unbegun_, "spans have no beginning: they are left out");
  note(useless_links_, "arrows or parents are ignored: their pieces overlap, or one is missing");
}

}  // namespace handoff::lab::replay
