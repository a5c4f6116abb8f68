// SPDX-License-Identifier: MIT
// Kernels for the tests of `handoff try`: -DKERNEL=NAME chooses one. Items write to places of their
// own, and all but `sound` and `shared` have one fault.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>

#include <handoff/core/try_kernel.h>

#define QUOTED(text) #text
#define TEXT(text) QUOTED(text)

namespace {

struct NoMoreRows : std::exception {
  const char* what() const noexcept override { return "no more rows"; }
};

constexpr bool is(const char* name) {
  const char* mine = TEXT(KERNEL);
  for (; *name != '\0' && *name == *mine; ++name) ++mine;
  return *name == *mine;
}

constexpr std::uint64_t kItems = is("empty") ? 0 : 64;
std::uint64_t own_memory[64];
std::uint64_t* results = own_memory;
volatile std::uint64_t counter = 0;  // hidden, or raced for
std::uint64_t digests = 0;

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

std::uint64_t burn(std::uint64_t seed) {
  for (int i = 0; i < 20'000; ++i) seed = seed * 6364136223846793005u + 1442695040888963407u;
  return seed;
}

void item(std::uint64_t i) {
  if (is("race")) {
    const std::uint64_t before = counter;
    results[i] = burn(i);
    counter = before + 1;
    return;
  }
  results[i] = burn(i);
  if (is("hidden")) results[i] = counter = counter + 1;
  if (is("crash_always") && i == 40) std::abort();
  if (is_main_thread()) return;
  if (is("crash")) *static_cast<volatile int*>(nullptr) = 1;
  if (is("hang"))
    for (;;) pause();
  if (is("leave")) _exit(0);
  if (is("throw")) throw NoMoreRows();
}

std::uint64_t items() { return kItems; }

void run(std::uint64_t first, std::uint64_t last) {
  for (; first < last; ++first) item(first);
}

void reset() {
  for (std::uint64_t i = 0; i < 64; ++i) results[i] = 0;
  counter = 0;
}

std::uint64_t digest() {
  const std::uint64_t of_all = handoff_try_digest(results, sizeof own_memory);
  if (is("restless")) return of_all + ++digests;
  if (is("of_a_process")) return of_all + static_cast<std::uint64_t>(getpid());
  return is("race") ? of_all + counter : of_all;
}

int setup(void* memory) {
  if (is("shared")) results = static_cast<std::uint64_t*>(memory);
  return is("refuses") ? 7 : 0;
}

const handoff_try_kernel kernel = {is("newer") ? 99u : HANDOFF_TRY_VERSION,
                                   is("short_one") ? 8u : sizeof kernel,
                                   TEXT(KERNEL),
                                   items,
                                   run,
                                   reset,
                                   is("incomplete") ? nullptr : digest,
                                   is("shared") ? sizeof own_memory : 0,
                                   setup,
                                   nullptr};

}  // namespace

#if defined(UNDEFINED)
extern "C" int nowhere();
int needs_it = nowhere();
#endif
#if !defined(NO_SYMBOL)
const handoff_try_kernel* handoff_try_entry() { return &kernel; }
#else
const void* unused = &kernel;
#endif
