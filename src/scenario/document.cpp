#include "scenario/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tuple>

#include "base/errors.h"
#include "scenario/node.h"
#include "scenario/reader.h"

namespace simgrad::scenario {

std::string Position::text() const { return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column); }

void Faults::add(const Position& position, std::string message) {
  // Each fault is reported once, although every grid point reads the same document.
  const bool known = std::ranges::any_of(faults_, [&](const Fault& fault) {
    return fault.message == message && fault.position.text() == position.text();
  });
  if (!known) faults_.push_back({position, std::move(message)});
}

void Faults::add(const Faults& others) {
  for (const Fault& fault : others.faults_) add(fault.position, fault.message);
}

void Faults::add(const Faults& others, const std::vector<Position>& places) {
  for (const Fault& fault : others.faults_)
    if (std::ranges::any_of(places, [&](const Position& place) { return place.text() == fault.position.text(); }))
      add(fault.position, fault.message);
}

void Faults::raise_if_any() const {
  if (faults_.empty()) return;
  std::vector<const Fault*> sorted;
  for (const Fault& fault : faults_) sorted.push_back(&fault);
  // Sorts the file's faults from top to bottom; those of the command line follow in their order.
  std::ranges::stable_sort(sorted, {}, [](const Fault* fault) {
    return std::tuple(fault->position.line == 0, fault->position.line, fault->position.column);
  });
  std::vector<std::string> lines;
  for (const Fault* fault : sorted) {
    const std::string where = fault->position.text();
    lines.push_back(where.empty() ? fault->message : fmt::format("{}: {}", where, fault->message));
  }
  throw base::ScenarioError(std::move(lines));
}

class Document::Impl {
 public:
  std::string name;
  Table root;

  Position beginning() const { return {name, 1, 1}; }
};

namespace {

/// The table at a dotted key of tables; null if there is none.
Table* table_at(Table& root, std::string_view key) {
  const auto dot = key.find('.');
  Entry* entry = root.find(key.substr(0, dot));
  Table* table = entry ? entry->node.as<Table>() : nullptr;
  return table && dot != std::string_view::npos ? table_at(*table, key.substr(dot + 1)) : table;
}

/// Adds the places of a value and of all that it holds.
void add_places(const Node& node, std::vector<Position>& places) {
  places.push_back(node.position);
  if (const auto* array = node.as<Array>())
    for (const Node& item : *array) add_places(item, places);
  if (const auto* table = node.as<Table>())
    for (const Entry& entry : table->entries) {
      places.push_back(entry.position);
      add_places(entry.node, places);
    }
}

}  // namespace

Document::Document(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Document::Document(const Document& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(const Document& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::read(const std::string& path) {
  // On Linux a directory can be opened, and then reads as an empty file.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw base::EnvironmentError(fmt::format("{}: is a directory", path));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw base::EnvironmentError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw base::EnvironmentError(fmt::format("{}: cannot be read", path));
  return parse(text, path);
}

Document Document::parse(std::string_view text, std::string name) {
  auto impl = std::make_unique<Impl>();
  impl->root = parse_toml(text, name);
  impl->name = std::move(name);
  return Document(std::move(impl));
}

const std::string& Document::file() const { return impl_->name; }

void Document::set(std::string_view assignment) {
  const Assignment parts = split_assignment(assignment, "--set", "KEY=VALUE");
  const Position position{.file = fmt::format("--set {}", assignment)};
  assign(impl_->root, parts.key, parse_value(parts.value, position));
}

void Document::set(std::string_view key, const Value& value) {
  assign(impl_->root, key, parse_value(value.toml, value.position));
}

std::vector<Axis> Document::take_grid(Faults& faults) {
  auto& entries = impl_->root.entries;
  const auto found = std::ranges::find(entries, "grid", &Entry::key);
  if (found == entries.end()) return {};
  const Entry grid = std::move(*found);
  entries.erase(found);
  if (const auto* table = grid.node.as<Table>()) return axes(*table, faults);
  faults.add(grid.node.position, fmt::format("grid must be a table of lists, found {}", shown(grid.node)));
  return {};
}

bool Document::contains(std::string_view key) const { return find(impl_->root, key).node != nullptr; }

void Document::erase(std::string_view key) {
  const auto dot = key.rfind('.');
  Table* table = dot == std::string_view::npos ? &impl_->root : table_at(impl_->root, key.substr(0, dot));
  const std::string_view last = key.substr(dot + 1);  // npos + 1 is 0
  if (table) std::erase_if(table->entries, [&](const Entry& entry) { return entry.key == last; });
}

void Document::lay_over(std::string_view onto, std::string_view from) {
  const Found found = find(impl_->root, from);
  if (!found.node) return;
  const Node laid = *found.node;  // a copy, because entries move when others are added
  const Position position = *found.position;
  if (!find(impl_->root, onto).node) assign(impl_->root, onto, {Table{}, laid.position});
  Table* under = table_at(impl_->root, onto);
  if (const auto* table = laid.as<Table>(); table && under) {
    for (const Entry& entry : table->entries) under->put(entry);
    return;
  }
  const auto dot = onto.rfind('.');
  Table* parent = dot == std::string_view::npos ? &impl_->root : table_at(impl_->root, onto.substr(0, dot));
  if (parent) parent->put({std::string(onto.substr(dot + 1)), position, laid});
}

void Document::keep_only(std::string_view list, std::size_t index) {
  Entry* entry = impl_->root.find(list);
  auto* array = entry ? entry->node.as<Array>() : nullptr;
  if (array && index < array->size()) *array = Array{Node((*array)[index])};
}

Position Document::position(std::string_view key) const {
  const Found found = find(impl_->root, key);
  return found.position ? *found.position : impl_->beginning();
}

void Document::read_into(base::Described& options, Faults& faults) const {
  Reading reading{.faults = faults,
                  .directory = std::filesystem::path(impl_->name).parent_path(),
                  .all_keys = [&options] { return keys(options); }};
  Reader reader(impl_->root, impl_->beginning(), "", reading);
  options.describe(reader);
  reader.refuse_unknown_keys();
}

void Document::check_values(base::Described& options, const std::vector<std::string>& keys, Faults& faults) const {
  std::vector<Position> places;
  for (const std::string& key : keys) {
    if (const Found found = find(impl_->root, key); found.node) add_places(*found.node, places);
    // A section on the way may be no table.
    for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
      if (const Found way = find(impl_->root, key.substr(0, dot));
          way.node && !way.node->as<Table>() && !way.node->as<Array>())
        add_places(*way.node, places);
  }
  if (places.empty()) return;
  Faults all;
  read_into(options, all);
  faults.add(all, places);
}

}  // namespace simgrad::scenario
