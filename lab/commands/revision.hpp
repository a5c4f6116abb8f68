// SPDX-License-Identifier: MIT
// Another revision of the source, built beside this one for as long as it is compared with.
#pragma once

#include "harness/contender_list.hpp"
#include "harness/interrupt.hpp"
#include "harness/temporary_folder.hpp"

namespace handoff::lab {

class Revision {
 public:
  // Unpacks `reference` out of the repository of the current folder into a temporary folder and
  // builds its contenders that have the names of those. Throws UserError with one line that says
  // what went wrong, and Interrupted; nothing is left behind then either.
  Revision(const std::string& reference, const std::vector<Contender>& contenders,
           Interrupt& interrupt);

  [[nodiscard]] const std::string& commit() const { return commit_; }
  // The one of that name, which carries the commit here; nothing: the revision has none.
  [[nodiscard]] std::optional<Contender> like(const Contender& now) const;

 private:
  void check_out(const std::string& reference);
  void build(const std::vector<Contender>& wanted);
  void step(const std::vector<std::string>& command, const char* doing);

  Interrupt& interrupt_;
  std::string reference_;
  std::string commit_;  // abbreviated
  TemporaryFolder folder_{"handoff-revision"};  // source and build are in it
  std::vector<Contender> contenders_;
};

}  // namespace handoff::lab
