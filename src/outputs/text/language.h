/// The language of tables and reports: English, or Chinese out of a catalogue of English texts.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace simgrad::outputs {

enum class Language { english, chinese };

/// The language called "en" or "zh".
std::optional<Language> language_called(std::string_view name);
/// Returns "en" or "zh".
std::string_view name(Language language);

/// The language of the texts that this process makes: English until `speak` is called. It is a property of the process,
/// as the C locale is, because every text down to a plural depends on it.
Language language();
void speak(Language language);

/// An English text and its translation. Both have equal arguments; a translation may take them in another order ({1}).
struct Translation {
  std::string_view context;  ///< "note": the text of a recorded note, in which {} stands for any letters; else empty
  std::string_view english;
  std::string_view chinese;
};
/// The catalogue: zh.po, from which the build makes this function.
std::span<const Translation> translations();

/// Returns a text in the language of the process; a text that the catalogue lacks, or has without a translation, stays
/// English.
std::string tr(std::string_view english);

/// Returns what stands between two sentences: a space, and nothing in Chinese.
std::string between_sentences();

/// Marks a text that reaches `tr` in a variable: a test compares the marked texts with the catalogue.
constexpr std::string_view translatable(std::string_view english) { return english; }

/// Adds a part to a text. Between them no space stays beside full-width punctuation, or between two Chinese characters;
/// what is within a part, which may be a user's word, stays as it is.
void add_part(std::string& text, std::string_view part);

/// Formats a text in the language of the process.
std::string formatted(std::string_view english, fmt::format_args arguments);

/// Formats a text in the language of the process.
template <class... Arguments>
std::string tr(fmt::format_string<Arguments...> english, Arguments&&... arguments) requires(sizeof...(Arguments) > 0) {
  const fmt::string_view text = english;
  return formatted({text.data(), text.size()}, fmt::make_format_args(arguments...));
}

/// Formats a number of things: "1 run", "3 runs".
inline std::string counted(std::size_t n, fmt::format_string<std::size_t&> one,
                           fmt::format_string<std::size_t&> several) {
  return tr<std::size_t&>(n == 1 ? one : several, n);
}

}  // namespace simgrad::outputs
