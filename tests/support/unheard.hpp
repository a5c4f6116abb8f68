// SPDX-License-Identifier: MIT
//
// What the handler of exceptions that nobody took is told, while one of these lives. By one thread
// at a time.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

class Unheard {
 public:
  Unheard() {
    told().clear();
    set_unheard_handler([](const char* what) noexcept { told().emplace_back(what); });
  }
  ~Unheard() { set_unheard_handler(nullptr); }
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

  static std::vector<std::string>& told() {
    static std::vector<std::string> sentences;
    return sentences;
  }
};

}  // namespace handoff::test
