// Measures how long `simgrad plan` reads a space of candidates, and how many of them it decides in a minute.
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
  const auto plan = [&](const std::string& limit, const std::string& directory) {
    return bench::call(
               {argv[1], "plan", argv[2], "--no-confirm", "--quiet", "--seconds", limit, "--out", out + directory})
        .real_s;
  };
  const double read_s = plan("0.001", "/read");
  const double all_s = plan(seconds, "/all");
  const auto json = nlohmann::json::parse(std::ifstream(out + "/all/plan.json"));
  const auto& tally = json.at("tally");
  fmt::print(
      "{} layouts: read in {:.1f} s; in {:.1f} s all but {} are decided, by {} simulations, {} for assumptions\n",
      json.at("space").get<int>(), read_s, all_s, tally.at("open").get<int>(),
      json.at("simulated").at("runs").get<int>(), json.at("simulated_for_assumptions").at("runs").get<int>());
}
