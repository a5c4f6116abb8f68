// SPDX-License-Identifier: MIT
#include "rank_run.hpp"

#include <errno.h>

#include <algorithm>
#include <exception>
#include <handoff/core/bulk.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/stop_token.hpp>
#include <system_error>
#include <utility>

#include "../core/internal/failure_text.hpp"
#include "../sync/internal/sleep.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

bool all_done(std::vector<MPI_Request>& requests) {
  int is_done = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &is_done,
                        MPI_STATUSES_IGNORE),
            "a message");
  return is_done != 0;
}

}  // namespace

RankRun::RankRun(RankLink& link, ThreadTeam& team, Outbox& outbox, const RankJob& job,
                 RankRunPlan plan, const Until& until, StopCause cause, RankCheckpoint* checkpoint)
    : link_(link),
      team_(team),
      outbox_(outbox),
      job_(job),
      plan_(std::move(plan)),
      until_(until),
      checkpoint_(checkpoint),
      cause_(cause),
      world_(plan_.plans.of_world()),
      world_is_over_(link.nodes() == 1),
      heard_at_(static_cast<std::size_t>(link.rank() == 0 ? link.ranks() : 1), sync::clock::now()),
      told_at_(sync::clock::now()) {
  std::size_t begin = 0;
  for (const IndexRange range : plan_.left) {
    begins_.push_back(begin);
    begin += range.size();
  }
}

// ---- The threads that compute ----

void RankRun::work() noexcept {
  RankFigures figures;
  std::uint32_t known = NodeCounter::no_block;
  IndexRange of_node;
  BlockPlan plan;
  const auto blocks_of = [&](std::uint32_t number) noexcept {
    if (std::exchange(known, number) != number) {
      of_node = number == NodeCounter::no_block ? IndexRange{} : world_.block(number);
      plan = plan_.plans.of_node(of_node);
    }
    return plan.blocks();
  };
  NodeCounter& node = link_.node();
  Stride stride;
  look(stride);
  Pace pace;
  for (BlockNumber number; !node.is_stopped(plan_.number);) {
    const NodeCounter::Said said = node.claim(number, blocks_of);
    if (said == NodeCounter::Said::none_left) break;
    if (said == NodeCounter::Said::not_yet) {
      sync::sleep_until(pace.next(), "the next blocks");
      continue;
    }
    pace.moved();
    // It begins a block of the node: the next one is due.
    if (number.in_node == 0 && link_.nodes() > 1) link_.ring_first_of_node();
    (void)blocks_of(number.of_node);
    const IndexRange block = plan.block(number.in_node);
    ++figures.statistics.blocks;
    if (is_rank_0()) ++figures.statistics.own_blocks;
    compute({of_node.first + block.first, of_node.first + block.last}, stride, figures);
  }
  const sync::Lock lock(mutex_);
  figures_.add(figures);
}

// Where the run can end early, a thread looks about that often; each time it tells rank 0 of what
// is finished.
void RankRun::look(Stride& stride) const noexcept {
  constexpr std::chrono::milliseconds between_looks{5};
  if (plan_.can_end) stride.look(sync::clock::now(), plan_.plans.smallest, between_looks);
}

// `block` counts through what is left: a part of it for each hole that it reaches over, and for
// each look at a stop. What is not begun by then is left out, as blocks are.
void RankRun::compute(IndexRange block, Stride& stride, RankFigures& figures) noexcept {
  auto at = static_cast<std::size_t>(std::upper_bound(begins_.begin(), begins_.end(), block.first) -
                                     begins_.begin() - 1);
  while (!block.empty()) {
    const IndexRange range = plan_.left[at];
    const std::size_t first = range.first + (block.first - begins_[at]);
    const std::size_t size = std::min({block.size(), range.last - first, stride.most});
    run_piece({first, first + size}, figures);
    block.first += size;
    if (first + size == range.last) ++at;
    stride.taken = size;
    look(stride);
    if (plan_.can_end && link_.node().is_stopped(plan_.number)) return;
  }
}

void RankRun::run_piece(IndexRange piece, RankFigures& figures) noexcept {
  FinishedBlock finished{.range = piece, .results = {}};
  const bool is_done = attempt(
      [&] {
        std::byte* out = nullptr;
        if (plan_.bytes_per_index != 0 && is_rank_0()) {
          out = place_of(piece);
        } else if (plan_.bytes_per_index != 0) {
          finished.results = outbox_.take_memory(piece.size() * plan_.bytes_per_index);
          out = finished.results.bytes.get();
        }
        job_.call(job_.body, piece, out, plan_.bytes_per_index);
        const bool is_told = plan_.reports && (!is_rank_0() || checkpoint_ != nullptr);
        if (is_told) outbox_.push(std::move(finished));
      },
      [&]() noexcept { keep_failure(piece.size(), figures); });
  if (is_done) figures.done += piece.size();
}

void RankRun::keep_failure(std::size_t size, RankFigures& figures) noexcept {
  figures.failed += size;
  keep_failure_text([this](const char* text) {
    const sync::Lock lock(mutex_);
    if (failure_[0] == '\0') failure_ = rank_text(link_.name_of(link_.rank()) + ": " + text);
  });
}

// ---- The caller ----

RankVerdict RankRun::lead() {
  const std::size_t members = team_.width() - 1;
  outbox_.open(members + 2);
  if (cause_ != StopCause::none) link_.node().stop(plan_.number);
  const sync::StopCallback on_stop(
      until_.stop_token(), [](void* bell) noexcept { static_cast<RankBell*>(bell)->ring(); },
      &link_.bell());
  Outbox* const outbox = &outbox_;
  BulkOperation threads(
      team_, members, [this](std::size_t, std::size_t) { work(); },
      [outbox](const Tally&) noexcept { outbox->end(); }, {.block = 1});
  (void)threads.start();
  try {
    if (is_rank_0()) {
      if (link_.ranks() > 1) expect_report();
    } else {
      expect_verdict();
    }
    while (!verdict_ || !sends_.empty() || !tellings_.empty()) step();
  } catch (...) {
    leave();
    throw;
  }
  return *verdict_;
}

void RankRun::step() {
  const std::uint32_t heard = link_.bell().heard();
  bool has_moved = send_finished();
  has_moved |= is_rank_0() ? take_reports() : take_verdicts();
  has_moved |= complete();
  has_moved |= supply_node();
  watch_until();
  if (link_.nodes() > 1) watch_others();
  if (!has_told_end_ && outbox_.has_ended() && sends_.empty() && !link_.is_asking()) tell_end();
  if (has_moved) return pace_.moved();
  if (has_told_end_ && sync::clock::now() < spins_until_) return last_wait_.snooze_on();
  link_.bell().sleep(heard, next_look());
}

// Where all ranks share memory they ring, and a look takes a CPU from a thread that computes. But
// MPI goes on with what is under way only while it is called.
sync::Deadline RankRun::next_look() noexcept {
  using namespace std::chrono_literals;
  const bool is_at_rest = sends_.empty() && arrivals_.empty() && tellings_.empty();
  const sync::Deadline next = pace_.next(is_at_rest && link_.nodes() == 1 ? 16ms : 1ms);
  const bool is_watched = !has_told_end_ && cause_ == StopCause::none;
  return is_watched ? std::min(next, until_.deadline()) : next;
}

// What is under way is bounded: more blocks wait in the outbox, and then their threads do.
bool RankRun::send_finished() {
  bool has_moved = false;
  FinishedBlock block;
  while (sends_.size() < team_.width() && outbox_.pop(block)) {
    has_moved = true;
    if (is_rank_0()) {
      record(block.range, plan_.bytes_per_index == 0 ? nullptr : place_of(block.range));
    } else {
      tell_rank_0({.kind = RankReport::Kind::finished, .range = block.range},
                  std::move(block.results));
    }
  }
  return has_moved;
}

void RankRun::tell_rank_0(const RankReport& report, ResultBytes results) {
  Transfer& transfer = sends_.emplace_back(
      Transfer{.report = report, .results = std::move(results), .requests = {}});
  MPI_Request& request = transfer.requests.emplace_back();
  check_mpi(MPI_Isend(&transfer.report, sizeof(RankReport), MPI_BYTE, 0, kReportTag, link_.comm(),
                      &request),
            "a report to rank 0");
  if (transfer.results.bytes != nullptr) {
    move_bytes(transfer.results.bytes.get(), report.range.size() * plan_.bytes_per_index, 0, true,
               transfer.requests);
  }
  link_.ring(0);
  if (report.kind == RankReport::Kind::finished) messages_ += transfer.requests.size();
  told_at_ = sync::clock::now();
}

void RankRun::move_bytes(std::byte* bytes, std::size_t size, int other, bool sends,
                         std::vector<MPI_Request>& requests) {
  while (size != 0) {
    const auto part = static_cast<int>(std::min(size, kMostMessageBytes));
    MPI_Request& request = requests.emplace_back();
    check_mpi(sends ? MPI_Isend(bytes, part, MPI_BYTE, other, kDataTag, link_.comm(), &request)
                    : MPI_Irecv(bytes, part, MPI_BYTE, other, kDataTag, link_.comm(), &request),
              "results");
    bytes += part;
    size -= static_cast<std::size_t>(part);
  }
}

void RankRun::expect_report() {
  check_mpi(MPI_Irecv(&report_, sizeof report_, MPI_BYTE, MPI_ANY_SOURCE, kReportTag, link_.comm(),
                      &expected_),
            "reports");
}

bool RankRun::take_reports() {
  bool has_moved = false;
  while (expected_ != MPI_REQUEST_NULL) {
    int is_done = 0;
    MPI_Status status{};
    check_mpi(MPI_Test(&expected_, &is_done, &status), "a report");
    if (is_done == 0) break;
    has_moved = true;
    take(report_, status.MPI_SOURCE);
    if (ends_ + 1 < link_.ranks()) expect_report();
  }
  return has_moved;
}

// The results of a report come from its rank in the order of its reports.
void RankRun::take(const RankReport& report, int from) {
  heard_at_[static_cast<std::size_t>(from)] = sync::clock::now();
  switch (report.kind) {
    case RankReport::Kind::alive: break;
    case RankReport::Kind::finished: {
      if (plan_.bytes_per_index == 0) return record(report.range, nullptr);
      Transfer& arrival = arrivals_.emplace_back();
      arrival.report = report;
      arrival.from = from;
      move_bytes(place_of(report.range), report.range.size() * plan_.bytes_per_index, from, false,
                 arrival.requests);
      break;
    }
    case RankReport::Kind::stop: stop(report.cause); break;
    case RankReport::Kind::end:
      ++ends_;
      outcome_.figures.add(report.figures);
      if (outcome_.text[0] == '\0') outcome_.text = report.failure;
      break;
  }
}

void RankRun::expect_verdict() {
  check_mpi(MPI_Irecv(&heard_, sizeof heard_, MPI_BYTE, 0, kVerdictTag, link_.comm(), &expected_),
            "words of rank 0");
}

bool RankRun::take_verdicts() {
  if (verdict_) return false;
  int is_done = 0;
  check_mpi(MPI_Test(&expected_, &is_done, MPI_STATUS_IGNORE), "words of rank 0");
  if (is_done == 0) return false;
  heard_at_[0] = sync::clock::now();
  if (heard_.kind == RankVerdict::Kind::lost) link_.lose(heard_.text.data());
  if (heard_.kind == RankVerdict::Kind::stop) {
    cause_ = heard_.cause;
    link_.node().stop(plan_.number);
  }
  if (heard_.kind == RankVerdict::Kind::end) {
    verdict_ = heard_;
  } else {
    expect_verdict();
  }
  return true;
}

bool RankRun::complete() {
  const std::size_t before = sends_.size() + arrivals_.size() + tellings_.size();
  std::erase_if(sends_, [this](Transfer& each) {
    if (!all_done(each.requests)) return false;
    if (each.results.bytes != nullptr) outbox_.give_back(std::move(each.results));
    return true;
  });
  std::erase_if(tellings_, [](Telling& each) { return all_done(each.requests); });
  std::erase_if(arrivals_, [this](Transfer& each) {
    if (!all_done(each.requests)) return false;
    link_.ring(each.from);
    record(each.report.range, place_of(each.report.range));
    return true;
  });
  if (is_rank_0() && has_told_end_ && !verdict_ && ends_ + 1 == link_.ranks() &&
      arrivals_.empty()) {
    conclude();
  }
  return sends_.size() + arrivals_.size() + tellings_.size() != before;
}

// call() with the checkpoint, if there is one that can be written. False: now it cannot.
template <class Call>
bool RankRun::with_checkpoint(const Call& call) {
  if (checkpoint_ == nullptr || outcome_.error != 0) return true;
  try {
    call(*checkpoint_);
    return true;
  } catch (const std::system_error& error) {
    outcome_.error = error.code().value();
    outcome_.text = rank_text(error.what());
    return false;
  }
}

// A checkpoint that cannot be written ends the run, on all ranks.
void RankRun::record(IndexRange range, const std::byte* results) {
  const bool is_kept =
      with_checkpoint([&](RankCheckpoint& checkpoint) { checkpoint.record(range, results); });
  if (!is_kept) stop(StopCause::stopped);
}

void RankRun::conclude() {
  using namespace std::chrono_literals;
  bool is_durable = true;
  (void)with_checkpoint([&](RankCheckpoint& checkpoint) { is_durable = checkpoint.flush(200ms); });
  if (!is_durable) return;
  outcome_.cause = cause_;
  verdict_ = outcome_;
  tell_all(outcome_);
}

// The node's next block is claimed when its threads have taken the one before: ahead of need.
bool RankRun::supply_node() {
  if (world_is_over_ || !link_.is_first_of_node()) return false;
  if (link_.is_asking()) {
    std::uint64_t number = 0;
    pace_.moved();
    if (!link_.world_said(number)) return false;
    world_is_over_ = number >= world_.blocks();
    if (world_is_over_) {
      link_.node().lay_out_end();
    } else {
      last_ = static_cast<std::uint32_t>(number);
      link_.node().lay_out(last_);
      ++node_blocks_;
    }
    return true;
  }
  if (link_.node().is_stopped(plan_.number)) {
    world_is_over_ = true;
  } else if (link_.node().is_wanted(last_)) {
    link_.ask_world();
  }
  return false;
}

void RankRun::watch_until() {
  if (has_told_end_ || cause_ != StopCause::none) return;
  if (until_.stop_requested()) {
    stop(StopCause::stopped);
  } else if (until_.has_deadline() && sync::clock::now() >= until_.deadline()) {
    stop(StopCause::expired);
  }
}

// On this node at once, and on the others by rank 0.
void RankRun::stop(StopCause cause) {
  link_.node().stop(plan_.number);
  if (std::exchange(cause_, cause) != StopCause::none) return;
  if (is_rank_0()) {
    tell_all({.kind = RankVerdict::Kind::stop, .cause = cause});
  } else if (!has_told_end_) {
    tell_rank_0({.kind = RankReport::Kind::stop, .cause = cause});
  }
}

void RankRun::tell_all(const RankVerdict& verdict) {
  if (link_.ranks() == 1) return;
  Telling& telling = tellings_.emplace_back(Telling{.verdict = verdict, .requests = {}});
  for (int rank = 1; rank < link_.ranks(); ++rank) {
    MPI_Request& request = telling.requests.emplace_back();
    check_mpi(MPI_Isend(&telling.verdict, sizeof telling.verdict, MPI_BYTE, rank, kVerdictTag,
                        link_.comm(), &request),
              "words to all ranks");
    link_.ring(rank);
  }
  told_at_ = sync::clock::now();
}

// The others are ready soon. A rank that sleeps then is woken on the CPU of the one that wakes it:
// one of them waited there for up to 5 ms while the other went on to its next call of MPI, which
// spins.
void RankRun::tell_end() {
  using namespace std::chrono_literals;
  has_told_end_ = true;
  const sync::Deadline now = sync::clock::now();
  spins_until_ = now + std::clamp<sync::clock::duration>((now - began_) / 8, 1ms, 10ms);
  figures_.statistics.messages = messages_;
  figures_.statistics.node_blocks = node_blocks_;
  if (!is_rank_0()) {
    return tell_rank_0({.kind = RankReport::Kind::end, .figures = figures_, .failure = failure_});
  }
  outcome_.figures.add(figures_);
  if (outcome_.text[0] == '\0') outcome_.text = failure_;
}

// Ranks of other machines, which may be cut off without a word. One that has told its end still
// says that it is there.
void RankRun::watch_others() {
  const sync::Deadline now = sync::clock::now();
  if (verdict_) return;
  if (now - told_at_ > plan_.patience / 4) {
    if (is_rank_0()) {
      tell_all({.kind = RankVerdict::Kind::alive});
    } else {
      tell_rank_0({.kind = RankReport::Kind::alive});
    }
  }
  for (std::size_t i = is_rank_0() ? 1 : 0; i < heard_at_.size(); ++i) {
    if (now - heard_at_[i] <= plan_.patience) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(plan_.patience).count();
    const std::string why = link_.name_of(static_cast<int>(i)) + " has said nothing for " +
                            std::to_string(seconds) +
                            " s: its host or the network is down, and the job ends";
    if (is_rank_0()) tell_all({.kind = RankVerdict::Kind::lost, .text = rank_text(why)});
    link_.lose(why);
  }
}

// What is wrong is no longer MPI's to tell. The threads end first, as they use what the caller has;
// what may still be read by MPI is never freed, as the program ends.
void RankRun::leave() noexcept {
  link_.node().stop(plan_.number);
  for (FinishedBlock block; !outbox_.has_ended();) {
    const std::uint32_t heard = link_.bell().heard();
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kReportTag, link_.comm(), &is_there, MPI_STATUS_IGNORE);
    if (!outbox_.pop(block) && !outbox_.has_ended()) link_.bell().sleep(heard, pace_.next());
  }
  const auto cancel = [](MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  };
  cancel(expected_);
  for (Transfer& arrival : arrivals_) {
    for (MPI_Request& request : arrival.requests) cancel(request);
  }
  (void)own_sends_.release();
  (void)own_tellings_.release();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
