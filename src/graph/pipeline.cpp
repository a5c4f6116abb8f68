// SPDX-License-Identifier: MIT
//
// The members of a pipeline: who is called, who leaves, and when it is over. Protocol and proof:
// docs/design/pipeline.md.
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/status_of.hpp>
#include <handoff/core/internal/unheard.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/graph/detail/pipeline_core.hpp>
#include <handoff/graph/pipeline_failed.hpp>
#include <handoff/sync/internal/thread_slot.hpp>
#include <string>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

namespace {

std::string failure_text(std::uint64_t item, std::size_t stage, const char* name,
                         const std::exception_ptr& cause) {
  std::string text = "Pipeline: ";
  if (stage == PipelineFailed::source) {
    text += "the source";
  } else {
    text += "stage " + std::to_string(stage);
    if (*name != '\0') text += " '" + std::string(name) + '\'';
  }
  text += " threw at item " + std::to_string(item);
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    text += std::string(": ") + error.what();
  } catch (...) {
  }
  return text;
}

}  // namespace

PipelineFailed::PipelineFailed(std::uint64_t item, std::size_t stage, const char* name,
                               const std::exception_ptr& cause)
    : std::runtime_error(failure_text(item, stage, name, cause)),
      item_(item),
      stage_(stage),
      cause_(cause) {}

namespace detail {

// Functions that the executor calls late find the gate closed, and touch nothing of the pipeline.
struct PipelineCore::Lease {
  explicit Lease(PipelineCore& its_core) noexcept : core(its_core) { gate.open(); }

  void release() noexcept {
    sync::tell_given(this);
    // order: acq_rel, each release pairs with the acquire of the last one, which ends the lease.
    if (refs.fetch_sub(1, sync::order::acq_rel) != 1) return;
    sync::tell_taken(this);
    delete this;
  }

  sync::atomic<std::size_t> refs{1};
  PipelineCore& core;  // gone when the gate is closed and empty
  Gate gate;
  sync::EventCount empty;
};

PipelineCore::Leased::Leased(PipelineCore& core) : lease(*new Lease(core)) {}
PipelineCore::Leased::~Leased() { lease.release(); }

PipelineCore::Call::Call(Lease& lease) noexcept : lease_(&lease) {
  lease.refs.fetch_add(1, sync::order::relaxed);  // order: relaxed, by a holder
}

void PipelineCore::Call::end(bool works) noexcept {
  Lease& lease = *std::exchange(lease_, nullptr);
  std::uint32_t never_before = 0;
  if (lease.gate.enter(never_before)) {
    if (works) {
      lease.core.arrive_called();
    } else {
      lease.core.lose_called();
    }
    if (lease.gate.leave()) lease.empty.notify_one();
  }
  lease.release();
}

// What a thread works for, the innermost first.
class PipelineCore::Here {
 public:
  explicit Here(const PipelineCore& core) noexcept
      : core_(core), outer_(std::exchange(innermost(), this)) {}
  ~Here() { innermost() = outer_; }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

  static bool is_at(const PipelineCore& core) noexcept {
    for (const Here* here = innermost(); here != nullptr; here = here->outer_) {
      if (&here->core_ == &core) return true;
    }
    return false;
  }

 private:
  static Here*& innermost() noexcept {
    struct Slot;
    return sync::thread_slot<Here*, Slot>::get();
  }

  const PipelineCore& core_;
  Here* const outer_;
};

namespace {

using std::chrono::microseconds;
constexpr sync::clock::duration kLeastItem = microseconds(1);  // that is worth a second thread
constexpr std::uint64_t kFewItems = 16;
constexpr sync::clock::duration kShortestPause = microseconds(20);
constexpr sync::clock::duration kLongestPause = microseconds(1000);

// What last_ says that is no moment: only the token of `until` ends it; all is dropped.
constexpr sync::Deadline kByToken = sync::no_deadline - sync::clock::duration(1);
constexpr sync::Deadline kDrop = sync::Deadline::min();

std::size_t ring_for(std::size_t tokens) {
  if (tokens == 0) misuse("Pipeline: no tokens; ask for one at least");
  std::size_t ring = 1;
  while (ring < tokens) ring *= 2;
  return ring;
}

}  // namespace

PipelineCore::PipelineCore(const Line& line, const PipelineOptions& options, std::size_t width,
                           bool is_pushed)
    : line_(line),
      options_(options),
      ring_(ring_for(options.tokens)),
      width_(width == 0 ? 1 : width),
      is_pushed_(is_pushed),
      leased_(*this),
      last_(options.until.stop_token().stop_possible() ? kByToken : sync::no_deadline),
      stopped_(options_.until.stop_token(), &stop, this) {
  if (options.on_full == OnFull::grow || options.on_full == OnFull::overwrite_oldest) {
    misuse("Pipeline: on_full is wait, reject or run_here");
  }
  limit({.deadline = options.until.deadline()});
}

void PipelineCore::end() noexcept {
  if (!origin_.is_here()) return;
  Lease& lease = leased_.lease;
  lease.gate.close();
  (void)lease.empty.await([&lease]() noexcept { return lease.gate.is_empty(); });
  if (untaken_) {
    unheard(untaken_, {.type = "Pipeline",
                       .name = options_.name,
                       .some = "a stage",
                       .the = "the stage",
                       .remedy = "call run() or wait()"});
  }
}

bool PipelineCore::is_here() const noexcept { return Here::is_at(*this); }

// ---- What is to become of items -----------------------------------------------------------------

// What the token of the options calls. It wakes the threads that wait in the source, for the sink,
// for room and for the end.
void PipelineCore::stop(void* core) noexcept {
  PipelineCore& self = *static_cast<PipelineCore*>(core);
  self.end_source(Outcome::cancelled);
  self.source_stop_.source.request_stop();
  self.sink_stop_.source.request_stop();
  self.room_.notify_all();
  self.changes_.notify_all();  // without a member the end of the source is the end of all
}

Outcome PipelineCore::wish_by(sync::Deadline last) const noexcept {
  if (last == kDrop || options_.until.stop_token().stop_requested()) return Outcome::cancelled;
  return last == kByToken || sync::clock::now() < last ? Outcome::done : Outcome::expired;
}

sync::Deadline PipelineCore::deadline() const noexcept {
  const sync::Deadline last = last_moment();
  return last == kByToken ? sync::no_deadline : max(last, sync::Deadline{});
}

// With the mutex. The earliest one counts, and to drop is the earliest.
void PipelineCore::limit(const Closing& closing) noexcept {
  const sync::Deadline last = closing.begins_more ? max(closing.deadline, sync::Deadline{}) : kDrop;
  // order: relaxed, see last_moment().
  if (last < last_moment()) last_.store(last, sync::order::relaxed);
}

// The first end counts.
void PipelineCore::end_source(Outcome wished) noexcept {
  Status before = Status::ok;
  const Status why = wished == Outcome::done ? Status::closed : reason_of(wished);
  // order: relaxed, see is_source_over().
  (void)source_end_.compare_exchange_strong(before, why, sync::order::relaxed,
                                            sync::order::relaxed);
}

void PipelineCore::fail(std::uint64_t item, std::size_t stage, const char* name) noexcept {
  std::exception_ptr failure = caught_failure();
  (void)attempt(
      [&] { failure = std::make_exception_ptr(PipelineFailed(item, stage, name, failure)); });
  end_source();
  {
    const sync::Lock lock(mutex_);
    limit(options_.at_failure);
    if (!counts_.first_failure) counts_.first_failure = untaken_ = std::move(failure);
  }
  source_stop_.source.request_stop();
  if (!options_.at_failure.begins_more) sink_stop_.source.request_stop();
  room_.notify_all();
}

Outcome PipelineCore::give_up() noexcept {
  const Outcome wished = wish();
  if (wished != Outcome::done) return wished;  // a wait for room that was limited
  end_source();
  {
    const sync::Lock lock(mutex_);
    limit(Closing::abandon);
  }
  source_stop_.source.request_stop();
  room_.notify_all();
  return Outcome::cancelled;
}

// ---- Tokens -------------------------------------------------------------------------------------

PipelineToken* PipelineCore::take_free(PipelineMember& member) noexcept {
  using sync::order;
  if (member.hand != nullptr) return std::exchange(member.hand, nullptr);
  // order: acquire pairs with the release in put_free(): the token. Only who has the source takes
  // one, so what is first stays in the list, and its successor stands still.
  PipelineToken* token = free_.load(order::acquire);
  // order: acquire as above, relaxed on failure: it is the same or newer
  while (token != nullptr &&
         !free_.compare_exchange_weak(token, token->next, order::acquire, order::acquire)) {
  }
  return token;
}

void PipelineCore::put_free(PipelineToken& token) noexcept {
  using sync::order;
  PipelineToken* first = free_.load(order::relaxed);  // order: relaxed, the exchange checks it
  do {
    token.next = first;
    // order: release pairs with the acquire in take_free(): the token; relaxed on failure.
  } while (!free_.compare_exchange_weak(first, &token, order::release, order::relaxed));
  if (is_pushed_) room_.notify_one();
}

// With the mutex.
void PipelineCore::look_for_ready() noexcept {
  // order: relaxed, a hint; the list is the mutex's.
  has_ready_.store(first_ready_ != nullptr, sync::order::relaxed);
}

PipelineToken* PipelineCore::take_ready_slow() noexcept {
  const sync::Lock lock(mutex_);
  PipelineToken* const token = first_ready_;
  if (token == nullptr) return nullptr;
  first_ready_ = token->next;
  look_for_ready();
  return token;
}

void PipelineCore::make_ready(PipelineToken& token, std::uint32_t stage) noexcept {
  token.stage = stage;
  token.next = nullptr;
  bool calls = false;
  {
    const sync::Lock lock(mutex_);
    (first_ready_ == nullptr ? first_ready_ : last_ready_->next) = &token;
    last_ready_ = &token;
    look_for_ready();
    calls = reserve_call();
    if (waiting_ != 0) changes_.notify_all();
  }
  if (calls) post_reserved();
}

Status PipelineCore::make_room(const Until& until) {
  if (options_.on_full == OnFull::reject || is_here()) return Status::full;
  // A caller without a limit also does what the executor refused or lost: no other thread will.
  const bool is_limited = until.can_end();
  const auto is_left = [this, is_limited] {
    const sync::Lock lock(mutex_);
    return !is_limited && active_ == 0 && called_ == 0 && first_ready_ != nullptr;
  };
  if ((options_.on_full == OnFull::run_here || is_left()) && join()) {
    work();
    return Status::ok;
  }
  // Looks: the push that follows decides.
  const auto has_room = [&] { return has_free() || is_source_over() || is_left(); };
  const Lending lending;
  return status_of(room_.await(has_room, until.deadline(), until.stop_token()));
}

// ---- Members ------------------------------------------------------------------------------------

// With the mutex.
void PipelineCore::look_for_room() noexcept {
  // order: relaxed, a hint.
  has_room_.store(is_started_ && called_ == 0 && active_ < width_, sync::order::relaxed);
}

// With the mutex. One call at a time: whoever follows it calls the next.
bool PipelineCore::reserve_call() noexcept {
  if (!is_started_ || called_ != 0 || active_ >= width_) return false;
  ++called_;
  look_for_room();
  return true;
}

void PipelineCore::call_one() noexcept {
  if (!may_call()) return;
  {
    const sync::Lock lock(mutex_);
    if (!reserve_call()) return;
  }
  post_reserved();
}

void PipelineCore::post_reserved() noexcept {
  Call call(leased_.lease);
  // What it throws is a refusal. A call that was not taken, or was lost, says so when it ends.
  (void)attempt([&] { static_cast<void>(line_.post(*this, call)); });
}

void PipelineCore::lose_called() noexcept {
  const sync::Lock lock(mutex_);
  --called_;
  look_for_room();
  if (waiting_ != 0) changes_.notify_all();
  if (is_pushed_) room_.notify_all();
}

void PipelineCore::arrive_called() noexcept {
  {
    const sync::Lock lock(mutex_);
    --called_;
    ++active_;
    look_for_room();
  }
  work();
}

// Active.
void PipelineCore::work() noexcept {
  const Here here(*this);
  PipelineMember member;
  member.began = sync::clock::now();
  line_.work(*this, member);
}

// With the mutex. Before anybody is told that it is over: the channel may be gone then.
void PipelineCore::end_sink_if_over() noexcept {
  if (!is_source_over() || active_ > 1) return;
  if (!std::exchange(is_sink_ended_, true)) line_.end_sink(*this);
}

// Another member has the source. True: not any more.
bool PipelineCore::await_source(PipelineMember& member) noexcept {
  if (is_pushed_ || is_source_over() || !is_source_taken()) return false;
  // Those who meet often do little else: one of them goes.
  member.gives_way = member.taken >= kFewItems && ++member.met * 8 > member.taken &&
                     sync::clock::now() - member.began < kLeastItem * member.taken;
  if (member.gives_way) return false;
  for (sync::Backoff backoff; backoff.snooze();) {
    if (!is_source_taken()) return true;
  }
  return false;
}

// A call that brought nothing makes the next one wait, longer each time: where items cost less than
// what two threads need to share them, one thread does them all.
void PipelineCore::judge_stay(const PipelineMember& member) noexcept {
  const sync::clock::time_point now = sync::clock::now();
  const bool pays = now - member.began >= kLeastItem * (member.taken + 1);
  pause_ = pays ? sync::clock::duration(0) : max(min(pause_ * 2, kLongestPause), kShortestPause);
  // order: relaxed, a hint.
  calls_after_.store(pays ? 0 : (now + pause_).time_since_epoch().count(), sync::order::relaxed);
}

bool PipelineCore::may_call() const noexcept {
  // order: relaxed, a hint.
  const auto after = calls_after_.load(sync::order::relaxed);
  return after == 0 || sync::clock::now().time_since_epoch().count() >= after;
}

// PL-4, with the mutex. What a look misses is a step of a member that looks here later.
bool PipelineCore::may_pull() const noexcept {
  return !is_pushed_ && !is_source_taken() && !is_source_over() && has_free();
}

bool PipelineCore::leave(PipelineMember& member) noexcept {
  if (member.hand != nullptr) put_free(*std::exchange(member.hand, nullptr));
  const sync::Lock lock(mutex_);
  if (first_ready_ != nullptr) return false;
  const bool gives_way = std::exchange(member.gives_way, false) && active_ > 1;
  if (!gives_way && may_pull()) return false;
  end_sink_if_over();
  if (active_ > 1) judge_stay(member);
  --active_;
  look_for_room();
  counts_.done += std::exchange(member.done, 0);
  counts_.failed += std::exchange(member.failed, 0);
  counts_.cancelled += std::exchange(member.cancelled, 0);
  counts_.expired += std::exchange(member.expired, 0);
  if (waiting_ != 0 && active_ == 0) changes_.notify_all();
  return true;
}

// ---- The owner ----------------------------------------------------------------------------------

void PipelineCore::start(bool calls) noexcept {
  {
    const sync::Lock lock(mutex_);
    is_started_ = true;
    look_for_room();
  }
  if (calls) call_one();
}

// With the mutex. PL-5.
bool PipelineCore::is_over() const noexcept {
  return active_ == 0 && first_ready_ == nullptr &&
         (is_pushed_ || !is_started_ || is_source_over());
}

// With the mutex. A member that finds nothing leaves again.
bool PipelineCore::may_help() const noexcept {
  return active_ < width_ && (first_ready_ != nullptr || (is_started_ && may_pull()));
}

// True: this thread is a member, and has to work.
bool PipelineCore::join() noexcept {
  const sync::Lock lock(mutex_);
  if (!may_help()) return false;
  ++active_;
  look_for_room();
  return true;
}

// True: it is over. Whoever helps looks at no clock while it works.
bool PipelineCore::await_end(const Until& until, bool helps) {
  const auto has_ended = [this] {
    const sync::Lock lock(mutex_);
    return is_over();
  };
  for (;;) {
    if (has_ended()) return true;
    if (helps && join()) {
      work();
      continue;
    }
    {
      const sync::Lock lock(mutex_);
      ++waiting_;
    }
    sync::Wakeup why = sync::Wakeup::notified;
    {
      const Lending lending;
      why = changes_.await(
          [&] {
            const sync::Lock lock(mutex_);
            return is_over() || (helps && may_help());
          },
          until.deadline(), until.stop_token());
    }
    const sync::Lock lock(mutex_);
    --waiting_;
    if (why != sync::Wakeup::notified) return is_over();
  }
}

Status PipelineCore::wait(const Until& until) {
  if (is_here()) misuse("Pipeline: wait() or run() inside one of its own stages");
  if (!is_started_) misuse("Pipeline: wait() before start(); call start() or run()");
  const bool is_limited = until.can_end();
  if (!await_end(until, !is_limited)) {
    return until.stop_requested() ? Status::stopped : Status::timed_out;
  }
  std::exception_ptr failure;
  {
    const sync::Lock lock(mutex_);
    if (is_over()) end_sink_if_over();  // no member has, if a stop came before the first
    failure = std::exchange(untaken_, nullptr);
  }
  if (failure) std::rethrow_exception(std::move(failure));
  // order: relaxed, as in is_source_over().
  const Status why = source_end_.load(sync::order::relaxed);
  return why == Status::closed ? Status::ok : why;
}

Tally PipelineCore::close(const Closing& closing) {
  if (!origin_.is_here()) return {};
  if (is_here()) misuse("Pipeline: closed or destroyed inside one of its own stages");
  {
    const sync::Lock pushing(pushing_);
    const sync::Lock lock(mutex_);
    limit(closing);
    // A source that goes on by itself ends by itself.
    if (is_pushed_ || !is_started_ || !closing.begins_more) end_source();
  }
  room_.notify_all();
  const bool ends_itself = closing.begins_more;
  if (!ends_itself || !await_end(closing.deadline, true)) {
    // Late, or abandoned: waits in the source and for the sink end too.
    end_source();
    source_stop_.source.request_stop();
    sink_stop_.source.request_stop();
    (void)await_end({}, true);
  }
  {
    const sync::Lock lock(mutex_);
    end_source();
    end_sink_if_over();
  }
  changes_.notify_all();  // as in stop()
  return tally();
}

Tally PipelineCore::tally() const {
  const sync::Lock lock(mutex_);
  Tally tally = counts_;
  tally.accepted = items();
  tally.pending = tally.accepted - (tally.done + tally.failed + tally.cancelled + tally.expired);
  return tally;
}

}  // namespace detail

}}  // namespace handoff::HANDOFF_ABI
