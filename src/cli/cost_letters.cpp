#include "cli/cost_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

struct CostLetter {
  std::string_view kinds;  ///< those in which the letter means this; empty: all that name none
  std::string_view letter;
  std::string_view meaning;
};

// A letter stands for different things in different parts of the field: the first line that suits is taken.
constexpr auto letter_table = std::to_array<CostLetter>({
    {"strategies", "P", "the number of workers"},
    {"collectives", "P", "the number of members"},
    {"graphs", "P", "the number of ranks"},
    {"compressors", "P", "the number of workers"},
    {"reductions", "P", "the number of workers, of those that train in a round, or of splits"},
    {"reductions", "n", "the numbers of a gradient"},
    {"reductions", "k", "the numbers left out at either end"},
    {"strategies", "M",
     "the bytes of a gradient or of the parameters; without compression 8 d in float64, 4 d in float32"},
    {"collectives", "M", "the bytes of one member's vector"},
    {"compressors", "M", "the bytes of a vector without compression: 8 d in float64, 4 d in float32"},
    {"strategies", "d", "the number of parameters"},
    {"optimizers", "d", "the number of parameters"},
    {"compressors", "d", "the numbers of the vector"},
    {"models", "d", "the number of features, the bias included"},
    {"models", "k", "the number of classes, centres or factors"},
    {"models", "in", "the inputs of a layer"},
    {"models", "out", "the outputs of a layer"},
    {"strategies", "H", "the number of local steps in a round"},
    {"strategies", "T", "the number of tasks"},
    {"strategies", "degree", "the number of a rank's neighbours in the graph"},
    {"strategies", "speed", "flop/s of a host"},
    {"stragglers", "speed", "flop/s of a host"},
    {"topologies", "k", "the number of ports of a switch, or of hosts in a dimension"},
    {"topologies", "m", "the number of messages"},
    {"compressors", "r", "the rank of the approximation"},
    {"compressors", "s", "the number of levels"},
    {"failure_processes", "N", "the number of hosts"},
    {"", "alpha", "the latency of a message, in s"},
    {"", "beta", "the time of a byte, 1 / bandwidth, in s"},
    {"", "gamma", "the time to add a byte's share of a number, 1 / (bytes per number x speed), in s"},
    {"", "t_c", "the time of a worker's gradient: flops / speed"},
    {"", "t_update", "the time of the optimizer's update: flops / speed"},
    {"", "T_allreduce", "the time of the allreduce"},
    {"", "lg", "the logarithm to base 2"},
    {"jitters", "B", "the bandwidth"},
    {"protocols", "B", "the bandwidth"},
    {"protocols", "m", "the bytes of a message"},
    {"protocols", "l", "the factor of the latency"},
    {"protocols", "b", "the factor of the bandwidth"},
    {"graphs", "gap", "the spectral gap 1 - |lambda_2| of the mixing matrix"},
});

bool part_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string_view> identifiers_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part_of_word(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::string cost_letters(std::string_view kind, std::string_view cost) {
  std::string text;
  std::vector<std::string_view> told;
  for (const std::string_view word : identifiers_of(cost)) {
    const auto letter = std::ranges::find_if(letter_table, [&](const CostLetter& each) {
      return each.letter == word && (each.kinds.empty() || each.kinds == kind);
    });
    if (letter == letter_table.end() || std::ranges::find(told, word) != told.end()) continue;
    told.push_back(word);
    text += fmt::format("{}{} {}", text.empty() ? "" : outputs::tr("; "), word, outputs::tr(letter->meaning));
  }
  return text;
}

std::vector<LetterMeaning> meanings_of_letter(std::string_view letter) {
  std::vector<LetterMeaning> found;
  for (const CostLetter& each : letter_table)
    if (each.letter == letter) found.push_back({each.kinds, each.meaning});
  return found;
}

}  // namespace simgrad::cli
