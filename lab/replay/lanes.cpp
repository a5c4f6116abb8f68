// SPDX-License-Identifier: MIT
#include "replay/lanes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace handoff::lab::replay {
namespace {

constexpr std::size_t most_lanes = 10'000;
constexpr std::size_t deepest = 10'000;  // spans in spans

}  // namespace

std::uint32_t Lanes::lane(const std::string& name) {
  const auto [found, is_new] = numbers_.emplace(name, static_cast<std::uint32_t>(lanes_.size()));
  if (is_new) lanes_.push_back({name, {}, {}});
  return found->second;
}

void Lanes::add(std::uint32_t lane, std::uint64_t start_ns, std::uint64_t end_ns,
                std::size_t line) {
  if (lanes_.size() > most_lanes) {
    file_.fail_at(line, fmt::format("there are more than {} threads up to here", most_lanes));
  }
  std::vector<Span>& spans = lanes_[lane].spans;
  auto first = std::partition_point(spans.begin(), spans.end(),
                                    [&](const Span& span) { return span.end_ns <= start_ns; });
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
  const Span span{start_ns, end_ns, line};
  const auto inner = static_cast<std::size_t>(last - first);
  if (inner == 0 && kept_ == most_pieces) {
    ++left_out_;
    return;
  }
  nested_ += inner;
  kept_ = kept_ + 1 - inner;
  spans.insert(spans.erase(first, last), span);
}

void Lanes::begin(std::uint32_t lane, std::uint64_t time_ns, std::size_t line) {
  std::vector<Open>& open = lanes_[lane].open;
  if (open.size() == deepest) {
    file_.fail_at(line, fmt::format("more than {} spans have begun and not ended", deepest));
  }
  open.push_back({time_ns, line});
}

void Lanes::end(std::uint32_t lane, std::uint64_t time_ns, std::size_t line) {
  std::vector<Open>& open = lanes_[lane].open;
  if (open.empty()) file_.fail_at(line, "ends a span, and none has begun on its thread");
  const Open span = open.back();
  open.pop_back();
  if (time_ns < span.start_ns) {
    file_.fail_at(line, fmt::format("ends the span of line {} before it starts", span.line));
  }
  if (open.empty()) {
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
  const auto after = std::partition_point(spans.begin(), spans.end(), [&](const Span& span) {
    return span.start_ns <= moment.time_ns;
  });
  if (after == spans.begin() || (after - 1)->end_ns < moment.time_ns) return nullptr;
  return &*(after - 1);
}

// A piece that had begun before the other one ended did not wait for its end.
void Lanes::add_edge(Trace& trace, Moment from, Moment to) {
  const Span* const before = at(from);
  const Span* const after = at(to);
  if (before != nullptr && before == after) return;  // both ends lie in one piece
  if (before == nullptr || after == nullptr || after->start_ns + rounding_ns < before->end_ns) {
    ++useless_links_;
  } else {
    trace.edges.emplace_back(before->piece, after->piece);
  }
}

void Lanes::finish(Trace& trace) {
  std::size_t open = 0;
  for (Lane& lane : lanes_) {
    open += lane.open.size();
    for (Span& span : lane.spans) {
      span.piece = static_cast<std::uint32_t>(trace.pieces.size());
      trace.pieces.push_back({span.start_ns, span.end_ns - span.start_ns, span.line});
    }
  }
  for (const Link& link : links_) add_edge(trace, link.from, link.to);
  for (const auto& [id, span] : waiting_) {
    const auto found = ids_.find(id);
    if (found == ids_.end()) {
      ++useless_links_;
    } else {
      add_edge(trace, found->second, span);
    }
  }
  trace.left_out = left_out_;
  if (nested_ > 0) {
    trace.notes.push_back(fmt::format("{} spans lie in others and are a part of those", nested_));
  }
  if (open > 0) trace.notes.push_back(fmt::format("{} spans never end: they are left out", open));
  if (useless_links_ > 0) {
    trace.notes.push_back(fmt::format(
        "{} arrows or parents are no dependencies: their pieces overlap, or one is missing",
        useless_links_));
  }
}

}  // namespace handoff::lab::replay
