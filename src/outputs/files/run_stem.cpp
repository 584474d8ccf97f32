#include "outputs/files/run_stem.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace simgrad::outputs {

namespace {

constexpr std::size_t id_digits = 16;
constexpr std::size_t label_most = 40;

bool is_plain(char letter) { return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'); }

/// The text in small letters and digits, with one "-" for all that stands between words.
std::string plain_words(std::string_view text) {
  std::string words;
  for (const char letter : text) {
    const char small = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    if (is_plain(small) || small == '_')
      words += small;
    else if (!words.empty() && words.back() != '-')
      words += '-';
    if (words.size() == label_most) break;
  }
  while (words.ends_with('-')) words.pop_back();
  return words;
}

}  // namespace

std::string run_stem(std::string_view label, std::int64_t workers, std::uint64_t seed, std::string_view id) {
  const std::string words = plain_words(label);
  return fmt::format("{}-w{}-s{}-{}", words.empty() ? "run" : words, workers, seed, plain_words(id));
}

std::string run_stem(const Run& run) { return run_stem(run.label, run.workers, run.seed, run.id); }

std::string id_in_stem(std::string_view stem) {
  const std::size_t dash = stem.rfind('-');
  return std::string(dash == std::string_view::npos ? stem : stem.substr(dash + 1));
}

bool is_run_stem(std::string_view name) {
  const std::string id = id_in_stem(name);
  return base::is_hexadecimal(id, id_digits) &&
         std::ranges::all_of(name, [](char letter) { return is_plain(letter) || letter == '_' || letter == '-'; });
}

}  // namespace simgrad::outputs
