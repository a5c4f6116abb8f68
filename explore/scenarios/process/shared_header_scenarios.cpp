// SPDX-License-Identifier: MIT
//
// The ready word of shared memory, with a creator that dies at any step: the scenarios of
// docs/design/processes.md.
#include "process/shared_header.hpp"

#include <handoff/sync/internal/cell.hpp>

#include "explore/scenario.hpp"

namespace shared_header_scenarios { namespace {

namespace explore = handoff::explore;
using handoff::detail::SharedHeader;
using handoff::detail::SharedHeaderWords;
using namespace handoff::test;

struct Memory {
  SharedHeader header{SharedHeaderWords{.magic = 1, .bytes = 8}};
  handoff::sync::cell<std::uint64_t> bytes{0};
};

void create(Memory& memory) {
  memory.bytes.write() = 7;
  memory.header.publish();
}

// Whether it may be attached to; then all is there that the creator wrote.
bool attach(const Memory& memory) {
  if (!memory.header.is_published()) return false;
  explore::check(memory.header.words().bytes == 8, "the header is whole");
  explore::check(memory.bytes.read() == 7, "what was written before publish() is seen");
  return true;
}

// Two attach while it is made.
const Scenario published("shared_header/published", [] {
  Memory memory;
  explore::Thread creator([&] { create(memory); });
  bool other_has_it = false;
  explore::Thread other([&] { other_has_it = attach(memory); });
  const bool has_it = attach(memory);
  creator.join();
  other.join();
  explore::outcome((has_it ? 1U : 0U) | (other_has_it ? 2U : 0U));
  explore::check(attach(memory), "published for good");
});

// The creator is killed: it is refused, or all is there.
const MortalScenario<> creator_dies("shared_header/creator_dies", [] {
  Memory memory;
  explore::Process creator([&] { create(memory); });
  const bool has_it = attach(memory);
  const bool died = creator.wait();
  const bool has_it_later = attach(memory);
  explore::check(has_it_later || (died && !has_it), "published by one that lived");
  explore::outcome((has_it ? 1U : 0U) | (died ? 2U : 0U) | (has_it_later ? 4U : 0U));
});

}}  // namespace shared_header_scenarios
