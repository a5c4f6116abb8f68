// SPDX-License-Identifier: MIT
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/memory/linear_arena.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

constexpr std::size_t kChunkAlignment = sync::destructive_span;
constexpr std::size_t kChunkLeast = 1024;

}  // namespace

// At the start of each; pieces follow. It has the usual size, or one piece that needs more.
struct LinearArena::Chunk {
  Chunk* next;
  std::size_t bytes;  // with this

  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this) + sizeof(Chunk); }
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }
  std::size_t room() const noexcept { return bytes - sizeof(Chunk); }
};

LinearArena::LinearArena(const LinearArenaOptions& options) noexcept
    : chunk_bytes_(detail::max(options.chunk_bytes, kChunkLeast)),
      memory_most_(options.memory_most) {}

LinearArena::~LinearArena() { release(); }

void LinearArena::refuse() { raise(std::bad_alloc()); }

// Null: no more.
LinearArena::Chunk* LinearArena::take_chunk(std::size_t bytes) noexcept {
  if (bytes > memory_most_ || memory_ > memory_most_ - bytes) return nullptr;
  void* const memory = sync::try_allocate(bytes, kChunkAlignment);
  if (memory == nullptr) return nullptr;
  memory_ += bytes;
  auto* const chunk = ::new (memory) Chunk{nullptr, bytes};
  sync::poison(chunk->begin(), chunk->room());
  return chunk;
}

// What the current chunk has no room for.
void* LinearArena::allocate_beyond(std::size_t bytes, std::size_t alignment) noexcept {
  constexpr std::size_t most{std::numeric_limits<std::ptrdiff_t>::max()};
  // equivalent(bound): that is no power of two
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > most / 4) return nullptr;
  // equivalent(bound): the system refuses as many bytes as well
  if (bytes > most / 2 - alignment - sizeof(Chunk)) return nullptr;
  const std::size_t needed = bytes + (alignment - 1) + sizeof(Chunk);
  const bool large = needed > chunk_bytes_;
  Chunk* chunk = nullptr;
  if (!large && free_ != nullptr) {
    chunk = std::exchange(free_, free_->next);
  } else {
    chunk = take_chunk(large ? needed : chunk_bytes_);
    if (chunk == nullptr) return nullptr;
  }
  std::byte* const begin = chunk->begin();
  const std::size_t padding = (0 - reinterpret_cast<std::uintptr_t>(begin)) & (alignment - 1);
  std::byte* const piece = begin + padding;
  if (large) {  // the chunk in use stays in use
    chunk->next = std::exchange(large_, chunk);
    used_before_ += padding + bytes;
  } else {
    chunk->next = std::exchange(used_, chunk);  // equivalent(swap): of this thread alone
    used_before_ = used();
    begin_ = begin;
    at_ = piece + bytes;  // equivalent(swap): of this thread alone
    end_ = chunk->end();
  }
  sync::unpoison(piece, bytes);
  return piece;
}

void LinearArena::give_back(Chunk*& chunks) noexcept {
  while (chunks != nullptr) {
    Chunk* const chunk = std::exchange(chunks, chunks->next);
    const std::size_t bytes = chunk->bytes;
    memory_ -= bytes;  // equivalent(swap): of this thread alone
    sync::unpoison(chunk, bytes);  // equivalent(delete): the sanitizer marks anew what it hands out
    sync::deallocate(chunk, bytes, kChunkAlignment);
  }
}

void LinearArena::reset() noexcept {
#if defined(HANDOFF_EXPLORE)
  release();  // the model finds uses of what was freed
#else
  while (used_ != nullptr) {
    Chunk* const chunk = std::exchange(used_, used_->next);
    // equivalent(swap) all: the mark begins behind the header; of this thread alone
    sync::poison(chunk->begin(), chunk->room());
    chunk->next = std::exchange(free_, chunk);
  }
  give_back(large_);
  at_ = end_ = begin_ = nullptr;
  used_before_ = 0;
#endif
}

void LinearArena::release() noexcept {
  // equivalent(swap) all: two lists that do not know each other; of this thread alone
  give_back(used_);
  give_back(free_);
  give_back(large_);
  at_ = end_ = begin_ = nullptr;
  used_before_ = 0;
}

}}  // namespace handoff::HANDOFF_ABI
