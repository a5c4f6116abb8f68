// SPDX-License-Identifier: MIT
//
// Writing and reading recordings.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <handoff/bus/detail/message_recording.hpp>
#include <handoff/core/internal/byte_hash.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/clock.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "../core/internal/call_failed.hpp"
#include "../core/internal/image.hpp"
#include "../core/internal/unfinished_file.hpp"
#include "../sync/internal/descriptor.hpp"
#include "../sync/internal/sleep.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

constexpr ImageHead kHead{{'h', 'a', 'n', 'd', 'o', 'f', 'f', 'M'}};
constexpr std::uint32_t kEnd = 0xffffffff;  // in place of a type
constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;
constexpr std::size_t kTopicMost = std::size_t{64} * 1024;  // what is longer in a file is damage

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

}  // namespace

class MessageRecording {
 public:
  MessageRecording(const char* path, std::span<const RecordedType> types)
      : path_(path), file_(path) {
    buffer_.reserve(kBufferBytes);
    if (const int error = file_.open(); error != 0) {
      raise(call_failed(error, "record: opening " + file_.name()));
    }
    put_hashed(image_bytes(kHead));
    put_hashed(image_bytes(std::uint64_t{types.size()}));
    for (const RecordedType& type : types) {
      const std::string_view name = image_name(type.name);
      put_hashed(image_bytes(TypeHead{type.bytes, type.alignment, name.size()}));
      put_hashed(image_bytes(name));
    }
  }
  MessageRecording(const MessageRecording&) = delete;
  MessageRecording& operator=(const MessageRecording&) = delete;

  // A failure is kept for finish().
  void write(const RecordedMessage& message) noexcept {
    if (failure_ == 0 && message.topic.size() > kTopicMost) failure_ = EMSGSIZE;
    if (failure_ != 0) return;
    put_hashed(
        image_bytes(MessageHead{message.type, static_cast<std::uint32_t>(message.topic.size()),
                                message.taken_ns, message.sender, message.published_ns}));
    put_hashed(image_bytes(message.topic));
    put_hashed(message.bytes);  // equivalent(swap): a count that finish() alone reads
    ++count_;
  }

  // Once. The file is whole and in its place, or this throws.
  void finish() {
    put_hashed(image_bytes(MessageHead{.type = kEnd}));
    put(image_bytes(FileEnd{count_, hash_.value()}));
    flush();
    if (failure_ == 0) failure_ = file_.finish();
    else file_.remove();
    if (failure_ == 0) return;
    raise(call_failed(failure_, "record: writing " + path_));
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
    const auto head = take_value<MessageHead>(*this);
    if (head.type == kEnd) {
      const std::uint64_t hash = hash_.value();
      const auto end = take_value<FileEnd>(*this);
      if (end.messages != count_ || end.hash != hash) refuse("is damaged: its checksum is wrong");
      if (at_ != end_ || fill() != 0) refuse("is damaged: something follows its end");
      return false;
    }
    if (head.type >= types_.size()) refuse("is damaged: a message has no type of it");
    if (head.topic_bytes > kTopicMost) refuse("is damaged: a topic is too long");
    const std::size_t bytes = types_[head.type].bytes;
    // In the pieces in which it was written.
    const auto topic = take(head.topic_bytes);
    piece_.assign(topic.begin(), topic.end());
    message.bytes = take(bytes);  // equivalent(swap): the topic lies in a copy of its own
    // equivalent(swap): two fields of one message
    message.topic = {reinterpret_cast<const char*>(piece_.data()), piece_.size()};
    message.type = head.type;
    message.taken_ns = head.taken_ns;
    message.sender = head.sender;
    message.published_ns = head.published_ns;
    ++count_;
    return true;
  }

  // For what reads an image (image.hpp).
  // The next bytes, in one piece; valid until the next call.
  std::span<const std::byte> take(std::size_t bytes) {
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
  [[noreturn]] void refuse(const std::string& why) const {
    raise(std::runtime_error("replay: " + path_ + " " + why));
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
    take_head(*this, kHead, "is no recording of messages");
    const auto types = take_value<std::uint64_t>(*this);
    if (types != types_.size()) {
      refuse("has " + std::to_string(types) + " types of messages, this bus has " +
             std::to_string(types_.size()));
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const auto type = take_value<TypeHead>(*this);
      const std::string name = take_name(*this, type.name_bytes);
      const std::string here(image_name(types_[i].name));
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
    const ::ssize_t got = read_some(file_.get(), std::span(buffer_).subspan(end_));
    if (got < 0) fail("reading");
    end_ += static_cast<std::size_t>(got);
    return static_cast<std::size_t>(got);
  }

  [[noreturn]] void fail(const char* what) const {
    raise(call_failed(errno, "replay: " + std::string(what) + " " + path_));
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
      sync::sleep_until(start + std::chrono::nanoseconds(message.taken_ns - first_ns));
    }
    each(context, message);
  }
  return count;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
