// SPDX-License-Identifier: MIT
//
// The worker's side of a program that works for another one's team.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <handoff/core/misuse.hpp>
#include <handoff/process/worker_program.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "descriptor_message.hpp"
#include "handed_memory.hpp"
#include "process_arena.hpp"
#include "team_life.hpp"
#include "worker_hello.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using detail::Descriptor;
using detail::WorkerHello;
using detail::WorkerReady;
using detail::WorkerWelcome;

enum WorkerExit : int { kDone = 0, kNotWanted = 1, kNoTeam = 2 };

void check_kernels(std::span<const NamedKernel> kernels) {
  if (kernels.size() > WorkerHello::most_kernels) misuse("worker_main(): more than 64 kernels");
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string_view name = kernels[i].name();
    if (!detail::is_kernel_name(name)) {
      misuse("worker_main(): the name of a kernel has 1 to 47 bytes and no spaces");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (name == kernels[j].name()) misuse("worker_main(): two kernels have the same name");
    }
  }
}

// Whether the socket of a team is there: someone may have started this program by hand.
bool is_team_socket(int number) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

// What the team has given.
struct Place {
  WorkerWelcome welcome;
  std::array<Descriptor, WorkerWelcome::descriptors> passed;  // memory, event, asks
  detail::ProcessArena<detail::TeamBoard> arena;
};

bool say_hello(int socket, std::span<const NamedKernel> kernels) noexcept {
  WorkerHello hello;
  hello.count = static_cast<std::uint32_t>(kernels.size());
  std::transform(kernels.begin(), kernels.end(), hello.kernels.begin(),
                 [](const NamedKernel& kernel) noexcept { return kernel.signature(); });
  return detail::send_message(socket, &hello, WorkerHello::bytes_for(hello.count)) == 0;
}

// False: the team does not want this worker, or is gone.
bool take_place(int socket, Place& place) noexcept {
  WorkerWelcome& welcome = place.welcome;
  const ssize_t bytes =
      detail::receive_message(socket, &welcome, sizeof welcome, place.passed, detail::MayWait::yes);
  if (bytes != static_cast<ssize_t>(sizeof welcome) || welcome.magic != detail::kWorkerMagic) {
    return false;
  }
  WorkerReady ready;
  const bool has_all = std::all_of(place.passed.begin(), place.passed.end(),
                                   [](const Descriptor& one) noexcept { return one.is_open(); });
  if (!has_all) {
    ready.error = EMFILE;
  } else if (welcome.slot >= welcome.slots) {
    ready.error = EPROTO;
  } else {
    ready.error = place.arena.attach(place.passed[0].get(),
                                     detail::ArenaSizes::of_team(welcome.slots, welcome.blocks));
  }
  place.passed[0].close();
  return detail::send_message(socket, &ready, sizeof ready) == 0 && ready.error == 0;
}

void work(const Place& place, std::span<const NamedKernel> kernels) {
  const int event = place.passed[1].get();
  detail::ask_for_memory_by(place.passed[2].get());
  detail::serve_team(
      place.arena, place.welcome.slot, place.welcome.width,
      [&](const detail::TeamJob& job, const void* arguments, IndexRange range) {
        const auto named =
            std::find_if(kernels.begin(), kernels.end(), [&](const NamedKernel& kernel) noexcept {
              return kernel.signature().id() == job.kernel;
            });
        if (named == kernels.end()) {
          raise(std::runtime_error("the worker program has not the kernel of this run"));
        }
        (*named)(arguments, range);
      },
      [](const char*) noexcept {}, [event]() noexcept { detail::descriptors::ring(event); });
}

}  // namespace

int worker_main(std::span<const NamedKernel> kernels) {
  check_kernels(kernels);
  if (!is_team_socket(detail::kWorkerSocket)) return kNoTeam;
  Descriptor socket(detail::kWorkerSocket);
  (void)::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  // It is so already, unless another program is between this one and the team.
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  Place place;
  if (!say_hello(socket.get(), kernels) || !take_place(socket.get(), place)) return kNotWanted;
  socket.close();
  work(place, kernels);
  return kDone;
}

}}  // namespace handoff::HANDOFF_ABI
