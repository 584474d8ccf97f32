/// The keys that a scenario can have, with the values that can be counted: `describe` knows them all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiment/plan/settings.h"
#include "fuzz/draw.h"
#include "scenario/document.h"
#include "scenario/json.h"
#include "scenario/node.h"
#include "scenario/walker.h"

namespace simgrad::fuzz {

namespace {

/// Collects every dotted key, and "key=value" for the kinds of components and for the choices of enumerations.
class Everything final : public scenario::Walker {
 public:
  Everything(std::string prefix, std::set<std::string>& keys, std::set<std::string>& values)
      : prefix_(std::move(prefix)), keys_(keys), values_(values) {}

  void component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    of_kinds(key, slot, fmt::format("{}{}.", prefix_, key));
  }
  void inline_component(std::string_view key, base::AnySlot& slot, std::string_view) override {
    of_kinds(key, slot, prefix_);
  }
  void section(std::string_view key, base::Described& options, std::string_view) override { nested(key, options); }

 private:
  void leaf(const scenario::Leaf& leaf) override {
    add(leaf.key);
    for (const base::Choice& choice : leaf.choices)
      values_.insert(fmt::format("{}{}={}", prefix_, leaf.key, choice.name));
  }
  void any_list(std::string_view key, AnyList& items, std::string_view) override { nested(key, *items.example()); }

  void of_kinds(std::string_view key, const base::AnySlot& slot, const std::string& prefix) {
    add(key);
    for (const base::About& about : slot.kinds()) {
      values_.insert(fmt::format("{}{}={}", prefix_, key, about.kind));
      Everything inner(prefix, keys_, values_);
      slot.example(about.kind)->describe(inner);
    }
  }
  void nested(std::string_view key, base::Described& options) {
    add(key);
    Everything inner(fmt::format("{}{}.", prefix_, key), keys_, values_);
    options.describe(inner);
  }
  void add(std::string_view key) { keys_.insert(fmt::format("{}{}", prefix_, key)); }

  std::string prefix_;
  std::set<std::string>& keys_;
  std::set<std::string>& values_;
};

void collect(const scenario::Table& table, const std::string& prefix, std::set<std::string>& seen);

void collect(const scenario::Node& node, const std::string& key, std::set<std::string>& seen) {
  seen.insert(key);
  if (const auto* text = node.as<std::string>()) seen.insert(fmt::format("{}={}", key, *text));
  if (const auto* table = node.as<scenario::Table>()) {
    if (const auto* kind = table->find("kind"))
      if (const auto* name = kind->node.as<std::string>()) seen.insert(fmt::format("{}={}", key, *name));
    collect(*table, key + ".", seen);
  }
  if (const auto* list = node.as<scenario::Array>())
    for (const scenario::Node& item : *list) collect(item, key, seen);
}

void collect(const scenario::Table& table, const std::string& prefix, std::set<std::string>& seen) {
  for (const scenario::Entry& entry : table.entries) collect(entry.node, prefix + entry.key, seen);
}

/// Keys, kinds and choices that `describe` says, and that every scenario that has them is refused for.
struct Never {
  std::string_view begin;  ///< of their names: what stands before "=" or the end
  std::string_view why;
};

constexpr std::string_view loses_parameters = "parameters travel whole: a code that leaves numbers out is refused";
constexpr std::string_view several_collectives = "a step's sum under [serving] is one schedule of messages";
constexpr std::string_view trace_of_hosts = "a trace is of hosts, and links have no numbers in it";

constexpr std::array nevers{
    Never{"strategy.parameter_compression.fraction", loses_parameters},
    Never{"strategy.parameter_compression.k", loses_parameters},
    Never{"strategy.parameter_compression.rank", loses_parameters},
    Never{"strategy.parameter_compression.scale", loses_parameters},
    Never{"strategy.parameter_compression.unbiased", loses_parameters},
    Never{"strategy.parameter_compression=power_sgd", loses_parameters},
    Never{"strategy.parameter_compression=random_k", loses_parameters},
    Never{"strategy.parameter_compression=sign", loses_parameters},
    Never{"strategy.parameter_compression=top_k", loses_parameters},
    Never{"serving.allreduce.base", several_collectives},
    Never{"serving.allreduce.call", several_collectives},
    Never{"serving.allreduce.channels", several_collectives},
    Never{"serving.allreduce.generation", several_collectives},
    Never{"serving.allreduce.inside", several_collectives},
    Never{"serving.allreduce=auto", several_collectives},
    Never{"serving.allreduce=bcube", several_collectives},
    Never{"serving.allreduce=hierarchical", several_collectives},
    Never{"serving.allreduce=naive", several_collectives},
    Never{"serving.allreduce=nccl", several_collectives},
    Never{"cluster.failures.links.days", trace_of_hosts},
    Never{"cluster.failures.links.path", trace_of_hosts},
    Never{"cluster.failures.links.servers", trace_of_hosts},
    Never{"cluster.failures.links=trace", trace_of_hosts},
};

/// Returns whether all are there but those that cannot be, and none of these.
bool report_missing(std::string_view what, const std::set<std::string>& all, const std::set<std::string>& seen) {
  std::size_t drawn = 0;
  bool as_said = true;
  for (const std::string& each : all) {
    const std::string_view why = why_never(each);
    const bool there = seen.contains(each);
    drawn += there;
    if (there == why.empty()) continue;
    as_said = false;
    fmt::print("  {}: {}\n", there ? "drawn, though it cannot be" : "never", each);
  }
  fmt::print("{} of {} {} drawn\n", drawn, all.size(), what);
  return as_said;
}

}  // namespace

const Schema& schema() {
  static const Schema known = [] {
    experiment::Settings settings;
    return schema_of(settings, "");
  }();
  return known;
}

Schema schema_of(base::Described& options, const std::string& prefix) {
  Schema all;
  Everything everything(prefix, all.keys, all.values);
  options.describe(everything);
  return all;
}

std::string_view why_never(std::string_view name) {
  for (const Never& each : nevers)
    if (name.starts_with(each.begin) && (name.size() == each.begin.size() || name[each.begin.size()] == '='))
      return each.why;
  return {};
}

std::set<std::string> keys_and_values(const std::string& file) {
  std::set<std::string> seen;
  collect(scenario::parse_toml(base::read_file(file), file), "", seen);
  return seen;
}

std::set<std::string> keys_and_values(const Draw::Json& tree) {
  std::set<std::string> seen;
  collect(scenario::parse_toml(scenario::toml(tree), "part"), "", seen);
  return seen;
}

bool report_keys(const std::string& directory) {
  const Schema& all = schema();
  std::set<std::string> seen;
  std::set<std::pair<std::string, std::string>> pairs;
  std::size_t scenarios = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("valid-") || !name.ends_with(".toml")) continue;
    ++scenarios;
    std::set<std::string> keys;
    const std::set<std::string> here = keys_and_values(entry.path().string());
    seen.insert(here.begin(), here.end());
    std::ranges::set_intersection(here, all.keys, std::inserter(keys, keys.end()));
    for (auto one = keys.begin(); one != keys.end(); ++one)
      for (auto other = std::next(one); other != keys.end(); ++other) pairs.emplace(*one, *other);
  }
  const bool keys_as_said = report_missing("keys are", all.keys, seen);
  const bool values_as_said = report_missing("kinds and choices are", all.values, seen);
  for (const Never& each : nevers) fmt::print("  cannot be: {}: {}\n", each.begin, each.why);
  fmt::print("{} pairs of keys in {} scenarios\n", pairs.size(), scenarios);
  return keys_as_said && values_as_said;
}

}  // namespace simgrad::fuzz
