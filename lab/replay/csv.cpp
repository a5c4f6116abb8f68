// SPDX-License-Identifier: MIT
// Reads traces as tables. The first line names the columns, in any order: start, duration, kind,
// key, bytes, parent; only the duration must be there. Times are in us, or as _ns, _us, _ms or _s
// behind the name says. Pieces of one key run one after the other, in the order of their starts. A
// parent is the number of another row, that of the first row after the header being 1; several
// stand between spaces or semicolons.
#include "replay/read_trace.hpp"

namespace handoff::lab::replay {
namespace {

enum Column : std::size_t { start, duration, kind, key, bytes, parent, columns };
constexpr std::array<const char*, columns> names{"start", "duration", "kind",
                                                 "key",   "bytes",    "parent"};
constexpr std::size_t most_fields = 256;

std::string_view trimmed(std::string_view text) { return replay::trimmed(text, " \t"); }

// Fields between commas; one in quotes may have commas, and quotes written twice.
void split(std::string_view line, const TraceFile& file, std::vector<std::string>& fields) {
  fields.clear();
  for (bool more = true; more;) {
    std::string& field = fields.emplace_back();
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('"')) {
      std::size_t at = 1;
      for (; at < line.size() && (line[at] != '"' || line.substr(at).starts_with("\"\"")); ++at) {
        field += line[at];
        if (line[at] == '"') ++at;
      }
      if (at >= line.size()) file.fail("a quote is not closed on its line");
      line.remove_prefix(at + 1);
    } else {
      field = trimmed(line.substr(0, line.find(',')));
    }
    const std::size_t comma = line.find(',');
    more = comma != std::string_view::npos;
    if (more) line.remove_prefix(comma + 1);
    if (fields.size() > most_fields) file.fail("has more than 256 fields");
  }
}

struct Header {
  std::array<std::optional<std::size_t>, columns> place;
  std::uint64_t start_unit_ns = 1000;
  std::uint64_t duration_unit_ns = 1000;
  std::size_t fields = 0;
};

std::uint64_t unit_of(std::string& name) {
  constexpr std::array<std::pair<const char*, std::uint64_t>, 4> units{
      {{"_ns", 1}, {"_us", 1000}, {"_ms", 1'000'000}, {"_s", 1'000'000'000}}};
  for (const auto& [suffix, ns] : units) {
    if (!name.ends_with(suffix)) continue;
    name.resize(name.size() - std::string_view(suffix).size());
    return ns;
  }
  return 1000;
}

Header header_of(const std::vector<std::string>& fields, const TraceFile& file) {
  Header header;
  header.fields = fields.size();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string name = fields[i];
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool is_time = name.starts_with("start") || name.starts_with("duration");
    const std::uint64_t unit_ns = is_time ? unit_of(name) : 0;
    const auto* const found = std::ranges::find(names, name);
    if (found == names.end()) {
      file.fail(
          fmt::format("the column '{}' is none of start, duration, kind, key, bytes, parent; "
                      "times may end in _ns, _us, _ms or _s",
                      shown(fields[i])));
    }
    const auto column = static_cast<std::size_t>(found - names.begin());
    if (header.place[column]) file.fail(fmt::format("the column {} stands twice", name));
    header.place[column] = i;
    if (column == start) header.start_unit_ns = unit_ns;
    if (column == duration) header.duration_unit_ns = unit_ns;
  }
  if (!header.place[duration]) file.fail("no column is called duration, such as duration_us");
  return header;
}

class Rows {
 public:
  Rows(TraceFile& file, Trace& trace, const Header& header)
      : file_(file), trace_(trace), header_(header) {}

  void add(const std::vector<std::string>& fields) {
    ++rows_;
    if (fields.size() != header_.fields) {
      file_.fail(fmt::format("has {} fields, the header has {}", fields.size(), header_.fields));
    }
    Piece piece{0, time_ns(field(fields, duration), header_.duration_unit_ns, "duration"),
                file_.line()};
    if (header_.place[start]) {
      piece.start_ns = time_ns(field(fields, start), header_.start_unit_ns, "start");
    }
    const std::string_view size = field(fields, bytes);
    if (!size.empty()) trace_.bytes += whole_number(size, "bytes");
    const bool kept = trace_.pieces.size() < most_pieces;
    add_parents(field(fields, parent), kept);
    if (!kept) {
      ++trace_.left_out;
      return;
    }
    const std::string_view its_key = field(fields, key);
    if (!its_key.empty()) keys_[std::string(its_key)].push_back(index());
    trace_.pieces.push_back(piece);
  }

  void finish() {
    add_edges_of_parents();
    for (auto& [name, pieces] : keys_) add_edges_of(name, pieces);
  }

 private:
  struct Parent {
    std::uint64_t row;
    std::uint32_t piece;
    std::size_t line;
  };

  [[nodiscard]] std::string_view field(const std::vector<std::string>& fields,
                                       Column column) const {
    const auto& place = header_.place[column];
    return place ? std::string_view(fields[*place]) : std::string_view();
  }
  [[nodiscard]] std::uint32_t index() const {
    return static_cast<std::uint32_t>(trace_.pieces.size());
  }

  void add_parents(std::string_view text, bool kept) {
    while (!(text = text.substr(std::min(text.find_first_not_of(" ;"), text.size()))).empty()) {
      const std::string_view one = text.substr(0, text.find_first_of(" ;"));
      text.remove_prefix(one.size());
      const std::uint64_t row = whole_number(one, "parent");
      if (row == 0) file_.fail("parent 0: the first row after the header is 1");
      if (!kept) continue;
      if (parents_.size() == most_edges) {
        file_.fail(fmt::format("there are more than {} parents up to here", most_edges));
      }
      parents_.push_back({row, index(), file_.line()});
    }
  }

  void add_edges_of_parents() {
    std::size_t dropped = 0;
    for (const auto& [row, piece, line] : parents_) {
      if (row > rows_) {
        file_.fail_at(line,
                      fmt::format("its parent {} is not there: there are {} rows", row, rows_));
      }
      if (row > trace_.pieces.size()) {
        ++dropped;
      } else {
        trace_.edges.emplace_back(static_cast<std::uint32_t>(row - 1), piece);
      }
    }
    if (dropped == 0) return;
    trace_.notes.push_back(fmt::format("{} dependencies are on pieces that are left out", dropped));
  }

  void add_edges_of(const std::string& name, std::vector<std::uint32_t>& pieces) {
    std::ranges::stable_sort(pieces, [&](std::uint32_t a, std::uint32_t b) {
      return trace_.pieces[a].start_ns < trace_.pieces[b].start_ns;
    });
    for (const std::uint32_t piece : pieces) trace_.pieces[piece].key = pieces.front() + 1;
    trace_.has_keys = true;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const Piece& before = trace_.pieces[pieces[i - 1]];
      const Piece& piece = trace_.pieces[pieces[i]];
      if (header_.place[start] && piece.start_ns + rounding_ns < before.end_ns()) {
        file_.fail_at(piece.line, fmt::format("overlaps line {}, which has the same key '{}'",
                                              before.line, shown(name)));
      }
      trace_.edges.emplace_back(pieces[i - 1], pieces[i]);
    }
  }

  TraceFile& file_;
  Trace& trace_;
  const Header& header_;
  std::size_t rows_ = 0;
  std::vector<Parent> parents_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> keys_;
};

// The next line that is neither empty nor a comment.
bool next_fields(TraceFile& file, std::vector<std::string>& fields) {
  for (std::string_view line; file.next_line(line);) {
    if (file.line() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    split(line, file, fields);
    return true;
  }
  return false;
}

}  // namespace

Trace read_csv(TraceFile& file) {
  Trace trace;
  trace.form = "CSV";
  std::vector<std::string> fields;
  if (!next_fields(file, fields)) return trace;
  const Header header = header_of(fields, file);
  trace.has_starts = header.place[start].has_value();
  Rows rows(file, trace, header);
  try {
    while (next_fields(file, fields)) rows.add(fields);
  } catch (const std::string& wrong) {
    file.fail(wrong);
  }
  rows.finish();
  return trace;
}

}  // namespace handoff::lab::replay
