// SPDX-License-Identifier: MIT
//
// The shadow of the scenario's memory, and the arena that its operator new serves from.
#include "sight.hpp"

#include <errno.h>
#include <link.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <map>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>

#include "engine.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {
namespace {

void* map_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mapping the explorer's memory");
  }
  return memory;
}

struct Image {
  std::uintptr_t begin = 0;
  std::uintptr_t statics = 0;
  std::size_t statics_bytes = 0;
};

// Of the program itself, which comes first.
int read_image(dl_phdr_info* info, std::size_t, void* into) {
  Image& image = *static_cast<Image*>(into);
  image.begin = info->dlpi_addr;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    image.statics = (info->dlpi_addr + part.p_vaddr) & ~std::uintptr_t{7};
    image.statics_bytes = (part.p_memsz + 15) & ~std::size_t{7};
  }
  return 1;
}

// In a message: the code of an access, for with_source_lines().
constexpr std::string_view kCode = "code 0x";

std::string code_at(std::uint32_t place) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, place, 16).ptr;
  return std::string(kCode) + std::string(digits, end);
}

// What a program writes; nothing if it cannot be run.
std::string output_of(char* const* arguments) {
  int ends[2];
  if (pipe(ends) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, STDERR_FILENO);
  pid_t child = 0;
  const bool runs = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (runs) waitpid(child, nullptr, 0);
  return text;
}

// "file:line", and by which line it was inlined there; nothing without addr2line.
std::string source_of(const std::string& address) {
  const std::string program = "/proc/" + std::to_string(getpid()) + "/exe";
  const char* const command[] = {"addr2line",     "-i",   "-e", program.c_str(),
                                 address.c_str(), nullptr};
  std::istringstream answer(output_of(const_cast<char* const*>(command)));
  std::string lines;
  for (std::string line; std::getline(answer, line);) {
    if (line.starts_with("?") || line.find("/c++/") != std::string::npos) continue;
    lines += (lines.empty() ? "" : " in ") + line.substr(0, line.find(" (disc"));
  }
  return lines;
}

}  // namespace

constinit Sight sight;

void Sight::get_memory() {
  if (base_ != nullptr) return;
  auto* const base = static_cast<std::byte*>(map_memory(kBytes));
  for (unsigned i = 0; i < kThreads; ++i) {
    mprotect(base + i * (kGuardBytes + kStackBytes), kGuardBytes, PROT_NONE);
  }
  shadow_ = static_cast<Piece*>(map_memory(kBytes / 8 * sizeof(Piece)));
  pieces_ = static_cast<Piece*>(map_memory(kPieces * sizeof(Piece)));
  Image image;
  dl_iterate_phdr(&read_image, &image);
  image_ = image.begin;
  statics_shadow_ = static_cast<Piece*>(map_memory(image.statics_bytes / 8 * sizeof(Piece)));
  statics_ = image.statics;
  statics_bytes_ = image.statics_bytes;
  begin_ = reinterpret_cast<std::uintptr_t>(base);
  base_ = base;
}

void Sight::begin_execution(std::uint32_t number, bool looks) noexcept {
  execution_ = number;
  looks_ = looks;
  pieces_used_ = 0;
  freeing_ = false;
  in_use_ = 0;
  while (freed_ != nullptr) {
    Block* const block = freed_;
    freed_ = block->next;
    std::byte* const begin = reinterpret_cast<std::byte*>(block) - block->lead;
    Block*& list = free_[block->size];
    list = new (begin) Block{list, 0, block->size, false, 0, 0};
  }
}

// ---- Accesses to parts of a granule ------------------------------------------------------------

// Bytes that were accessed together so far and are not now are told of apart from here on.
template <bool kWrite>
void Sight::see_mixed(Piece& first, unsigned bytes, const void* code) {
  if (first.freed) fault(first, kWrite, code);
  unsigned rest = bytes;
  for (Piece* piece = &first; piece != nullptr; piece = next_of(*piece)) {
    const unsigned common = piece->bytes & bytes;
    if (common == 0) continue;
    rest &= ~common;
    if (common != piece->bytes) {
      Piece* const other = add_piece(first);
      if (other == nullptr) break;
      const std::uint16_t next = other->next;
      *other = *piece;
      other->next = next;
      other->bytes = static_cast<std::uint8_t>(piece->bytes & ~common);
      piece->bytes = static_cast<std::uint8_t>(common);
    }
    see_piece<kWrite>(*piece, code);
  }
  Piece* const added = rest == 0 ? nullptr : add_piece(first);
  if (added != nullptr) {
    added->begin({execution_, added->next, static_cast<std::uint8_t>(rest), me_, 0, false, 0, 0});
    see_piece<kWrite>(*added, code);
  }
  if (kWrite) merge_within(first, bytes);
}
template void Sight::see_mixed<true>(Piece&, unsigned, const void*);
template void Sight::see_mixed<false>(Piece&, unsigned, const void*);

// Null if there are no more: then these bytes are not seen in this execution.
Piece* Sight::add_piece(Piece& first) noexcept {
  if (pieces_used_ + 1 == kPieces) return nullptr;
  Piece& piece = pieces_[++pieces_used_];
  piece.next = first.next;
  first.next = static_cast<std::uint16_t>(pieces_used_);
  return &piece;
}

// All of these bytes have just been written: an access that comes after that comes after what was
// before.
void Sight::merge_within(Piece& first, unsigned bytes) noexcept {
  Piece* whole = nullptr;
  Piece* before = nullptr;
  for (Piece* piece = &first; piece != nullptr; piece = next_of(*piece)) {
    if ((piece->bytes & ~bytes) != 0 || whole == nullptr) {
      if ((piece->bytes & ~bytes) == 0) whole = piece;
      before = piece;
      continue;
    }
    whole->bytes |= piece->bytes;
    before->next = piece->next;
    piece = before;
  }
}

void Sight::fault(const Piece& piece, bool is_write, const void* code) {
  set(false);
  Engine& engine = Engine::instance();
  const char* const does = freeing_ ? " gives back" : is_write ? " writes" : " reads";
  const std::string me = "thread " + std::to_string(me_) + does;
  const std::string here = " (" + code_at(place_of(code) - 1) + ")";
  const std::string other = "thread " + std::to_string(piece.writer);
  const std::string there = " (" + code_at(piece.place - 1) + ")";
  if (piece.freed) {
    engine.fail(Fault::use_after_end,
                me + " memory" + here + " after its end: " + other + " gave it back" + there);
  }
  const char* const unordered = ", without an order between the two";
  if (now_[piece.writer] < piece.written_at) {
    engine.fail(Fault::race,
                me + " plain data" + here + " that " + other + " wrote" + there + unordered);
  }
  unsigned reader = 0;
  while ((piece.readers >> reader & 1) == 0 || now_[reader] >= piece.read_at[reader]) ++reader;
  engine.fail(Fault::race, me + " plain data" + here + " that thread " + std::to_string(reader) +
                               " read" + unordered);
}

// ---- The arena ---------------------------------------------------------------------------------

unsigned Sight::size_for(std::size_t bytes) noexcept {
  if (bytes <= kSmall) return static_cast<unsigned>((bytes + 15) / 16);
  return kSmall / 16 + static_cast<unsigned>(std::bit_width((bytes - 1) / kSmall));
}

std::size_t Sight::bytes_of(unsigned size) noexcept {
  return size <= kSmall / 16 ? size * 16 : std::size_t{kSmall} << (size - kSmall / 16);
}

void* Sight::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t slack = alignment > alignof(Block) ? alignment : 0;
  const std::size_t needed = sizeof(Block) + bytes + slack;
  if (needed > kLargest || !has_memory()) return nullptr;
  const unsigned size = size_for(needed);
  std::byte* begin = reinterpret_cast<std::byte*>(free_[size]);
  if (begin != nullptr) {
    free_[size] = free_[size]->next;
  } else {
    if (fresh_ + bytes_of(size) > kArenaBytes) return nullptr;
    begin = base_ + kStacksBytes + fresh_;
    fresh_ += bytes_of(size);
  }
  const auto first = reinterpret_cast<std::uintptr_t>(begin) + sizeof(Block);
  const std::size_t lead = slack == 0 ? 0 : (alignment - first % alignment) % alignment;
  auto* const block = new (begin + lead) Block{.next = nullptr,
                                               .execution = execution_,
                                               .size = static_cast<std::uint16_t>(size),
                                               .in_use = true,
                                               .bytes = static_cast<std::uint32_t>(bytes),
                                               .lead = static_cast<std::uint32_t>(lead)};
  in_use_ += bytes;
  return block + 1;
}

// Used again in the next execution, not in this one: so every later use finds it given back.
bool Sight::deallocate(void* memory, const void* code) {
  Block* const block = static_cast<Block*>(memory) - 1;
  if (!block->in_use) return false;
  block->in_use = false;
  if (block->execution == execution_) in_use_ -= block->bytes;
  block->next = freed_;
  freed_ = block;
  if (now_ == nullptr || !looks_) return true;
  freeing_ = true;
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  for (std::size_t i = 0; i < block->bytes; i += 8) {
    Piece& first = *granule(at + i);
    if (first.execution == execution_) {
      if (first.freed) continue;
      for (Piece* piece = &first; piece != nullptr; piece = next_of(*piece)) {
        see_piece<true>(*piece, code);
      }
    }
    first.begin({execution_, 0, 0, me_, clock(), true, 0, place_of(code)});  // no access fits
  }
  freeing_ = false;
  return true;
}

// ---- For the reader ----------------------------------------------------------------------------

std::string with_source_lines(const std::string& message) {
  static std::map<std::string, std::string> known;
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = message.find(kCode, from)) != std::string::npos;) {
    const std::size_t digits = at + kCode.size();
    const std::size_t end =
        std::min(message.find_first_not_of("0123456789abcdef", digits), message.size());
    const std::string address = message.substr(digits, end - digits);
    auto found = known.find(address);
    if (found == known.end()) found = known.emplace(address, source_of(address)).first;
    text += message.substr(from, at - from);
    text += found->second.empty() ? message.substr(at, end - at) : found->second;
    from = end;
  }
  return text + message.substr(from);
}

}}}  // namespace handoff::HANDOFF_ABI::explore
