// SPDX-License-Identifier: MIT
// What can be replayed of the JSON of Chrome's tracing. Spans are events of the phase X, or pairs
// of B and E; the outermost ones of a thread are the pieces, without what this library's recorder
// says of its waits. Arrows (phases s, t, f) and the arguments `id` and `parent` say which piece
// waits for which.
#include "replay/chrome_events.hpp"
#include "replay/lanes.hpp"
#include "replay/read_trace.hpp"
#include "replay/slice_kind.hpp"

namespace handoff::lab::replay {
namespace {

class Pieces final : public ChromeSink {
 public:
  Pieces(const TraceFile& file, Trace& trace) : file_(file), trace_(trace), lanes_(file) {}

  void event(const ChromeEvent& event) override {
    const char phase = event.phase();
    trace_.bytes += bytes_of(event, phase);
    if (phase == 0 || std::string_view("XBEstf").find(phase) == std::string_view::npos) return;
    if (!event.time_ns) {
      file_.fail_at(event.line, fmt::format("an event of phase {} has no ts", phase));
    }
    const std::uint64_t time = *event.time_ns;
    const std::uint32_t lane = lane_of(event);
    const std::string_view category = event.at(Field::category);
    const bool waits = is_wait(kind_of(category, event.at(Field::name)));
    if (phase == 'X') {
      if (!event.duration_ns) file_.fail_at(event.line, "an event of phase X has no dur");
      if (holds_an_arrow(category)) return;
      const std::uint64_t end = time + *event.duration_ns;
      waits ? lanes_.add_wait(lane, time, end) : lanes_.add(lane, time, end, event.line);
    } else if (phase == 'B') {
      lanes_.begin(lane, time, event.line, waits);
    } else if (phase == 'E') {
      lanes_.end(lane, time, event.line);
    } else {
      add_flow(event, phase, {lane, time});
    }
    if ((phase == 'X' || phase == 'B') && !waits && lanes_.has_room_for_links()) {
      const std::string_view id = event.at(Field::span_id);
      const std::string_view parent = event.at(Field::parent);
      if (!id.empty()) lanes_.name(std::string(id), {lane, time});
      if (!parent.empty()) lanes_.waits_for(std::string(parent), {lane, time});
    }
  }

  void finish() { lanes_.finish(trace_); }

 private:
  [[nodiscard]] std::uint64_t bytes_of(const ChromeEvent& event, char phase) const {
    const std::string_view text = event.at(Field::bytes);
    if (text.empty()) return 0;
    try {
      const std::uint64_t bytes = whole_number(text, "bytes");
      return phase == 'X' || phase == 'B' ? bytes : 0;
    } catch (const std::string& wrong) {
      file_.fail_at(event.line, wrong);
    }
  }

  // Most events are of the same lane as the one before.
  std::uint32_t lane_of(const ChromeEvent& event) {
    const std::string_view process = event.at(Field::process);
    const std::string_view thread = event.at(Field::thread);
    if (!known_ || process != process_ || thread != thread_) {
      process_ = process;
      thread_ = thread;
      lane_ = lanes_.lane(fmt::format("pid {}, tid {}", process, thread));
      known_ = true;
    }
    return lane_;
  }

  void add_flow(const ChromeEvent& event, char phase, Lanes::Moment moment) {
    if (!lanes_.has_room_for_links()) return;
    const std::string arrow = fmt::format("{}\n{}\n{}", event.at(Field::category),
                                          event.at(Field::name), event.at(Field::id));
    if (phase == 's') {
      lanes_.flow_from(arrow, moment);
    } else {
      lanes_.flow_to(arrow, moment, phase == 't');
    }
  }

  const TraceFile& file_;
  Trace& trace_;
  Lanes lanes_;
  std::string process_;  // these four: of the last event
  std::string thread_;
  std::uint32_t lane_ = 0;
  bool known_ = false;
};

}  // namespace

Trace read_chrome_trace(TraceFile& file) {
  Trace trace;
  trace.form = "Chrome trace";
  Pieces pieces(file, trace);
  const ChromeEnding ending = read_chrome_events(file, pieces);
  pieces.finish();
  if (ending.end == ChromeEnd::torn) {
    trace.notes.emplace_back("the file ends in the middle of an event: that one is left out");
  }
  return trace;
}

}  // namespace handoff::lab::replay
