/// Texts that come after a training, as tokens of its vocabulary.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/errors.h"
#include "data/cells.h"
#include "data/code_points.h"
#include "data/new_rows.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

std::vector<std::uint32_t> characters_in(const Encoding& encoding, const std::string& path, const std::string& text) {
  std::vector<std::uint32_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    const std::uint32_t code = next_code_point(path, text, at);
    const auto place = std::ranges::lower_bound(encoding.characters, code);
    if (place == encoding.characters.end() || *place != code)
      throw base::ScenarioError(
          fmt::format("{}: character {} was not in the training's text, which has {} different "
                      "ones; tokens = \"bytes\" knows all",
                      place_of_byte(path, text, before), shown(std::string_view(text).substr(before, at - before)),
                      encoding.characters.size()));
    tokens.push_back(static_cast<std::uint32_t>(place - encoding.characters.begin()));
  }
  return tokens;
}

std::vector<std::uint32_t> numbers_in(const Encoding& encoding, const std::string& path, const std::string& text) {
  constexpr std::string_view blanks = " \t\r\n,";
  std::vector<std::uint32_t> tokens;
  for (std::size_t at = text.find_first_not_of(blanks); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    std::int64_t token = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, token);
    if (stop != text.data() + end || error != std::errc() || token < 0 || token >= encoding.vocabulary)
      throw base::ScenarioError(
          fmt::format("{}: found {}, expected a token from 0 to {}", place_of_byte(path, text, at),
                      shown(std::string_view(text).substr(at, end - at)), encoding.vocabulary - 1));
    tokens.push_back(static_cast<std::uint32_t>(token));
    at = text.find_first_not_of(blanks, end);
  }
  return tokens;
}

}  // namespace

std::vector<std::uint32_t> read_new_tokens(const Encoding& encoding, const std::string& path) {
  if (encoding.form == Encoding::Form::tokens) return numbers_in(encoding, path, text_file(path));
  if (!encoding.characters.empty()) return characters_in(encoding, path, text_file(path));
  std::vector<std::uint32_t> tokens;
  for (const char byte : file_contents(path)) tokens.push_back(static_cast<unsigned char>(byte));
  return tokens;
}

std::string token_text(const Encoding& encoding, std::uint32_t token) {
  if (encoding.form == Encoding::Form::tokens) return std::to_string(token);
  if (encoding.characters.empty()) return std::string(1, static_cast<char>(token));
  // Source: The Unicode Standard 15.0, table 3-6.
  const std::uint32_t code = encoding.characters.at(token);
  const auto continued = [&](int shift) { return static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  if (code < 0x800) return {static_cast<char>(0xC0U | (code >> 6)), continued(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0U | (code >> 12)), continued(6), continued(0)};
  return {static_cast<char>(0xF0U | (code >> 18)), continued(12), continued(6), continued(0)};
}

}  // namespace simgrad::data
