// SPDX-License-Identifier: MIT
//
// Memory that several processes map.
//
//   constexpr auto kTable = handoff::shared_layout<Table>();
//   auto memory = handoff::SharedMemory::create({.bytes = sizeof(Table), .layout = kTable});
//   fill(memory.bytes());
//   memory.publish();  // from now on others may attach, with this descriptor
//   auto view = handoff::SharedMemory::attach(memory.descriptor(),
//                                             {.layout = kTable, .writable = false});
//
// For: rings, tables and matrices between processes. Not for: data that outlives its processes (a
//   file), other machines, types with pointers (offset_ptr), virtual functions or locks inside.
// Anonymous unless it has a name. No name can be guessed, taken or left behind then: the memory
//   goes with its last descriptor and mapping. Its descriptor is handed over (Subprocess, a Unix
//   socket). Its size is sealed.
// Named where independent programs must meet. create() never takes another's place. Only its user
//   may open it. The handle that made it removes the name, if that still is this memory's. A
//   process that is killed leaves its name behind, unless it has a ProcessTeam or a ProcessPool: a
//   process of that takes it away. remove() does, too, and refuses while the creator lives. Memory
//   with a name cannot be sealed: a process of the same user may
//   cut it short, and a process that touches what is gone is killed (SIGBUS). So a name is for
//   programs that trust each other.
// Reserved: too little memory is an error of create(), no signal later. More than the system says
//   it has left, or than the memory limits of this process's cgroups leave, is refused before
//   anything is taken.
// Refused by attach() and open(), with the reason: another magic, version, layout or size; not
//   published (EAGAIN); not sealed; for names: another user's, open to others, no regular file.
// Views: a mapping with `writable = false` cannot be written to. With `only_creator_writes` nobody
//   but the creator and its forks ever gets another. read_only_descriptor() protects from mistakes,
//   and from other users.
// Fork: a child has the mappings and the handles; a handle's copy in the child removes no name.
// Trust: another process may change each byte at any time. Read once, check, then use. What else it
//   can do: docs/design/processes.md.
// Concurrency: a handle belongs to one thread at a time; bytes() is as safe as what lies in it.
// Blocks: create(), while pages are reserved. Allocates: a handle.
// Exceptions: std::system_error; EPROTO: memory that is not what was asked for; EAGAIN: not
//   published. std::invalid_argument for options that can never work; use of an empty handle is
//   misuse. A failed call leaves nothing behind.
// Source: memfd_create(2), fcntl_locking(2) F_ADD_SEALS, shm_overview(7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct SharedMapping;
struct SharedMemoryAccess;
}  // namespace detail

// What create() makes.
struct SharedMemoryOptions {
  std::string name = {};  // "/name"; empty: anonymous
  std::size_t bytes = 0;  // at least 1
  std::uint64_t layout = 0;  // what will lie there: shared_layout<T...>(), or any number
  bool huge_pages = false;  // pages of 2 MiB, where the system has some
  bool only_creator_writes = false;  // sealed so; not with a name
};

// What attach() and open() want; what is there must be like it.
struct AttachOptions {
  std::uint64_t layout = 0;  // that of create()
  std::size_t bytes = 0;  // the least it has; 0: as many as there are
  bool writable = true;  // false: a store into it ends the process that makes it (SIGSEGV)
};

class SharedMemory {
 public:
  SharedMemory() noexcept;  // empty
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  // New and all zero, mapped here. Nobody can attach before publish().
  [[nodiscard]] static SharedMemory create(const SharedMemoryOptions& options);
  // What another handle or process made, without a name. The descriptor stays the caller's.
  [[nodiscard]] static SharedMemory attach(int descriptor, const AttachOptions& options = {});
  // What a process of this user made with this name.
  [[nodiscard]] static SharedMemory open(const std::string& name,
                                         const AttachOptions& options = {});
  // Takes away a name that its creator left behind when it was killed. False: there is none. Throws
  // if the creator, or a fork of it, has the memory still (EBUSY), and for all that open() refuses
  // but its header. Processes that have the memory keep it.
  static bool remove(const std::string& name);

  // By the creator, once the memory is filled. What it wrote before, those that attach see.
  void publish();

  // As many as create() was asked for, from a multiple of 4096 on; none if empty.
  [[nodiscard]] std::span<std::byte> bytes() const noexcept;
  // Whether bytes() may be written to here; false if empty.
  [[nodiscard]] bool writable() const noexcept;
  // The same in all processes that have this memory; another one for other memory. 0: empty.
  [[nodiscard]] std::uint64_t key() const noexcept;
  // The handle's, close-on-exec; -1: empty.
  [[nodiscard]] int descriptor() const noexcept;
  // A new one, close-on-exec, the caller's to close. It can only be mapped for reading.
  [[nodiscard]] int read_only_descriptor() const;
  // False: empty.
  [[nodiscard]] bool valid() const noexcept { return mapping_ != nullptr; }

 private:
  friend struct detail::SharedMemoryAccess;
  explicit SharedMemory(std::unique_ptr<detail::SharedMapping> mapping) noexcept;

  std::unique_ptr<detail::SharedMapping> mapping_;
};

// A number for what lies in shared memory: sizes and alignments of types, in their order, and
// numbers of your own: offsets, counts, a version. Two programs that disagree on them do not attach
// to each other's memory.
template <class... T>
[[nodiscard]] constexpr std::uint64_t shared_layout(
    std::initializer_list<std::uint64_t> numbers = {}) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8U) hash = (hash ^ (number & 0xffU)) * 0x100000001b3U;
  };
  add(sizeof...(T));
  (..., (add(sizeof(T)), add(alignof(T))));
  for (const std::uint64_t number : numbers) add(number);
  return hash;
}

}}  // namespace handoff::HANDOFF_ABI
