// SPDX-License-Identifier: MIT
// Messages of one size over descriptors that carry bytes, as a program does it that knows them: a
// message is written at once, since the other process waits for it; the reader takes all that has
// come, and hands it out one by one.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <stdexcept>

#include <unistd.h>

namespace handoff::lab::processes {

template <class Message>
class StreamWriter {
 public:
  template <class Make>
  void send(int descriptor, Make&& make) {
    make(*message_);
    const auto* bytes = reinterpret_cast<const std::byte*>(message_.get());
    for (std::size_t written = 0; written < sizeof(Message);) {
      const ssize_t n = write(descriptor, bytes + written, sizeof(Message) - written);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw std::runtime_error("cannot write to the other process");
      written += static_cast<std::size_t>(n);
    }
  }

 private:
  std::unique_ptr<Message> message_ = std::make_unique<Message>();
};

template <class Message>
class StreamReader {
 public:
  template <class Take>
  void receive(int descriptor, Take&& take) {
    const std::size_t end = (taken_ + 1) * sizeof(Message);
    auto* const bytes = reinterpret_cast<std::byte*>(messages_.get());
    while (there_ < end) {
      const ssize_t n = read(descriptor, bytes + there_, kMessages * sizeof(Message) - there_);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw std::runtime_error("cannot read from the other process");
      there_ += static_cast<std::size_t>(n);
    }
    take(messages_[taken_++]);
    if (there_ == end) there_ = taken_ = 0;
  }

 private:
  // 64 KiB, which a read takes at once, or one.
  static constexpr std::size_t kMessages = std::max<std::size_t>(65536 / sizeof(Message), 1);

  std::unique_ptr<Message[]> messages_ = std::make_unique<Message[]>(kMessages);
  std::size_t taken_ = 0;
  std::size_t there_ = 0;  // bytes
};

}  // namespace handoff::lab::processes
