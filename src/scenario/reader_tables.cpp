/// The options that hold tables: components, sections, lists.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "scenario/aliases.h"
#include "scenario/phrases.h"
#include "scenario/reader.h"

namespace simgrad::scenario {

namespace {

const Table empty_table{};

void collect(const Table& table, const std::string& prefix, std::vector<std::pair<std::string, std::string>>& values) {
  for (const Entry& entry : table.entries) {
    const std::string key = prefix.empty() ? entry.key : fmt::format("{}.{}", prefix, entry.key);
    if (const auto* nested = entry.node.as<Table>())
      collect(*nested, key, values);
    else
      values.emplace_back(key, inline_toml(entry.node));
  }
}

}  // namespace

std::string Reader::title_of(std::string_view key) const {
  return title_.empty() ? fmt::format("[{}]", key) : fmt::format("[{}.{}]", bare_title(title_), key);
}

std::string_view Reader::noun(std::string_view key) const {
  // The noun for a component: "strategy" for [[strategy]] kind = ..., "topology" for topology = ...
  const std::string_view title = bare_title(title_);
  if (key != "kind" || title.empty()) return key;
  const auto dot = title.rfind('.');
  return dot == std::string_view::npos ? title : title.substr(dot + 1);
}

bool Reader::choose(std::string_view key, const Node& node, std::string_view noun, base::AnySlot& slot) {
  const std::vector<std::string> known = names(slot);
  const auto* kind = node.as<std::string>();
  if (!kind) {
    wrong(key, node, one_of(known));
    return false;
  }
  if (slot.choose(*kind)) return true;
  if (const Alias* const meant = only_alias(*kind); meant && slot.choose(meant->name)) {
    slot.call(*kind);
    preset_ = options_of(*meant, node.position);
    return true;
  }
  fault(key, node.position, fmt::format("unknown {} {}{}", noun, shown(node), suggestion_with_aliases(*kind, known)));
  return false;
}

void Reader::missing(std::string_view key, const Position& position, std::string_view title,
                     const base::AnySlot& slot) {
  fault(key, position,
        fmt::format("{} needs {}, {}", title.empty() ? "the scenario" : title, key, one_of(names(slot))));
}

void Reader::describe_component(std::string_view key, const Table& table, const Position& position, base::AnySlot& slot,
                                Table preset) {
  Reader nested(table, position, title_of(key), reading_);
  nested.preset_ = std::move(preset);
  const Node* kind = nested.take("kind");
  if (kind && !nested.choose("kind", *kind, noun(key), slot)) return;
  if (!slot.object()) return missing("kind", position, title_of(key), slot);
  slot.object()->describe(nested);
  nested.refuse_unknown_keys();
}

void Reader::component(std::string_view key, base::AnySlot& slot, std::string_view) {
  const Node* node = take(key);
  if (!node) {
    if (!slot.object()) return missing(key, position_, title_, slot);
    return describe_component(key, empty_table, position_, slot);
  }
  if (const auto* table = node->as<Table>()) return describe_component(key, *table, node->position, slot);
  Table of_this = std::exchange(preset_, {});  // the node may be one of its own, and stays where it is
  const bool chosen = choose(key, *node, noun(key), slot);
  Table of_component = std::exchange(preset_, std::move(of_this));
  if (chosen) describe_component(key, empty_table, node->position, slot, std::move(of_component));
}

void Reader::inline_component(std::string_view key, base::AnySlot& slot, std::string_view) {
  const Node* node = take(key);
  if (node && !choose(key, *node, noun(key), slot)) {
    all_known_ = true;
  } else if (!slot.object()) {
    missing(key, position_, title_, slot);
    all_known_ = true;
  } else {
    slot.object()->describe(*this);
  }
}

bool Reader::skips(std::string_view key) {
  const bool skipped =
      title_.empty() && reading_.without && std::ranges::find(*reading_.without, key) != reading_.without->end();
  if (skipped) take(key);
  return skipped;
}

void Reader::section(std::string_view key, base::Described& options, std::string_view) {
  if (skips(key)) return;
  const Node* node = take(key);
  const auto* table = node ? node->as<Table>() : &empty_table;
  if (!table) return wrong(key, *node, "a table");
  // A missing table is read as well: it may have required keys.
  Reader nested(*table, node ? node->position : position_, title_of(key), reading_);
  options.describe(nested);
  nested.refuse_unknown_keys();
}

void Reader::any_list(std::string_view key, AnyList& items, std::string_view) {
  if (skips(key)) return;
  const Node* node = take(key);
  if (!node) return;
  const auto* list = node->as<Array>();
  if (!list) return wrong(key, *node, fmt::format("a list of tables, each under [{}]", title_of(key)));
  items.clear();
  for (const Node& item : *list) {
    const auto* table = item.as<Table>();
    if (!table) {
      wrong(key, item, "a list of tables");
      continue;
    }
    Reader nested(*table, item.position, fmt::format("[{}]", title_of(key)), reading_);
    items.add().describe(nested);
    nested.refuse_unknown_keys();
  }
}

void Reader::pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& values, std::string_view) {
  const Node* node = take(key);
  if (!node) return;
  const auto* table = node->as<Table>();
  if (!table) return wrong(key, *node, "a table");
  values.clear();
  collect(*table, "", values);
}

}  // namespace simgrad::scenario
