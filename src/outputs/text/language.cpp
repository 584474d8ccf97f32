#include "outputs/text/language.h"

#include <algorithm>
#include <cctype>
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
    for (const Translation& each : translations())
      if (each.context.empty() && !each.chinese.empty()) by_english.emplace(each.english, each.chinese);
    return by_english;
  }();
  const auto found = catalogue.find(english);
  return std::string(found == catalogue.end() ? english : found->second);
}

std::string between_sentences() { return present == Language::english ? " " : ""; }

namespace {

/// Whether a Chinese character, or a sign of Chinese punctuation, ends or begins the text: U+3000 to U+9FFF, and the
/// full-width forms, in UTF-8.
bool is_wide(std::string_view text, bool at_end) {
  if (text.size() < 3) return false;
  const auto first = static_cast<unsigned char>(at_end ? text[text.size() - 3] : text[0]);
  return (first >= 0xE3 && first <= 0xE9) || first == 0xEF;
}

bool has_sign(std::string_view text, bool at_end) {
  for (const std::string_view sign : {"，", "。", "：", "；", "、", "（", "）"})
    if (at_end ? text.ends_with(sign) : text.starts_with(sign)) return true;
  return false;
}

/// Whether a Chinese character and a Latin letter or a digit meet: a space stands between them.
bool scripts_meet(std::string_view before, std::string_view after) {
  const auto is_latin = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (before.empty() || after.empty()) return false;
  return (is_wide(before, true) && !has_sign(before, true) && is_latin(after.front())) ||
         (is_latin(before.back()) && is_wide(after, false) && !has_sign(after, false));
}

}  // namespace

void add_part(std::string& text, std::string_view part) {
  const std::string_view before = std::string_view(text).substr(0, text.size() - (text.ends_with(' ') ? 1 : 0));
  const std::string_view after = part.substr(part.starts_with(' ') ? 1 : 0);
  const bool closes =
      has_sign(before, true) || has_sign(after, false) || (is_wide(before, true) && is_wide(after, false));
  if (closes && present != Language::english && !after.empty()) {
    text.resize(before.size());
    part = after;
  } else if (present != Language::english && scripts_meet(text, part)) {
    text += ' ';
  }
  text += part;
}

std::string formatted(std::string_view english, fmt::format_args arguments) {
  const std::string text = tr(english);
  if (present == Language::english) return fmt::vformat(text, arguments);
  std::string all, words;
  int next = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{' && text[at] != '}') {
      words += text[at];
    } else if (text.compare(at, 2, "{{") == 0 || text.compare(at, 2, "}}") == 0) {
      words += text[at++];
    } else {
      const std::size_t end = text.find('}', at), colon = std::min(text.find(':', at), end);
      std::string place = text.substr(at + 1, colon - at - 1);
      if (place.empty()) place = std::to_string(next++);
      add_part(all, words);
      words.clear();
      add_part(all, fmt::vformat("{" + place + text.substr(colon, end - colon) + "}", arguments));
      at = end;
    }
  }
  add_part(all, words);
  return all;
}

}  // namespace simgrad::outputs
