// SPDX-License-Identifier: MIT
// Reads result files, its own and foreign ones. What gets past here has the form that tables, page,
// comparison and exports rely on; keys that nobody here knows are left alone.
#include <nlohmann/json.hpp>

#include "harness/counters.hpp"
#include "harness/foreign_json.hpp"
#include "harness/plain_text.hpp"
#include "harness/user_error.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// What keeps it from being a result file of schema 1.
struct Fault {
  std::string text;
};

// What a value must be, and the test for that.
struct Kind {
  const char* must_be;
  bool (*holds)(const json&);
};

// Texts end up on terminals: what could act there has no place in a result.
bool is_plain_text(const json& value) {
  return value.is_string() && is_plain(value.get_ref<const std::string&>());
}
bool is_number(const json& value) {
  return value.is_number() && can_be_measured(value.get<double>());
}
bool is_figure(const json& value) { return value.is_null() || is_number(value); }

template <bool (*is_one)(const json&)>
bool is_list(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_one);
}
template <bool (*is_one)(const json&)>
bool is_object(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), is_one);
}
template <class Words = std::initializer_list<std::string_view>>
bool is_one_of(const json& value, const Words& words) {
  return value.is_string() &&
         std::find(words.begin(), words.end(), value.get_ref<const std::string&>()) != words.end();
}

bool is_bursts(const json& value) { return is_list<is_number>(value) && !value.empty(); }
bool is_point(const json& value) { return is_list<is_number>(value) && value.size() == 2; }
bool is_parameter(const json& value) { return is_plain_text(value) || is_number(value); }
// Besides figures there may be what only others know.
bool is_no_other_number(const json& value) { return !value.is_number() || is_number(value); }

bool is_layout(const json& value) {
  const auto has = [&](const char* key) {
    return value.contains(key) && value[key].is_number_unsigned();
  };
  return value.is_object() && has("link") && has("stack_shift");
}
bool is_named_way(const json& value) {
  return value.is_object() && value.contains("contender") && is_plain_text(value["contender"]) &&
         value["contender"] != "";
}

constexpr Kind a_text{"a text without control characters", is_plain_text};
constexpr Kind a_figure{"null or a number that can be measured (0, 1e-30 to 1e30)", is_figure};
constexpr Kind a_whole_number{"a whole number",
                              [](const json& v) { return v.is_number_integer(); }};
constexpr Kind some_parameters{"an object of texts and numbers", is_object<is_parameter>};
constexpr Kind usual_numbers{"without other numbers than 1e-30 to 1e30", [](const json& v) {
                               return !v.is_object() || is_object<is_no_other_number>(v);
                             }};
constexpr Kind a_way{"null or an object with \"contender\"",
                     [](const json& v) { return v.is_null() || is_named_way(v); }};

double number_in(const json& value) { return value.is_number() ? value.get<double>() : NAN; }

// An object of a file, read key by key. What is not there, or null, is not known. Throws Fault.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw Fault{where_ + " is no object"};
  }

  // Null where it is not there.
  [[nodiscard]] const json& get(const char* key, const Kind& kind) const {
    static const json none;
    const auto found = object_.find(key);
    if (found == object_.end()) return none;
    if (kind.holds(*found)) return *found;
    throw Fault{fmt::format("{}: \"{}\" is not {}", where_, key, kind.must_be)};
  }
  const json& require(const char* key, const Kind& kind) const {
    if (object_.contains(key)) return get(key, kind);
    throw Fault{fmt::format("{} has no \"{}\"", where_, key)};
  }

  [[nodiscard]] std::string text(const char* key) const {
    return require(key, a_text).get<std::string>();
  }
  [[nodiscard]] std::string text_if_any(const char* key, const Kind& kind = a_text) const {
    return get_or<std::string>(key, kind);
  }
  [[nodiscard]] double figure(const char* key) const { return number_in(get(key, a_figure)); }
  template <class Value>
  [[nodiscard]] Value get_or(const char* key, const Kind& kind, Value otherwise = {}) const {
    const json& value = get(key, kind);
    return value.is_null() ? otherwise : value.get<Value>();
  }
  // The contender that is named there, or none.
  [[nodiscard]] std::string way(const char* key) const {
    const json& way = require(key, a_way);
    return way.is_null() ? "" : way["contender"].get<std::string>();
  }
  [[nodiscard]] ParameterValues parameters() const {
    ParameterValues all;
    for (const auto& [name, value] : require("parameters", some_parameters).items()) {
      all[name] = value.is_string() ? ParameterValue{value.get<std::string>()}
                                    : ParameterValue{value.dump(), true};
    }
    return all;
  }

  // Each of a list of objects, if it is there; of some lists elements may be null.
  template <class Part>
  [[nodiscard]] std::vector<Part> list(const char* key, Part (*read)(const ObjectReader&),
                                       const std::string& path = "") const {
    std::vector<Part> parts;
    const auto found = object_.find(key);
    if (found == object_.end()) return parts;
    if (!found->is_array()) throw Fault{fmt::format("\"{}\" is no list", key)};
    for (std::size_t i = 0; i < found->size(); ++i) {
      if constexpr (requires(Part part) { part.has_value(); }) {
        if ((*found)[i].is_null()) {
          parts.emplace_back();
          continue;
        }
      }
      parts.push_back(read({(*found)[i], fmt::format("{}{}[{}]", path, key, i)}));
    }
    return parts;
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const json& object_;
  std::string where_;
};

PerItem per_item_in(const json& all) {
  PerItem each;
  const auto in = [&](const char* name) { return number_in(all.value(name, json())); };
  if (!all.is_object()) return each;
  for_each_usage(each, [&](const char* name, double& figure) { figure = in(name); });
  for (const CounterKind& kind : counter_kinds) each.counters[kind.name] = in(kind.name);
  return each;
}

std::optional<Latency> latency_in(const json& latency) {
  if (latency.is_null()) return {};
  const json count = latency.value("count", json());
  return Latency{count.is_number_unsigned() ? count.get<std::uint64_t>() : 0,
                 latency.at("percentiles").get<Points>()};
}

// Each has both a median and launches, or neither.
Row read_row(const ObjectReader& in) {
  Row row;
  for_each_text(row, [&](const char* name, std::string& text) { text = in.text(name); });
  for_each_figure(row, [&](const char* name, double& figure) { figure = in.figure(name); });
  in.require("kind", {"own, seed, peer or limit", [](const json& v) {
                        return is_one_of(v, {"own", "seed", "peer", "limit"});
                      }});
  row.order = in.text_if_any("order", {"fifo, per producer or none", [](const json& v) {
                                         return is_one_of(v, {"fifo", "per producer", "none"});
                                       }});
  row.parameters = in.parameters();
  row.higher_is_better = in.require("better", {"lower or higher", [](const json& v) {
                                                 return is_one_of(v, {"lower", "higher"});
                                               }}) == "higher";
  const auto status =
      in.require("status", {"ok, noisy, uncalibrated, impossible, wrong, failed or unavailable",
                            [](const json& v) { return is_one_of(v, row_status_names); }})
          .get<std::string>();
  row.status = static_cast<RowStatus>(std::ranges::find(row_status_names, status) -
                                      row_status_names.begin());
  row.reason = in.text("reason");
  row.shares = in.get_or<std::vector<double>>("shares", {"a list of numbers", is_list<is_number>});
  if (const json& block = in.get("block", a_whole_number); !block.is_null()) {
    row.block = block.get<std::int64_t>();
  }
  row.launches =
      in.require("launches", {"a list of launches, each a list of numbers", is_list<is_bursts>})
          .get<Launches>();
  for (const json& layout :
       in.get("layouts",
              {"a list of objects with \"link\" and \"stack_shift\"", is_list<is_layout>})) {
    row.layouts.push_back(
        {layout["link"].get<std::size_t>(), layout["stack_shift"].get<std::size_t>()});
  }
  for (const auto& [name, value] :
       in.get("figures", {"an object of numbers", is_object<is_figure>}).items()) {
    row.figures[name] = number_in(value);
  }
  if (const json& phases = in.get("phases", usual_numbers); phases.is_object()) {
    row.start_ns = number_in(phases.value("start_ns", json()));
    row.stop_ns = number_in(phases.value("stop_ns", json()));
  }
  row.per_item = per_item_in(in.get("per_item", usual_numbers));
  row.latency =
      latency_in(in.get("latency", {"null or an object with \"percentiles\"", [](const json& v) {
                                      return v.is_null() || (v.contains("percentiles") &&
                                                             is_list<is_point>(v["percentiles"]));
                                    }}));
  row.curves = in.get_or<std::map<std::string, Points>>(
      "curves", {"an object of lists of points [x, y]", is_object<is_list<is_point>>});
  if (in.require("median", a_figure).is_number() != row.launches.empty()) return row;
  throw Fault{in.where() + " must have both a median and launches, or neither"};
}

ArticleRow read_article_row(const ObjectReader& in) {
  const Kind above_0{"a number above 0",
                     [](const json& v) { return is_number(v) && v.get<double>() > 0; }};
  return {in.text("scheme"),     in.require("milliseconds", above_0).get<double>(),
          in.text("note"),       in.text("contender"),
          in.text_if_any("why"), in.text_if_any("metric")};
}

ArticleTable read_article(const ObjectReader& in) {
  ArticleTable article{in.text("scenario"),
                       in.text("title"),
                       in.text_if_any("metric"),
                       in.parameters(),
                       in.figure("metric_ms"),
                       in.figure("items"),
                       {}};
  in.require("rows", {"a list", [](const json& v) { return v.is_array(); }});
  article.rows = in.list("rows", read_article_row, in.where() + '.');
  return article;
}

// Of its figures none is read: they are in the rows. Files of 0.2 and before name the best peer,
// and beside it those that people ask for.
RungChoice read_rung(const ObjectReader& in) {
  RungChoice rung{in.text("name"), in.text("scenario"), in.text("metric"),
                  in.parameters(), in.way("own"),       {},
                  in.way("today"), in.way("limit")};
  std::vector<std::string> peers{in.way("peer")};
  for (const json& way :
       in.require("named", {"a list of objects with \"contender\"", is_list<is_named_way>})) {
    peers.push_back(way["contender"].get<std::string>());
  }
  const json& listed = in.get("peers", {"a list of texts", is_list<is_plain_text>});
  if (listed.is_array()) {
    rung.peers = listed.get<std::vector<std::string>>();
    return rung;
  }
  for (const std::string& name : peers) {
    const bool is_new = !contains(rung.peers, name);
    if (is_new && name.starts_with("peer.")) rung.peers.push_back(name);
  }
  return rung;
}

std::optional<BlockReport> read_block(const ObjectReader& in) {
  const auto or_none = [&](const char* key) {
    const double figure = in.figure(key);
    return std::isnan(figure) ? 0 : figure;
  };
  BlockReport block;
  block.repeats = in.get_or<int>("repeats", a_whole_number);
  block.seen.foreign_cpus = or_none("foreign_cpus");
  const double kernel = in.figure("kernel_cpus");
  if (!std::isnan(kernel)) block.seen.kernel_cpus = kernel;
  block.seen.stolen_cpus = or_none("stolen_cpus");
  block.seen.throttled = or_none("throttled");
  block.seen.reason =
      in.text_if_any("disturbed", {"null or a text without control characters",
                                   [](const json& v) { return v.is_null() || is_plain_text(v); }});
  return block;
}

Result result_in(const json& file) {
  if (!file.is_object() || !file.contains("schema")) throw Fault{"it has no \"schema\""};
  if (const json& schema = file["schema"]; schema != 1) {
    throw Fault{fmt::format("it has schema {}: use the handoff that wrote it",
                            schema.is_number() ? schema.dump() : "no number")};
  }
  const json environment = file.value("environment", json::object());
  if (!environment.is_object()) throw Fault{"it has no \"environment\""};
  if (!file.contains("rows") || !file["rows"].is_array()) throw Fault{"it has no \"rows\""};
  const ObjectReader in(file, "it");
  Result result;
  result.environment = Environment(environment);
  result.rows = in.list("rows", read_row);
  result.rungs = in.list("rungs", read_rung);
  result.blocks = in.list("blocks", read_block);
  const json interrupted = file.value("interrupted", json(false));
  if (!interrupted.is_boolean()) throw Fault{"\"interrupted\" is neither true nor false"};
  result.interrupted = interrupted.get<bool>();
  result.articles = in.list("articles", read_article);
  // Names of parameters and of figures, the facts of the environment, what only others know.
  if (const std::string where = where_not_plain(file, ""); !where.empty()) {
    throw Fault{where + " has control characters"};
  }
  mark_impossible(result.rows);
  return result;
}

}  // namespace

Result read_result(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw UserError("{}: not a schema-1 result file: {}", path.string(), why);
  };
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    throw UserError("{}: cannot be read: {}", path.string(), file ? "a folder" : strerror(errno));
  }
  // Parsed it takes five times as much memory; a full run of everything has a tenth.
  constexpr std::uintmax_t most_bytes = 64 << 20;
  std::error_code unknown;  // of a pipe
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  if (!unknown && bytes > most_bytes) {
    refuse(fmt::format("it has {} MB, more than {}", bytes >> 20, most_bytes >> 20));
  }
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty()) refuse("an empty file");
  Result result;
  try {
    result = result_in(parse_foreign(text));
  } catch (const ForeignJsonError& error) {
    refuse(error.what());
  } catch (const Fault& fault) {
    refuse(fault.text);
  }
  result.text = std::move(text);
  return result;
}

}  // namespace handoff::lab
