// SPDX-License-Identifier: MIT
//
// ProcessPool: its calls, and what it throws.
#include <unistd.h>

#include <handoff/core/misuse.hpp>
#include <handoff/process/process_pool.hpp>
#include <utility>

#include "job_master.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

ProcessPoolOptions checked_for_pool(ProcessPoolOptions options) {
  detail::check_workers("ProcessPool", options.width, ProcessPool::max_width, options.tries,
                        options.limit, options.replacements_per_second, options.cpus);
  if (options.capacity == 0 || options.capacity > ProcessPool::max_capacity) {
    misuse("ProcessPool: `capacity` is a number from 1 to ProcessPool::max_capacity");
  }
  if (options.on_full != OnFull::wait && options.on_full != OnFull::reject) {
    misuse("ProcessPool: `on_full` is `wait` or `reject`");
  }
  return options;
}

// Inside a kernel nothing is read of the pool: it was half made when its workers were forked.
void expect_owner(const detail::JobMaster* master) {
  if (detail::is_team_worker()) misuse("ProcessPool: a call from inside a kernel");
  if (::getpid() != master->owner()) misuse("ProcessPool: a call by a fork of the program");
}

}  // namespace

ProcessPool::ProcessPool(const ProcessPoolOptions& options)
    : master_(new detail::JobMaster(checked_for_pool(options))) {}
ProcessPool::~ProcessPool() = default;
ProcessPool::ProcessPool(ProcessPool&&) noexcept = default;
ProcessPool& ProcessPool::operator=(ProcessPool&&) noexcept = default;

// In a fork of the program its thread is not there, and nothing else of it is any business of ours.
void ProcessPool::End::operator()(detail::JobMaster* master) const noexcept {
  if (detail::is_team_worker() || ::getpid() != master->owner()) return;
  delete master;
}

Status ProcessPool::reserve(detail::JobCall call, const ProcessJobOptions& options, Refusal refusal,
                            std::uint32_t& place) {
  expect_owner(master_.get());
  return master_->reserve(call, options, refusal == Refusal::wait, place);
}

void ProcessPool::publish(std::uint32_t place, detail::ProcessJob& job, detail::JobCall call,
                          const void* arguments, std::size_t bytes,
                          const ProcessJobOptions& options) noexcept {
  master_->publish(place, job, call, arguments, bytes, options);
}

Status ProcessPool::wait(const Until& until) {
  expect_owner(master_.get());
  return master_->wait(until);
}

Tally ProcessPool::close(Closing how) {
  expect_owner(master_.get());
  return master_->close(how);
}

Tally ProcessPool::tally() const {
  expect_owner(master_.get());
  return master_->tally();
}

std::size_t ProcessPool::width() const noexcept { return master_->width(); }

}}  // namespace handoff::HANDOFF_ABI
