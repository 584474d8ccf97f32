/// random_scenarios DIR COUNT SEED: writes COUNT scenarios that `validate` accepts, and some that it refuses, into the
/// directory, as valid-0.toml ... and refused-0.toml ..., with the files that they name.
/// random_scenarios --keys DIR: says which keys, kinds and choices none of the directory's accepted scenarios has. Exit
/// code 1 if there is one that a scenario can have.
/// random_scenarios --keys DIR COUNT SEED: draws, and then says so.
/// Without SEED, that of SIMGRAD_SEED, or 1.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
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

/// The keys and kinds for which scenarios are drawn, one after another: first those that no scenario has yet, and in
/// the order of turns once all have been drawn.
class Wishes {
 public:
  Wishes(const std::set<std::string>& all, std::size_t first) {
    // A prime stride: neighbours are of unlike sections.
    constexpr std::size_t stride = 7919;
    const std::vector<std::string> sorted(all.begin(), all.end());
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (const std::string& each = sorted[(first + i) * stride % sorted.size()]; why_never(each).empty())
        order_.push_back(each);
  }

  /// One that was wished for in vain comes again when all others had their turn.
  const std::string& next() {
    for (std::size_t i = 0; i < order_.size() && seen_.contains(order_[turn_]); ++i)
      turn_ = (turn_ + 1) % order_.size();
    const std::string& wish = order_[turn_];
    turn_ = (turn_ + 1) % order_.size();
    return wish;
  }

  void see(const std::set<std::string>& present) { seen_.insert(present.begin(), present.end()); }

 private:
  std::vector<std::string> order_;
  std::set<std::string> seen_;
  std::size_t turn_ = 0;
};

/// Draws one scenario that is accepted. Returns false if none is found.
/// refused: the file for one that is not; "": none is kept.
bool draw_one(Dice& dice, std::string_view strategy, const std::vector<std::string>& wanted, const Together& together,
              const std::string& file, const std::string& refused) {
  constexpr int most_attempts = 12;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    // Two wishes may contradict each other, one the strategy, and what is written beside one the wish itself.
    const bool both = attempt < most_attempts / 3, none = attempt >= most_attempts - 2;
    const bool sure = !both && !none && attempt % 2 == 0;
    Aim aim{.rate = sure ? 0.0 : dice.log_between(0.02, 0.3)};
    if (both)
      aim.wanted = wanted;
    else if (!none)
      aim.wanted = {wanted[dice.one_of(wanted.size())]};
    aim.context = drawn_context(dice, strategy, none ? "" : aim.wanted[0], sure);
    Draw::Json tree = drawn(dice, aim);
    const Draw::Json first = tree;
    if (!repair(tree, dice, aim, file)) continue;
    const std::set<std::string> present = keys_and_values(file);
    if (!none && std::ranges::none_of(aim.wanted, [&](const auto& wish) { return present.contains(wish); })) continue;
    if (!refused.empty() && first != tree) write(refused, scenario::toml(first));
    grow(tree, dice, together, file);
    return true;
  }
  return false;
}

void draw_all(const std::filesystem::path& directory, std::int64_t count, std::uint64_t seed) {
  std::filesystem::create_directories(directory);
  write_companions(directory.string());
  const auto& strategies = strategies::registry().entries();
  // A seed begins where the last one ends.
  Wishes keys(schema().keys, seed * 613), values(schema().values, seed * 613);
  Together together;
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Dice dice(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::vector<std::string> wanted{keys.next(), values.next()};
    const std::string file = (directory / fmt::format("valid-{}.toml", i)).string();
    const std::string kept = i % 10 == 0 ? (directory / fmt::format("refused-{}.toml", refused++)).string() : "";
    const std::string_view strategy = strategies[static_cast<std::size_t>(i) % strategies.size()].about.kind;
    if (!draw_one(dice, strategy, wanted, together, file, kept)) {
      std::filesystem::remove(file);
      continue;
    }
    const std::set<std::string> present = keys_and_values(file);
    keys.see(present);
    values.see(present);
    together.see(present);
  }
}

}  // namespace
}  // namespace simgrad::fuzz

int main(int count, char** arguments) {
  const bool reports = count > 1 && std::string_view(arguments[1]) == "--keys";
  char** const words = arguments + (reports ? 2 : 1);
  const auto given = arguments + count - words;
  const bool draws = given == 2 || given == 3;
  if (!draws && !(reports && given == 1)) {
    fmt::print(stderr, "usage: random_scenarios [--keys] DIR COUNT [SEED]\n       random_scenarios --keys DIR\n");
    return 2;
  }
  const char* const seed_of_all = std::getenv("SIMGRAD_SEED");
  const char* const seed = given == 3 ? words[2] : seed_of_all && *seed_of_all ? seed_of_all : "1";
  try {
    if (draws) {
      fmt::print("seed {}\n", seed);
      simgrad::fuzz::draw_all(words[0], std::atoll(words[1]), std::strtoull(seed, nullptr, 10));
    }
    return reports && !simgrad::fuzz::report_keys(words[0]) ? 1 : 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_scenarios: {}\n", error.what());
    return 1;
  }
}
