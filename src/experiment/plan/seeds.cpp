#include "experiment/plan/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include "base/errors.h"

namespace simgrad::experiment {

using base::ScenarioError;

namespace {

std::uint64_t seed_of(std::string_view text, std::string_view all) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw ScenarioError(fmt::format("--seeds {}: \"{}\" is not a seed; write 1..5 or 1,3,7", all, text));
  return seed;
}

}  // namespace

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  constexpr std::uint64_t most = 100'000;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const std::string_view part = std::string_view(text).substr(from, comma - from);
    const auto dots = part.find("..");
    const std::uint64_t first = seed_of(part.substr(0, dots), text);
    const std::uint64_t last = dots == std::string_view::npos ? first : seed_of(part.substr(dots + 2), text);
    if (last < first)
      throw ScenarioError(fmt::format("--seeds {}: {}..{} is empty; expected a..b with a <= b", text, first, last));
    if (last - first >= most)
      throw ScenarioError(fmt::format("--seeds {}: {}..{} are {} seeds; at most {} are allowed", text, first, last,
                                      std::max(last - first, last - first + 1), most));
    for (std::uint64_t k = 0; k <= last - first; ++k) seeds.push_back(first + k);
    from = comma + 1;
  }
  std::set<std::uint64_t> unique(seeds.begin(), seeds.end());
  if (unique.size() != seeds.size()) throw ScenarioError(fmt::format("--seeds {}: a seed is named twice", text));
  return seeds;
}

}  // namespace simgrad::experiment
