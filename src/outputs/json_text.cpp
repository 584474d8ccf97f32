#include "outputs/json_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace simgrad::outputs {

void append_json(std::string& text, double value) {
  if (!std::isfinite(value)) {
    text += "null";
    return;
  }
  std::array<char, 64> digits;
  text.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

void append_json(std::string& text, std::string_view value) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (std::ranges::all_of(value, plain))
    text.append("\"").append(value).append("\"");
  else
    text += compact(nlohmann::ordered_json(value));
}

void append_json(std::string& text, const nlohmann::ordered_json& value) { text += compact(json_value(value)); }

void append_json(std::string& text, const std::vector<std::string>& values) {
  text += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ',';
    append_json(text, values[i]);
  }
  text += ']';
}

void TextWriter::counts(std::string_view name, const std::map<std::int64_t, std::int64_t>& field) {
  if (field.empty()) return;
  begin(name);
  char before = '[';
  for (const auto& [value, count] : field) {
    (text_ += before) += '[';
    append_json(text_, value);
    text_ += ',';
    append_json(text_, count);
    text_ += ']';
    before = ',';
  }
  text_ += ']';
}

}  // namespace simgrad::outputs
