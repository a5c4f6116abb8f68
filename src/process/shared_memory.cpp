// SPDX-License-Identifier: MIT
//
// Handles of shared memory, and the list of those that this process has.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <handoff/core/internal/byte_hash.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_span.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../core/internal/call_failed.hpp"
#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "handed_memory.hpp"
#include "kept_names.hpp"
#include "name_keeper.hpp"
#include "shared_header.hpp"
#include "shared_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI {
namespace {

using detail::Descriptor;
using detail::FileFacts;
using detail::Pages;
using detail::SharedFailure;
using detail::SharedHeader;
using detail::SharedHeaderCopy;

[[noreturn]] void raise_failure(const SharedFailure& failure, const std::string& of) {
  std::string text = "shared memory";
  if (!of.empty()) text += " " + of;
  text += std::string(": ") + failure.step;
  if (*failure.why != '\0') text += std::string(": ") + failure.why;
  raise(detail::call_failed(failure.error, text));
}

// No two memories of one boot have the same.
std::uint64_t new_key(const FileFacts& facts) noexcept {
  timespec now{};
  (void)::clock_gettime(CLOCK_MONOTONIC, &now);
  const struct {
    std::uint64_t device, number, seconds, nanoseconds;
  } words{facts.device, facts.number, static_cast<std::uint64_t>(now.tv_sec),
          static_cast<std::uint64_t>(now.tv_nsec)};
  const std::uint64_t hash = detail::ByteHash().add(std::as_bytes(std::span(&words, 1))).value();
  return hash == 0 ? 1 : hash;
}

}  // namespace

namespace detail {

struct SharedMapping {
  ~SharedMapping();

  std::byte* begin() const noexcept { return pages.data() + kSharedHeaderBytes; }

  Descriptor file;
  Pages pages;
  std::size_t bytes = 0;
  std::uint64_t key = 0;
  bool writable = true;
  SharedHeader* header = nullptr;  // the creator's
  std::string name;
  KeptName kept;
  FileFacts facts;
  pid_t creator = -1;  // the process that removes the name: no fork of it
  SharedMapping* next = nullptr;
  bool listed = false;
  // These two under the list's mutex.
  std::uint64_t serial = 0;  // 1 for the first that was listed
  mutable std::uint64_t used_in = 0;  // the list's epoch when a span found it last
};

// What the master handed over, mapped.
SharedMemory map_handed(Descriptor file, bool writable);

struct SharedMemoryAccess {
  static const SharedMapping* mapping(const SharedMemory& memory) noexcept {
    return memory.mapping_.get();
  }
  static SharedMemory handle(std::unique_ptr<SharedMapping> mapping) noexcept {
    return SharedMemory(std::move(mapping));
  }
};

namespace {

// A span finds its memory here. There are few, so they stand in a row.
struct {
  sync::Mutex mutex;
  SharedMapping* first = nullptr;
  std::uint64_t so_far = 0;
  std::uint64_t epoch = 0;
} constinit all_mappings;

// What a worker has from its master.
struct {
  sync::Mutex mutex;  // before that of the list
  MemorySource source = nullptr;
  std::vector<SharedMemory> all;
} constinit handed_over;

// Runs of this worker after which unused memory goes.
constexpr std::uint64_t kKeptRuns = 4;

void enlist(SharedMapping& mapping) noexcept {
  const sync::SeenLock lock(all_mappings.mutex);
  mapping.next = all_mappings.first;
  mapping.serial = ++all_mappings.so_far;
  mapping.used_in = all_mappings.epoch;
  mapping.listed = true;
  all_mappings.first = &mapping;
}

void strike_off(SharedMapping& mapping) noexcept {
  if (!mapping.listed) return;
  const sync::SeenLock lock(all_mappings.mutex);
  SharedMapping** at = &all_mappings.first;
  while (*at != &mapping) at = &(*at)->next;
  *at = mapping.next;
}

[[noreturn]] void fail_span(int error, const char* why) {
  raise_failure({.step = "span", .error = error, .why = why}, "");
}

void* place_in(const SharedMapping& mapping, const SharedPlace& place) {
  if (place.writable && !mapping.writable) {
    fail_span(EACCES, "the memory is mapped for reading only");
  }
  if (place.first_byte > mapping.bytes ||
      place.count > (mapping.bytes - place.first_byte) / place.size) {
    fail_span(ERANGE, "it does not lie within the memory");
  }
  std::byte* const begin = mapping.begin() + place.first_byte;
  if (reinterpret_cast<std::uintptr_t>(begin) % place.alignment != 0) {
    fail_span(ERANGE, "it does not lie as its type must be aligned");
  }
  return begin;
}

const SharedMapping* mapping_of(std::uint64_t key) noexcept {
  const SharedMapping* found = nullptr;
  for (const SharedMapping* each = all_mappings.first; each != nullptr; each = each->next) {
    if (each->key == key && (found == nullptr || each->writable)) found = each;
  }
  return found;
}

// Null: this process has not the memory.
void* find_here(const SharedPlace& place) {
  const sync::SeenLock lock(all_mappings.mutex);
  const SharedMapping* const found = mapping_of(place.key);
  if (found == nullptr) return nullptr;
  found->used_in = all_mappings.epoch;
  return place_in(*found, place);
}

bool is_here(std::uint64_t key) noexcept {
  const sync::SeenLock lock(all_mappings.mutex);
  return mapping_of(key) != nullptr;
}

// Gets the memory from the master, if there is one that has it. Throws if it cannot be mapped.
bool take_over(std::uint64_t key) {
  const sync::SeenLock turn(handed_over.mutex);
  if (handed_over.source == nullptr) return false;
  if (is_here(key)) return true;  // another thread was first
  Descriptor file;
  bool writable = false;
  const int error = handed_over.source(key, file, writable);
  if (error == ENXIO) return false;
  if (error != 0) fail_span(error, "its memory could not be had from the master");
  handed_over.all.push_back(map_handed(std::move(file), writable));
  return true;
}

}  // namespace

int descriptor_of_memory(std::uint64_t key, Descriptor& copy, bool& writable) noexcept {
  const sync::SeenLock lock(all_mappings.mutex);
  const SharedMapping* const found = mapping_of(key);
  if (found == nullptr) return ENXIO;
  writable = found->writable;
  return duplicate(found->file.get(), copy).error;
}

std::uint64_t memories_so_far() noexcept {
  const sync::SeenLock lock(all_mappings.mutex);
  return all_mappings.so_far;
}

bool points_into_later_memory(const void* bytes, std::size_t size, std::uint64_t so_far) noexcept {
  const sync::SeenLock lock(all_mappings.mutex);
  for (const SharedMapping* each = all_mappings.first; each != nullptr; each = each->next) {
    if (each->serial <= so_far) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(each->begin());
    for (std::size_t at = 0; at + sizeof begin <= size; at += sizeof begin) {
      std::uintptr_t word = 0;
      std::memcpy(&word, static_cast<const std::byte*>(bytes) + at, sizeof word);
      if (word >= begin && word - begin < each->bytes) return true;
    }
  }
  return false;
}

void get_memory_from(MemorySource source) noexcept {
  const sync::SeenLock turn(handed_over.mutex);
  handed_over.source = source;
}

void forget_unused_memory() noexcept {
  const sync::SeenLock turn(handed_over.mutex);
  std::uint64_t epoch = 0;
  {
    const sync::SeenLock lock(all_mappings.mutex);
    epoch = ++all_mappings.epoch;
  }
  // Only a find by this worker's own kernels changes `used_in`, and none is at work.
  std::erase_if(handed_over.all, [epoch](const SharedMemory& memory) noexcept {
    return SharedMemoryAccess::mapping(memory)->used_in + kKeptRuns < epoch;
  });
}

SharedMapping::~SharedMapping() {
  strike_off(*this);
  if (creator == ::getpid()) remove_named(name.c_str(), facts);
}

void* find(const SharedPlace& place) {
  if (void* const begin = find_here(place)) return begin;
  if (take_over(place.key)) {
    if (void* const begin = find_here(place)) return begin;
  }
  fail_span(ENXIO, "this process has not its memory");
}

void* find_in(const SharedMemory& memory, const SharedPlace& place) {
  const SharedMapping* const mapping = SharedMemoryAccess::mapping(memory);
  if (mapping == nullptr) misuse("a span is looked for in an empty SharedMemory");
  if (mapping->key != place.key) fail_span(ENXIO, "it is of another memory");
  return place_in(*mapping, place);
}

}  // namespace detail

namespace {

using detail::PageKind;
using detail::SharedMapping;
using detail::SharedMemoryAccess;

// What a process that uses no memory of 2 MiB would waste.
constexpr std::size_t kHugeFrom = std::size_t{2} << 20;

SharedFailure make_memory(const SharedMemoryOptions& options, PageKind kind,
                          SharedMapping& mapping) {
  std::uint64_t page = detail::page_size();
  if (detail::shared_file_bytes(options.bytes, kHugeFrom) == 0) {
    return {.step = "size", .error = EFBIG, .why = "no memory can have so many bytes"};
  }
  if (options.name.empty()) {
    const bool huge = kind == PageKind::huge;
    if (const auto failure = detail::make_unnamed(huge, mapping.file, mapping.facts)) {
      return failure;
    }
    if (huge) page = std::max(page, mapping.facts.page);
  } else {
    mapping.name = options.name;
    mapping.kept.expect(mapping.name.c_str());
    detail::have_names_kept();
    if (const auto failure = detail::make_named(mapping.name, mapping.file, mapping.facts)) {
      return failure;
    }
    mapping.creator = ::getpid();
    mapping.kept.is(mapping.facts);
  }
  const int file = mapping.file.get();
  const std::uint64_t total = detail::shared_file_bytes(options.bytes, page);
  if (const auto failure = detail::fill_file(file, total, kind, mapping.pages)) return failure;
  mapping.bytes = options.bytes;
  mapping.key = new_key(mapping.facts);
  mapping.header = ::new (mapping.pages.data()) SharedHeader(detail::shared_header_words(
      options.bytes, total, options.layout, mapping.key, kind != PageKind::usual));
  return options.name.empty() ? detail::seal(file, options.only_creator_writes) : SharedFailure{};
}

void check_name(const std::string& name) {
  if (detail::is_shared_name(name)) return;
  raise(
      std::invalid_argument("a name of shared memory is a slash and 1 to 254 bytes of UTF-8, no "
                            "slash or control character among them"));
}

void check_options(const SharedMemoryOptions& options) {
  if (options.bytes == 0) raise(std::invalid_argument("SharedMemoryOptions::bytes is 0"));
  if (options.name.empty()) return;
  check_name(options.name);
  if (options.only_creator_writes) {
    raise(std::invalid_argument("only_creator_writes: memory with a name cannot be sealed"));
  }
}

// Checks what the file is, on a copy of its header, and only then maps it. `handed`: by the master
// of this worker, which may have published nothing (HM-2), and knows the layout.
SharedFailure take_memory(const AttachOptions& options, SharedMapping& mapping,
                          bool handed = false) noexcept {
  const int file = mapping.file.get();
  SharedHeaderCopy header;
  if (mapping.facts.bytes == 0) {
    return {.step = "header", .error = EAGAIN, .why = "its creator has not given it a size yet"};
  }
  if (const auto failure = detail::read_header(file, header)) return failure;
  if (handed) header.ready = detail::kSharedReady;
  const std::uint64_t layout = handed ? header.words.layout : options.layout;
  const SharedFailure refusal = detail::refusal_of(
      header, {.layout = layout, .bytes = options.bytes, .file_bytes = mapping.facts.bytes});
  if (refusal) return refusal;
  const auto total = static_cast<std::size_t>(header.words.total);
  if (const auto failure = mapping.pages.map(file, total, options.writable)) return failure;
  // The load that what the creator wrote comes before.
  const auto* const mapped = reinterpret_cast<const SharedHeader*>(mapping.pages.data());
  if (!handed && !mapped->is_published()) {
    return {.step = "header", .error = EPROTO, .why = "its first page changes"};
  }
  if (header.words.huge != 0) detail::ask_for_huge(mapping.pages);
  mapping.bytes = static_cast<std::size_t>(header.words.bytes);
  mapping.key = header.words.key;
  mapping.writable = options.writable;
  return {};
}

}  // namespace

SharedMemory detail::map_handed(Descriptor file, bool writable) {
  auto mapping = std::make_unique<SharedMapping>();
  mapping->file = std::move(file);
  SharedFailure failure = detail::facts_of(mapping->file.get(), mapping->facts);
  if (!failure) failure = take_memory({.writable = writable}, *mapping, true);
  // Sealed: nobody but its creator writes.
  if (failure && writable && std::strcmp(failure.step, "mmap") == 0) {
    failure = take_memory({.writable = false}, *mapping, true);
  }
  if (failure) raise_failure(failure, "");
  return SharedMemoryAccess::handle(std::move(mapping));
}

SharedMemory::SharedMemory() noexcept = default;
SharedMemory::~SharedMemory() = default;
SharedMemory::SharedMemory(SharedMemory&& other) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept = default;
SharedMemory::SharedMemory(std::unique_ptr<SharedMapping> mapping) noexcept
    : mapping_(std::move(mapping)) {
  detail::enlist(*mapping_);
}

SharedMemory SharedMemory::create(const SharedMemoryOptions& options) {
  check_options(options);
  const bool huge = options.huge_pages && options.bytes >= kHugeFrom;
  if (huge && options.name.empty()) {
    auto mapping = std::make_unique<SharedMapping>();
    if (!make_memory(options, PageKind::huge, *mapping)) return SharedMemory(std::move(mapping));
  }
  auto mapping = std::make_unique<SharedMapping>();
  const PageKind kind = huge ? PageKind::huge_if_possible : PageKind::usual;
  if (const auto failure = make_memory(options, kind, *mapping))
    raise_failure(failure, options.name);
  return SharedMemory(std::move(mapping));
}

SharedMemory SharedMemory::attach(int descriptor, const AttachOptions& options) {
  auto mapping = std::make_unique<SharedMapping>();
  const auto steps = [&]() noexcept -> SharedFailure {
    if (const auto failure = detail::duplicate(descriptor, mapping->file)) return failure;
    if (const auto failure = detail::facts_of(mapping->file.get(), mapping->facts)) return failure;
    if (const auto failure = detail::check_seals(mapping->file.get())) return failure;
    return take_memory(options, *mapping);
  };
  if (const SharedFailure failure = steps()) raise_failure(failure, "");
  return SharedMemory(std::move(mapping));
}

SharedMemory SharedMemory::open(const std::string& name, const AttachOptions& options) {
  check_name(name);
  auto mapping = std::make_unique<SharedMapping>();
  const auto steps = [&]() noexcept -> SharedFailure {
    if (const auto failure =
            detail::open_named(name, options.writable, mapping->file, mapping->facts)) {
      return failure;
    }
    return take_memory(options, *mapping);
  };
  if (const SharedFailure failure = steps()) raise_failure(failure, name);
  return SharedMemory(std::move(mapping));
}

bool SharedMemory::remove(const std::string& name) {
  check_name(name);
  Descriptor file;
  FileFacts facts;
  SharedFailure failure = detail::open_named(name, false, file, facts);
  if (failure && failure.error == ENOENT) return false;
  if (!failure) failure = detail::remove_left_behind(name, file.get());
  if (failure) raise_failure(failure, name);
  return true;
}

void SharedMemory::publish() {
  if (!valid() || mapping_->header == nullptr) {
    misuse("SharedMemory::publish() by a handle that did not create it");
  }
  mapping_->header->publish();
}

std::span<std::byte> SharedMemory::bytes() const noexcept {
  if (!valid()) return {};
  return {mapping_->begin(), mapping_->bytes};
}
bool SharedMemory::writable() const noexcept { return valid() && mapping_->writable; }
std::uint64_t SharedMemory::key() const noexcept { return valid() ? mapping_->key : 0; }
int SharedMemory::descriptor() const noexcept { return valid() ? mapping_->file.get() : -1; }

int SharedMemory::read_only_descriptor() const {
  if (!valid()) misuse("SharedMemory::read_only_descriptor() of an empty handle");
  int reopened = -1;
  if (const auto failure = detail::reopen_for_reading(mapping_->file.get(), reopened)) {
    raise_failure(failure, mapping_->name);
  }
  return reopened;
}

}}  // namespace handoff::HANDOFF_ABI
