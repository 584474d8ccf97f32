#include "experiment/run/results_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "base/files.h"
#include "base/say.h"
#include "base/text.h"
#include "experiment/plan/identity.h"
#include "experiment/run/children.h"
#include "experiment/run/left_files.h"
#include "experiment/run/scenario_differences.h"
#include "outputs/results.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Waits until no other command has the directory, or until an interrupt.
void wait_for(base::DirectoryLock& lock, const std::string& out,
              const std::function<void(const std::string& text)>& tell) {
  constexpr std::chrono::milliseconds pause{100};
  bool told = false;
  while (!lock.try_take() && !interrupted()) {
    if (!told && tell) tell(fmt::format("{} is in use by {}; waiting until it ends", out, lock.holder()));
    told = true;
    std::this_thread::sleep_for(pause);
  }
}

/// "cluster.bandwidth is "1Gbps" there and "2Gbps" here".
std::string differences_of_scenarios(const Json& there, const Json& here) {
  std::set<std::string> varied = varied_keys(there);
  varied.merge(varied_keys(here));
  return differences(defining_leaves(there, varied), defining_leaves(here, varied), "there", "here");
}

/// Whether a file has been edited since: one that was named there has no contents of here, and the other way round. A
/// grid that has grown, or shrunk, names more files, or fewer.
bool other_files(const Json& there, const Json& here) {
  const auto lacks = [](const Json& some, const Json& each) { return std::ranges::find(some, each) == some.end(); };
  const auto goes_beyond = [&](const Json& one, const Json& other) {
    return std::ranges::any_of(one, [&](const Json& each) { return lacks(other, each); });
  };
  return there.is_array() && here.is_array() && goes_beyond(there, here) && goes_beyond(here, there);
}

/// The differences that make another experiment of the one in a directory; empty if there is none.
std::string differences_of_another(const Json& there, const Json& here) {
  if (there.is_null()) return {};
  const auto member = [&](const char* name) {
    return there.is_object() && there.contains(name) ? there[name] : Json();
  };
  if (member("results") != here["results"])
    return fmt::format("the numerics are number {} there and {} here", member("results").dump(),
                       here["results"].dump());
  const std::string different = differences_of_scenarios(member("scenario"), here["scenario"]);
  return different.empty() && other_files(member("files"), here.value("files", Json()))
             ? "a file that it names has other contents"
             : different;
}

/// Errors: EnvironmentError if the tree has no scenario.
void require_scenario(const Json& tree, const std::string& file) {
  const bool has = tree.is_object() && tree.contains("scenario") && tree["scenario"].is_object();
  if (!has) throw base::EnvironmentError(fmt::format("{}: found no scenario in it", file));
}

/// Whose results these are, by results.json: that of a release without experiment.json, or of a directory that has lost
/// the file. Its numerics are taken to be ours, for runs of others have other names. Null without results.json.
/// Errors: EnvironmentError for a file that cannot be read, or has no scenario.
Json experiment_of_results(const std::string& out) {
  const std::string file = out + "/results.json";
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) return {};
  const Json results = outputs::parse_json(outputs::read_file(file), file);
  require_scenario(results, file);
  return {{"results", results_number}, {"scenario", results["scenario"]}};
}

/// A new directory beside one, with the number behind the largest that is in use: out/mine.3.
/// Errors: std::filesystem::filesystem_error.
fs::path new_directory_beside(const std::string& out) {
  const fs::path directory = fs::canonical(out);
  const std::string begin = directory.filename().string() + ".";
  int last = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.parent_path())) {
    constexpr std::size_t digits_most = 6;
    const std::string name = entry.path().filename().string();
    const std::string number = name.starts_with(begin) ? name.substr(begin.size()) : "";
    const bool is_number = !number.empty() && number.size() <= digits_most &&
                           std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) last = std::max(last, std::stoi(number));
  }
  for (;;) {
    const fs::path made = directory.string() + fmt::format(".{}", ++last);
    if (fs::create_directory(made)) return made;  // else another command has made it meanwhile
  }
}

/// A path as one types it in the working directory.
std::string typed(const fs::path& path) {
  const fs::path relative = fs::proximate(path);
  return (relative.begin() != relative.end() && *relative.begin() == ".." ? path : relative).string();
}

/// Moves the results of another experiment out of the directory.  Errors: ScenarioError if they cannot be moved.
void keep_earlier(const std::string& out, const std::string& different) {
  try {
    const fs::path kept = new_directory_beside(out);
    move_files_of_experiment(out, kept.string());
    base::say(fmt::format("simgrad: the results of an earlier version in {} are kept in {} ({})", out, typed(kept),
                          different));
  } catch (const fs::filesystem_error& fault) {
    throw base::ScenarioError(
        fmt::format("{}: has the results of another experiment: {}; they cannot be kept next to it ({}); --out DIR "
                    "keeps both, --force replaces them",
                    out, different, fault.code().message()));
  }
}

}  // namespace

nlohmann::ordered_json experiment_in(const std::string& out) {
  std::error_code unknown;
  const std::string file = out + "/experiment.json";
  if (fs::is_regular_file(file, unknown)) return outputs::parse_json(outputs::read_file(file), file);
  return {};
}

ResultsDirectory::ResultsDirectory(const std::string& out, const Plan& plan, const Json& shard, bool replace,
                                   const std::function<void(const std::string& text)>& tell)
    : lock_(out) {
  if (!shard.is_null()) base::refuse_linked_folder(out);  // its name is the program's
  refuse_linked_folders(out);
  base::make_directory(out + "/runs");
  wait_for(lock_, out, tell);
  if (interrupted()) return;
  remove_temporary_files(out);
  Json here{{"name", plan.name}, {"results", results_number}, {"scenario", plan.scenario}};
  if (!plan.files.empty()) here["files"] = plan.files;
  if (!shard.is_null()) here["shard"] = shard;
  Json there;
  std::string different;
  try {
    there = experiment_in(out);
    if (!there.is_null()) require_scenario(there, out + "/experiment.json");
    different = differences_of_another(there.is_null() ? experiment_of_results(out) : there, here);
  } catch (const base::EnvironmentError& fault) {
    different = "unknown";
    if (!replace)
      throw base::EnvironmentError(
          fmt::format("{}; so nobody knows whose results these are; --force replaces them", fault.what()));
  }
  const bool keeps = !different.empty() && !replace && has_files_of_experiment(out);
  if (keeps && !shard.is_null())
    throw base::ScenarioError(fmt::format(
        "{}: has the results of another experiment: {}; --out DIR keeps both, --force replaces them", out, different));
  // Before experiment.json is written: a kill between the two leaves no files of another experiment under its name.
  if (keeps) keep_earlier(out, different);
  if (!different.empty()) remove_files_of_experiment(out);
  if (there != here || keeps)
    outputs::write_file(out + "/experiment.json", here.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace simgrad::experiment
