/// Scenarios that extend others: extends = "base.toml".
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/errors.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

namespace fs = std::filesystem;

/// The files from the first one to the present one. Each is extended by the one before it.
struct Chain {
  std::vector<std::string> files;
  std::string by;  ///< the place that names the present one, for errors; empty for the first
};

std::string text_of(const Chain& chain) {
  const std::string& path = chain.files.back();
  const std::string by = chain.by.empty() ? "" : fmt::format("{}: ", chain.by);
  // On Linux a directory can be opened, and then reads as an empty file.
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw base::EnvironmentError(fmt::format("{}{}: is a directory", by, path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::EnvironmentError(fmt::format("{}{}: cannot be opened: {}", by, path, std::strerror(errno)));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw base::EnvironmentError(fmt::format("{}{}: cannot be read", by, path));
  return text;
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
  for (const Entry& entry : over.entries) {
    Entry* present = under.find(entry.key);
    const auto* laid = entry.node.as<Table>();
    const auto* table = present ? std::as_const(present->node).as<Table>() : nullptr;
    if (!table || !laid || of_another_kind(*table, *laid)) {
      under.put(entry);
      continue;
    }
    present->position = entry.position;
    present->node.position = entry.node.position;
    lay(*present->node.as<Table>(), *laid);
  }
}

Table read_extended(const std::string& path) { return read_chain({.files = {path}, .by = {}}); }

}  // namespace simgrad::scenario
