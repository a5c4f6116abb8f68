// SPDX-License-Identifier: MIT
#include "report/way_words.hpp"

namespace handoff::lab {
namespace {

struct WordsOfWay {
  std::string_view name;
  std::string_view call;
  std::string_view code;
};

// Ways that are written alike for every question.
constexpr std::array<WordsOfWay, 25> words_of_ways{{
    {"own.thread_team", "handoff::ThreadTeam: run()",
     "handoff::ThreadTeam team; team.run(n, [&](handoff::IndexRange r) "
     "{ for (auto i : r) f(i); });"},
    {"own.process_team", "handoff::ProcessTeam: run<kernel>()",
     "handoff::ProcessTeam team; team.run<kernel>(n, args);"},
    {"own.rank_team", "handoff::RankTeam: run(), by mpirun",
     "handoff::RankTeam team; team.run(n, [&](handoff::IndexRange r) "
     "{ for (auto i : r) f(i); });"},
    {"own.process_pool", "handoff::ProcessPool: submit<kernel>()",
     "handoff::ProcessPool pool; auto result = pool.submit<job>(argument);"},
    {"own.event", "handoff::EventQueue: enqueue() and drain()",
     "handoff::EventQueue<int, void(const Event&)> queue; auto s = queue.enqueue(key, event);"},
    {"own.events", "handoff::EventQueue: enqueue(), and drain() by all threads",
     "handoff::EventQueue<int, void(const Event&)> queue; auto s = queue.enqueue(key, event); "
     "queue.drain();"},
    {"own.eventpp_compat", "eventpp::EventQueue, as this library has it",
     "eventpp::EventQueue<int, void(const Event&)> queue; queue.enqueue(key, event);"},
    {"own.bus", "handoff::MessageBus: publish() and drain(visitor)",
     "handoff::MessageBus<A, B> bus({.capacity = 4096}); auto s = bus.publish(A{});"},
    {"own.bus.subscribers", "handoff::MessageBus: subscribe() and publish()",
     "handoff::MessageBus<A, B> bus({.capacity = 4096}); "
     "auto handle = bus.subscribe<A>([&](const A& a) { f(a); }); auto s = bus.publish(A{});"},
    {"own.bus.lanes", "handoff::LanedMessageBus: producer().publish()",
     "handoff::LanedMessageBus<A, B> lanes; auto producer = lanes.producer(); "
     "auto s = producer.publish(A{});"},
    {"own.bus.priorities", "handoff::PriorityMessageBus: publish(), all of one priority",
     "handoff::PriorityMessageBus<A, B> bus({.capacity = 4096}); auto s = bus.publish(A{});"},
    {"own.bus.four_priorities", "handoff::PriorityMessageBus: publish(), of each priority in turn",
     "handoff::PriorityMessageBus<A, B> bus({.capacity = 4096}); "
     "auto s = bus.publish(A{}, handoff::Priority::urgent);"},
    {"own.channel", "handoff::Channel: push() and pop()",
     "handoff::Channel<A> channel(1024); auto s = channel.push(a);"},
    {"own.ring", "handoff::SpscRing, MpscRing or MpmcRing: try_push() and try_pop()",
     "handoff::MpscRing<A> ring(1024); auto s = ring.try_push(a);"},
    {"own.workers", "handoff::MessageWorkers: publish()",
     "handoff::MessageWorkers<A, B> workers({.width = 2}, on_a, on_b); "
     "auto s = workers.publish(A{});"},
    {"own.shared_ring", "handoff::SharedRing: records of one size between processes",
     "auto ring = handoff::SharedRing<A>::attach(memory.bytes()); "
     "handoff::SharedRing<A>::Producer out(ring); auto s = out.push(a);"},
    {"own.shared_byte_ring", "handoff::SharedByteRing: messages of any size between processes",
     "auto ring = handoff::SharedByteRing::attach(memory.bytes()); "
     "handoff::SharedByteRing::Producer out(ring); auto s = out.push(bytes);"},
    {"own.bucket", "handoff::CommandBucket: record(), sort() and dispatch()",
     "handoff::Frame frame; handoff::CommandBucket<std::uint64_t, Backend> bucket(frame); "
     "bucket.record(pool, n, 64, f); bucket.sort(pool); bucket.dispatch(backend);"},
    {"own.bucket.parallel_submit", "handoff::CommandBucket: dispatch() by many threads",
     "handoff::Frame frame; handoff::CommandBucket<std::uint64_t, List> bucket(frame); "
     "bucket.record(pool, n, 64, f); bucket.sort(pool); bucket.dispatch(pool, std::span(lists));"},
    {"own.automatic", "handoff::FileEngine", "handoff::FileEngine files;"},
    {"own.caller", "handoff::FileEngine, on the caller",
     "handoff::FileEngine files({.backend = handoff::FileBackend::caller});"},
    {"own.io_thread", "handoff::FileEngine, one thread",
     "handoff::FileEngine files({.backend = handoff::FileBackend::io_thread});"},
    {"own.thread_per_request", "handoff::FileEngine, a thread for each request",
     "handoff::FileEngine files({.backend = handoff::FileBackend::thread_per_request});"},
    {"own.pool", "handoff::FileEngine, threads",
     "handoff::FileEngine files({.backend = handoff::FileBackend::pool});"},
    {"own.io_uring", "handoff::FileEngine, io_uring",
     "handoff::FileEngine files({.backend = handoff::FileBackend::io_uring});"},
}};

constexpr std::string_view name_of_pools = "own.pool.";

bool is_of_pool(const std::string& name) { return name.starts_with(name_of_pools); }

const WordsOfWay* words_of_way(const std::string& name) {
  const auto found = std::ranges::find(words_of_ways, name, &WordsOfWay::name);
  return found == words_of_ways.end() ? nullptr : &*found;
}

// Of pieces, the others' rows say it.
bool keeps_order_of_tasks(const std::string& name) {
  constexpr std::array<std::string_view, 3> names{"own.pool.fixed", "own.pool.cached",
                                                  "peer.bs_thread_pool"};
  return contains(names, name);
}

// Of ours each has a capacity, if it is told one. Loops have nothing that waits.
bool has_a_bound(const std::string& name, const Question& question) {
  constexpr std::array<std::string_view, 8> names{
      "peer.atomic_queue", "peer.boost_lockfree",      "peer.zeromq_inproc", "peer.nng_inproc",
      "peer.pipe",         "peer.boost_message_queue", "peer.unix_socket",   "peer.onetbb_queue"};
  if (name == "here" || name.starts_with("own.") || question.by_index) return true;
  return question.unit == Unit::file || question.by_processes || contains(names, name);
}

bool carries_one_type(const std::string& name) {
  constexpr std::array<std::string_view, 7> names{
      "own.ring",          "own.channel",         "own.shared_ring",  "peer.moodycamel",
      "peer.atomic_queue", "peer.boost_lockfree", "peer.onetbb_queue"};
  return contains(names, name);
}

}  // namespace

std::string call_of_way(const std::string& name, const Question& question) {
  if (is_of_pool(name)) {
    const char* const call = question.nested     ? "TaskGroup::run() and wait()"
                             : question.by_index ? "parallel_for()"
                                                 : "post() and wait()";
    return fmt::format("handoff::ThreadPool, mode {}: {}", name.substr(name_of_pools.size()), call);
  }
  const WordsOfWay* const words = words_of_way(name);
  return words == nullptr ? "" : std::string(words->call);
}

std::string code_of_way(const std::string& name, const Question& question) {
  if (name == "here") return question.by_index ? "for (auto i : range) f(i);" : "f();";
  if (is_of_pool(name)) {
    const char* const call = question.nested
                                 ? "handoff::TaskGroup group{pool}; group.run(f); group.wait();"
                             : question.by_index ? "handoff::parallel_for(pool, 0, n, f);"
                                                 : "pool.post(f); pool.wait();";
    return fmt::format("handoff::ThreadPool pool{{{{.mode = handoff::PoolMode::{}}}}}; {}",
                       name.substr(name_of_pools.size()), call);
  }
  const WordsOfWay* const words = words_of_way(name);
  return words == nullptr ? "" : std::string(words->code);
}

std::string fault_of_way(const std::string& name, const std::string& order,
                         const Question& question) {
  const bool is_piece = question.unit == Unit::piece;
  if (question.in_order && is_piece &&
      (question.by_index || question.nested || !keeps_order_of_tasks(name))) {
    return "promises no order";
  }
  if (question.in_order && !is_piece && question.unit != Unit::command &&
      question.unit != Unit::file) {
    const bool enough = order == "fifo" || (order == "per producer" && question.per_producer);
    if (!enough) {
      return order == "per producer" ? "keeps the order of one producer only" : "promises no order";
    }
  }
  if (question.bounded && !has_a_bound(name, question)) return "has no bound";
  if (question.unit == Unit::message && question.kinds > 1 && carries_one_type(name)) {
    return "takes one type: use a std::variant of all types";
  }
  return {};
}

}  // namespace handoff::lab
