#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/say.h"

namespace simgrad::base {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](char c) { return lower(c); });
  return all;
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`; no letter is edited twice.
/// Source: F. J. Damerau, CACM 7(3), 1964; V. I. Levenshtein, 1966.  Cost: |a| |b| steps, three rows of |b|.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// The word between $' and ', its bytes beyond plain ASCII as three octal digits.
std::string escaped_word(const std::string& word) {
  std::string text = "$'";
  for (const char c : word) {
    const bool plain = c >= ' ' && c < '\x7f' && c != '\'' && c != '\\';
    text += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return text + "'";
}

}  // namespace

std::string closest(std::string_view typed, std::span<const std::string> known) {
  // A very long text is no misspelt name, and the distances of such a text would take long.
  if (typed.empty() || typed.size() > 100) return {};
  std::string best;
  std::tuple<bool, std::size_t, std::size_t> best_distance{};
  for (const std::string& name : known) {
    const std::string wanted = lower(typed), small = lower(name);
    const std::size_t edits = distance(wanted, small);
    const bool near = edits * 3 <= std::max(typed.size(), name.size());
    const bool begins = typed.size() > 2 && name.size() > typed.size() && small.starts_with(wanted);
    if (!near && !(begins && name[typed.size()] == '_')) continue;
    // Case breaks ties only: "GBs" is nearer to "GBps" than to "Gbps".
    const std::tuple found{edits > 0 && !begins, edits, distance(typed, name)};
    if (!best.empty() && found >= best_distance) continue;
    best = name;
    best_distance = found;
  }
  return best;
}

std::vector<std::string> nearest(std::string_view typed, std::span<const std::string> known, std::size_t most) {
  if (typed.empty() || typed.size() > 100) return {};
  const std::string wanted = lower(typed);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : known) {
    const std::size_t edits = distance(wanted, lower(name));
    const bool near = edits * 3 <= std::max(typed.size(), name.size());
    // Two letters are contained in too many names.
    const bool contained = typed.size() > 2 && lower(name).find(wanted) != std::string::npos;
    if (near || contained) found.emplace_back(edits, name);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [edits, name] : found)
    if (names.size() < most && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

std::string suggestion(std::string_view typed, std::span<const std::string> known) {
  if (known.empty()) return {};
  constexpr std::size_t most = 200;  // a file may have any number of columns
  const std::string meant = closest(typed, known);
  std::string all = joined(known.first(std::min(known.size(), most)));
  if (known.size() > most) all += fmt::format(" and {} more", known.size() - most);
  if (meant.empty()) return fmt::format("; known: {}", all);
  return fmt::format("; did you mean \"{}\"? Known: {}", meant, all);
}

std::string joined(std::span<const std::string> names, std::string_view separator) {
  std::string all;
  for (const std::string& name : names) {
    if (!all.empty()) all += separator;
    all += name;
  }
  return all;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  if (printable(word) != word) return escaped_word(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return joined(quoted, " ");
}

std::optional<std::vector<std::string>> words_of_shell_line(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '\'')
      quoted = !quoted;
    else if (quoted || (c != ' ' && c != '\\'))
      words.back() += c;
    else if (c == ' ')
      words.emplace_back();
    else if (++at < line.size())
      words.back() += line[at];
  }
  // Every other way of writing the words is another text.
  return shell_line(words) == line ? std::optional(std::move(words)) : std::nullopt;
}

}  // namespace simgrad::base
