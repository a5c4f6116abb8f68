// SPDX-License-Identifier: MIT
//
// What a lent loop does on any executor, and what a reduction says of which a part was left out.
#include <handoff/core/detail/lent_loop.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/status.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

using sync::order;

LentLoop::Ref LentLoop::make(std::size_t count, std::size_t smallest, std::size_t helpers,
                             const Job& job) {
  Ref loop(*new LentLoop(helpers, job));
  (*loop).run_.open(count, helpers + 1, smallest);
  return loop;
}

// A block that throws takes the rest from everybody, itself included.
void LentLoop::work(std::size_t member) noexcept {
  constexpr BlockCall call = [](const void* self, IndexRange block) {
    LentLoop& loop = *const_cast<LentLoop*>(static_cast<const LentLoop*>(self));
    call_or([&] { loop.job_.call(loop.job_.work, block); },
            [&]() noexcept { loop.run_.cancel_rest(); });
  };
  run_.work(member, call, this, *job_.until, [](std::size_t) noexcept {});
}

Tally LentLoop::finish() noexcept {
  gate_.close();
  (void)empty_.await([this]() noexcept { return gate_.is_empty(); });
  return run_.settle();
}

void LentLoop::release() noexcept {
  // order: acq_rel, each release pairs with the acquire of the last one, which ends the loop.
  if (refs_.fetch_sub(1, order::acq_rel) == 1) delete this;
}

void refuse_part(const Tally& tally) {
  raise(NotRun(tally.cancelled != 0 ? Status::stopped : Status::timed_out));
}

}}}  // namespace handoff::HANDOFF_ABI::detail
