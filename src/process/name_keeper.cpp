// SPDX-License-Identifier: MIT
#include "name_keeper.hpp"

#include <unistd.h>

#include <cstddef>
#include <handoff/sync/mutex.hpp>
#include <new>

#include "../sync/internal/seen_sanitizer.hpp"
#include "fork_server.hpp"
#include "kept_names.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// A fork server that is asked for no worker.
struct KeepingServer {
  ServerPlan plan;
  ForkServer server{plan};

  [[nodiscard]] bool is_alive() const noexcept {
    return server.is_running() && !descriptors::is_ready(server.pidfd());
  }
};

struct {
  sync::Mutex mutex;
  pid_t owner = -1;  // the process whose these are
  std::size_t teams = 0;
  KeepingServer* keeping = nullptr;
} constinit the_keeper;

// Under the mutex, in the owner.
void have_keeper() noexcept {
  if (the_keeper.teams == 0 || !has_names()) return;
  KeepingServer*& keeping = the_keeper.keeping;
  if (keeping == nullptr) keeping = new (std::nothrow) KeepingServer;
  if (keeping == nullptr || keeping->is_alive()) return;
  keeping->server.kill();  // reaped
  (void)keeping->server.start();
}

}  // namespace

NameKeeper::NameKeeper() noexcept : owner_(::getpid()) {
  const sync::SeenLock lock(the_keeper.mutex);
  if (the_keeper.owner != owner_) {
    if (the_keeper.keeping != nullptr) the_keeper.keeping->server.forget();
    delete the_keeper.keeping;
    the_keeper.keeping = nullptr;
    the_keeper.owner = owner_;
    the_keeper.teams = 0;
  }
  ++the_keeper.teams;
  have_keeper();
}

NameKeeper::~NameKeeper() {
  if (::getpid() != owner_) return;
  const sync::SeenLock lock(the_keeper.mutex);
  if (--the_keeper.teams != 0) return;
  delete the_keeper.keeping;  // which asks it to end, and waits
  the_keeper.keeping = nullptr;
}

void have_names_kept() noexcept {
  const sync::SeenLock lock(the_keeper.mutex);
  if (the_keeper.owner == ::getpid()) have_keeper();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
