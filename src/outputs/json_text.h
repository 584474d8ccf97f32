/// JSON as text, value by value, without a tree: the spelling is that of `compact`, byte for byte.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/summary.h"

namespace simgrad::outputs {

/// Appends a number so that it reads back to the same bits; null for one that is not finite.
void append_json(std::string& text, double value);
/// Appends a text in quotes, with U+FFFD for bytes that are not UTF-8.
void append_json(std::string& text, std::string_view value);
/// Appends a tree; `{}` for null.
void append_json(std::string& text, const nlohmann::ordered_json& value);
inline void append_json(std::string& text, const std::string& value) { append_json(text, std::string_view(value)); }
inline void append_json(std::string& text, record::Status value) { append_json(text, std::string_view(name(value))); }
void append_json(std::string& text, const std::vector<std::string>& values);

template <std::integral Number>
void append_json(std::string& text, Number value) {
  if constexpr (std::same_as<Number, bool>) {
    text += value ? "true" : "false";
  } else {
    char digits[24];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
}
template <class T>
void append_json(std::string& text, const std::optional<T>& value) {
  if (value)
    append_json(text, *value);
  else
    text += "null";
}

/// A visitor of descriptions (describe_run.h, record/describe.h): appends the object of the described fields.
class TextWriter {
 public:
  /// index: the object's place in its list.
  TextWriter(std::string& text, std::size_t index) : text_(text), index_(index) {}

  /// Ends the object.
  void close() { text_ += first_ ? "{}" : "}"; }

  void index(std::string_view name) { member(name, index_); }
  template <class T>
  void value(std::string_view name, const T& field, record::Presence presence = record::Presence::always) {
    if constexpr (is_optional<T>)
      if (record::left_out_if_absent(presence) && !field) return;
    member(name, field);
  }
  void metric(std::string_view name, const std::optional<double>& field) { member(name, field); }
  void computed(std::string_view name, const std::optional<double>& field) { member(name, field); }
  void grid_point(std::string_view name, const nlohmann::ordered_json& field) { member(name, field); }
  void text_or_null(std::string_view name, const std::string& field) {
    if (field.empty())
      begin(name).append("null");
    else
      member(name, field);
  }
  void counts(std::string_view name, const std::map<std::int64_t, std::int64_t>& field);
  template <class Item>
  void items(std::string_view name, const std::vector<Item>& all, record::Presence presence) {
    if (record::left_out_if_absent(presence) && all.empty()) return;
    begin(name) += '[';
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) text_ += ',';
      TextWriter item(text_, i);
      describe(all[i], item);
      item.close();
    }
    text_ += ']';
  }

 private:
  /// Begins a member, whose value is to be appended.
  std::string& begin(std::string_view name) {
    text_ += first_ ? "{\"" : ",\"";
    first_ = false;
    return text_.append(name).append("\":");
  }
  template <class T>
  void member(std::string_view name, const T& value) {
    append_json(begin(name), value);
  }

  std::string& text_;
  std::size_t index_;
  bool first_ = true;
};

/// The text of one described object.
template <class Item>
std::string described_text(const Item& item) {
  std::string text;
  TextWriter writer(text, 0);
  describe(item, writer);
  writer.close();
  return text;
}

}  // namespace simgrad::outputs
