// SPDX-License-Identifier: MIT
//
// The file of a bus's messages, in the order in which they were handed out: what record() writes
// and replay() reads. Not for users.
//
// It begins with the types: their sizes, alignments and names as the compiler spells them. Each
// message has a head, its topic and its bytes. It ends with their number and a checksum, without
// which it is no recording: it is written beside its place and moved there when it is finished.
// Numbers are those of the machine; one of the other byte order refuses the file.
// Concurrency: of one thread. Throws: std::system_error for calls that fail, std::runtime_error
// with one line for a file that is no recording of these messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct RecordedType {
  std::size_t bytes;
  std::size_t alignment;
  const char* name;  // a text in which the compiler has written "F = the name"
};

struct RecordedMessage {
  std::uint32_t type = 0;
  std::int64_t taken_ns = 0;  // when it was handed out
  std::uint64_t sender = 0;  // 0 where there is none
  std::int64_t published_ns = 0;
  std::string_view topic;
  std::span<const std::byte> bytes;
};

// Of what was written, in the same pieces.
class RecordingHash {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

class MessageRecording {
 public:
  MessageRecording(const char* path, std::span<const RecordedType> types);
  // What was not finished leaves nothing behind.
  ~MessageRecording();
  MessageRecording(const MessageRecording&) = delete;
  MessageRecording& operator=(const MessageRecording&) = delete;

  // A failure is kept for finish().
  void write(const RecordedMessage& message) noexcept;
  // Once. The file is whole and in its place, or this throws.
  void finish();

 private:
  void put(std::span<const std::byte> bytes) noexcept;
  void put_hashed(std::span<const std::byte> bytes) noexcept;
  void flush() noexcept;
  void end_file() noexcept;

  const std::string path_;
  const std::string beside_;  // where it is written
  int file_ = -1;
  int failure_ = 0;  // errno of the first call that failed
  std::uint64_t count_ = 0;
  RecordingHash hash_;
  std::vector<std::byte> buffer_;
};

class MessageReplay {
 public:
  // Reads all of the file once: what is not whole is refused before anything is handed out.
  MessageReplay(const char* path, std::span<const RecordedType> types);
  ~MessageReplay();
  MessageReplay(const MessageReplay&) = delete;
  MessageReplay& operator=(const MessageReplay&) = delete;

  // False at the end. What it gives is valid until the next call.
  bool next(RecordedMessage& message);

 private:
  void rewind();
  void read_types();
  bool read_message(RecordedMessage& message);
  std::size_t fill();
  std::span<const std::byte> read(std::size_t bytes);
  template <class T>
  T read_as();
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void fail(const char* what) const;

  const std::string path_;
  const std::span<const RecordedType> types_;
  int file_ = -1;
  std::uint64_t count_ = 0;
  RecordingHash hash_;
  std::vector<std::byte> piece_;
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0;  // in the buffer
  std::size_t end_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
