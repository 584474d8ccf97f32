/// random_scenarios DIR COUNT SEED: writes COUNT scenarios that `validate` accepts, and some that it refuses, into the
/// directory, as valid-0.toml ... and refused-0.toml ..., with the files that they name.
/// random_scenarios --keys DIR: says which keys, kinds and choices none of the directory's accepted scenarios has.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "fuzz/draw.h"
#include "scenario/document.h"
#include "strategies/strategy.h"

namespace simgrad::fuzz {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path);
  stream << text;
  if (!stream.flush()) throw base::EnvironmentError(fmt::format("{}: cannot be written", path.string()));
}

/// Draws one scenario that is accepted. Returns false if none is found.
/// refused: the file for one that is not; "": none is kept.
bool draw_one(Dice& dice, std::string_view strategy, const std::vector<std::string>& wanted, const std::string& file,
              const std::string& refused) {
  constexpr int most_attempts = 12;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    Aim aim{.rate = dice.log_between(0.02, 0.3)};
    // Two wishes may contradict each other, and one the strategy.
    if (attempt < most_attempts / 3)
      aim.wanted = wanted;
    else if (attempt < most_attempts - 2)
      aim.wanted = {wanted[dice.one_of(wanted.size())]};
    aim.context = drawn_context(dice, strategy, aim.wanted.empty() ? "" : aim.wanted[0]);
    Draw::Json tree = drawn(dice, aim);
    const Draw::Json first = tree;
    if (!repair(tree, dice, aim, file)) continue;
    if (!refused.empty() && first != tree) write(refused, scenario::toml(first));
    return true;
  }
  return false;
}

void draw_all(const std::filesystem::path& directory, std::int64_t count, std::uint64_t seed) {
  std::filesystem::create_directories(directory);
  write_companions(directory.string());
  const auto& strategies = strategies::registry().entries();
  const std::vector<std::string> keys(schema().keys.begin(), schema().keys.end());
  const std::vector<std::string> values(schema().values.begin(), schema().values.end());
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Dice dice(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    // A prime stride: every wish has its turn, and neighbours are of unlike sections. A seed begins where the last
    // ends.
    constexpr std::size_t stride = 7919;
    const std::size_t turn = static_cast<std::size_t>(i) + seed * 613;
    const std::vector<std::string> wanted{keys[turn * stride % keys.size()], values[turn * stride % values.size()]};
    const std::string file = (directory / fmt::format("valid-{}.toml", i)).string();
    const std::string kept = i % 10 == 0 ? (directory / fmt::format("refused-{}.toml", refused++)).string() : "";
    const std::string_view strategy = strategies[static_cast<std::size_t>(i) % strategies.size()].about.kind;
    if (!draw_one(dice, strategy, wanted, file, kept)) std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace simgrad::fuzz

int main(int count, char** arguments) {
  const bool reports = count == 3 && std::string_view(arguments[1]) == "--keys";
  if (count != 4 && !reports) {
    fmt::print(stderr, "usage: random_scenarios DIR COUNT SEED\n       random_scenarios --keys DIR\n");
    return 2;
  }
  try {
    if (reports) {
      simgrad::fuzz::report_keys(arguments[2]);
      return 0;
    }
    simgrad::fuzz::draw_all(arguments[1], std::atoll(arguments[2]), std::strtoull(arguments[3], nullptr, 10));
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_scenarios: {}\n", error.what());
    return 1;
  }
  return 0;
}
