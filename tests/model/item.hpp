// SPDX-License-Identifier: MIT
//
// An item that tells when it is lost, used after its end, or moved from, and whose copies throw
// when told to.
#pragma once

#include "model/model.hpp"

namespace handoff::test {

class Item {
 public:
  // Takes no memory itself, which may be about to fail.
  struct CopyFailed : std::exception {
    const char* what() const noexcept override { return "a copy failed"; }
  };

  explicit Item(int number) noexcept : number_(number) { ++alive_; }
  Item() noexcept : Item(kNothing) {}
  Item(const Item& other) : number_(other.number_) {
    if (copies_fail_) throw CopyFailed();
    ++alive_;
  }
  Item(Item&& other) noexcept : number_(std::exchange(other.number_, kNothing)) { ++alive_; }
  Item& operator=(const Item&) = delete;
  Item& operator=(Item&& other) noexcept {
    number_ = std::exchange(other.number_, kNothing);
    return *this;
  }
  ~Item() {
    --alive_;
    number_ = kEnded;
  }

  int number() const noexcept { return number_; }

  static int alive() noexcept { return alive_; }

  // While one of these lives, if `fail`.
  class FailingCopies {
   public:
    explicit FailingCopies(bool fail) noexcept { copies_fail_ = fail; }
    ~FailingCopies() { copies_fail_ = false; }
    FailingCopies(const FailingCopies&) = delete;
    FailingCopies& operator=(const FailingCopies&) = delete;
  };

  static constexpr int kNothing = -1;
  static constexpr int kEnded = -2;

 private:
  static inline int alive_ = 0;
  static inline bool copies_fail_ = false;
  int number_;
};

}  // namespace handoff::test
