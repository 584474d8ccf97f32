#include "outputs/text/recognised.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "outputs/text/language.h"

namespace simgrad::outputs {
namespace {

using Words = std::vector<std::string_view>;

/// An entry of the catalogue whose {} stand for any letters.
struct Known {
  Words pieces;  ///< the letters before, between and after the places
  std::string_view chinese;
  std::size_t letters;  ///< of all pieces
  bool one_clause;      ///< the last place, which ends the English, is within the Chinese: there "; " would not end it
};

Known known_of(const Translation& entry) {
  Known known{{}, entry.chinese, 0, entry.english.ends_with("{}") && !entry.chinese.ends_with('}')};
  std::size_t from = 0;
  for (std::size_t at; (at = entry.english.find("{}", from)) != std::string_view::npos; from = at + 2)
    known.pieces.push_back(entry.english.substr(from, at - from));
  known.pieces.push_back(entry.english.substr(from));
  for (const std::string_view piece : known.pieces) known.letters += piece.size();
  return known;
}

/// The catalogue's entries with a context; those with the most letters come first.
const std::vector<Known>& all_known() {
  static const std::vector<Known> all = [] {
    std::vector<Known> sorted;
    for (const Translation& each : translations())
      if (!each.context.empty() && !each.chinese.empty()) sorted.push_back(known_of(each));
    std::ranges::stable_sort(sorted, std::greater<>(), &Known::letters);
    return sorted;
  }();
  return all;
}

/// The words in the places of the entry, each as short as possible; nothing if the text is another one.
std::optional<Words> words_in(std::string_view text, const Known& known) {
  const std::string_view first = known.pieces.front(), last = known.pieces.back();
  if (!text.starts_with(first)) return {};
  if (known.pieces.size() == 1) return text == first ? std::optional<Words>(Words{}) : std::nullopt;
  Words words;
  std::size_t from = first.size();
  for (std::size_t i = 1; i + 1 < known.pieces.size(); ++i) {
    const std::size_t at = text.find(known.pieces[i], from);
    if (at == std::string_view::npos) return {};
    words.push_back(text.substr(from, at - from));
    from = at + known.pieces[i].size();
  }
  if (text.size() < from + last.size() || !text.ends_with(last)) return {};
  words.push_back(text.substr(from, text.size() - last.size() - from));
  for (std::size_t i = 0; i < words.size(); ++i) {  // several clauses stand only where the entry ends a clause, too
    const std::string_view after = known.pieces[i + 1];
    const bool ends_clause = after.empty() ? !known.one_clause : after.starts_with("; ");
    if (!ends_clause && words[i].find("; ") != std::string_view::npos) return {};
  }
  return words;
}

/// A text in Chinese, and how many letters of the English one the catalogue knows.
struct Recognised {
  std::string text;
  std::size_t letters = 0;
};

Recognised clauses(std::string_view english);

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Puts the words, translated, in the places of a translation: {} is the next, {2} the third. Names stay: words in
/// quotes, and those before a ": " at the beginning.
Recognised filled(const Known& known, const Words& words) {
  Recognised all{{}, known.letters};
  const bool begins_with_name = known.pieces.front().empty() && known.pieces[1].starts_with(": ");
  const std::string_view translation = known.chinese;
  std::string between;
  std::size_t next = 0;
  for (std::size_t i = 0; i < translation.size(); ++i) {
    const bool numbered = i + 1 < translation.size() && is_digit(translation[i + 1]);
    const std::size_t end = i + (numbered ? 2 : 1);
    if (translation[i] != '{' || end >= translation.size() || translation[end] != '}') {
      between += translation[i];
      continue;
    }
    const std::size_t place = numbered ? static_cast<std::size_t>(translation[i + 1] - '0') : next++;
    const bool quoted = between.ends_with('"') && translation.substr(end + 1).starts_with('"');
    const bool is_name = quoted || (begins_with_name && place == 0);
    const Recognised word = is_name ? Recognised{std::string(words.at(place)), 0} : clauses(words.at(place));
    add_part(all.text, between);
    between.clear();
    add_part(all.text, word.text);
    all.letters += word.letters;
    i = end;
  }
  add_part(all.text, between);
  return all;
}

constexpr int most_signs = 8;  ///< of a text that are looked at: a text of others may be of nothing else

/// The text as a whole, by the entry that knows the most of its letters: all of it, or what stands behind a ": ",
/// before which is a place in a file or a name.
std::optional<Recognised> whole(std::string_view text) {
  std::optional<Recognised> best;
  const std::string_view first = text.substr(0, text.find("; "));
  std::size_t from = 0;
  for (int signs = 0; signs <= most_signs; ++signs) {
    for (const Known& known : all_known()) {
      const auto words = words_in(text.substr(from), known);
      if (!words) continue;
      Recognised found = filled(known, *words);
      if (best && found.letters < best->letters) break;
      found.text.insert(0, text.substr(0, from));
      best = std::move(found);
      break;
    }
    from = first.find(": ", from);
    if (from == std::string_view::npos) break;
    from += 2;
  }
  return best;
}

/// The text clause by clause: as many as an entry knows are one.
Recognised clauses(std::string_view english) {
  Recognised all;
  for (int signs = 0; !english.empty(); ++signs) {
    std::vector<std::size_t> ends{english.size()};
    for (std::size_t at = 0; signs < most_signs && ends.size() <= most_signs; at += 2) {
      if ((at = english.find("; ", at)) == std::string_view::npos) break;
      ends.insert(ends.begin() + 1, at);
    }
    std::size_t end = ends.back();
    std::optional<Recognised> found;
    for (const std::size_t each : ends)
      if (each > 0 && !found && (found = whole(english.substr(0, each)))) end = each;
    all.text += found ? found->text : std::string(english.substr(0, end));
    all.letters += found ? found->letters : 0;
    if (end == english.size()) break;
    all.text += found || end == 0 ? "；" : "; ";
    english.remove_prefix(end + 2);
  }
  return all;
}

}  // namespace

std::string translated(std::string_view english) {
  constexpr std::size_t longest = 2000;
  if (language() == Language::english || english.size() > longest) return std::string(english);
  return clauses(english).text;
}

}  // namespace simgrad::outputs
