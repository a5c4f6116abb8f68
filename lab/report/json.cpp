// SPDX-License-Identifier: MIT
#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include "harness/foreign_json.hpp"
#include "report/ladder.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

constexpr int indented = 1;
constexpr int on_one_line = -1;

std::string text_of(const json& data, int indent) {
  return data.dump(indent, ' ', false, json::error_handler_t::replace);
}

// The digits of a number stay as they were written.
json to_json(const ParameterValue& value) {
  return value.is_number ? parse_foreign(value.text) : json(value.text);
}

json to_json(const ParameterValues& parameters) {
  json all = json::object();
  for (const auto& [name, value] : parameters) all[name] = to_json(value);
  return all;
}

json to_json(const PerItem& each) {
  json all(each.counters);
  for_each_usage(each, [&](const char* name, double figure) { all[name] = figure; });
  return all;
}

json to_json(const Latency& latency) {
  json percentiles = json::array();
  for (const auto& [percent, ns] : latency.percentiles) {
    percentiles.push_back({percent, std::llround(ns)});
  }
  return {{"count", latency.count}, {"unit", "ns"}, {"percentiles", percentiles}};
}

json to_json(const std::vector<Layout>& layouts) {
  json all = json::array();
  for (const Layout& layout : layouts) {
    all.push_back({{"link", layout.link}, {"stack_shift", layout.stack_shift}});
  }
  return all;
}

// A figure that is not known is NaN, which JSON writes as null.
json to_json(const Row& row) {
  json samples = json::array();
  for (const auto& bursts : row.launches) {
    for (const double value : bursts) samples.push_back(value);
  }
  json made{{"parameters", to_json(row.parameters)},
            {"better", row.higher_is_better ? "higher" : "lower"},
            {"status", name_of(row.status)},
            {"reason", row.reason},
            {"samples", std::move(samples)},
            {"launches", row.launches},
            {"phases", {{"start_ns", row.start_ns}, {"stop_ns", row.stop_ns}}},
            {"layouts", to_json(row.layouts)},
            {"per_item", to_json(row.per_item)},
            {"latency", row.latency ? to_json(*row.latency) : json()}};
  const auto add = [&](const char* name, const auto& field) { made[name] = field; };
  for_each_text(row, add);
  for_each_figure(row, add);
  if (!row.order.empty()) made["order"] = row.order;
  if (row.block) made["block"] = *row.block;
  if (!row.is_measured()) return made;
  if (!row.shares.empty()) made["shares"] = row.shares;
  made["figures"] = row.figures;
  made["curves"] = row.curves;
  return made;
}

json to_json(const ArticleTable& article) {
  json rows = json::array();
  for (const ArticleRow& row : article.rows) {
    rows.push_back({{"scheme", row.scheme},
                    {"milliseconds", row.milliseconds},
                    {"note", row.note},
                    {"why", row.why},
                    {"contender", row.contender}});
    if (!row.metric.empty()) rows.back()["metric"] = row.metric;
  }
  json made{{"scenario", article.scenario},
            {"title", article.title},
            {"metric", article.metric},
            {"parameters", to_json(article.parameters)},
            {"rows", std::move(rows)}};
  if (!std::isnan(article.metric_ms)) made["metric_ms"] = article.metric_ms;
  if (!std::isnan(article.items)) made["items"] = article.items;
  return made;
}

json to_json(const std::optional<BlockReport>& block) {
  if (!block) return {};
  const Disturbance& seen = block->seen;
  return {{"repeats", block->repeats},
          {"foreign_cpus", seen.foreign_cpus},
          {"kernel_cpus", seen.kernel_cpus ? json(*seen.kernel_cpus) : json()},
          {"stolen_cpus", seen.stolen_cpus},
          {"throttled", seen.throttled},
          {"probe", to_json(seen.speed)},
          {"disturbed", seen.reason.empty() ? json() : json(seen.reason)}};
}

// A name alone where there are no figures.
json to_json(const std::string& contender, const RungWay& way) {
  if (contender.empty()) return {};
  return {{"contender", contender}, {"median", way.median}, {"low", way.low}, {"high", way.high}};
}

json to_json(const RungChoice& choice, const Rung& rung) {
  const auto way = [](const std::string& contender, const std::optional<RungWay>& known) {
    return to_json(contender, known ? *known : RungWay());
  };
  json named = json::array();
  for (const RungWay& one : rung.named) named.push_back(to_json(one.contender, one));
  const auto& answer = rung.answer;
  return {{"name", rung.name},
          {"scenario", rung.scenario},
          {"metric", rung.metric},
          {"parameters", to_json(rung.parameters)},
          {"unit", "ns"},
          {"latency", rung.latency},
          {"own", way(choice.own, rung.own)},
          {"peer", rung.peer ? to_json(rung.peer->contender, *rung.peer) : json()},
          {"peers", choice.peers},
          {"today", way(choice.today, rung.today)},
          {"limit", way(choice.limit, rung.limit)},
          {"named", std::move(named)},
          {"verdict", verdict_of(rung)},
          {"ratio", answer ? json(answer->ratio) : json()},
          {"low", answer ? json(answer->range.low) : json()},
          {"high", answer ? json(answer->range.high) : json()}};
}

json rungs_of(const Result& result) {
  json all = json::array();
  const Ladder ladder = ladder_of(result);
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    all.push_back(to_json(result.rungs[i], ladder.rungs[i]));
  }
  return all;
}

json to_json(const Compared& row) {
  const auto change = row.change();
  const double none = NAN;
  const JudgedChange judged =
      row.judged.value_or(JudgedChange{.ratio = none, .bounds = {none, none}, .margin = none});
  return {{"scenario", row.now->scenario},
          {"contender", row.now->contender},
          {"parameters", to_json(row.now->parameters)},
          {"metric", row.now->metric},
          {"unit", row.now->unit},
          {"better", row.now->higher_is_better ? "higher" : "lower"},
          {"before", row.before->median},
          {"now", row.now->median},
          {"verdict", change ? json(name_of(*change)) : json()},
          {"reason", row.remark},
          {"ratio", judged.ratio},
          {"low", judged.bounds.low},
          {"high", judged.bounds.high},
          {"margin", judged.margin}};
}

json to_json(const Crossing& crossing) {
  static const std::array<const char*, 3> names{"grain", "count", "bytes"};
  return {{"of", names[static_cast<std::size_t>(crossing.of)]},
          {"side", crossing.above ? "above" : "below"},
          {"at", crossing.at},
          {"way", crossing.way}};
}

json to_json(const Way& way) {
  return {{"name", way.name},
          {"call", way.call},
          {"ns", way.ns},
          {"low_ns", way.low_ns},
          {"high_ns", way.high_ns},
          {"ns_per_task", way.ns_per_task},
          {"after_idle_ns", way.after_idle_ns},
          {"source", way.source},
          {"method", way.method},
          {"reservation", way.reservation},
          {"code", way.code}};
}

template <class Part>
json list_of(const std::vector<Part>& parts) {
  json all = json::array();
  for (const Part& part : parts) all.push_back(to_json(part));
  return all;
}

json to_json(const Result& result) {
  return {{"schema", 1},
          {"environment", result.environment.facts()},
          {"rungs", rungs_of(result)},
          {"rows", list_of(result.rows)},
          {"articles", list_of(result.articles)},
          {"blocks", list_of(result.blocks)},
          {"interrupted", result.interrupted}};
}

}  // namespace

std::string to_json_text(const Result& result) { return text_of(to_json(result), indented) + '\n'; }

std::string to_json_text(const std::vector<Compared>& rows) {
  return text_of(list_of(rows), indented) + '\n';
}

namespace {

const char* unit_name(const Question& question) {
  switch (question.unit) {
    case Unit::event: return "event";
    case Unit::message: return "message";
    case Unit::command: return "command";
    case Unit::file: return "file";
    default: return question.by_index ? "index" : "task";
  }
}

json to_json(const Question& question, std::uint64_t width) {
  const auto known = [](const std::optional<double>& value) {
    return value ? json(*value) : json();
  };
  const char* const in_order = question.per_producer ? "producer" : "fifo";
  return {{"task_ns", question.task_ns},
          {"count", question.count},
          {"unit", unit_name(question)},
          {"nesting", question.nested ? "tasks" : "none"},
          {"order", question.in_order ? in_order : "any"},
          {"idle_cost", known(question.idle_percent)},
          {"width", width},
          {"isolation", question.by_processes ? "processes" : "threads"},
          {"goal", question.for_latency ? "latency" : "throughput"},
          {"memory", question.bounded ? "bounded" : "any"},
          {"bound", question.by_memory ? "memory" : "compute"},
          {"durable", question.durable},
          {"bytes", known(question.bytes)},
          {"kinds", question.kinds},
          {"producers", question.producers},
          {"waves", question.waves},
          {"largest", question.largest}};
}

}  // namespace

std::string to_json_text(const Question& question, const Advice& advice) {
  json left_out = json::object();
  for (const auto& [name, why] : advice.left_out) left_out[name] = why;
  const json all{{"question", to_json(question, advice.width)},
                 {"ways", list_of(advice.ways)},
                 {"left_out", left_out},
                 {"changes", list_of(advice.changes)},
                 {"equal", advice.equal},
                 {"unsure", advice.unsure}};
  return text_of(all, indented) + '\n';
}

std::string to_json_line(const Results& results, bool with_bursts) {
  json all = json::array();
  for (const Result* result : results) {
    json file = result->text.empty() ? to_json(*result) : parse_foreign(result->text);
    file.emplace("environment", json::object());
    for (json& row : file["rows"]) {
      if (with_bursts) break;
      row.erase("samples");
      row.erase("launches");
    }
    all.push_back(std::move(file));
  }
  return text_of(all, on_one_line);
}

}  // namespace handoff::lab
