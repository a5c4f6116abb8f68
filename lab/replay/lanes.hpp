// SPDX-License-Identifier: MIT
// The spans of a Chrome trace by their lanes, a lane being a thread of a process. A span that lies
// in another one is a part of it: the outermost ones are the pieces. Links are what the trace says
// about which span waits for which. What was handed over from outside of all pieces, or from one
// that went on, came at that moment.
#pragma once

#include "replay/trace.hpp"
#include "replay/trace_file.hpp"

namespace handoff::lab::replay {

class Lanes {
 public:
  explicit Lanes(const TraceFile& file) : file_(file) {}

  // The number of a lane, from what the trace calls it.
  std::uint32_t lane(const std::string& name);

  // These throw UserError with a span's line if it overlaps another one, but does not lie in it.
  void add(std::uint32_t lane, std::uint64_t start_ns, std::uint64_t end_ns, std::size_t line);
  // A span in which the thread waits: no piece, and no work of the piece that it lies in.
  void add_wait(std::uint32_t lane, std::uint64_t start_ns, std::uint64_t end_ns);
  void begin(std::uint32_t lane, std::uint64_t time_ns, std::size_t line, bool waits);
  void end(std::uint32_t lane, std::uint64_t time_ns, std::size_t line);

  // A moment of a lane, for the span that is there then.
  struct Moment {
    std::uint32_t lane;
    std::uint64_t time_ns;
  };
  // An arrow of a name, from where it was last to this one. Later spans may tell where that is.
  void flow_from(const std::string& arrow, Moment from);
  void flow_to(const std::string& arrow, Moment to, bool goes_on);
  // A span's name, and that it waits for the one of a name.
  void name(const std::string& id, Moment span) { ids_.emplace(id, span); }
  void waits_for(const std::string& id, Moment span) { waiting_.emplace_back(id, span); }
  [[nodiscard]] bool has_room_for_links() const {
    return links_.size() + waiting_.size() + flows_.size() + ids_.size() < most_edges;
  }

  // All of it, once the file has ended.
  void finish(Trace& trace);

 private:
  struct Span {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
    std::size_t line;
    std::uint64_t waits_ns = 0;  // of it
    std::uint32_t piece = 0;  // its place in the trace
  };
  struct Open {
    std::uint64_t start_ns;
    std::size_t line;
    bool waits;
  };
  struct Wait {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
  };
  struct Lane {
    std::string name;
    std::vector<Span> spans;  // none overlaps another, in the order of time
    std::vector<Open> open;
    std::vector<Wait> waits;  // the last ones, if what they lie in has not come yet
  };
  struct Link {
    Moment from;
    Moment to;
  };

  [[nodiscard]] const Span* at(Moment moment) const;
  static std::uint64_t take_waits(Lane& lane, std::uint64_t start_ns, std::uint64_t end_ns);
  bool add_edge(Trace& trace, Moment from, Moment to);
  void add_links(Trace& trace);
  void add_notes(Trace& trace) const;

  const TraceFile& file_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<Lane> lanes_;
  std::unordered_map<std::string, Moment> flows_;
  std::vector<Link> links_;
  std::unordered_map<std::string, Moment> ids_;
  std::vector<std::pair<std::string, Moment>> waiting_;
  std::size_t kept_ = 0;
  std::size_t left_out_ = 0;
  std::size_t nested_ = 0;
  std::size_t waits_ = 0;
  std::size_t unended_ = 0;
  std::size_t unbegun_ = 0;
  std::size_t useless_links_ = 0;
};

}  // namespace handoff::lab::replay
