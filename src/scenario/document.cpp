#include "scenario/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/errors.h"
#include "scenario/node.h"
#include "scenario/reader.h"

namespace simgrad::scenario {

namespace {

constexpr std::size_t faults_shown = 20;

/// "7,980"
std::string grouped(std::size_t number) {
  std::string text = fmt::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

std::string Position::text() const { return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column); }

void Faults::add(const Position& position, std::string message) {
  // Each fault is reported once, although every grid point reads the same document.
  if (known_.insert(fmt::format("{}\n{}", position.text(), message)).second)
    faults_.push_back({position, std::move(message)});
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
    const Position& at = fault->position;
    return std::tuple(at.line == 0, at.line == 0 ? std::string_view() : at.file, at.line, at.column);
  });
  std::vector<std::string> lines;
  for (const Fault* fault : sorted) {
    if (lines.size() == faults_shown) {
      lines.push_back(fmt::format("... and {} more", grouped(sorted.size() - faults_shown)));
      break;
    }
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

void add_keys(const Table& table, const std::string& prefix, std::vector<std::pair<std::string, Position>>& all) {
  for (const Entry& entry : table.entries) {
    all.emplace_back(prefix + entry.key, entry.position);
    if (const auto* nested = entry.node.as<Table>()) add_keys(*nested, prefix + entry.key + ".", all);
  }
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
  auto impl = std::make_unique<Impl>();
  impl->root = read_extended(path);
  impl->name = path;
  return Document(std::move(impl));
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
  assign(impl_->root, key, value.node ? *value.node : parse_value(value.toml, value.position));
}

std::vector<Axis> Document::take_grid(Faults& faults, std::string_view table) {
  const Found found = find(impl_->root, table);
  if (!found.node) return {};
  const Node grid = *found.node;
  erase(table);
  if (const auto* lists = grid.as<Table>()) return scenario::axes(*lists, table, faults);
  faults.add(grid.position, fmt::format("{} must be a table of lists, found {}", table, shown(grid)));
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

std::size_t Document::size(std::string_view list) const {
  const Found found = find(impl_->root, list);
  const auto* array = found.node ? found.node->as<Array>() : nullptr;
  return array ? array->size() : 0;
}

std::vector<std::pair<std::string, Position>> Document::written(std::string_view key) const {
  std::vector<std::pair<std::string, Position>> all;
  const Found found = find(impl_->root, key);
  if (const auto* table = found.node ? found.node->as<Table>() : nullptr) add_keys(*table, "", all);
  return all;
}

bool Document::shares(const Document& other, std::string_view key) const {
  const Entry* mine = std::as_const(impl_->root).find(key);
  const Entry* theirs = std::as_const(other.impl_->root).find(key);
  if (!mine || !theirs) return mine == theirs;
  if (const auto* table = std::as_const(mine->node).as<Table>()) return table == theirs->node.as<Table>();
  const auto* list = std::as_const(mine->node).as<Array>();
  return list && list == theirs->node.as<Array>();
}

void Document::read_into(base::Described& options, Faults& faults, const std::vector<std::string>& without) const {
  Reading reading{.faults = faults, .all_keys = [&options] { return keys(options); }, .without = &without};
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
