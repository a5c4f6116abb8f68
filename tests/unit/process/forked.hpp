// SPDX-License-Identifier: MIT
//
// What the tests of rings in shared memory share: pages that a child has too, and a child that is
// always killed and waited for.
#pragma once

#include <sys/prctl.h>

#include "support/filtered_calls.hpp"
#include "support/test.hpp"

namespace handoff::test {

// Shared with all children, zero at first. What lies behind the asked bytes, at the next multiple
// of what a ring wants, is a page that kills: a number that is not bounded does not come far.
class CommonPages {
 public:
  explicit CommonPages(std::size_t bytes)
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        bytes_((bytes + page_ - 1) / page_ * page_),
        wanted_(bytes),
        data_(::mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(static_cast<std::byte*>(data_) + bytes_, page_, PROT_NONE);
  }
  ~CommonPages() { ::munmap(data_, bytes_ + page_); }
  CommonPages(const CommonPages&) = delete;
  CommonPages& operator=(const CommonPages&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const {
    const std::size_t begin = bytes_ - (wanted_ + kAlignment - 1) / kAlignment * kAlignment;
    return {static_cast<std::byte*>(data_) + begin, wanted_};
  }

 private:
  static constexpr std::size_t kAlignment = 128;

  std::size_t page_;
  std::size_t bytes_;
  std::size_t wanted_;
  void* data_;
};

// A ring in pages of its own, made of its sizes: its capacity, and of how many producers.
template <class Ring>
struct RingInPages {
  explicit RingInPages(std::integral auto... sizes)
      : pages(Ring::bytes_for(static_cast<std::size_t>(sizes)...)),
        ring(Ring::create(pages.bytes(), static_cast<std::size_t>(sizes)...)) {}
  CommonPages pages;
  Ring ring;
};

// Runs `function()` in a child, whose exit status says whether it returned true.
class ForkedChild {
 public:
  template <class Function>
  explicit ForkedChild(const Function& function) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(60);  // a test that hangs ends
    ::_exit(function() ? 0 : 1);
  }
  ~ForkedChild() {
    if (pid_ > 0) kill();
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;

  // Dead and known to be.
  void kill() {
    ::kill(pid_, SIGKILL);
    (void)wait();
  }
  // Whether it returned true.
  [[nodiscard]] bool succeeded() {
    const int status = wait();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  // Until it sleeps, in the futex or elsewhere.
  void wait_until_asleep() const {
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%d/stat", static_cast<int>(pid_));
    for (char state = 'R'; state != 'S';) {
      std::FILE* const file = std::fopen(name, "re");
      ASSERT_NE(file, nullptr);
      const int found = std::fscanf(file, "%*d %*s %c", &state);
      std::fclose(file);
      ASSERT_EQ(found, 1);
      ASSERT_NE(state, 'Z') << "it has ended, and will never sleep";
      ::usleep(200);
    }
  }

 private:
  int wait() {
    int status = -1;
    while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  pid_t pid_;
};

// From now on; a call that is refused, or ends this process.
inline void refuse_membarrier() {
  if (!forbid({SYS_membarrier}, EPERM)) ::_exit(3);
}
inline void forbid_futexes() {
  if (!kill_at({SYS_futex})) ::_exit(3);
}

}  // namespace handoff::test
