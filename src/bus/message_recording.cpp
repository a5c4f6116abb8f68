// SPDX-License-Identifier: MIT
//
// Writing and reading recordings.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <handoff/bus/detail/message_recording.hpp>
#include <handoff/core/detail/byte_hash.hpp>
#include <handoff/core/detail/type_name.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "../core/unfinished_file.hpp"
#include "../sync/descriptor.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr std::array<char, 8> kMagic{'h', 'a', 'n', 'd', 'o', 'f', 'f', 'M'};
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::uint32_t kEnd = 0xffffffff;  // in place of a type
constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
constexpr std::size_t kNameMost = 4096;
constexpr std::size_t kTopicMost = std::size_t{64} * 1024;  // what is longer in a file is damage

struct FileHead {
  std::array<char, 8> magic = kMagic;
  std::uint32_t byte_order = kByteOrder;
  std::uint32_t version = kVersion;
  std::uint64_t types = 0;
};
struct TypeHead {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint64_t name_bytes = 0;
};
struct MessageHead {
  std::uint32_t type = 0;
  std::uint32_t topic_bytes = 0;
  std::int64_t taken_ns = 0;
  std::uint64_t sender = 0;
  std::int64_t published_ns = 0;
};
struct FileEnd {
  std::uint64_t messages = 0;
  std::uint64_t hash = 0;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return std::as_bytes(std::span(&value, 1));
}
std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The name of a type, as long as a file may have it.
std::string_view recorded_name(const RecordedType& type) noexcept {
  return name_in(type.name).substr(0, kNameMost);
}

// Waits for a moment.
void sleep_until(sync::Deadline moment) {
  sync::EventCount nobody;
  (void)nobody.await([] { return false; }, moment, {}, sync::Spin::never);
}

}  // namespace

class MessageRecording {
 public:
  MessageRecording(const char* path, std::span<const RecordedType> types)
      : path_(path), file_(path) {
    buffer_.reserve(kBufferBytes);
    if (const int error = file_.open(); error != 0) {
      raise(std::system_error(error, std::generic_category(), "record: opening " + file_.name()));
    }
    put_hashed(bytes_of(FileHead{.types = types.size()}));
    for (const RecordedType& type : types) {
      const std::string_view name = recorded_name(type);
      put_hashed(bytes_of(TypeHead{type.bytes, type.alignment, name.size()}));
      put_hashed(bytes_of(name));
    }
  }
  MessageRecording(const MessageRecording&) = delete;
  MessageRecording& operator=(const MessageRecording&) = delete;

  // A failure is kept for finish().
  void write(const RecordedMessage& message) noexcept {
    if (failure_ == 0 && message.topic.size() > kTopicMost) failure_ = EMSGSIZE;
    if (failure_ != 0) return;
    put_hashed(bytes_of(MessageHead{message.type, static_cast<std::uint32_t>(message.topic.size()),
                                    message.taken_ns, message.sender, message.published_ns}));
    put_hashed(bytes_of(message.topic));
    put_hashed(message.bytes);  // equivalent(swap): a count that finish() alone reads
    ++count_;
  }

  // Once. The file is whole and in its place, or this throws.
  void finish() {
    put_hashed(bytes_of(MessageHead{.type = kEnd}));
    put(bytes_of(FileEnd{count_, hash_.value()}));
    flush();
    if (failure_ == 0) failure_ = file_.finish();
    else file_.remove();
    if (failure_ == 0) return;
    raise(std::system_error(failure_, std::generic_category(), "record: writing " + path_));
  }

 private:
  void put_hashed(std::span<const std::byte> bytes) noexcept {
    hash_.add(bytes);  // equivalent(swap): hash and file know nothing of each other
    put(bytes);
  }

  void put(std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
      const std::size_t room = kBufferBytes - buffer_.size();
      const auto part = bytes.first(std::min(room, bytes.size()));
      // equivalent(swap): the part is a span of its own
      buffer_.insert(buffer_.end(), part.begin(), part.end());  // within what was reserved
      bytes = bytes.subspan(part.size());
      if (buffer_.size() == kBufferBytes) flush();
    }
  }

  void flush() noexcept {
    if (failure_ == 0) failure_ = file_.write(buffer_);
    buffer_.clear();
  }

  const std::string path_;
  UnfinishedFile file_;
  int failure_ = 0;  // errno of the first call that failed
  std::uint64_t count_ = 0;
  ByteHash hash_;
  std::vector<std::byte> buffer_;
};

namespace {

class MessageReplay {
 public:
  // Reads all of the file once: what is not whole is refused before anything is handed out.
  MessageReplay(const char* path, std::span<const RecordedType> types)
      : path_(path), types_(types), buffer_(kBufferBytes) {
    file_ = Descriptor(descriptors::of_file(path, O_RDONLY));
    if (!file_.is_open()) fail("opening");
    read_types();
    RecordedMessage message;
    while (next(message)) {
    }
    rewind();
    read_types();
  }
  MessageReplay(const MessageReplay&) = delete;
  MessageReplay& operator=(const MessageReplay&) = delete;

  // False at the end. What it gives is valid until the next call.
  bool next(RecordedMessage& message) {
    const auto head = read_as<MessageHead>();
    if (head.type == kEnd) {
      const std::uint64_t hash = hash_.value();
      const auto end = read_as<FileEnd>();
      if (end.messages != count_ || end.hash != hash) refuse("is damaged: its checksum is wrong");
      if (at_ != end_ || fill() != 0) refuse("is damaged: something follows its end");
      return false;
    }
    if (head.type >= types_.size()) refuse("is damaged: a message has no type of it");
    if (head.topic_bytes > kTopicMost) refuse("is damaged: a topic is too long");
    const std::size_t bytes = types_[head.type].bytes;
    // In the pieces in which it was written.
    const auto topic = read(head.topic_bytes);
    piece_.assign(topic.begin(), topic.end());
    message.bytes = read(bytes);  // equivalent(swap): the topic lies in a copy of its own
    // equivalent(swap): two fields of one message
    message.topic = {reinterpret_cast<const char*>(piece_.data()), piece_.size()};
    message.type = head.type;
    message.taken_ns = head.taken_ns;
    message.sender = head.sender;
    message.published_ns = head.published_ns;
    ++count_;
    return true;
  }

 private:
  void rewind() {
    if (::lseek(file_.get(), 0, SEEK_SET) != 0) fail("going to the start of");
    // equivalent(delete): all was read, so the two are equal, and the next read begins anew
    at_ = end_ = 0;
    count_ = 0;
    hash_ = {};
  }

  void read_types() {
    const auto head = read_as<FileHead>();
    if (head.magic != kMagic) refuse("is no recording of messages");
    if (head.byte_order != kByteOrder) refuse("was recorded on a machine of the other byte order");
    if (head.version != kVersion) {
      refuse("has version " + std::to_string(head.version) + " of the format, this is " +
             std::to_string(kVersion));
    }
    if (head.types != types_.size()) {
      refuse("has " + std::to_string(head.types) + " types of messages, this bus has " +
             std::to_string(types_.size()));
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const auto type = read_as<TypeHead>();
      if (type.name_bytes > kNameMost) refuse("is damaged: a type's name is too long");
      const auto raw = read(static_cast<std::size_t>(type.name_bytes));
      const std::string name(reinterpret_cast<const char*>(raw.data()), raw.size());
      const std::string here(recorded_name(types_[i]));
      if (name != here || type.bytes != types_[i].bytes || type.alignment != types_[i].alignment) {
        std::string why = "has other messages: its type " + std::to_string(i + 1);
        why.append(" is '").append(name).append("' of ").append(std::to_string(type.bytes));
        why.append(" bytes, that of this bus '").append(here).append("' of ");
        refuse(why.append(std::to_string(types_[i].bytes)));
      }
    }
  }

  // Reads on into the buffer, behind what it has; all of that was used if it is full. 0: no more.
  std::size_t fill() {
    if (end_ == buffer_.size()) at_ = end_ = 0;
    for (;;) {
      const ::ssize_t got = ::read(file_.get(), buffer_.data() + end_, buffer_.size() - end_);
      if (got >= 0) {
        end_ += static_cast<std::size_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) fail("reading");
    }
  }

  // The next bytes, in one piece; valid until the next read.
  std::span<const std::byte> read(std::size_t bytes) {
    // equivalent(bound): only speed: what is there is moved to the front first
    if (end_ - at_ < bytes) {
      std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
      end_ -= at_;
      at_ = 0;
      // equivalent(bound): a vector is resized to the size that it has
      if (buffer_.size() < bytes) buffer_.resize(bytes);
      while (end_ < bytes) {
        if (fill() == 0) refuse("ends too early: it was cut off, or is no recording of messages");
      }
    }
    const std::span<const std::byte> piece(buffer_.data() + at_, bytes);
    // equivalent(swap): the piece is made, and place and hash know nothing of each other
    at_ += bytes;
    hash_.add(piece);
    return piece;
  }

  template <class T>
  T read_as() {
    const auto piece = read(sizeof(T));
    std::array<std::byte, sizeof(T)> raw;
    std::copy(piece.begin(), piece.end(), raw.begin());
    return std::bit_cast<T>(raw);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    raise(std::runtime_error("replay: " + path_ + " " + why));
  }
  [[noreturn]] void fail(const char* what) const {
    raise(std::system_error(errno, std::generic_category(),
                            "replay: " + std::string(what) + " " + path_));
  }

  const std::string path_;
  const std::span<const RecordedType> types_;
  Descriptor file_;
  std::uint64_t count_ = 0;
  ByteHash hash_;
  std::vector<std::byte> piece_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;  // in the buffer
  std::size_t end_ = 0;
};

}  // namespace

void EndRecording::operator()(MessageRecording* recording) const noexcept { delete recording; }

RecordingOwner begin_recording(const char* path, RecordedTypes types) {
  return RecordingOwner(new MessageRecording(path, types));
}
void write_recording(MessageRecording& recording, const RecordedMessage& message) noexcept {
  recording.write(message);
}
void finish_recording(MessageRecording& recording) { recording.finish(); }

std::size_t replay_recording(const char* path, RecordedTypes types, Pace pace, Replayed each,
                             void* context) {
  MessageReplay file(path, types);
  RecordedMessage message;
  std::size_t count = 0;
  std::int64_t first_ns = 0;
  const sync::Deadline start = sync::clock::now();
  for (; file.next(message); ++count) {
    if (count == 0) first_ns = message.taken_ns;
    if (pace == Pace::recorded) {
      sleep_until(start + std::chrono::nanoseconds(message.taken_ns - first_ns));
    }
    each(context, message);
  }
  return count;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
