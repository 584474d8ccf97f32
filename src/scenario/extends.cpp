/// Scenarios that extend others: extends = "base.toml".
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "base/errors.h"
#include "base/files.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

namespace fs = std::filesystem;

/// The longest way from a scenario to the last one that it extends.
constexpr std::size_t files_most = 32;

/// The files from the first one to the present one. Each is extended by the one before it.
struct Chain {
  std::vector<std::string> files;
  std::string by;  ///< the place that names the present one, for errors; empty for the first
};

std::string text_of(const Chain& chain) {
  const std::string& path = chain.files.back();
  if (chain.by.empty()) return base::read_file(path, {.pipes = base::Pipes::read});
  try {
    return base::read_file(path);
  } catch (const base::EnvironmentError& fault) {
    throw base::EnvironmentError(fmt::format("{}: {}", chain.by, fault.what()));
  } catch (const base::ScenarioError& fault) {
    throw base::ScenarioError(fmt::format("{}: {}", chain.by, fault.what()));
  }
}

/// Refuses a file that is in the chain already.
void refuse_circle(const Chain& chain) {
  const auto same = [&](const std::string& file) {
    std::error_code unknown;
    return fs::equivalent(file, chain.files.back(), unknown) && !unknown;
  };
  const auto end = chain.files.end() - 1;
  const auto first = std::find_if(chain.files.begin(), end, same);
  if (first == end) return;
  std::string circle;
  for (auto file = first; file != chain.files.end(); ++file) circle += (file == first ? "" : " -> ") + *file;
  throw base::ScenarioError(fmt::format("{}: the files extend each other in a circle: {}", chain.by, circle));
}

Table read_chain(Chain chain) {
  const std::string path = chain.files.back();
  Table own = parse_toml(text_of(chain), path);
  const auto entry = std::ranges::find(own.entries, "extends", &Entry::key);
  if (entry == own.entries.end()) return own;
  const Node base = entry->node;
  own.entries.erase(entry);
  chain.by = base.position.text();
  const auto* written = base.as<std::string>();
  if (!written || written->empty())
    throw base::ScenarioError(
        fmt::format("{}: extends must be the path of a scenario, found {}", chain.by, shown(base)));
  chain.files.push_back((fs::path(path).parent_path() / *written).lexically_normal().string());
  refuse_circle(chain);
  if (chain.files.size() > files_most)
    throw base::ScenarioError(
        fmt::format("{}: more than {} files extend each other, expected at most that many", chain.by, files_most));
  Table under = read_chain(std::move(chain));
  lay(under, own);
  return under;
}

/// The kind that a table names, with the value's type, or null.
const std::string* kind_of(const Table& table) {
  for (const char* key : {"kind", "source"})
    if (const Entry* entry = table.find(key)) return entry->node.as<std::string>();
  return nullptr;
}

bool of_another_kind(const Table& under, const Table& over) {
  const std::string *present = kind_of(under), *laid = kind_of(over);
  return laid && (!present || *present != *laid);
}

}  // namespace

void lay(Table& under, const Table& over) {
  std::unordered_map<std::string, std::size_t> places;  // of the entries that are there
  for (std::size_t at = 0; at < under.entries.size(); ++at) places.emplace(under.entries[at].key, at);
  for (const Entry& entry : over.entries) {
    const auto known = places.find(entry.key);
    if (known == places.end()) {
      under.entries.push_back(entry);
      continue;
    }
    Entry& present = under.entries[known->second];
    const auto* laid = entry.node.as<Table>();
    const auto* table = std::as_const(present.node).as<Table>();
    if (!table || !laid || of_another_kind(*table, *laid)) {
      present = entry;
      continue;
    }
    present.position = entry.position;
    present.node.position = entry.node.position;
    lay(*present.node.as<Table>(), *laid);
  }
}

Table read_extended(const std::string& path) { return read_chain({.files = {path}, .by = {}}); }

}  // namespace simgrad::scenario
