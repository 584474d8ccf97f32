#include "training/learning/trajectory.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <system_error>

namespace simgrad::training {

namespace {

/// The next word of the line, which is taken off it.
std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}

template <class Number>
bool parse(std::string_view word, Number& number, auto... base) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base...);
  return error == std::errc() && end == word.data() + word.size();
}

bool parse_lineage(std::string_view word, values::Lineage& lineage) {
  constexpr std::size_t digits = 16;
  return word.size() == 2 * digits && parse(word.substr(0, digits), lineage.high, 16) &&
         parse(word.substr(digits), lineage.low, 16);
}

/// A number, or "-" for none.
bool parse_optional(std::string_view word, std::optional<double>& number) {
  if (word == "-") return true;
  return parse(word, number.emplace());
}

std::string optional_text(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : "-"; }

/// The third and fourth number only of a model that has experts, or of a mixture; its sources' numbers follow.
std::string text_of(const Score& score) {
  std::string text = fmt::format("{} {}", optional_text(score.loss), optional_text(score.metric));
  if (!score.dropped_share && !score.expert_imbalance && score.of_sources.empty()) return text;
  text += fmt::format(" {} {}", optional_text(score.dropped_share), optional_text(score.expert_imbalance));
  for (const double number : score.of_sources) text += fmt::format(" {}", number);
  return text;
}

}  // namespace

template <class Number>
Number Trajectory::found(All<Number>& all, const values::Lineage& lineage, const std::function<Number()>& compute,
                         const std::function<bool(const Number& number)>& fits) {
  if (const auto known = all.find(lineage); known != all.end()) {
    if (known->second.computed || fits(known->second.number)) return known->second.number;
    misfits_ = true;
    all.erase(known);
  }
  if (!compute) {
    lacking_ = true;
    throw std::runtime_error("a number of this training is not known");
  }
  const Number number = compute();
  if (lineage != values::Lineage()) all.emplace(lineage, Known<Number>{number, true});
  return number;
}

Score Trajectory::score(const values::Lineage& state, const std::function<Score()>& compute,
                        const std::function<bool(const Score& score)>& fits) {
  return found(scores_, state, compute, fits);
}

double Trajectory::distance(const values::Lineage& replicas, const std::function<double()>& compute) {
  return found<double>(distances_, replicas, compute, [](double distance) { return !(distance < 0.0); });
}

std::string Trajectory::lines(bool computed_only) const {
  std::string text;
  for (const auto& [lineage, known] : scores_)
    if (known.computed || !computed_only)
      text += fmt::format("score {:016x}{:016x} {}\n", lineage.high, lineage.low, text_of(known.number));
  for (const auto& [lineage, known] : distances_)
    if (known.computed || !computed_only)
      text += fmt::format("distance {:016x}{:016x} {}\n", lineage.high, lineage.low, known.number);
  return text;
}

std::string Trajectory::computed() const { return lines(true); }
std::string Trajectory::text() const { return lines(false); }

bool Trajectory::add_line(std::string_view line) {
  const std::string_view kind = next_word(line);
  values::Lineage lineage;
  if (!parse_lineage(next_word(line), lineage)) return false;
  if (kind == "score") {
    Score score;
    if (!parse_optional(next_word(line), score.loss) || !parse_optional(next_word(line), score.metric)) return false;
    if (!line.empty() && (!parse_optional(next_word(line), score.dropped_share) ||
                          !parse_optional(next_word(line), score.expert_imbalance)))
      return false;
    while (!line.empty())
      if (!parse(next_word(line), score.of_sources.emplace_back())) return false;
    scores_.insert_or_assign(lineage, Known<Score>{score});
  } else if (kind == "distance") {
    double distance = 0.0;
    if (!parse(next_word(line), distance)) return false;
    distances_.insert_or_assign(lineage, Known<double>{distance});
  }
  return line.empty() && (kind == "score" || kind == "distance");
}

bool Trajectory::add(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (!add_line(line)) return false;
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return true;
}

}  // namespace simgrad::training
