// SPDX-License-Identifier: MIT
//
// The header of shared memory: made, published, copied, checked.
#include "shared_header.hpp"

#include <cerrno>
#include <cstddef>
#include <handoff/core/internal/byte_hash.hpp>
#include <limits>
#include <span>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

// As a number, so that another byte order is another magic.
constexpr std::uint64_t kSharedMagic = 0x6d68'7366'666f'6468;  // "hdoffshm"
constexpr std::uint64_t kSharedVersion = 1;

std::uint64_t check_of_words(const SharedHeaderWords& words) noexcept {
  const auto bytes = std::as_bytes(std::span(&words, 1));
  return ByteHash().add(bytes.first(offsetof(SharedHeaderWords, check))).value();
}

}  // namespace

void SharedHeader::publish() noexcept {
  // order: release pairs with the acquire in is_published(): what the creator wrote comes before.
  ready_.store(kSharedReady, sync::order::release);
}

bool SharedHeader::is_published() const noexcept {
  // order: acquire pairs with the release in publish().
  return ready_.load(sync::order::acquire) == kSharedReady;
}

SharedHeaderWords shared_header_words(std::uint64_t bytes, std::uint64_t total,
                                      std::uint64_t layout, std::uint64_t key, bool huge) noexcept {
  SharedHeaderWords words{.magic = kSharedMagic,
                          .version = kSharedVersion,
                          .layout = layout,
                          .bytes = bytes,
                          .total = total,
                          .key = key,
                          .huge = huge ? 1U : 0U};
  words.check = check_of_words(words);
  return words;
}

SharedFailure refusal_of(const SharedHeaderCopy& header,
                         const SharedHeaderWanted& wanted) noexcept {
  const SharedHeaderWords& words = header.words;
  if (header.ready == 0 && (words.magic == 0 || words.magic == kSharedMagic)) {
    return {"header", EAGAIN, "its creator has not published it, or ended before it could"};
  }
  if (header.ready != kSharedReady || words.magic != kSharedMagic) {
    return {"header", EPROTO, "its first page is not that of shared memory of this library"};
  }
  if (words.version != kSharedVersion) return {"header", EPROTO, "it was made by another version"};
  if (words.check != check_of_words(words) || words.key == 0 || words.huge > 1) {
    return {"header", EPROTO, "its first page is damaged"};
  }
  if (words.total != wanted.file_bytes) return {"header", EPROTO, "its size is not as it was made"};
  if (words.bytes == 0 || words.total < kSharedHeaderBytes ||
      words.bytes > words.total - kSharedHeaderBytes) {
    return {"header", EPROTO, "it says that it has more bytes than there are"};
  }
  if (words.total > std::numeric_limits<std::size_t>::max()) {
    return {"header", EOVERFLOW, "it has more bytes than this process can map"};
  }
  if (words.layout != wanted.layout) {
    return {"header", EPROTO, "its layout is another one than is wanted"};
  }
  if (words.bytes < wanted.bytes) return {"header", EPROTO, "it has fewer bytes than are wanted"};
  return {};
}

std::uint64_t shared_file_bytes(std::uint64_t bytes, std::uint64_t page) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (bytes > most - kSharedHeaderBytes - page) return 0;
  return (bytes + kSharedHeaderBytes + page - 1) / page * page;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
