// The layers drawn in DESIGN.md, held against every #include and against CMakeLists.txt.
#include <map>
#include <optional>
#include <regex>

#include "catch.h"
#include "house/repository.h"

namespace layers_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// Each folder's height. The picture in DESIGN.md is what counts: its lines "L3  strategies  outputs  scenario".
using Layers = std::map<std::string, int>;

Layers layers_in(const std::string& document) {
  Layers layers;
  static const std::regex drawn(R"(^\s+(L\d|floor)\s+(\S.*)$)");
  for (const std::string& line : lines(document)) {
    std::smatch match;
    if (!std::regex_match(line, match, drawn)) continue;
    const std::string level = match[1];
    for (const std::string& folder : words(match[2].str()))
      layers[folder] = level == "floor" ? -1 : std::stoi(level.substr(1));
  }
  return layers;
}

/// Libraries that one folder hides from all others, by the beginning of what is included.
const std::map<std::string, std::string> owner_of_library{
    {"simgrid/", "cluster"}, {"toml++/", "scenario"},  {"CLI/", "cli"},        {"Eigen/", "models"},
    {"tbb/", "values"},      {"oneapi/tbb", "values"}, {"Random123/", "base"}, {"expat.h", "cluster"}};

/// "cluster" of "cluster/topologies/star.h"; "main" of "main.cpp".
std::string folder_of(const std::string& file) {
  const std::size_t slash = file.find('/');
  return slash == std::string::npos ? file.substr(0, file.find('.')) : file.substr(0, slash);
}

/// The heights of a folder's sub-folders, by "folder/sub-folder": its line "cluster  ranks computed > usage > fabric".
Layers sub_layers_in(const std::string& document) {
  Layers layers;
  static const std::regex drawn(R"(^    ([a-z]+)\s\s+([a-z ]+(> [a-z ]+)+)$)");
  for (const std::string& line : lines(document)) {
    std::smatch match;
    if (!std::regex_match(line, match, drawn)) continue;
    int height = 0;
    for (const std::string& word : words(match[2].str())) {
      if (word == ">")
        --height;
      else
        layers[match[1].str() + "/" + word] = height;
    }
  }
  return layers;
}

/// "cluster/topologies" of "cluster/topologies/star.h"; "cluster" of "cluster/options.h".
std::string sub_folder_of(const std::string& file) {
  const std::size_t first = file.find('/');
  const std::size_t second = first == std::string::npos ? first : file.find('/', first + 1);
  return second == std::string::npos ? folder_of(file) : file.substr(0, second);
}

/// The fault in a header's including another of its folder, or "".
std::string fault_among_sub_folders(const std::string& header, const std::string& included, const Layers& layers) {
  const std::string from = sub_folder_of(header), to = sub_folder_of(included);
  if (from == to || !layers.contains(from) || !layers.contains(to) || folder_of(header) != folder_of(included))
    return {};
  if (layers.at(to) < layers.at(from)) return {};
  return "src/" + header + " includes " + included + ": " + to + " does not stand to the right of " + from;
}

/// The subcommands are in two folders.
bool is_command_line(const std::string& folder) { return folder == "cli" || folder == "plan_cli"; }
bool is_main(const std::string& folder) { return folder == "main" || folder == "plan_main"; }

/// The eigenvalues of mixing matrices are Eigen's, too.
bool spectra(const std::string& file, const std::string& library) {
  return file.starts_with("strategies/gossip/mixing/") && library == "Eigen/";
}

/// Returns the fault in `file` (relative to src/) including `included`, or "".
std::string fault_of_include(const std::string& file, const std::string& included, bool quoted, const Layers& layers) {
  const std::string from = folder_of(file);
  const std::string says = "src/" + file + " includes " + included + ": ";
  if (!quoted) {
    if (included.starts_with("Eigen/") && file.ends_with(".h")) return says + "no header includes Eigen";
    for (const auto& [beginning, owner] : owner_of_library)
      if (included.starts_with(beginning) && from != owner && !(is_command_line(from) && is_command_line(owner)) &&
          !spectra(file, beginning))
        return says + "only " + owner + " may";
    return {};
  }
  const std::string to = folder_of(included);
  if (!layers.contains(to)) return says + "no folder of DESIGN.md; write paths from src/";
  if (!fs::exists(source_dir() / "src" / included)) return says + "there is no such file";
  if (from == to || layers.at(to) < layers.at(from)) return {};
  return says + to + " does not stand below " + from;
}

struct Include {
  std::string file;
  std::string included;
  bool quoted = false;
};

std::vector<Include> includes() {
  std::vector<Include> all;
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*$)");
  for (const fs::path& path : repository_files()) {
    if (*path.begin() != "src") continue;
    for (const std::string& line : lines(text_of(path))) {
      std::smatch match;
      if (std::regex_match(line, match, directive))
        all.push_back({path.lexically_relative("src").generic_string(), match[2], match[1] == "\""});
    }
  }
  return all;
}

/// Returns the targets that CMakeLists.txt links each folder to: "simgrad_folder(collectives simgrad_cluster)".
std::map<std::string, std::set<std::string>> links() {
  std::map<std::string, std::set<std::string>> all;
  static const std::regex call(R"(^simgrad_folder\(([a-z_]+)(.*)\)\s*$)");
  for (const std::string& line : lines(text_of("CMakeLists.txt"))) {
    std::smatch match;
    if (!std::regex_match(line, match, call)) continue;
    std::set<std::string>& linked = all[match[1]];
    for (const std::string& word : words(match[2].str()))
      if (word.starts_with("simgrad_") && word != "simgrad_random123") linked.insert(word.substr(8));
  }
  return all;
}

/// All that a folder is linked to, in one step or in many.
std::set<std::string> reachable(const std::string& folder, const std::map<std::string, std::set<std::string>>& links) {
  std::set<std::string> all;
  const auto linked = links.find(folder);
  if (linked == links.end()) return all;
  for (const std::string& next : linked->second) {
    all.insert(next);
    all.merge(reachable(next, links));
  }
  return all;
}

}  // namespace

TEST_CASE("DESIGN.md draws every folder of src once, and none that is not there") {
  std::set<std::string> drawn;
  for (const auto& [folder, level] : layers_in(text_of("DESIGN.md"))) drawn.insert(folder);
  std::set<std::string> there{"main", "plan_main"};
  for (const auto& entry : fs::directory_iterator(source_dir() / "src"))
    if (entry.is_directory()) there.insert(entry.path().filename().string());
  CHECK(drawn == there);
}

TEST_CASE("includes go only downwards, and each foreign library has one folder") {
  const Layers layers = layers_in(text_of("DESIGN.md"));
  const std::vector<Include> all = includes();
  REQUIRE(all.size() > 300);
  std::string faults;
  for (const Include& each : all)
    if (const std::string fault = fault_of_include(each.file, each.included, each.quoted, layers); !fault.empty())
      faults += fault + "\n";
  INFO(faults);
  CHECK(faults.empty());
}

TEST_CASE("DESIGN.md draws the sub-folders of the folders that have several") {
  const Layers drawn = sub_layers_in(text_of("DESIGN.md"));
  std::set<std::string> there;
  for (const char* folder : {"cluster", "training", "strategies", "outputs", "experiment"})
    for (const auto& entry : fs::directory_iterator(source_dir() / "src" / folder))
      if (entry.is_directory()) there.insert(folder + ("/" + entry.path().filename().string()));
  std::set<std::string> named;
  for (const auto& [folder, height] : drawn) named.insert(folder);
  CHECK(named == there);
}

TEST_CASE("headers of sub-folders include only what is drawn to their right") {
  const Layers layers = sub_layers_in(text_of("DESIGN.md"));
  std::string faults;
  for (const Include& each : includes())
    if (each.quoted && each.file.ends_with(".h"))
      if (const std::string fault = fault_among_sub_folders(each.file, each.included, layers); !fault.empty())
        faults += fault + "\n";
  INFO(faults);
  CHECK(faults.empty());
  CHECK(fault_among_sub_folders("cluster/ranks/world.h", "cluster/fabric/cluster.h", layers).empty());
  CHECK_FALSE(fault_among_sub_folders("cluster/fabric/cluster.h", "cluster/ranks/world.h", layers).empty());
  CHECK_FALSE(fault_among_sub_folders("strategies/gossip/sgp.h", "strategies/servers/clocks.h", layers).empty());
}

TEST_CASE("what the layers forbid is found") {
  const Layers layers = layers_in(text_of("DESIGN.md"));
  const auto quoted = [&](const char* file, const char* included) {
    return fault_of_include(file, included, true, layers);
  };
  const auto angled = [&](const char* file, const char* included) {
    return fault_of_include(file, included, false, layers);
  };
  CHECK(quoted("main.cpp", "cli/cli.h").empty());
  CHECK(quoted("strategies/gossip/gossip.cpp", "strategies/gossip/gossip.h").empty());
  CHECK(quoted("strategies/gossip/gossip.cpp", "cluster/ranks/communicator.h").empty());
  CHECK(quoted("experiment/plan.cpp", "scenario/document.h").empty());
  // Upwards; another folder of one level; past a level is fine, beside it is not.
  CHECK(quoted("cluster/world.cpp", "training/worker.h") ==
        "src/cluster/world.cpp includes training/worker.h: training does not stand below cluster");
  CHECK_FALSE(quoted("cluster/world.cpp", "models/model.h").empty());
  CHECK_FALSE(quoted("models/model.cpp", "cluster/fabric/cluster.h").empty());
  CHECK_FALSE(quoted("collectives/ring.cpp", "training/worker.h").empty());
  CHECK_FALSE(quoted("scenario/reader.cpp", "strategies/strategy.h").empty());
  CHECK_FALSE(quoted("strategies/strategy.h", "scenario/document.h").empty());
  CHECK_FALSE(quoted("outputs/table.cpp", "experiment/plan/plan.h").empty());
  // Not from src/, or not there.
  CHECK_FALSE(quoted("cli/run.cpp", "cli.h").empty());
  CHECK_FALSE(quoted("cli/run.cpp", "cli/no_such_file.h").empty());
  // Libraries.
  CHECK(angled("cluster/topologies/star.cpp", "simgrid/s4u.hpp").empty());
  CHECK_FALSE(angled("training/recovery.cpp", "simgrid/s4u.hpp").empty());
  CHECK_FALSE(angled("cli/run.cpp", "toml++/toml.h").empty());
  CHECK_FALSE(angled("experiment/plan.cpp", "CLI/CLI.hpp").empty());
  CHECK(angled("plan_cli/plan.cpp", "CLI/CLI.hpp").empty());
  CHECK_FALSE(quoted("cli/cli.cpp", "planner/plan.h").empty());
  CHECK_FALSE(quoted("cli/cli.cpp", "plan_cli/plan_cli.h").empty());
  CHECK(angled("models/rows.cpp", "Eigen/Core").empty());
  CHECK_FALSE(angled("models/rows.h", "Eigen/Core").empty());
  CHECK_FALSE(angled("outputs/table.cpp", "Eigen/Core").empty());
  CHECK(angled("strategies/gossip/mixing/spectrum.cpp", "Eigen/Dense").empty());
  CHECK_FALSE(angled("strategies/gossip.cpp", "Eigen/Dense").empty());
  CHECK(angled("base/text.cpp", "vector").empty());
}

TEST_CASE("only experiment, and the command lines above it, see both the scenario and the strategies") {
  std::map<std::string, std::set<std::string>> seen;
  for (const Include& each : includes())
    if (each.quoted) seen[folder_of(each.file)].insert(folder_of(each.included));
  for (const auto& [folder, others] : seen) {
    if (folder == "experiment" || is_command_line(folder)) continue;
    INFO(folder);
    CHECK_FALSE((others.contains("scenario") && others.contains("strategies")));
  }
}

TEST_CASE("CMake links every folder to lower ones only, and to all that it includes") {
  const Layers layers = layers_in(text_of("DESIGN.md"));
  const auto linked = links();
  for (const auto& [folder, level] : layers)
    if (!is_main(folder)) CHECK(linked.contains(folder));
  for (const auto& [folder, others] : linked)
    for (const std::string& other : others) {
      INFO("simgrad_" << folder << " is linked to simgrad_" << other);
      REQUIRE(layers.contains(other));
      CHECK(layers.at(other) < layers.at(folder));
    }
  for (const Include& each : includes()) {
    const std::string from = folder_of(each.file);
    const std::string to = folder_of(each.included);
    if (!each.quoted || from == to || is_main(from)) continue;
    INFO("src/" << each.file << " includes " << each.included);
    CHECK(reachable(from, linked).contains(to));
  }
}

}  // namespace layers_test
