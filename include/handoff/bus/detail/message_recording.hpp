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
#include <memory>
#include <span>
#include <string_view>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How fast replay() goes.
enum class Pace : std::uint8_t {
  full_speed,
  recorded,  // with the pauses that there were
};

namespace detail {

struct RecordedType {
  std::size_t bytes;
  std::size_t alignment;
  const char* name;  // a text in which the compiler has written "F = the name"
};
using RecordedTypes = std::span<const RecordedType>;

struct RecordedMessage {
  std::uint32_t type = 0;
  std::int64_t taken_ns = 0;  // when it was handed out
  std::uint64_t sender = 0;  // 0 where there is none
  std::int64_t published_ns = 0;
  std::string_view topic;
  std::span<const std::byte> bytes;
};

class MessageRecording;
// What was not finished leaves nothing behind.
struct EndRecording {
  void operator()(MessageRecording* recording) const noexcept;
};
using RecordingOwner = std::unique_ptr<MessageRecording, EndRecording>;

RecordingOwner begin_recording(const char* path, RecordedTypes types);
// A failure is kept for the end.
void write_recording(MessageRecording& recording, const RecordedMessage& message) noexcept;
// Once. The file is whole and in its place, or this throws.
void finish_recording(MessageRecording& recording);

// Calls each(context, message) for the messages of a file; returns how many. All of it is read once
// before: what is not whole is refused before anything is handed out.
using Replayed = void (*)(void* context, const RecordedMessage& message);
std::size_t replay_recording(const char* path, RecordedTypes types, Pace pace, Replayed each,
                             void* context);

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
