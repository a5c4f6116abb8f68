// SPDX-License-Identifier: MIT
// Reads what ninja keeps of its builds: a line for each output, with the times in ms of the command
// that made it. A command with several outputs is one piece. An output that was made again has
// several lines, of which the last one counts; ninja may still write the last line of all, or have
// been killed amid it. Which piece waits for which the log does not say.
#include "replay/read_trace.hpp"

namespace handoff::lab::replay {
namespace {

constexpr std::uint64_t ms = 1'000'000;

void check_version(TraceFile& file) {
  std::string_view head;
  file.next_line(head);
  for (const char* known : {"# ninja log v5", "# ninja log v6", "# ninja log v7"}) {
    if (head == known) return;
  }
  file.fail(fmt::format("'{}': versions 5, 6 and 7 can be read", shown(head)));
}

// Start, end, time of the file, output, hash of the command.
using Fields = std::array<std::string_view, 5>;
constexpr std::ptrdiff_t tabs = 4;  // between them

Fields fields_of(std::string_view line, const TraceFile& file) {
  Fields fields;
  std::size_t count = 0;
  for (;; ++count) {
    const std::size_t tab = line.find('\t');
    if (count < fields.size()) fields[count] = line.substr(0, tab);
    if (tab == std::string_view::npos) break;
    line.remove_prefix(tab + 1);
  }
  if (count + 1 == fields.size()) return fields;
  file.fail(
      fmt::format("has {} fields between tabs, not 5: start, end, time, output, hash", count + 1));
}

Piece piece_of(const Fields& fields, const TraceFile& file) {
  try {
    const std::uint64_t start = time_ns(fields[0], ms, "start");
    const std::uint64_t end = time_ns(fields[1], ms, "end");
    if (end < start) file.fail("ends before it starts");
    return {start, end - start, file.line()};
  } catch (const std::string& wrong) {
    file.fail(wrong);
  }
}

}  // namespace

Trace read_ninja_log(TraceFile& file) {
  struct Made {
    Piece piece;
    std::size_t command;
  };
  check_version(file);
  Trace trace;
  trace.form = "ninja log";
  trace.starts_are_arrivals = false;
  std::unordered_map<std::size_t, Made> made;  // by the hash of the output's name
  for (std::string_view line; file.next_line(line);) {
    if (line.empty()) continue;
    if (!file.line_is_whole() && std::ranges::count(line, '\t') != tabs) {
      trace.notes.emplace_back("the last line is torn: it is left out");
      break;
    }
    const Fields fields = fields_of(line, file);
    const Piece piece = piece_of(fields, file);
    const std::hash<std::string_view> hash;
    const std::size_t output = hash(fields[3]);
    if (made.size() == most_pieces && !made.contains(output)) {
      ++trace.left_out;
    } else {
      made.insert_or_assign(output, Made{piece, hash(fields[4])});
    }
  }
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::size_t>, std::size_t> commands;
  for (const auto& [output, one] : made) {
    const auto [command, is_new] = commands.emplace(
        std::tuple(one.piece.start_ns, one.piece.duration_ns, one.command), one.piece.line);
    if (!is_new) command->second = std::min(command->second, one.piece.line);
  }
  for (const auto& [times, line] : commands) {
    trace.pieces.push_back({std::get<0>(times), std::get<1>(times), line});
  }
  std::ranges::sort(trace.pieces, {}, &Piece::line);
  trace.notes.emplace_back("a ninja log has no dependencies: no piece waits for another one");
  return trace;
}

}  // namespace handoff::lab::replay
