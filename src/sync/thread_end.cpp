// SPDX-License-Identifier: MIT
//
// How a thread_object hears of the end of its thread: by a key of thread-specific data, which every
// thread has a chain under. Where there is no key, because the process has used them all up or is
// ending, by a thread_local, which keeps the shared object loaded.
#include <pthread.h>

#include <handoff/sync/internal/thread_object.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync::detail {
namespace {

void run_all(void* chain) noexcept {
  for (auto* end = static_cast<ThreadEnd*>(chain); end != nullptr;) {
    ThreadEnd* const next = std::exchange(end->next, nullptr);
    end->run();
    end = next;
  }
}

extern "C" {  // without `static` every copy of the library in a program would define it
static void handoff_thread_ends(void* chain) { run_all(chain); }
}

// Made at the first use, and given back when the shared object is unloaded or the process ends. The
// system refuses a key that was given back.
class Key {
 public:
  Key() noexcept {
    if (pthread_key_create(&key_, &handoff_thread_ends) != 0) key_ = kNone;
  }
  ~Key() { pthread_key_delete(key_); }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  bool add(ThreadEnd& end) noexcept {
    end.next = static_cast<ThreadEnd*>(pthread_getspecific(key_));
    return pthread_setspecific(key_, &end) == 0;
  }

 private:
  static constexpr pthread_key_t kNone = ~pthread_key_t{0};  // the system refuses it

  pthread_key_t key_{};
};

struct Chain {
  ThreadEnd* first = nullptr;
  ~Chain() { run_all(first); }
};

}  // namespace

void at_thread_end(ThreadEnd& end) noexcept {
  static Key key;
  if (key.add(end)) return;
  thread_local Chain chain;
  end.next = std::exchange(chain.first, &end);
}

}}}  // namespace handoff::HANDOFF_ABI::sync::detail
