// SPDX-License-Identifier: MIT
#include "handed_memory.hpp"

#include <errno.h>
#include <fcntl.h>

#include <span>

#include "descriptor_message.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

struct MemoryAsk {
  std::uint64_t key = 0;
};
struct MemoryAnswer {
  std::int32_t error = 0;
  std::uint32_t writable = 0;
};

// How many in a row; then the master looks at the rest of its work.
constexpr int kMostAsks = 64;

int the_asks = -1;  // of a worker; written once, before it works

int ask_the_master(std::uint64_t key, Descriptor& file, bool& writable) noexcept {
  std::array<int, 2> ends{};
  if (descriptors::of_socket_pair(ends) != 0) return errno;
  const Descriptor mine(ends[0]);
  Descriptor masters(ends[1]);
  const MemoryAsk ask{key};
  const int passed[] = {masters.get()};
  int error = 0;
  // The master takes them one by one: there may be no room for a moment.
  while ((error = send_message(the_asks, &ask, sizeof ask, passed)) == EAGAIN) {
    (void)descriptors::is_ready(the_asks, 100, POLLOUT);
  }
  if (error != 0) return error;
  masters.close();  // if the master goes, or closes the other copy, the wait ends
  MemoryAnswer answer;
  const ssize_t bytes =
      receive_message(mine.get(), &answer, sizeof answer, {&file, 1}, MayWait::yes);
  if (bytes != static_cast<ssize_t>(sizeof answer)) return bytes < 0 ? errno : EPIPE;
  writable = answer.writable != 0;
  if (answer.error != 0) return answer.error;
  return file.is_open() ? 0 : EMFILE;
}

}  // namespace

void ask_for_memory_by(int descriptor) noexcept {
  the_asks = descriptor;
  get_memory_from(&ask_the_master);
}

int MemoryAsks::open() noexcept {
  std::array<int, 2> ends{};
  if (descriptors::of_socket_pair(ends) != 0) return errno;
  own_ = Descriptor(ends[0]);
  theirs_ = Descriptor(ends[1]);
  return 0;
}

void MemoryAsks::answer() noexcept {
  for (int i = 0; i < kMostAsks; ++i) {
    MemoryAsk ask;
    Descriptor back;
    const ssize_t bytes = receive_message(own_.get(), &ask, sizeof ask, {&back, 1}, MayWait::no);
    if (bytes < 0) return;
    if (bytes == 0) {  // it would be readable for ever
      own_.close();
      return;
    }
    if (bytes != static_cast<ssize_t>(sizeof ask) || !back.is_open()) continue;
    Descriptor file;
    bool writable = false;
    MemoryAnswer answer;
    answer.error = descriptor_of_memory(ask.key, file, writable);
    answer.writable = writable ? 1 : 0;
    const int passed[] = {file.get()};
    (void)send_message(back.get(), &answer, sizeof answer,
                       std::span<const int>(passed, file.is_open() ? 1 : 0));
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
