#include "experiment/run/left_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "base/hash.h"
#include "experiment/run/shared_numbers.h"
#include "experiment/saved/model_file.h"
#include "outputs/files/byte_file.h"
#include "outputs/files/run_stem.h"
#include "outputs/files/temporary_file.h"
#include "outputs/pairs.h"
#include "outputs/paper/latex.h"
#include "outputs/result_tables.h"
#include "outputs/timelines/events.h"
#include "outputs/timelines/timeline.h"
#include "values/contents.h"

namespace simgrad::experiment {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> folders{"runs", "models", "timelines", "trajectories", "trace", "events"};

/// A file's path, and the id or key in its name, or the whole name of a file beside the folders.
using IsOurs = bool (*)(const std::string& path, const std::string& id);

bool begins(const std::string& path, const std::string& with) {
  return outputs::beginning_of_byte_file(path, with.size()) == with;
}

bool is_record(const std::string& path, const std::string& id) {
  return begins(path, fmt::format(R"({{"id":"{}",)", id));
}
bool is_model(const std::string& path, const std::string&) { return begins(path, beginning_of_model()); }
bool is_trajectory(const std::string& path, const std::string&) {
  return begins(path, std::string(SharedNumbers::heading));
}
bool is_state(const std::string& path, const std::string&) {
  return begins(path, values::text_of({}).substr(0, sizeof(std::uint64_t)));
}
bool is_trace(const std::string& path, const std::string&) {
  return begins(path, "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"simgrad\":");
}
bool are_events(const std::string& path, const std::string&) { return begins(path, outputs::events_text({}, 0)); }

bool is_table(const std::string& path, const outputs::ResultTable& empty) {
  std::string heading;
  outputs::write_csv(empty, [&](std::string_view piece) { heading += piece; });
  heading.pop_back();  // a grid's keys may follow
  return begins(path, heading);
}
bool is_report(const std::string& path, const std::string&) {
  constexpr std::size_t bytes_of_head = 4096;
  const std::string head = outputs::beginning_of_byte_file(path, bytes_of_head);
  return head.starts_with("<!doctype html>") && head.find("<title>simgrad</title>") != std::string::npos;
}

/// A file of a folder: its name is that of a run or a hash, with this ending.
struct InFolder {
  const char* folder;
  const char* ending;
  IsOurs is_ours;
};
constexpr std::array<InFolder, 9> in_folders{{{"runs", ".json", is_record},
                                              {"runs", ".json.damaged", is_record},
                                              {"models", ".model", is_model},
                                              {"timelines", ".json.gz", outputs::begins_as_timeline},
                                              {"trajectories", "", is_trajectory},
                                              {"trajectories", SharedNumbers::state_extension, is_state},
                                              {"trace", ".json", is_trace},
                                              {"trace", ".json.gz", is_trace},
                                              {"events", ".txt", are_events}}};

struct Beside {
  const char* name;
  IsOurs is_ours;  ///< null: the file stays until it is written again
};
const std::array<Beside, 17> files_beside{{
    {"trials.json", [](const std::string& path, const std::string&) { return begins(path, R"({"checksum":")"); }},
    {"link_utilisation.csv",
     [](const std::string& path, const std::string&) { return is_table(path, outputs::link_utilisation_table({})); }},
    {"pairs.csv", [](const std::string& path, const std::string&) { return is_table(path, outputs::pairs_table({})); }},
    {"summary.tex", [](const std::string& path,
                       const std::string&) { return begins(path, std::string(outputs::paper::beginning_of_latex)); }},
    {"report.html", is_report},
    {"results.sqlite",
     [](const std::string& path, const std::string&) { return begins(path, std::string("SQLite format 3\0", 16)); }},
    {"results.json", nullptr},
    {"experiment.json", nullptr},
    {"runs.csv", nullptr},
    {"summary.csv", nullptr},
    {"curves.csv", nullptr},
    {"ranks.csv", nullptr},
    {"links.csv", nullptr},
    {"requests.csv", nullptr},
    {"plan.json", nullptr},
    {"candidates.csv", nullptr},
    {"winner.toml", nullptr},
}};

/// The regular files in a folder that `use` is called with, by path and name.
template <class Use>
void each_file(const fs::path& folder, Use use) {
  std::vector<fs::path> files;
  std::error_code unknown, unknown_status;
  for (fs::directory_iterator at(folder, unknown), end; !unknown && at != end; at.increment(unknown))
    if (fs::is_regular_file(at->symlink_status(unknown_status))) files.push_back(at->path());
  for (const fs::path& file : files) use(file.string(), file.filename().string());
}

/// The kind of file that a name in a folder is; null: none of ours.
const InFolder* kind_of(std::string_view folder, const std::string& name) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view stem = std::string_view(name).substr(0, dot);
  if (!(folder == "trajectories" ? is_hash_name(stem) : outputs::is_run_stem(stem))) return nullptr;
  const auto kind = std::ranges::find_if(
      in_folders, [&](const InFolder& each) { return folder == each.folder && name.substr(dot) == each.ending; });
  return kind == in_folders.end() ? nullptr : &*kind;
}

/// Whether a folder has files of such names: of runs, or of the trial of a trace, which is no run's.
bool may_be_in(std::string_view folder, std::string_view name) {
  const std::string_view ending = name.substr(std::min(name.find('.'), name.size()));
  return std::ranges::any_of(in_folders, [&](const InFolder& each) {
    return folder == each.folder && ending == each.ending && (!ending.empty() || is_hash_name(name));
  });
}

const Beside* kind_of(const std::string& name) {
  const auto kind = std::ranges::find(files_beside, name, &Beside::name);
  return kind == files_beside.end() ? nullptr : &*kind;
}

}  // namespace

void refuse_linked_folders(const std::string& out) {
  for (const char* folder : folders) base::refuse_linked_folder(fs::path(out) / folder);
}

bool is_hash_name(std::string_view name) {
  constexpr std::size_t digits = 16;
  return base::is_hexadecimal(name, digits);
}

void remove_temporary_files(const std::string& out) {
  each_file(out, [](const std::string& path, const std::string& name) {
    if (kind_of(std::string(outputs::final_name(name)))) outputs::remove_abandoned(path);
  });
  for (const char* folder : folders)
    each_file(fs::path(out) / folder, [&](const std::string& path, const std::string& name) {
      if (may_be_in(folder, outputs::final_name(name))) outputs::remove_abandoned(path);
    });
}

namespace {

/// The files of an experiment, by their paths in its directory.  written_again: also those that stay until then.
std::vector<fs::path> files_of_experiment(const std::string& out, bool written_again) {
  std::vector<fs::path> all;
  for (const char* folder : folders)
    each_file(fs::path(out) / folder, [&](const std::string& path, const std::string& name) {
      const InFolder* const kind = kind_of(folder, name);
      if (kind && kind->is_ours(path, outputs::id_in_stem(name.substr(0, name.find('.')))))
        all.push_back(fs::path(folder) / name);
    });
  each_file(out, [&](const std::string& path, const std::string& name) {
    const Beside* const kind = kind_of(name);
    if (kind && (kind->is_ours ? kind->is_ours(path, name) : written_again)) all.push_back(name);
  });
  return all;
}

constexpr const char* name_of_experiment = "experiment.json";

}  // namespace

void remove_files_of_experiment(const std::string& out) {
  std::error_code stays;
  for (const fs::path& file : files_of_experiment(out, false)) fs::remove(out / file, stays);
}

bool has_files_of_experiment(const std::string& out) {
  return std::ranges::any_of(files_of_experiment(out, true),
                             [](const fs::path& file) { return file != name_of_experiment; });
}

void move_files_of_experiment(const std::string& out, const std::string& to) {
  std::vector<fs::path> files = files_of_experiment(out, true);
  std::ranges::stable_partition(files, [](const fs::path& file) { return file != name_of_experiment; });
  for (const fs::path& file : files) {
    fs::create_directories((to / file).parent_path());
    fs::rename(out / file, to / file);
  }
}

}  // namespace simgrad::experiment
