// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/version.hpp>
#include <string_view>

#include "cli/help/manual.hpp"

namespace kastor::cli {
namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

/// Escapes what roff takes as a request, or prints as another glyph than a terminal.
std::string escaped(std::string_view text) {
  std::string roff;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) roff += "\\&";
    at_line_start = c == '\n';
    switch (c) {
      case '\\':
        roff += "\\e";
        break;
      case '-':
        roff += "\\-";
        break;
      case '\'':
        roff += "\\(aq";
        break;
      case '^':
        roff += "\\(ha";
        break;
      case '~':
        roff += "\\(ti";
        break;
      default:
        roff += c;
    }
  }
  return roff;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

/// The escaped lines, with exactly one newline at the end.
std::string lines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return escaped(text) + "\n";
}

std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find("\n\n", begin), text.size());
    list.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return list;
}

/// Whether it is a heading such as "Example:" and lines that are kept as they are.
bool is_listing(const std::string& paragraph) { return paragraph.find(":\n  ") < 40; }

std::string heading_of(const std::string& listing) {
  const std::string heading = listing.substr(0, listing.find(':'));
  return heading == "Exit codes" ? "EXIT STATUS" : upper(heading);
}

std::string listing(const std::string& paragraph) {
  std::string text = ".SH " + heading_of(paragraph) + "\n.EX\n";
  for (std::size_t begin = paragraph.find('\n') + 1; begin < paragraph.size();) {
    const auto end = std::min(paragraph.find('\n', begin), paragraph.size());
    text += lines(paragraph.substr(begin + 2, end - begin - 2));
    begin = end + 1;
  }
  return text + ".EE\n";
}

std::string option_entry(const OptionDescription& option) {
  std::string text = ".TP\n";
  if (!option.short_name.empty()) text += bold(option.short_name) + ", ";
  text += bold(option.name);
  if (!option.label.empty()) text += " " + italic(option.label);
  return text + "\n" + lines(option.help);
}

std::string synopsis(const CommandDescription& command) {
  std::string text;
  for (const auto& usage : command.usage) {
    // The words of the command are literal, hence bold.
    const std::size_t known = usage.starts_with(command.name) ? command.name.size() : 0;
    if (!text.empty()) text += ".br\n";
    text += bold(usage.substr(0, known)) + escaped(usage.substr(known)) + "\n";
  }
  return text;
}

std::string options(const CommandDescription& command) {
  std::string text;
  if (!command.positionals.empty()) text += ".SS Input\n";
  for (const auto& positional : command.positionals) {
    text += ".TP\n" + italic(positional.label) + "\n" + lines(positional.help);
  }
  std::string heading = command.positionals.empty() ? "" : "Input";
  for (const auto& option : command.options) {
    if (option.heading != heading) text += ".SS " + escaped(option.heading) + "\n";
    heading = option.heading;
    text += option_entry(option);
  }
  return text.empty() ? text : ".SH OPTIONS\n" + text;
}

std::string parts(const std::vector<CommandDescription>& commands,
                  const CommandDescription& command) {
  if (command.parts.empty()) return {};
  std::string text = ".SH " + upper(command.parts_heading) + "\n";
  for (const auto& part : command.parts) {
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const auto& other) {
      return other.name == command.name + " " + part.name;
    });
    text += ".TP\n.BR " + escaped(page_name(*found)) + " (1)\n" + lines(part.summary);
  }
  return text;
}

/// Refers to the command of which this one is a part; empty for "kastor".
std::string see_also(const CommandDescription& command) {
  const auto space = command.name.rfind(' ');
  if (space == std::string::npos) return {};
  std::string text = ".SH SEE ALSO\n.BR kastor (1)";
  if (command.name.find(' ') != space) {
    std::string parent = command.name.substr(0, space);
    std::replace(parent.begin(), parent.end(), ' ', '-');
    text += ",\n.BR " + escaped(parent) + " (1)";
  }
  return text + "\n";
}

}  // namespace

std::string man_page(const std::vector<CommandDescription>& commands, std::size_t which) {
  const auto& command = commands[which];
  const std::string name = page_name(command);
  std::string text = ".\\\" Written by the build from the text of --help.\n.TH " +
                     escaped(upper(name)) + " 1 \"\" \"Kastor " + version() +
                     "\" \"Kastor\"\n.SH NAME\n" + escaped(name) + " \\- " +
                     lines(summary_of(commands, which)) + ".SH SYNOPSIS\n" + synopsis(command) +
                     ".SH DESCRIPTION\n" + lines(command.purpose);
  std::string listings;
  bool has_exit_status = false;
  for (const auto& paragraph : paragraphs(command.closing)) {
    if (is_listing(paragraph)) {
      listings += listing(paragraph);
      has_exit_status = has_exit_status || heading_of(paragraph) == "EXIT STATUS";
    } else {
      text += ".PP\n" + lines(paragraph);
    }
  }
  text += parts(commands, command) + options(command) + listings;
  if (!has_exit_status) {
    for (const auto& paragraph : paragraphs(commands.front().closing)) {
      if (is_listing(paragraph) && heading_of(paragraph) == "EXIT STATUS")
        text += listing(paragraph);
    }
  }
  return text + see_also(command);
}

}  // namespace kastor::cli
