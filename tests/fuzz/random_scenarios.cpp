/// random_scenarios DIR COUNT SEED: writes COUNT scenarios that `validate` accepts, and some that it refuses, into the
/// directory, as valid-0.toml ... and refused-0.toml ..., with the files that they name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/errors.h"
#include "experiment/plan/plan.h"
#include "experiment/run/runner.h"
#include "fuzz/draw.h"
#include "strategies/strategy.h"

namespace simgrad::fuzz {
namespace {

constexpr const char* platform = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Floyd">
    <host id="a" speed="10Gf"><prop id="price" value="1$/h"/></host>
    <host id="b" speed="5Gf"/>
    <host id="c" speed="10Gf"/>
    <host id="d" speed="20Gf"/>
    <link id="nic-0" bandwidth="1Gbps" latency="50us"/>
    <link id="nic-1" bandwidth="10Gbps" latency="5us"/>
    <link id="nic-2" bandwidth="1Gbps" latency="0s" sharing_policy="FATPIPE"/>
    <route src="a" dst="b"><link_ctn id="nic-0"/></route>
    <route src="b" dst="c"><link_ctn id="nic-1"/></route>
    <route src="c" dst="d"><link_ctn id="nic-2"/></route>
  </zone>
</platform>
)";

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path);
  stream << text;
  if (!stream.flush()) throw base::EnvironmentError(fmt::format("{}: cannot be written", path.string()));
}

void write_companions(const std::filesystem::path& directory) {
  std::string rows = "area,rooms,price\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("{},{},{}\n", 30 + i, i % 4, i % 3);
  write(directory / "data.csv", rows);
  rows.clear();
  for (int i = 0; i < 40; ++i) rows += fmt::format("{} {}:1 {}:0.5\n", i % 2, 1 + i % 3, 4 + i % 5);
  write(directory / "data.libsvm", rows);
  write(directory / "graph.edges", "0 1\n1 2\n2 3\n3 0\n");
  write(directory / "mixing.txt", "0.5 0.25 0 0.25\n0.25 0.5 0.25 0\n0 0.25 0.5 0.25\n0.25 0 0.25 0.5\n");
  write(directory / "failures.csv", "host,down_at,up_at\n0,0.0005,0.001\n1,0.002,0.0021\n");
  write(directory / "speeds.txt", "0 1\n0.001 0.5\nPERIODICITY 0.002\n");
  write(directory / "platform.xml", platform);
}

/// Whether the program accepts the scenario. Errors other than refusals are a fault of the program.
bool accepted(const std::string& file) {
  try {
    experiment::check_files(experiment::make_plan(file, {}), UINTMAX_MAX);
    return true;
  } catch (const base::ScenarioError&) {
    return false;
  } catch (const base::EnvironmentError&) {
    return false;
  }
}

bool works_on_meshes(std::string_view strategy) {
  constexpr std::array<std::string_view, 10> known{"allreduce",         "d2",        "diloco", "fsdp",   "gossip",
                                                   "gradient_tracking", "local_sgd", "sgp",    "single", "zero"};
  return std::ranges::find(known, strategy) != known.end();
}

void draw_all(const std::filesystem::path& directory, std::int64_t count, std::uint64_t seed) {
  std::filesystem::create_directories(directory);
  write_companions(directory);
  const auto& kinds = strategies::registry().entries();
  constexpr int most_attempts = 2000;
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Dice dice(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string_view strategy = kinds[static_cast<std::size_t>(i) % kinds.size()].about.kind;
    const std::filesystem::path valid = directory / fmt::format("valid-{}.toml", i);
    Suited suited = dice.hits(0.4) && works_on_meshes(strategy) ? Suited::cut_model : Suited::nothing;
    if (dice.hits(strategy == "multitask" ? 0.7 : 0.05)) suited = Suited::mixture;
    bool found = false;
    for (int attempt = 0; !found && attempt < most_attempts; ++attempt) {
      write(valid, drawn_scenario(dice, strategy, suited));
      found = accepted(valid.string());
      // Of those that are refused, every tenth scenario's first is kept: `run` must refuse it, too.
      if (!found && attempt == 0 && i % 10 == 0)
        std::filesystem::copy_file(valid, directory / fmt::format("refused-{}.toml", refused++),
                                   std::filesystem::copy_options::overwrite_existing);
    }
    if (!found) std::filesystem::remove(valid);  // once: to make a file anew is a fifth of the time
  }
}

}  // namespace
}  // namespace simgrad::fuzz

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: random_scenarios DIR COUNT SEED\n");
    return 2;
  }
  try {
    simgrad::fuzz::draw_all(arguments[1], std::atoll(arguments[2]), std::strtoull(arguments[3], nullptr, 10));
  } catch (const std::exception& error) {
    fmt::print(stderr, "random_scenarios: {}\n", error.what());
    return 1;
  }
  return 0;
}
