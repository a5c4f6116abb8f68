// SPDX-License-Identifier: MIT
// The summary as JSON. What is not known is null.
#include <nlohmann/json.hpp>

#include "tracing/summary.hpp"

namespace handoff::lab::tracing {
namespace {

using nlohmann::json;

json thread_json(const LaneUsage& lane, const Lane& source) {
  json asleep = json::object();
  json spun = json::object();
  for (std::size_t i = 0; i < sleep_causes.size(); ++i) {
    asleep[sleep_causes[i]] = lane.asleep_ns[i];
    spun[sleep_causes[i]] = lane.spun_ns[i];
  }
  const auto of_the_kernel = [&](std::uint64_t ns) { return lane.is_counted ? json(ns) : json(); };
  return {{"name", lane.name},
          {"pid", source.process_id},
          {"tid", source.thread_id},
          {"slices", lane.slices},
          {"sleeps", lane.sleeps},
          {"busy_ns", lane.busy_ns},
          {"on_cpu_ns", of_the_kernel(lane.on_cpu_ns)},
          {"ready_ns", of_the_kernel(lane.ready_ns)},
          {"for_room_ns", lane.for_room_ns},
          {"slept_ns", lane.slept_ns},
          {"other_ns", lane.other_ns},
          {"spun_by_cause_ns", spun},
          {"asleep_by_cause_ns", asleep},
          {"asleep_ns", lane.all_asleep_ns()}};
}

json path_json(const CriticalPath& path) {
  json parts = json::array();
  for (const PathPart& part : path.parts) {
    parts.push_back({{"name", part.name},
                     {"category", part.category},
                     {"outside_of_slices", part.outside},
                     {"ns", part.ns}});
  }
  return {{"length_ns", path.length_ns},
          {"hand_overs", path.hand_overs},
          {"between_ns", path.between_ns},
          {"parts", parts}};
}

json reruns_json(const std::optional<Reruns>& reruns) {
  if (!reruns) return nullptr;
  return {{"workers", reruns->workers},
          {"as_it_was_ns", reruns->as_it_was_ns},
          {"one_more_worker_ns", reruns->one_more_ns},
          {"any_number_of_workers_ns", reruns->any_number_ns},
          {"cpus_ns", reruns->cpus_ns > 0 ? json(reruns->cpus_ns) : json()}};
}

json tally_json(const std::optional<TraceTally>& tally) {
  if (!tally) return nullptr;
  return {{"recorded", tally->recorded},
          {"dropped", tally->dropped},
          {"written", tally->written},
          {"open", tally->open}};
}

}  // namespace

std::string to_json_text(const Summary& summary) {
  const Recording& recording = summary.recording;
  json threads = json::array();
  for (std::size_t i = 0; i < summary.usage.lanes.size(); ++i) {
    threads.push_back(thread_json(summary.usage.lanes[i], recording.lanes[i]));
  }
  json names = json::array();
  for (const NameUsage& name : summary.usage.names) {
    names.push_back({{"name", name.name},
                     {"category", name.category},
                     {"count", name.count},
                     {"own_ns", name.own_ns},
                     {"median_ns", name.median_ns},
                     {"p99_ns", name.p99_ns}});
  }
  const json all{{"schema", 1},
                 {"file", summary.file},
                 {"wall_ns", recording.wall_ns()},
                 {"events", recording.events},
                 {"hand_overs", recording.hands.size()},
                 {"whole", recording.closed},
                 {"torn", recording.torn},
                 {"tally", tally_json(recording.tally)},
                 {"one_ended", recording.one_ended},
                 {"unended", recording.unended},
                 {"unbegun", recording.unbegun},
                 {"cpus", recording.cpus > 0 ? json(recording.cpus) : json()},
                 {"threads", threads},
                 {"critical_path", path_json(summary.path)},
                 {"reruns", reruns_json(summary.reruns)},
                 {"names", names},
                 {"names_left_out", summary.usage.names_left_out},
                 {"instants", recording.instants},
                 {"depths", recording.depths}};
  // In ASCII: of what lies beyond it some acts on a terminal.
  return all.dump(2, ' ', true, json::error_handler_t::replace) + '\n';
}

}  // namespace handoff::lab::tracing
