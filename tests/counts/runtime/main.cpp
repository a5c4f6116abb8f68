// SPDX-License-Identifier: MIT
//
// count [NAME [PLANT]]: runs all cases, or those with this in their name, each in a process of its
// own, and prints a line for each row. What PLANT says, the canary does once more.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../case.hpp"
#include "baton.hpp"
#include "rows.hpp"

extern "C" {
pid_t __real_fork();
pid_t __real_waitpid(pid_t, int*, int);
}

namespace handoff::counts {
namespace {

constinit const Case* cases = nullptr;
std::string_view plant;

// On a thread, whose stack lies at the same place in each run.
void* run_case(void* given) noexcept {
  static_cast<const Case*>(given)->run();
  return nullptr;
}

[[noreturn]] void run(const Case& one) {
  pthread_t thread{};
  if (start_thread(&thread, &run_case, const_cast<Case*>(&one)) != 0) std::abort();
  join_thread(thread, nullptr);
  print_rows();
  std::fflush(stdout);
  std::_Exit(0);
}

bool run_in_child(const Case& one) {
  const pid_t child = __real_fork();
  if (child == 0) run(one);
  int status = 0;
  if (__real_waitpid(child, &status, 0) == child && status == 0) return true;
  std::fprintf(stderr, "case %s ended with status %d\n", one.name, status);
  return false;
}

}  // namespace

std::string_view planted() { return plant; }

Case::Case(const char* case_name, void (*function)()) : name(case_name), run(function) {
  const Case** last = &cases;
  while (*last != nullptr) last = &(*last)->next;
  *last = this;
}

}  // namespace handoff::counts

int main(int argc, char** argv) {
  using namespace handoff::counts;
  if (argc > 2) plant = argv[2];
  bool well = true;
  for (const Case* one = cases; one != nullptr; one = one->next) {
    if (argc > 1 && std::strstr(one->name, argv[1]) == nullptr) continue;
    well = run_in_child(*one) && well;
  }
  return well ? 0 : 1;
}
