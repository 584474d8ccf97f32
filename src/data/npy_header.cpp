#include "data/npy_header.h"

#include <fmt/format.h>

#include <charconv>

#include "base/errors.h"
#include "data/cells.h"

namespace simgrad::data {

namespace {

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader header() {
    NpyHeader header;
    bool descr = false;
    bool order = false;
    bool shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        descr = true;
        header.descr = type();
      } else if (key == "fortran_order" && !order) {
        order = true;
        header.fortran_order = truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        header.shape = lengths();
      } else {
        refuse(fmt::format("the header's entry {}", shown(key)), "descr, fortran_order and shape, each once");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    blanks();
    if (!text_.empty()) refuse(fmt::format("{} behind the header's dictionary", shown(text_)), "nothing");
    if (!descr || !order || !shape) refuse("the header lacks an entry", "descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& found, std::string_view expected) const {
    throw base::ScenarioError(fmt::format("{}: {}, expected {}", path_, found, expected));
  }
  [[noreturn]] void refuse_rest(std::string_view expected) const {
    refuse(fmt::format("found {} in the header", shown(text_)), expected);
  }

  void blanks() {
    const auto end = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }
  bool take(char wanted) {
    blanks();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse_rest(fmt::format("\"{}\"", wanted));
  }
  bool take_word(std::string_view word) {
    blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::string quoted() {
    blanks();
    const char quote = text_.empty() ? '\0' : text_.front();
    const auto end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse_rest("a text in quotes");
    std::string text(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return text;
  }

  std::string type() {
    blanks();
    if (text_.starts_with('[')) refuse("an array of records (descr is a list)", "an array of numbers");
    return quoted();
  }

  bool truth() {
    if (take_word("True")) return true;
    if (!take_word("False")) refuse_rest("True or False");
    return false;
  }

  std::vector<std::int64_t> lengths() {
    std::vector<std::int64_t> all;
    expect('(');
    while (!take(')')) {
      blanks();
      std::int64_t length = 0;
      const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error != std::errc() || length < 0) refuse_rest("the length of a dimension");
      text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
      take_word("L");  // Python 2 wrote long integers with an L
      all.push_back(length);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return all;
  }

  std::string_view text_;
  const std::string& path_;
};

}  // namespace

NpyHeader npy_header(std::string_view text, const std::string& path) { return HeaderParser(text, path).header(); }

}  // namespace simgrad::data
