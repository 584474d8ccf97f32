#include "outputs/text/text_layout.h"

#include <fmt/format.h>

#include <sstream>

#include "base/say.h"
#include "outputs/text/language.h"
#include "outputs/text/utf8.h"

namespace simgrad::outputs {
namespace {

/// Returns how many bytes at the beginning of `text` fit into `columns` columns.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0, taken = 0;
  while (bytes < text.size()) {
    const Character next = first_character(text.substr(bytes));
    taken += columns_of(next.code);
    if (taken > columns) break;
    bytes += next.bytes;
  }
  return bytes;
}

/// Returns the end of `text` that fits into `columns` columns, without combining marks of a character that was cut off.
std::string_view suffix(std::string_view text, std::size_t columns) {
  std::size_t left = display_width(text);
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t own = columns_of(next.code);
    if (left <= columns && own > 0) break;
    left -= own;
    text.remove_prefix(next.bytes);
  }
  return text;
}

/// A part of a text that is not broken.
struct Piece {
  std::string text;
  bool space = true;  ///< stands before it, unless a line begins
};

bool among_signs(std::string_view signs, std::string_view character) {
  return signs.find(character) != std::string_view::npos;
}

/// Divides a Chinese text at spaces and between wide characters, but not before a sign that ends a clause or a bracket,
/// and not after an opening bracket; an English text at spaces.
std::vector<Piece> pieces(const std::string& text) {
  std::vector<Piece> found;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    found.push_back({});
    if (language() == Language::english) {
      found.back().text = word;
      continue;
    }
    std::string_view rest = word, before;
    while (!rest.empty()) {
      const Character next = first_character(rest);
      const std::string_view character = rest.substr(0, next.bytes);
      const bool wide =
          columns_of(next.code) == 2 || (!before.empty() && columns_of(first_character(before).code) == 2);
      if (!before.empty() && wide && !among_signs("，。：；、）”", character) && !among_signs("（“", before))
        found.push_back({.text = "", .space = false});
      found.back().text += character;
      before = character;
      rest.remove_prefix(next.bytes);
    }
  }
  return found;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    columns += columns_of(next.code);
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20U || byte == 0x7FU) c = ' ';
  }
  return base::printable(result);
}

std::string cut(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  return width == 0 ? "" : std::string(text.substr(0, prefix_bytes(text, width - 1))) + "…";
}

std::string cut_middle(std::string_view text, std::size_t width) {
  const std::size_t whole = display_width(text);
  if (whole <= width || width < 3) return cut(text, width);
  const std::size_t head = width / 2;
  const std::size_t tail = width - head - 1;
  return std::string(text.substr(0, prefix_bytes(text, head))) + "…" + std::string(suffix(text, tail));
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string padded(std::string_view text, std::size_t width, Align align, std::string_view filling) {
  const std::size_t taken = display_width(text);
  const std::size_t gap = taken < width ? width - taken : 0;
  const std::size_t left = align == Align::left ? 0 : align == Align::right ? gap : gap / 2;
  return repeated(filling, left) + std::string(text) + repeated(filling, gap - left);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  std::string line;
  std::size_t taken = 0;  // columns of `line`
  for (auto& [word, space] : pieces(printable(text))) {
    const std::size_t gap = space ? 1 : 0;
    std::size_t size = display_width(word);
    if (!line.empty() && taken + gap + size > width) {
      lines += line + '\n';
      line = "  ";
      taken = 2;
    } else if (!line.empty()) {
      line += std::string(gap, ' ');
      taken += gap;
    }
    while (taken + size > width && width > 3) {  // room for a wide character beside the indentation
      const std::size_t bytes = prefix_bytes(word, width - taken);
      lines += line + word.substr(0, bytes) + '\n';
      word.erase(0, bytes);
      line = "  ";
      taken = 2;
      size = display_width(word);
    }
    line += word;
    taken += size;
  }
  return lines + line + '\n';
}

std::string listed(const std::vector<std::string>& items, std::size_t most) {
  const std::size_t shown = items.size() > most ? most : items.size();
  const std::string comma = language() == Language::chinese ? "、" : ", ";
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    add_part(text, i == 0 ? "" : last ? tr(" and ") : comma);
    add_part(text, items[i]);
  }
  if (items.size() > shown) add_part(text, tr(" and {} more", items.size() - shown));
  return text;
}

std::string listed_clauses(const std::vector<std::string>& items, std::size_t most) {
  if (language() == Language::english || items.size() > most) return listed(items, most);
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : tr(", ")) + item;
  return text;
}

}  // namespace simgrad::outputs
