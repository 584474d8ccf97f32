/// A JSON writer that appends to a text: a report has a million numbers, which need no tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::outputs::report {

/// Appends values and the commas between them. The text is safe within an HTML <script>: every `<` is written as
/// \u003c, and the line separators U+2028 and U+2029 as escapes. Bytes that are not UTF-8 become U+FFFD.
class Writer {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  /// Appends the shortest text that reads back to the same bits; null if not finite.
  void value(double number);
  /// Appends a number rounded to so many significant digits.
  void rounded(double number, int digits = 10);
  void value(std::int64_t number);
  void value(std::size_t number) { value(static_cast<std::int64_t>(number)); }
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(bool flag);
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  void null();
  /// Appends a text that is JSON already and holds no raw `<`.
  void raw(std::string_view json);

  template <class T>
  void value(const std::optional<T>& item) {
    item ? value(*item) : null();
  }
  template <class T>
  void value(const std::vector<T>& items) {
    begin_array();
    for (const T& item : items) value(item);
    end_array();
  }
  /// Appends an object that has a function write(writer, object).
  template <class T>
  requires requires(Writer& writer, const T& item) { write(writer, item); }
  void value(const T& item) { write(*this, item); }

  template <class T>
  void member(std::string_view name, const T& item) {
    key(name);
    value(item);
  }
  void rounded_member(std::string_view name, const std::vector<double>& numbers, int digits = 10);
  /// Appends null if there are no numbers.
  void rounded_or_null(std::string_view name, const std::vector<double>& numbers, int digits = 10);

  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string text_;
  bool first_ = true;  ///< the innermost bracket is still empty
};

}  // namespace simgrad::outputs::report
