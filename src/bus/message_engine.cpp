// SPDX-License-Identifier: MIT
//
// The life of a message: a place, a task of the pool, a handler, a count.
#include <chrono>
#include <exception>
#include <handoff/bus/detail/message_engine.hpp>
#include <handoff/bus/message_workers_options.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/pool/pool_mode.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/cpu_budget.hpp>
#include <handoff/sync/internal/relaxed.hpp>
#include <handoff/sync/internal/stack.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <string>
#include <utility>

#include "../core/internal/failures.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "key_order.hpp"
#include "message_cells.hpp"
#include "message_counts.hpp"
#include "message_gate.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

// A handler that runs, on the stack of its thread.
struct RunningMessage {
  const MessageEngine* engine;
  const MessageNode* node;
  const RunningMessage* outer;
};

// A message that stays with its caller, which waits for it or runs it.
struct MessageEngine::CallersNode : MessageNode {
  bool tells = false;  // its caller gets what the handler throws
  std::exception_ptr error;
  // What became of it, one more than the Outcome; 0: nothing yet. Behind it this may be gone.
  sync::atomic<std::uint32_t> ended{0};
};

namespace {

// What a thread without a GateSeat runs, innermost, of any workers.
struct OutsideTag;
const RunningMessage*& outside() noexcept {
  return sync::thread_slot<const RunningMessage*, OutsideTag>::get();
}

std::size_t width_of(const MessageWorkersOptions& options) {
  return options.width == 0 ? sync::cpu_budget().width() : options.width;
}

// With keys, tasks are taken in the order of their queue: so a key that has more to do lets the
// others go first. Without, each worker takes a batch, from which idle ones steal.
ThreadPoolOptions pool_options(const MessageWorkersOptions& options, bool keyed, std::size_t width,
                               MessageGate& gate) {
  return {
      .name = options.name,
      .mode = keyed ? PoolMode::fixed : PoolMode::stealing,
      .width = width,
      .spin_for = options.spin_for,
      .cpus = options.cpus,
      .on_start =
          [&gate](std::size_t index) { gate.seat(index).thread.set(sync::this_kernel_thread()); },
      .on_stop = [&gate](std::size_t index) { gate.seat(index).thread.set(-1); }};
}

}  // namespace

struct MessageEngine::Parts {
  // `width`: asked for once, as each worker needs a GateSeat; the CPUs of a process may change.
  Parts(const MessageWorkersOptions& given, const MessageOps& of_messages, std::size_t width)
      : options(given),
        ops(of_messages),
        cells(options.capacity, ops),
        keys(ops.keyed ? std::make_unique<KeyOrder>(options.capacity) : nullptr),
        gate(ThreadPool::index_count(width), true),
        drop(Outcome::done),
        pool(pool_options(options, ops.keyed, width, gate)) {}

  // To ThreadSanitizer: a handler begins behind start(), resume() and the one of its key before,
  // and ends before a pause, a wait or a close does (docs/design/tsan.md).
  void tell_begin(const MessageNode& node) const noexcept {
    sync::tell_taken(&gate);
    if (node.keyed) sync::tell_taken(keys->turn_of(node));
  }
  void tell_end(const MessageNode& node) const noexcept {
    sync::tell_given(sync::end_of(&gate));
    if (node.keyed) sync::tell_given(keys->turn_of(node));
  }
  void tell_quiet() const noexcept { sync::tell_taken(sync::end_of(&gate)); }

  const MessageWorkersOptions options;
  const MessageOps ops;
  const void* handlers = nullptr;
  MessageCounts counts;
  MessageCells cells;
  const std::unique_ptr<KeyOrder> keys;
  MessageGate gate;
  Failures failures;
  // What becomes of a message that begins now; done: it is run.
  // order: a message that misses it began before, or behind the gate, whose opening releases it.
  sync::relaxed<Outcome> drop;
  sync::EventCount room;  // threads that wait for a place
  sync::EventCount idle;  // threads that wait until nothing is unfinished
  sync::EventCount ended;  // threads that wait for a message of their own
  sync::Mutex closing;
  bool is_over = false;
  ThreadPool pool;  // ends first
};

namespace {

Thrower thrower(const MessageWorkersOptions& options) noexcept {
  return {
      .type = "MessageWorkers", .name = options.name, .some = "a handler", .the = "the handler of"};
}

}  // namespace

// This thread runs a message for a scope, as soon as the gate lets it.
class MessageEngine::Turn {
 public:
  Turn(MessageEngine& engine, const MessageNode& node) noexcept
      : engine_(engine),
        seat_(engine.seat_here()),
        is_outermost_(engine.innermost(seat_) == nullptr),
        run_{&engine, &node, running()} {
    if (is_outermost_) enter(node);
    set_running(&run_);
  }
  ~Turn() {
    set_running(run_.outer);
    if (is_outermost_) leave();
    engine_.tell();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const RunningMessage* running() const noexcept {
    return seat_ != nullptr ? static_cast<const RunningMessage*>(seat_->running) : outside();
  }
  void set_running(const RunningMessage* run) noexcept {
    if (seat_ != nullptr) {
      seat_->running = run;
    } else {
      outside() = run;
    }
  }

  void enter(const MessageNode& node) noexcept {
    Parts& parts = *engine_.parts_;
    if (seat_ == nullptr) return parts.gate.enter_outside();
    seat_->type.set(node.type);
    parts.gate.enter(*seat_);
    if (!is_timed()) return;
    seat_->since_ns.set(sync::clock::now().time_since_epoch().count());
  }
  void leave() noexcept {
    MessageGate& gate = engine_.parts_->gate;
    if (seat_ == nullptr) return gate.leave_outside();
    if (is_timed()) seat_->since_ns.set(0);
    gate.leave(*seat_);
  }
  bool is_timed() const noexcept {
    const auto& options = engine_.parts_->options;
    return options.stuck_after > options.stuck_after.zero();
  }

  MessageEngine& engine_;
  GateSeat* const seat_;
  const bool is_outermost_;
  const RunningMessage run_;
};

MessageEngine::MessageEngine(const MessageWorkersOptions& options, const MessageOps& ops)
    : parts_(std::make_unique<Parts>(options, ops, width_of(options))) {
  if (options.on_full == OnFull::grow || options.on_full == OnFull::overwrite_oldest) {
    misuse("MessageWorkers: on_full is wait, reject or run_here");
  }
}

MessageEngine::~MessageEngine() {
  if (origin_.is_here()) {
    (void)close(Closing::finish);
  } else {
    static_cast<void>(parts_.release());
  }
}

bool MessageEngine::is_started() const noexcept { return parts_->gate.is_started(); }
void MessageEngine::start(const void* handlers) noexcept {
  parts_->handlers = handlers;
  sync::tell_given(&parts_->gate);
  parts_->gate.start();
}

std::size_t MessageEngine::width() const noexcept { return parts_->pool.width(); }
std::size_t MessageEngine::capacity() const noexcept { return parts_->options.capacity; }
OnFull MessageEngine::on_full() const noexcept { return parts_->options.on_full; }
std::uint64_t MessageEngine::refused() const noexcept { return parts_->counts.refused(); }

// ---- Threads inside a handler -------------------------------------------------------------------

GateSeat* MessageEngine::seat_here() const noexcept {
  const auto index = parts_->pool.worker_index();
  return index ? &parts_->gate.seat(*index) : nullptr;
}

const RunningMessage* MessageEngine::innermost(const GateSeat* seat) const noexcept {
  if (seat != nullptr && seat->running != nullptr) {
    return static_cast<const RunningMessage*>(seat->running);
  }
  const RunningMessage* run = outside();
  while (run != nullptr && run->engine != this) run = run->outer;
  return run;
}

void MessageEngine::refuse_inside(const char* what) const {
  if (innermost() != nullptr) misuse(what);
}

void MessageEngine::refuse_own_key(std::uint64_t key) const {
  for (const RunningMessage* run = innermost(); run != nullptr; run = run->outer) {
    if (run->engine == this && run->node->keyed && run->node->key == key) {
      misuse(
          "MessageWorkers: publish_and_wait() in a handler of the same key would wait for itself");
    }
  }
}

// ---- The way in ---------------------------------------------------------------------------------

MessageEngine::Place MessageEngine::reserve(const Wish& wish, bool keyed) {
  Parts& parts = *parts_;
  if (MessageNode* const node = parts.cells.take()) return accepted(node);
  if (parts.counts.closed()) return {};
  if (wish.on_full == OnFull::reject) {
    parts.counts.refuse();
    return {.why = Status::full};
  }
  // A handler that waited for room might wait for itself. A message with a key cannot run there
  // either: others of its key may be before it, this very handler's among them. Nor can one that is
  // published too deep down, by a handler inside a handler and so on.
  const bool inside = innermost() != nullptr;
  if (inside && (keyed || sync::stack_is_short())) return accepted(&parts.cells.allocate());
  if (inside || wish.on_full == OnFull::run_here) return {.run_here = true};
  return await_room(wish.until != nullptr ? *wish.until : Until());
}

// Accepts a message for a free node.
MessageEngine::Place MessageEngine::accepted(MessageNode* node) noexcept {
  if (parts_->counts.accept()) return {.node = node, .why = Status::ok};
  give_back(*node);
  return {};
}

MessageEngine::Place MessageEngine::await_room(const Until& until) {
  Parts& parts = *parts_;
  MessageNode* node = nullptr;
  const auto found = [&]() noexcept {
    node = parts.cells.take();
    return node != nullptr || parts.counts.closed();
  };
  const Status waited = parts.gate.await(parts.room, found, until, "full");
  if (waited != Status::ok) return {.why = waited};
  return node != nullptr ? accepted(node) : Place{};
}

void MessageEngine::hand_over(MessageNode& node) noexcept {
  probe::hand_over(probe::Kind::message, &node);
  if (node.keyed && !parts_->keys->enter(node)) return;  // its key's runner gets it
  if (!post(node)) run_all(node);
}

// False: there is no memory for it, and the thread that has the message runs it.
bool MessageEngine::post(MessageNode& first) noexcept {
  return attempt([&] { parts_->pool.post([this, &first]() noexcept { run_all(first); }); });
}

Status MessageEngine::run_here(void* message, std::uint32_t type, bool keyed, std::uint64_t key,
                               bool tells) {
  Parts& parts = *parts_;
  if (keyed) refuse_own_key(key);
  CallersNode node;
  node.message = message;
  node.type = type;
  node.home = MessageNode::Home::caller;
  node.keyed = keyed;
  node.key = key;
  node.tells = tells;
  if (!parts.counts.accept()) return Status::closed;
  probe::hand_over(probe::Kind::message, &node);
  if (!keyed || parts.keys->enter(node)) {
    MessageNode* const more = keyed ? run_last_of_key(node) : (run(node), nullptr);
    if (more != nullptr && !post(*more)) run_all(*more);
  } else {
    const Lending lending;
    // order: acquire pairs with the release in finish().
    const auto ended = [&node]() noexcept { return node.ended.load(order::acquire) != 0; };
    (void)parts.ended.await(ended);
    sync::tell_taken(sync::end_of(&node));
  }
  if (!tells) return Status::ok;  // it was accepted; what became of it is the Tally's to say
  // order: relaxed, this thread wrote it, or acquired it above.
  switch (static_cast<Outcome>(node.ended.load(order::relaxed) - 1)) {
    case Outcome::failed: std::rethrow_exception(std::move(node.error));
    case Outcome::cancelled: return Status::stopped;
    case Outcome::expired: return Status::timed_out;
    case Outcome::done:
    case Outcome::elsewhere: break;
  }
  return Status::ok;
}

// ---- Running ------------------------------------------------------------------------------------

// A task of the pool: one message without a key, or some of one key.
void MessageEngine::run_all(MessageNode& first) noexcept {
  if (!first.keyed) return run(first);
  for (MessageNode* node = &first; node != nullptr;) {
    MessageNode* const behind = node->next;
    if (behind != nullptr) {
      run(*node);
      node = behind;
    } else {
      node = run_last_of_key(*node);
      if (node != nullptr && post(*node)) return;
    }
  }
}

void MessageEngine::run(MessageNode& node) noexcept {
  const Turn turn(*this, node);
  finish(node, perform(node));
}

// What comes next; null: the key is free.
MessageNode* MessageEngine::run_last_of_key(MessageNode& node) noexcept {
  const Turn turn(*this, node);
  const Outcome outcome = perform(node);
  MessageNode* const more = parts_->keys->next(node);
  finish(node, outcome);
  return more;
}

Outcome MessageEngine::perform(MessageNode& node) noexcept {
  Parts& parts = *parts_;
  if (probe::is_watched()) [[unlikely]] {
    probe::seen(probe::Mark::begin, probe::Kind::message, parts.ops.name(node.type), &node);
    parts.tell_begin(node);
  }
  Outcome outcome = parts.drop.get();
  if (outcome == Outcome::done && !attempt([&] { parts.ops.handle(parts.handlers, node); },
                                           [&]() noexcept { keep_failure(node); })) {
    outcome = Outcome::failed;
  }
  if (probe::is_watched()) [[unlikely]] {
    probe::end(probe::Kind::message, &node);
    parts.tell_end(node);
  }
  if (node.home != MessageNode::Home::caller) parts.ops.destroy(node);
  return outcome;
}

// Keeps the exception that is being handled.
void MessageEngine::keep_failure(MessageNode& node) noexcept {
  const std::exception_ptr failure = std::current_exception();
  if (node.home == MessageNode::Home::caller) {
    auto& callers = static_cast<CallersNode&>(node);
    if (callers.tells) {
      callers.error = failure;
      return parts_->failures.note(failure);
    }
  }
  parts_->failures.tell(parts_->options.on_error, failure, parts_->ops.name(node.type),
                        thrower(parts_->options));
}

void MessageEngine::give_back(MessageNode& node) noexcept {
  if (node.home == MessageNode::Home::heap) return parts_->cells.deallocate(node);
  parts_->cells.give_back(node);
}

// MW-1.
void MessageEngine::finish(MessageNode& node, Outcome outcome) noexcept {
  Parts& parts = *parts_;
  if (node.home != MessageNode::Home::caller) {
    give_back(node);
    return parts.counts.count(outcome);
  }
  parts.counts.count(outcome);
  // order: release pairs with the acquire in run_here(). The node may be gone behind it.
  static_cast<CallersNode&>(node).ended.store(static_cast<std::uint32_t>(outcome) + 1,
                                              order::release);
  parts.ended.notify_all();
}

// A message has ended, and perhaps a place is free.
void MessageEngine::tell() noexcept {
  Parts& parts = *parts_;
  if (!parts.gate.is_watched()) [[likely]]
    return;
  parts.room.notify_one();
  if (parts.counts.is_idle()) parts.idle.notify_all();
}

// ---- Waiting, and the end -----------------------------------------------------------------------

Status MessageEngine::pause(const Until& until) {
  refuse_inside("MessageWorkers: pause() inside a handler would wait for itself");
  const Status status = parts_->gate.pause(until);
  parts_->tell_quiet();
  return status;
}
void MessageEngine::resume() noexcept {
  sync::tell_given(&parts_->gate);
  parts_->gate.resume();
}

Status MessageEngine::wait(const Until& until) {
  refuse_inside("MessageWorkers: wait() inside a handler would wait for itself");
  Parts& parts = *parts_;
  // A thread that helps may be held up by a handler, so only threads with no deadline or stop help.
  if (!until.has_deadline() && !until.stop_possible()) parts.pool.wait();
  const auto idle = [&parts]() noexcept { return parts.counts.is_idle(); };
  const Status waited = parts.gate.await(parts.idle, idle, until);
  if (waited != Status::ok) return waited;
  parts.tell_quiet();
  if (std::exception_ptr failure = parts.failures.take()) {
    std::rethrow_exception(std::move(failure));
  }
  return Status::ok;
}

Tally MessageEngine::close(const Closing& closing) {
  refuse_inside("MessageWorkers: closed or destroyed inside one of its own handlers");
  Parts& parts = *parts_;
  const sync::Lock lock(parts.closing);
  if (!parts.is_over) {
    parts.counts.close();
    parts.room.notify_all();
    finish_all(closing);
    (void)parts.pool.close(Closing::finish);  // equivalent(swap): under the lock
    parts.failures.end(thrower(parts.options));  // equivalent(swap): under the lock
    // equivalent(delete): a second close does all again, and finds nothing left to do
    parts.is_over = true;
  }
  parts.tell_quiet();
  return tally();
}

// Until nothing is unfinished. What has not begun by the deadline expires; what never had handlers
// is cancelled.
void MessageEngine::finish_all(const Closing& closing) {
  Parts& parts = *parts_;
  const bool never_begins = !closing.begins_more || !is_started();
  if (never_begins || closing.is_late()) {
    parts.drop.set(never_begins ? Outcome::cancelled : Outcome::expired);
  }
  parts.gate.open_for_good();
  const auto idle = [&parts]() noexcept { return parts.counts.is_idle(); };
  if (parts.gate.await(parts.idle, idle, closing.deadline) == Status::ok) return;
  parts.drop.set(Outcome::expired);
  (void)parts.gate.await(parts.idle, idle, {});
}

Tally MessageEngine::tally() const noexcept {
  Tally tally = parts_->counts.tally();
  tally.first_failure = parts_->failures.first();
  return tally;
}

HealthReport MessageEngine::health() const {
  HealthReport report;
  report.workers.resize(width());
  const sync::Deadline now = sync::clock::now();
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const GateSeat& seat = parts_->gate.seat(i);
    WorkerHealth& worker = report.workers[i];
    // order: acquire pairs with the release in MessageGate::enter(): the message, and that the time
    // below is none of an earlier one.
    if (seat.inside.load(order::acquire) != 0) {
      worker.state = WorkerHealth::State::busy;  // equivalent(swap): two members of one answer
      worker.message = parts_->ops.name(seat.type.get());
      const std::int64_t since = seat.since_ns.get();
      const std::int64_t busy_for = now.time_since_epoch().count() - since;
      // equivalent(bound): 0 becomes 0
      if (since != 0 && busy_for > 0) worker.busy_for = std::chrono::nanoseconds(busy_for);
      if (since != 0 && worker.busy_for >= parts_->options.stuck_after) {
        worker.state = WorkerHealth::State::stuck;
      }
    }
    // One that has only just been started has said nothing yet.
    const sync::KernelThread thread = seat.thread.get();
    if (thread != 0 && !sync::is_alive(thread)) worker.state = WorkerHealth::State::gone;
  }
  return report;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
