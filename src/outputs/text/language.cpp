#include "outputs/text/language.h"

#include <algorithm>
#include <unordered_map>

namespace simgrad::outputs {
namespace {

Language present = Language::english;

}  // namespace

std::optional<Language> language_called(std::string_view name) {
  if (name == "en") return Language::english;
  if (name == "zh") return Language::chinese;
  return {};
}

std::string_view name(Language language) { return language == Language::chinese ? "zh" : "en"; }

Language language() { return present; }

void speak(Language language) { present = language; }

std::string tr(std::string_view english) {
  if (present == Language::english) return std::string(english);
  static const auto catalogue = [] {
    std::unordered_map<std::string_view, std::string_view> by_english;
    for (const Translation& each : translations()) by_english.emplace(each.english, each.chinese);
    return by_english;
  }();
  const auto found = catalogue.find(english);
  return std::string(found == catalogue.end() ? english : found->second);
}

namespace {

/// Whether the byte begins a Chinese character: U+4000 to U+9FFF in UTF-8.
bool begins_character(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code >= 0xE4 && code <= 0xE9;
}

/// Removes the spaces between two Chinese characters.
void close_up_characters(std::string& text) {
  for (std::size_t at = 3; at + 1 < text.size(); ++at)
    if (text[at] == ' ' && begins_character(text[at - 3]) && begins_character(text[at + 1])) text.erase(at, 1);
}

}  // namespace

std::string closed_up(std::string text) {
  if (present == Language::english) return text;
  close_up_characters(text);
  for (const std::string_view sign : {"，", "。", "：", "；", "、", "（", "）"})
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += sign.size()) {
      if (text.compare(at + sign.size(), 1, " ") == 0) text.erase(at + sign.size(), 1);
      if (at > 0 && text[at - 1] == ' ') text.erase(--at, 1);
    }
  return text;
}

}  // namespace simgrad::outputs
