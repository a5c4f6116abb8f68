// SPDX-License-Identifier: MIT
//
// A table in memory that processes share. A child builds a tree in it and links its nodes with
// pointers that are right in every process; the parent reads the tree. Another child may only look,
// and is killed when it writes. What does not fit is refused with a reason.
#include <handoff/process/offset_ptr.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_span.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::size_t kWords = 1000;

struct Node {
  std::uint32_t word = 0;
  handoff::offset_ptr<Node> less;
  handoff::offset_ptr<Node> more;
};
struct Table {
  handoff::offset_ptr<Node> root;
  std::size_t used = 0;
  Node nodes[kWords];
};
constexpr std::uint64_t kLayout = handoff::shared_layout<Table, Node>({1});

// Runs `work` in a child. What that returns; the signal that killed it as a negative number.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    _exit(work());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 255;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void insert(Table& table, std::uint32_t word) {
  handoff::offset_ptr<Node>* place = &table.root;
  while (*place) place = word < (*place)->word ? &(*place)->less : &(*place)->more;
  Node& node = table.nodes[table.used++];
  node.word = word;
  *place = &node;
}

// Another process wrote this: each pointer is checked before it is followed, and no ring of
// pointers keeps us for ever.
bool is_sorted(std::span<const std::byte> memory, const handoff::offset_ptr<Node>& root,
               std::uint64_t& last, std::size_t& left) {
  if (!root) return true;
  const Node* const node = root.in(memory);
  if (node == nullptr || left-- == 0) return false;
  if (!is_sorted(memory, node->less, last, left) || node->word + std::uint64_t{1} < last) {
    return false;
  }
  last = node->word + std::uint64_t{1};
  return is_sorted(memory, node->more, last, left);
}

bool tree_is_shared(const handoff::SharedMemory& memory) {
  const handoff::SharedSpan<Table> table(memory, 0, 1);  // a plain value; the child looks it up
  const int built = in_child([&] {
    const auto own = handoff::SharedMemory::attach(memory.descriptor(), {.layout = kLayout});
    Table& mine = table.in(own).front();  // at another address than the parent's
    for (std::uint32_t i = 0, word = 1; i < kWords; ++i) {
      insert(mine, word);
      word = word * 1664525 + 1013904223;
    }
    return 0;
  });
  std::uint64_t last = 0;
  std::size_t left = kWords;
  const bool sorted = is_sorted(memory.bytes(), table.get().front().root, last, left);
  std::printf("a child sorted %zu words\n", kWords - left);
  return built == 0 && sorted && left == 0;
}

bool readers_only_read(const handoff::SharedMemory& memory) {
  const int end = in_child([&] {
    const auto view =
        handoff::SharedMemory::attach(memory.descriptor(), {.layout = kLayout, .writable = false});
    view.bytes()[0] = std::byte{1};
    return 0;
  });
  std::printf("a reader that wrote ended by signal %d\n", -end);
  return end == -SIGSEGV;
}

// The error says what does not fit.
bool strangers_are_refused(const handoff::SharedMemory& memory) {
  try {
    (void)handoff::SharedMemory::attach(memory.descriptor(), {.layout = kLayout + 1});
  } catch (const std::system_error& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  return false;
}

// Programs that do not know each other meet by a name. It is gone with the handle.
bool names_are_left_to_nobody() {
  const std::string name = "/handoff-example-" + std::to_string(getpid());
  {
    auto memory = handoff::SharedMemory::create({.name = name, .bytes = 100});
    memory.publish();
    if (handoff::SharedMemory::open(name).key() != memory.key()) return false;
  }
  try {
    (void)handoff::SharedMemory::open(name);
  } catch (const std::system_error&) {
    return true;
  }
  return false;
}

}  // namespace

int main() {
  auto memory = handoff::SharedMemory::create({.bytes = sizeof(Table), .layout = kLayout});
  ::new (memory.bytes().data()) Table;
  memory.publish();
  const bool shared = tree_is_shared(memory);
  const bool read = readers_only_read(memory);
  const bool refused = strangers_are_refused(memory);
  const bool met = names_are_left_to_nobody();
  return shared && read && refused && met ? 0 : 1;
}
