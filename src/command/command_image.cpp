// SPDX-License-Identifier: MIT
//
// Writing, checking and reading images of commands.
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <handoff/command/detail/command_image.hpp>
#include <handoff/core/internal/byte_hash.hpp>
#include <handoff/core/misuse.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/image.hpp"
#include "../core/internal/unfinished_file.hpp"
#include "../sync/internal/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr ImageHead kImageHead{{'h', 'a', 'n', 'd', 'o', 'f', 'f', 'C'}};
constexpr std::size_t kImageTypesMost = 65536;
constexpr std::size_t kImageReadBytes = std::size_t{1} << 20;

struct ImageCounts {
  std::uint32_t key_bytes = 0;
  std::uint32_t types = 0;
  std::uint64_t commands = 0;
};
struct ImageType {
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 0;
  std::uint64_t name_bytes = 0;
};
struct ImageCommand {
  std::uint32_t kind = 0;
  std::uint32_t type = 0;
  std::uint64_t key = 0;
  std::uint64_t aux_bytes = 0;
};
using ImageEnd = std::uint64_t;  // the hash of all before it

// Not by insert(): of one at the end of an empty vector g++ 12 warns that it overflows.
void put_bytes(CommandImage& image, const void* bytes, std::size_t count) {
  const std::size_t end = image.size();
  image.resize(end + count);
  if (count != 0) std::memcpy(image.data() + end, bytes, count);
}
template <class T>
void put_value(CommandImage& image, const T& value) {
  put_bytes(image, &value, sizeof value);
}

[[noreturn]] void fail_image(const char* what, const std::string& path, int error) {
  raise(call_failed(error, what + path));
}

}  // namespace

// --- Writing. ---

std::uint32_t CommandImageWriter::index_of(const CommandType& type) {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] == &type) return static_cast<std::uint32_t>(i);
  }
  types_.push_back(&type);
  return static_cast<std::uint32_t>(types_.size() - 1);
}

void CommandImageWriter::put(CommandKind kind, std::uint64_t key, const CommandPacket& packet) {
  const CommandType& type = packet.type();
  const std::byte* const command = packet.start() + type.offset;
  const std::size_t aux = packet.aux_bytes();
  put_value(body_, ImageCommand{static_cast<std::uint32_t>(kind), index_of(type), key, aux});
  put_bytes(body_, command, type.bytes);
  // equivalent(swap): an image without memory is thrown away
  put_bytes(body_, aux_begin(packet.start() + type.offset + type.bytes), aux);
  ++count_;
}

CommandImage CommandImageWriter::finish() const {
  CommandImage image;
  put_value(image, kImageHead);
  put_value(image, ImageCounts{.key_bytes = static_cast<std::uint32_t>(key_bytes_),
                               .types = static_cast<std::uint32_t>(types_.size()),
                               .commands = count_});
  for (const CommandType* const type : types_) {
    const std::string_view name = image_name(type->name);
    put_value(image, ImageType{type->bytes, type->alignment, name.size()});
    put_bytes(image, name.data(), name.size());
  }
  put_bytes(image, body_.data(), body_.size());
  put_value(image, ImageEnd{ByteHash().add(image).value()});
  return image;
}

void write_image(const char* path, std::span<const std::byte> image) {
  UnfinishedFile file(path);
  if (const int error = file.open(); error != 0)
    fail_image("capture: opening ", file.name(), error);
  if (const int error = file.write(image); error != 0) {
    fail_image("capture: writing ", file.name(), error);
  }
  if (const int error = file.finish(); error != 0) fail_image("capture: writing ", path, error);
}

// --- Reading. ---

CommandImage read_image(const char* path) {
  const std::string name(path);
  const Descriptor file(descriptors::of_file(path, O_RDONLY));
  if (!file.is_open()) fail_image("load: opening ", name, errno);
  CommandImage image;
  for (std::size_t end = 0;;) {
    image.resize(end + kImageReadBytes);
    const ::ssize_t got = read_some(file.get(), std::span(image).subspan(end));
    if (got < 0) fail_image("load: reading ", name, errno);
    end += static_cast<std::size_t>(got);
    if (got != 0) continue;
    image.resize(end);
    return image;
  }
}

void CommandParser::refuse(std::string_view why) {
  raise(std::runtime_error("load: the capture " + std::string(why)));
}

std::span<const std::byte> CommandParser::take(std::size_t bytes) {
  if (bytes > rest_.size()) refuse("is cut off, or a length in it is wrong");
  const std::span<const std::byte> piece = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return piece;
}

CommandParser::CommandParser(std::span<const std::byte> image, std::size_t key_bytes,
                             std::span<const CommandType* const> types)
    : given_(types), key_bytes_(key_bytes), rest_(image) {
  take_head(*this, kImageHead, "is none of commands");
  const auto head = take_value<ImageCounts>(*this);
  if (rest_.size() < sizeof(ImageEnd)) refuse("is cut off");
  const std::size_t end = image.size() - sizeof(ImageEnd);
  ImageEnd hash = 0;
  std::memcpy(&hash, image.data() + end, sizeof hash);
  if (hash != ByteHash().add(image.first(end)).value())
    refuse("is cut off or damaged: its checksum is wrong");
  rest_ = rest_.first(rest_.size() - sizeof(ImageEnd));
  if (head.key_bytes != key_bytes_) refuse("has keys of another size than this bucket");
  if (head.types > kImageTypesMost) refuse("has more types than there can be");
  read_types(head.types);
  body_ = rest_;
  count_ = head.commands;
  std::uint64_t found = 0;
  CommandKind before = CommandKind::state;
  for (ParsedCommand command; next(command); ++found) {
    if (command.kind == CommandKind::append && before == CommandKind::state) {
      refuse("is damaged: a command is appended to none");
    }
    before = command.kind;
  }
  if (found != count_) refuse("is damaged: it has another number of commands than it says");
  rewind();
}

void CommandParser::read_types(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto head = take_value<ImageType>(*this);
    const std::string name = take_name(*this, head.name_bytes);
    std::size_t at = 0;
    while (at < given_.size() &&
           (name != image_name(given_[at]->name) || head.bytes != given_[at]->bytes ||
            head.alignment != given_[at]->alignment)) {
      ++at;
    }
    if (at == given_.size()) {
      refuse("has commands '" + name + "' of " + std::to_string(head.bytes) +
             " bytes, which load() is not told of");
    }
    types_.push_back(static_cast<std::uint32_t>(at));
  }
}

bool CommandParser::next(ParsedCommand& command) {
  if (rest_.empty()) return false;
  const auto head = take_value<ImageCommand>(*this);
  if (head.kind > static_cast<std::uint32_t>(CommandKind::state)) {
    refuse("is damaged: a command is of no known kind");
  }
  if (head.type >= types_.size()) refuse("is damaged: a command has none of its types");
  if (key_bytes_ < sizeof(std::uint64_t) && head.key >> 8 * key_bytes_ != 0) {
    refuse("is damaged: a key is larger than a key can be");
  }
  if (head.aux_bytes > kAuxMost) refuse("is damaged: auxiliary memory is too large");
  command.kind = static_cast<CommandKind>(head.kind);
  command.type = types_[head.type];
  command.key = head.key;  // equivalent(swap): nobody looks at a command that is refused
  command.bytes = take(given_[command.type]->bytes);
  command.aux = take(static_cast<std::size_t>(head.aux_bytes));
  return true;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
