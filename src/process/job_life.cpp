// SPDX-License-Identifier: MIT
#include "job_life.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/process/detail/process_job.hpp>
#include <handoff/process/process_team_options.hpp>
#include <handoff/sync/internal/shared_fence.hpp>

#include "../core/internal/failure_text.hpp"
#include "../sync/internal/descriptor.hpp"
#include "handed_memory.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// What this process uses; 0 if unreadable. Opened each time: a kernel may close what it finds.
std::size_t resident_bytes_here() noexcept {
  const Descriptor file(descriptors::of_file("/proc/self/statm", O_RDONLY));
  char text[128];
  const ssize_t length = file.is_open() ? ::read(file.get(), text, sizeof text - 1) : 0;
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* const second = std::strchr(text, ' ');  // pages in all, pages in memory, ...
  if (second == nullptr) return 0;
  return std::strtoull(second, nullptr, 10) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

JobLife::JobLife(const ProcessPoolOptions& options)
    : ArenaLife<JobBoard>(
          {.slots = options.width, .words = options.capacity, .places = options.capacity}, false),
      most_jobs_(options.recycle_after),
      most_growth_(options.recycle_memory) {
  (void)sync::shared_spin_policy();  // the first call reads files: not in a fork of many threads
}

// False: it threw, and the text lies where the result would.
bool JobLife::call(JobPlace& place) const noexcept {
  const auto kernel = std::bit_cast<JobCall>(static_cast<std::uintptr_t>(place.call));
  return attempt([&] { kernel(place.arguments, place.result); },
                 [&] {
                   keep_failure_text([&](const char* text) noexcept {
                     const std::size_t length =
                         detail::min(std::strlen(text), JobPlace::most_bytes - 1);
                     std::memcpy(place.result, text, length);
                     place.result[length] = std::byte{0};
                   });
                 });
}

void JobLife::live(const ServerPlan& plan, std::uint32_t slot) noexcept {
  const std::size_t first_bytes = most_growth_ == 0 ? 0 : resident_bytes_here();
  std::size_t jobs = 0;
  arena().board().serve(slot, arena().words(), [&](const ClaimTable::Pass& pass) noexcept {
    plan.tell_step("claimed", slot);
    forget_unused_memory();
    JobPlace& place = arena().place(pass.block);
    const bool is_late =
        place.deadline != sync::no_deadline && place.deadline <= sync::clock::now();
    place.is_late = is_late ? 1 : 0;
    const bool well = !is_late && call(place);
    plan.tell_step("computed", slot);
    (void)JobBoard::finish(arena().words(), pass, well);
    plan.tell_step("over", slot);
    plan.tell_master();
    plan.tell_step("told", slot);
    ++jobs;
    const bool has_done_enough = most_jobs_ != 0 && jobs >= most_jobs_;
    const bool has_grown = most_growth_ != 0 && resident_bytes_here() > first_bytes + most_growth_;
    if (!has_done_enough && !has_grown) return true;
    arena().slot(slot).retire();
    plan.tell_step("retired", slot);
    return false;
  });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
