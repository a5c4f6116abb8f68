// SPDX-License-Identifier: MIT
// `handoff export`: a result file in the form of another program.
#include "commands/commands.hpp"
#include "commands/output.hpp"
#include "report/exports.hpp"
#include "report/json.hpp"

namespace handoff::lab {
namespace {

const Export& export_named(const std::string& name) {
  for (const Export& form : all_exports()) {
    if (form.name == name) return form;
  }
  throw UserError("there is no form '{}'; {}", name,
                  nearest_name(name, all_exports(), &Export::name));
}

}  // namespace

int export_result(const ExportOptions& options) {
  const Export& form = export_named(options.form);
  require_output(options.output, {options.result});
  const Result result = read_result(options.result);
  say_if_interrupted(result, options.result);
  write_text(options.output, form.text(result));
  return exit_code::ok;
}

}  // namespace handoff::lab
