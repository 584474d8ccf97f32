#include "data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "data/code_points.h"
#include "data/encoding.h"
#include "data/limits.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

constexpr std::array token_choices{
    base::Choice{"bytes", "256 tokens, whatever the file holds"},
    base::Choice{"characters", "those of UTF-8 that occur in the file, in the order of their code points"}};

[[noreturn]] void refuse_encoding(const std::string& path, const std::string& text, std::size_t at) {
  throw base::ScenarioError(
      fmt::format("{}: byte 0x{:02X} is not UTF-8, expected text in UTF-8; tokens = \"bytes\" takes any file",
                  place_of_byte(path, text, at), static_cast<unsigned char>(text[at])));
}

}  // namespace

std::string place_of_byte(const std::string& path, const std::string& text, std::size_t at) {
  const auto begin = text.begin(), here = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = 1 + std::count(begin, here, '\n');
  const std::size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return fmt::format("{}:{}:{}", path, line, at - (newline == std::string::npos ? 0 : newline + 1) + 1);
}

std::uint32_t next_code_point(const std::string& path, const std::string& text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return ++at, first;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) refuse_encoding(path, text, at);
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) refuse_encoding(path, text, at);
    code = (code << 6) | (byte(at + i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) refuse_encoding(path, text, at);
  at += length;
  return code;
}

namespace {

struct Tokenized {
  std::vector<std::uint32_t> tokens;
  std::int64_t vocabulary = 256;
  std::vector<std::uint32_t> characters = {};  ///< the vocabulary's, ascending; none: bytes
};

Tokenized characters_of(const std::string& path, const std::string& text) {
  Tokenized all;
  for (std::size_t at = 0; at < text.size();) all.tokens.push_back(next_code_point(path, text, at));
  std::vector<std::uint32_t> distinct = all.tokens;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  for (std::uint32_t& token : all.tokens)
    token = static_cast<std::uint32_t>(std::ranges::lower_bound(distinct, token) - distinct.begin());
  all.vocabulary = static_cast<std::int64_t>(distinct.size());
  all.characters = std::move(distinct);
  return all;
}

}  // namespace

void Text::describe(base::Describer& d) {
  d.path("path", path, "the file");
  d.choice("tokens", tokens, token_choices, "the tokens");
  if (path.empty()) d.refuse("path", "the data source \"text\" needs the path of a file");
}

Dataset Text::load(const Request& request) const {
  return read(tokens == Tokens::bytes ? file_contents(path) : text_file(path), request);
}

Dataset Text::read(const std::string& text, const Request& request) const {
  const Tokenized all =
      tokens == Tokens::characters ? characters_of(path, text) : Tokenized{{text.begin(), text.end()}, 256};
  const std::int64_t T = request.features;
  const auto count = static_cast<std::int64_t>(all.tokens.size());
  if (count <= T)
    throw base::ScenarioError(
        fmt::format("{}:1: {} token{}, but a row takes {}: a sequence of {} and the one behind it; expected a longer "
                    "file, or a smaller sequence ([model])",
                    path, count, count == 1 ? "" : "s", T + 1, T));
  if (all.vocabulary < 2)
    throw base::ScenarioError(fmt::format("{}:1: one character only, expected at least two different ones", path));
  const std::int64_t rows = (count - 1) / T;
  Dataset set = sized_dataset(rows, T, path);
  set.vocabulary = all.vocabulary;
  set.target_name = "next";
  auto encoding = std::make_shared<Encoding>();
  encoding->form = Encoding::Form::text;
  encoding->task = Task::text;
  encoding->characters = all.characters;
  set.encoding = std::move(encoding);
  for (std::int64_t t = 1; t <= T; ++t) set.feature_names.push_back(fmt::format("token_{}", t));
  // A byte is a token 0 .. 255, whatever the sign of char.
  const std::uint32_t mask = tokens == Tokens::bytes ? 0xFFU : ~0U;
  const auto token = [&](std::int64_t at) {
    return static_cast<double>(all.tokens[static_cast<std::size_t>(at)] & mask);
  };
  for (std::int64_t i = 0; i < rows * T; ++i) set.features[static_cast<std::size_t>(i)] = token(i);
  for (std::int64_t r = 0; r < rows; ++r) set.targets[static_cast<std::size_t>(r)] = token((r + 1) * T);
  return set;
}

}  // namespace simgrad::data
