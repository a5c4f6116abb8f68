// SPDX-License-Identifier: MIT
// Reads result files, its own and foreign ones. What gets past here has the form that tables, page,
// comparison and exports rely on; keys that nobody here knows are left alone.
#include "report/json.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/counters.hpp"
#include "harness/foreign_json.hpp"
#include "harness/plain_text.hpp"
#include "harness/reading.hpp"
#include "harness/user_error.hpp"
#include "report/result.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// Texts end up on terminals: what could act there has no place in a result.
bool is_plain_text(const json& value) {
  return value.is_string() && is_plain(value.get_ref<const std::string&>());
}

bool is_number(const json& value) {
  return value.is_number() && can_be_measured(value.get<double>());
}

bool is_figure(const json& value) { return value.is_null() || is_number(value); }

template <class Words = std::initializer_list<std::string_view>>
bool is_one_of(const json& value, const Words& words) {
  return value.is_string() &&
         std::find(words.begin(), words.end(), value.get_ref<const std::string&>()) != words.end();
}

bool is_list_of_numbers(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_number);
}

bool is_launches(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& bursts) {
           return is_list_of_numbers(bursts) && !bursts.empty();
         });
}

bool is_parameters(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), [](const json& one) {
           return is_plain_text(one) || is_number(one);
         });
}

bool is_points(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& point) {
           return is_list_of_numbers(point) && point.size() == 2;
         });
}

bool is_curves(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), is_points);
}

bool is_latency(const json& value) {
  return value.is_null() ||
         (value.is_object() && value.contains("percentiles") && is_points(value["percentiles"]));
}

bool is_layouts(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& layout) {
           return layout.is_object() && layout.contains("link") &&
                  layout["link"].is_number_unsigned() && layout.contains("stack_shift") &&
                  layout["stack_shift"].is_number_unsigned();
         });
}

bool is_figures(const json& value) {
  return value.is_object() && std::all_of(value.begin(), value.end(), is_figure);
}

// Besides figures there may be what only others know.
bool has_no_other_numbers(const json& value) {
  return !value.is_object() || std::all_of(value.begin(), value.end(), [](const json& one) {
    return !one.is_number() || is_number(one);
  });
}

// A key, what its value must be, and the test for that.
struct Rule {
  const char* key;
  bool required;
  const char* must_be;
  bool (*holds)(const json&);
};

constexpr const char* a_text = "a text without control characters";
constexpr const char* a_figure = "null or a number that can be measured (0, 1e-30 to 1e30)";

constexpr std::array row_rules{
    Rule{"kind", true, "own, seed, peer or limit",
         [](const json& v) { return is_one_of(v, {"own", "seed", "peer", "limit"}); }},
    Rule{"order", false, "fifo, per producer or none",
         [](const json& v) { return is_one_of(v, {"fifo", "per producer", "none"}); }},
    Rule{"parameters", true, "an object of texts and numbers", is_parameters},
    Rule{"better", true, "lower or higher",
         [](const json& v) { return is_one_of(v, {"lower", "higher"}); }},
    Rule{"status", true, "ok, noisy, uncalibrated, impossible, wrong, failed or unavailable",
         [](const json& v) { return is_one_of(v, row_status_names); }},
    Rule{"reason", true, a_text, is_plain_text},
    Rule{"median", true, a_figure, is_figure},
    Rule{"shares", false, "a list of numbers", is_list_of_numbers},
    Rule{"block", false, "a whole number", [](const json& v) { return v.is_number_integer(); }},
    Rule{"launches", true, "a list of launches, each a list of numbers", is_launches},
    Rule{"layouts", false, "a list of objects with \"link\" and \"stack_shift\"", is_layouts},
    Rule{"figures", false, "an object of numbers", is_figures},
    Rule{"phases", false, "without other numbers than 1e-30 to 1e30", has_no_other_numbers},
    Rule{"per_item", false, "without other numbers than 1e-30 to 1e30", has_no_other_numbers},
    Rule{"latency", false, "null or an object with \"percentiles\"", is_latency},
    Rule{"curves", false, "an object of lists of points [x, y]", is_curves}};

constexpr std::array article_rules{
    Rule{"scenario", true, a_text, is_plain_text},
    Rule{"title", true, a_text, is_plain_text},
    Rule{"metric", false, a_text, is_plain_text},
    Rule{"parameters", true, "an object of texts and numbers", is_parameters},
    Rule{"metric_ms", false, a_figure, is_figure},
    Rule{"items", false, a_figure, is_figure},
    Rule{"rows", true, "a list", [](const json& v) { return v.is_array(); }}};

constexpr std::array article_row_rules{
    Rule{"scheme", true, a_text, is_plain_text},
    Rule{"milliseconds", true, "a number above 0",
         [](const json& v) { return is_number(v) && v.get<double>() > 0; }},
    Rule{"note", true, a_text, is_plain_text},
    Rule{"why", false, a_text, is_plain_text},
    Rule{"metric", false, a_text, is_plain_text},
    Rule{"contender", true, a_text, is_plain_text}};

bool is_way(const json& value) {
  if (value.is_null()) return true;
  if (!value.is_object() || !value.contains("contender")) return false;
  const json& contender = value.at("contender");
  return is_plain_text(contender) && contender != "";
}

bool is_list_of_ways(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& way) {
           return way.is_object() && is_way(way);
         });
}

bool is_list_of_texts(const json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_plain_text);
}

constexpr const char* a_way = "null or an object with \"contender\"";

// Of its figures none is read: they are in the rows.
constexpr std::array rung_rules{
    Rule{"name", true, a_text, is_plain_text},
    Rule{"scenario", true, a_text, is_plain_text},
    Rule{"metric", true, a_text, is_plain_text},
    Rule{"parameters", true, "an object of texts and numbers", is_parameters},
    Rule{"own", true, a_way, is_way},
    Rule{"peer", true, a_way, is_way},
    Rule{"today", true, a_way, is_way},
    Rule{"limit", true, a_way, is_way},
    Rule{"named", true, "a list of objects with \"contender\"", is_list_of_ways},
    Rule{"peers", false, "a list of texts", is_list_of_texts}};

constexpr std::array block_rules{
    Rule{"repeats", false, "a whole number", [](const json& v) { return v.is_number_integer(); }},
    Rule{"foreign_cpus", false, a_figure, is_figure},
    Rule{"kernel_cpus", false, a_figure, is_figure},
    Rule{"stolen_cpus", false, a_figure, is_figure},
    Rule{"throttled", false, a_figure, is_figure},
    Rule{"disturbed", false, "null or a text without control characters",
         [](const json& v) { return v.is_null() || is_plain_text(v); }}};

std::string fault_of_object(const json& object, std::span<const Rule> rules,
                            const std::string& where) {
  if (!object.is_object()) return where + " is no object";
  for (const Rule& rule : rules) {
    const auto found = object.find(rule.key);
    if (found == object.end() && !rule.required) continue;
    if (found == object.end()) return fmt::format("{} has no \"{}\"", where, rule.key);
    if (!rule.holds(*found)) {
      return fmt::format("{}: \"{}\" is not {}", where, rule.key, rule.must_be);
    }
  }
  return {};
}

// Of a list of objects, of which some may be null.
std::string fault_of_list(const json& object, const char* key, std::span<const Rule> rules,
                          bool may_be_null = false, const std::string& where = "") {
  if (!object.contains(key)) return {};
  const json& list = object.at(key);
  if (!list.is_array()) return fmt::format("\"{}\" is no list", key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (may_be_null && list[i].is_null()) continue;
    auto fault = fault_of_object(list[i], rules, fmt::format("{}{}[{}]", where, key, i));
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string fault_of_articles(const json& result) {
  std::string fault = fault_of_list(result, "articles", article_rules);
  if (!fault.empty() || !result.contains("articles")) return fault;
  const json& articles = result.at("articles");
  for (std::size_t a = 0; a < articles.size() && fault.empty(); ++a) {
    fault = fault_of_list(articles[a], "rows", article_row_rules, false,
                          fmt::format("articles[{}].", a));
  }
  return fault;
}

// Beyond the rules: what each row has under a name of its own.
std::string fault_of_row(const json& row, const std::string& where) {
  std::string fault;
  const auto require = [&](const char* key, const auto& field) {
    const bool text = std::is_same_v<std::decay_t<decltype(field)>, std::string>;
    const Rule rule =
        text ? Rule{key, true, a_text, is_plain_text} : Rule{key, false, a_figure, is_figure};
    if (fault.empty()) fault = fault_of_object(row, {&rule, 1}, where);
  };
  const Row any;
  for_each_text(any, require);
  for_each_figure(any, require);
  if (fault.empty()) fault = fault_of_object(row, row_rules, where);
  if (!fault.empty()) return fault;
  if (row.at("median").is_number() != row.at("launches").empty()) return {};
  return where + " must have both a median and launches, or neither";
}

// What keeps it from being a result file of schema 1, or nothing (an empty text).
std::string fault_of(const json& result) {
  if (!result.is_object() || !result.contains("schema")) {
    return "it has no \"schema\"";
  }
  if (result.at("schema") != 1) {
    return fmt::format("it has schema {}: use the handoff that wrote it",
                       result.at("schema").is_number() ? result.at("schema").dump() : "no number");
  }
  if (result.contains("environment") && !result.at("environment").is_object()) {
    return "it has no \"environment\"";
  }
  if (!result.contains("rows") || !result.at("rows").is_array()) {
    return "it has no \"rows\"";
  }
  const json& rows = result.at("rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (auto fault = fault_of_row(rows[r], fmt::format("rows[{}]", r)); !fault.empty()) {
      return fault;
    }
  }
  if (auto fault = fault_of_list(result, "rungs", rung_rules); !fault.empty()) return fault;
  if (auto fault = fault_of_list(result, "blocks", block_rules, true); !fault.empty()) return fault;
  if (result.contains("interrupted") && !result.at("interrupted").is_boolean()) {
    return "\"interrupted\" is neither true nor false";
  }
  if (auto fault = fault_of_articles(result); !fault.empty()) return fault;
  // Names of parameters and of figures, the facts of the environment, what only others know.
  const std::string where = where_not_plain(result, "");
  return where.empty() ? "" : fmt::format("{} has control characters", where);
}

// What got past the rules, decoded. What is not there, or null, is not known.

double figure_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : NAN;
}

std::string text_in(const json& object, const char* key) {
  return object.contains(key) ? object.at(key).get<std::string>() : std::string();
}

ParameterValues parameters_in(const json& object) {
  ParameterValues parameters;
  for (const auto& [name, value] : object.at("parameters").items()) {
    parameters[name] = value.is_string() ? ParameterValue{value.get<std::string>()}
                                         : ParameterValue{value.dump(), true};
  }
  return parameters;
}

RowStatus status_in(const json& object) {
  const auto name = std::find(row_status_names.begin(), row_status_names.end(),
                              object.at("status").get<std::string>());
  return static_cast<RowStatus>(name - row_status_names.begin());
}

Figures figures_in(const json& object) {
  Figures figures;
  if (!object.contains("figures")) return figures;
  for (const auto& [name, value] : object.at("figures").items()) {
    figures[name] = value.is_number() ? value.get<double>() : NAN;
  }
  return figures;
}

PerItem per_item_in(const json& object) {
  const json all = object.value("per_item", json());
  PerItem each;
  for_each_usage(each, [&](const char* name, double& figure) { figure = figure_in(all, name); });
  for (const CounterKind& kind : counter_kinds) {
    each.counters[kind.name] = figure_in(all, kind.name);
  }
  return each;
}

std::optional<Latency> latency_in(const json& object) {
  const json latency = object.value("latency", json());
  if (latency.is_null()) return {};
  const json count = latency.value("count", json());
  return Latency{count.is_number_unsigned() ? count.get<std::uint64_t>() : 0,
                 latency.at("percentiles").get<Points>()};
}

Row row_in(const json& object) {
  Row row;
  for_each_text(row, [&](const char* name, std::string& text) { text = text_in(object, name); });
  for_each_figure(row, [&](const char* name, double& figure) { figure = figure_in(object, name); });
  row.order = text_in(object, "order");
  row.parameters = parameters_in(object);
  row.higher_is_better = object.at("better") == "higher";
  if (object.contains("block")) row.block = object.at("block").get<std::int64_t>();
  row.status = status_in(object);
  row.reason = text_in(object, "reason");
  row.launches = object.at("launches").get<Launches>();
  row.shares = object.value("shares", std::vector<double>());
  row.figures = figures_in(object);
  row.curves = object.value("curves", std::map<std::string, Points>());
  row.latency = latency_in(object);
  const json phases = object.value("phases", json());
  row.start_ns = figure_in(phases, "start_ns");
  row.stop_ns = figure_in(phases, "stop_ns");
  row.per_item = per_item_in(object);
  for (const json& layout : object.value("layouts", json::array())) {
    row.layouts.push_back(
        {layout.at("link").get<std::size_t>(), layout.at("stack_shift").get<std::size_t>()});
  }
  return row;
}

ArticleTable article_in(const json& object) {
  ArticleTable article{text_in(object, "scenario"),
                       text_in(object, "title"),
                       text_in(object, "metric"),
                       parameters_in(object),
                       figure_in(object, "metric_ms"),
                       figure_in(object, "items"),
                       {}};
  for (const json& row : object.at("rows")) {
    article.rows.push_back({text_in(row, "scheme"), figure_in(row, "milliseconds"),
                            text_in(row, "note"), text_in(row, "contender"), text_in(row, "why"),
                            text_in(row, "metric")});
  }
  return article;
}

std::string contender_in(const json& way) { return way.is_null() ? "" : text_in(way, "contender"); }

// Files of 0.2 and before name the best one, and beside it those that people ask for.
std::vector<std::string> peers_in(const json& rung) {
  if (rung.contains("peers")) return rung.at("peers").get<std::vector<std::string>>();
  std::vector<std::string> peers;
  const auto add = [&](const std::string& name) {
    const bool there = std::find(peers.begin(), peers.end(), name) != peers.end();
    if (!there && name.starts_with("peer.")) peers.push_back(name);
  };
  add(contender_in(rung.at("peer")));
  for (const json& way : rung.at("named")) add(contender_in(way));
  return peers;
}

RungChoice rung_in(const json& object) {
  RungChoice rung;
  rung.name = text_in(object, "name");
  rung.scenario = text_in(object, "scenario");
  rung.metric = text_in(object, "metric");
  rung.parameters = parameters_in(object);
  rung.own = contender_in(object.at("own"));
  rung.peers = peers_in(object);
  rung.today = contender_in(object.at("today"));
  rung.limit = contender_in(object.at("limit"));
  return rung;
}

std::optional<BlockReport> block_in(const json& object) {
  if (object.is_null()) return {};
  const auto or_none = [](double figure) { return std::isnan(figure) ? 0 : figure; };
  BlockReport block;
  block.repeats = object.value("repeats", 0);
  block.seen.foreign_cpus = or_none(figure_in(object, "foreign_cpus"));
  const double kernel = figure_in(object, "kernel_cpus");
  if (!std::isnan(kernel)) block.seen.kernel_cpus = kernel;
  block.seen.stolen_cpus = or_none(figure_in(object, "stolen_cpus"));
  block.seen.throttled = or_none(figure_in(object, "throttled"));
  const json reason = object.value("disturbed", json());
  if (reason.is_string()) block.seen.reason = reason.get<std::string>();
  return block;
}

Result result_in(const json& file) {
  Result result;
  result.environment = Environment(file.value("environment", json::object()));
  for (const json& row : file.at("rows")) result.rows.push_back(row_in(row));
  mark_impossible(result.rows);
  for (const json& article : file.value("articles", json::array())) {
    result.articles.push_back(article_in(article));
  }
  for (const json& rung : file.value("rungs", json::array())) {
    result.rungs.push_back(rung_in(rung));
  }
  for (const json& block : file.value("blocks", json::array())) {
    result.blocks.push_back(block_in(block));
  }
  result.interrupted = file.value("interrupted", false);
  return result;
}

}  // namespace

Result read_result(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("{}: not a schema-1 result file: {}", path.string(), why));
  };
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) {
    throw UserError(
        fmt::format("{}: cannot be read: {}", path.string(), file ? "a folder" : strerror(errno)));
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
  json parsed;
  try {
    parsed = parse_foreign(text);
  } catch (const ForeignJsonError& error) {
    refuse(error.what());
  }
  if (const std::string fault = fault_of(parsed); !fault.empty()) refuse(fault);
  Result result = result_in(parsed);
  result.text = std::move(text);
  return result;
}

}  // namespace handoff::lab
