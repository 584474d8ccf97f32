// Measures how many candidates of a space `simgrad plan` decides in a minute.
//
// plan_bench PROGRAM SCENARIO [seconds]        (build/simgrad tests/bench/layouts_of_175b.toml)
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "measure.h"

using namespace simgrad;

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: plan_bench PROGRAM SCENARIO [seconds]\n", stderr), 2;
  const std::string seconds = argc > 3 ? argv[3] : "60";
  const std::string out = bench::scratch();
  const double real_s =
      bench::call({argv[1], "plan", argv[2], "--no-confirm", "--quiet", "--seconds", seconds, "--out", out + "/plan"})
          .real_s;
  const auto json = nlohmann::json::parse(std::ifstream(out + "/plan/plan.json"));
  const auto& tally = json.at("tally");
  fmt::print("{} layouts: in {:.1f} s all but {} are decided, by {} simulations, and {} for assumptions\n",
             json.at("space").get<int>(), real_s, tally.at("open").get<int>() + json.at("unread").get<int>(),
             json.at("simulated").at("runs").get<int>(), json.at("simulated_for_assumptions").at("runs").get<int>());
}
