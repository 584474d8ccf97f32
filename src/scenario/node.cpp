#include "scenario/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/say.h"

namespace simgrad::scenario {

namespace {

bool bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// Characters that steer whoever reads a terminal or a log (base/say.h), as TOML's escapes.
std::string with_steering_escaped(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const bool command = text.substr(at).starts_with("##[");  // of GitHub's runner
    const base::CodePoint found = command ? base::CodePoint{U'#', 1} : base::steering_at(text, at);
    all +=
        found.bytes > 0 ? fmt::format("\\u{:04X}", static_cast<std::uint32_t>(found.code)) : std::string(1, text[at]);
    at += std::max<std::size_t>(found.bytes, 1);
  }
  return all;
}

}  // namespace

const Entry* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

Entry* Table::find(std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

void Table::put(const Entry& entry) {
  if (Entry* present = find(entry.key))
    *present = entry;
  else
    entries.push_back(entry);
}

std::string shown(const Node& node) {
  if (node.as<Array>()) return "a list";
  if (node.as<Table>()) return "a table";
  if (const auto* number = node.as<double>()) return fmt::to_string(*number);
  if (const auto* date = node.as<Date>()) return fmt::format("the date {}", date->text);
  std::string text = inline_toml(node);
  constexpr std::size_t longest = 80;
  if (text.size() <= longest) return text;
  text.resize(longest);
  // Does not cut a UTF-8 character, which would garble the terminal.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0u) == 0x80u) text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xC0u) text.pop_back();
  return text + "...";
}

std::string toml_string(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      all += {'\\', c};
    else if (c == '\n')
      all += "\\n";
    else if (c == '\t')
      all += "\\t";
    else if (code < 0x20 || code == 0x7F)
      all += fmt::format("\\u{:04X}", code);
    else
      all += c;
  }
  return with_steering_escaped(all) + '"';
}

std::string toml_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, bare) ? std::string(key) : toml_string(key);
}

std::string float_text(double value) {
  std::string text = fmt::to_string(value);
  // Without a point or an exponent TOML would read the text as an integer.
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

}  // namespace simgrad::scenario
