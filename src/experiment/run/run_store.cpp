#include "experiment/run/run_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// The hash of a record as it would be written, but for the real time: equal runs have equal checksums.
std::string checksum_of(outputs::Run run) {
  run.wall_s = 0.0;
  return base::hash(outputs::compact(outputs::to_json(run)));
}

}  // namespace

RunStore::RunStore(const std::string& out, std::function<void(const std::string& text)> tell)
    : folder_(out + "/runs"), tell_(std::move(tell)) {}

std::string RunStore::path(const std::string& id) const { return fmt::format("{}/{}.json", folder_, id); }

void RunStore::set_aside(const std::string& id, const std::string& fault) {
  const std::string file = path(id);
  std::error_code ignored;
  std::filesystem::rename(file, file + ".damaged", ignored);
  if (tell_) tell_(fmt::format("{} {}; it is now {}.json.damaged, and the run is done again", file, fault, id));
}

std::optional<outputs::Run> RunStore::take(const std::string& id) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path(id), unknown)) return {};
  try {
    const auto json = outputs::parse_json(outputs::read_file(path(id)), path(id));
    if (!json.is_object() || !json.contains("checksum")) {
      set_aside(id, "has no checksum");
      return {};
    }
    outputs::Run run = outputs::run_from_json(json);
    std::string checksum = checksum_of(run);
    if (run.id != id || json["checksum"] != checksum) {
      set_aside(id, "does not have the contents of its checksum");
      return {};
    }
    if (run.record.status == record::Status::failed) return {};
    checksums_[id] = std::move(checksum);
    return run;
  } catch (const base::EnvironmentError&) {
    set_aside(id, "is no whole record");
    return {};
  }
}

void RunStore::put(const outputs::Run& run) {
  std::string checksum = checksum_of(run);
  if (const auto there = checksums_.find(run.id); there != checksums_.end() && there->second == checksum) return;
  nlohmann::ordered_json json = outputs::to_json(run);
  json["checksum"] = checksum;
  outputs::write_file(path(run.id), outputs::compact(json));
  checksums_[run.id] = std::move(checksum);
}

}  // namespace simgrad::experiment
