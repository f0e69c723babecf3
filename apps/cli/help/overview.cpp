// SPDX-License-Identifier: Apache-2.0
#include "cli/help/overview.hpp"

#include "cli/report/streams.hpp"

namespace kastor::cli {
namespace {

constexpr std::size_t summary_column = 12;

std::string help_of(const CommandDescription& about) {
  std::string text = about.purpose;
  const char* lead = "\nUsage: ";
  for (const auto& usage : about.usage) {
    text += lead + usage + "\n";
    lead = "       ";
  }
  text += "\n" + about.parts_heading + ":\n";
  for (const auto& part : about.parts) {
    text += "  " + part.name + std::string(summary_column - part.name.size(), ' ');
    text += part.summary + "\n";
  }
  return text + "\n" + about.closing + "\n";
}

}  // namespace

void show_overview(const CommandDescription& about) {
  if (take_description([&] { return about; })) return;
  print_result(help_of(about));
}

}  // namespace kastor::cli
