#include "fuzz/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "experiment/plan/settings.h"
#include "scenario/document.h"

namespace simgrad::fuzz {

using base::Bounds;

namespace {

/// Sizes that decide how long a run takes: they stay small, whatever describe allows.
const std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>>& sizes() {
  static const std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>> all{
      {"cluster.workers", {1, 9}},
      {"data.samples", {1, 90}},
      {"data.features", {1, 7}},
      {"stop.steps", {1, 12}},
      {"stop.samples", {1, 900}},
      {"batch_size", {1, 60}},
      {"users", {1, 12}},
      {"items", {1, 9}},
      {"nonzeros", {1, 5}},
      {"rows", {1, 90}},
      {"classes", {2, 5}},
      {"clusters", {1, 5}},
      {"factors", {1, 4}},
      {"embedding", {1, 4}},
      {"servers", {1, 4}},
      {"spare_hosts", {0, 4}},
      {"reducers", {1, 4}},
      {"partitions", {1, 9}},
      {"hosts", {1, 5}},
      {"count", {1, 4}},
      {"rank", {0, 4}},
      {"from", {0, 5}},
      {"to", {0, 5}},
      {"splits", {1, 4}},
      {"chunks", {1, 40}},
      {"devices", {1, 4}},
      {"nics", {1, 3}},
      {"k", {1, 6}},
      {"k_batch", {1, 4}},
      {"batch_size_per_worker", {1, 9}},
      {"routers", {1, 3}},
      {"groups", {1, 4}},
      {"hosts_per_router", {1, 3}},
      {"hosts_per_rack", {1, 4}},
      {"hosts_per_group", {1, 4}},
      {"spines", {1, 4}},
      {"window", {1, 60}},
      {"hot_keys", {0, 9}},
      {"seed", {0, 999}},
      {"job.workers", {1, 4}},
      {"job.steps", {1, 6}},
      {"levels", {1, 300}},
      {"prefetch", {0, 5}},
      {"degree", {1, 5}}};
  return all;
}

/// Options that stay as they are: they would make a run long, or have no effect on one.
constexpr std::array<std::string_view, 9> left_out{"schema",
                                                   "title",
                                                   "cluster.watchdog.simulated",
                                                   "expect",
                                                   "capacity",
                                                   "job",
                                                   "parallel",  // cut() draws it
                                                   "cluster.watchdog.real",
                                                   "cluster.watchdog.events"};

/// Whether the text ends with the word, which is the whole or stands after a dot.
bool ends_in(std::string_view text, std::string_view word) {
  return text.ends_with(word) && (text.size() == word.size() || text[text.size() - word.size() - 1] == '.');
}

}  // namespace

double Dice::log_between(double least, double most) { return least * std::pow(most / least, share()); }

bool Draw::writes(std::string_view key) {
  if (std::ranges::find(left_out, full(key)) != left_out.end()) return false;
  return dice_.hits(rate_);
}

std::int64_t Draw::whole(std::string_view key, std::int64_t usual, Bounds bounds) {
  std::pair<std::int64_t, std::int64_t> range{0, std::max<std::int64_t>(12, 2 * std::abs(usual))};
  bool small = false;
  for (const auto& [name, size] : sizes())
    if (full(key) == name || (!name.starts_with("cluster.") && ends_in(full(key), name))) {
      range = size;
      small = true;
      break;
    }
  constexpr double largest = 1e15;
  if (!small && std::isfinite(bounds.most) && dice_.hits(0.05))
    return static_cast<std::int64_t>(std::min(bounds.most, largest));
  if (std::isfinite(bounds.least)) range.first = std::max(range.first, static_cast<std::int64_t>(bounds.least));
  if (bounds.most < static_cast<double>(range.second)) range.second = static_cast<std::int64_t>(bounds.most);
  if (range.second < range.first) return range.first;
  if (dice_.hits(0.2)) return dice_.hits(0.5) ? range.first : range.second;
  return dice_.between(range.first, range.second);
}

double Draw::real(double usual, Bounds bounds) {
  const double least = std::isfinite(bounds.least) ? bounds.least : -10.0;
  const double scale = usual != 0.0 ? std::abs(usual) : 1.0;
  double value = usual;
  switch (dice_.one_of(8)) {
    case 0:
      value = bounds.positive && least == 0.0 ? scale * 1e-9 : least;
      break;
    case 1:
      value = std::isfinite(bounds.most) ? bounds.most : scale * 1e6;
      break;
    case 2:
      value = 1.0;
      break;
    case 3:
      value = std::isfinite(bounds.most) ? bounds.most - 1e-9 * std::abs(bounds.most) : scale;
      break;
    default:
      value = std::isfinite(bounds.most) && bounds.most <= 10.0 ? least + dice_.share() * (bounds.most - least)
                                                                : dice_.log_between(scale / 30.0, scale * 30.0);
  }
  return bounds.contains(value) ? value : usual;
}

std::string Draw::quantity_text(double usual, base::Unit unit, Bounds bounds) {
  // Times of a run of a few steps, whose messages take some 50 us.
  if (unit == base::Unit::seconds && dice_.hits(0.7)) {
    const double time_s = std::round(dice_.log_between(1e3, 1e9)) * 1e-9;
    if (bounds.contains(time_s)) return base::format_quantity(time_s, unit);
  }
  const double usual_or_some = std::isfinite(usual) && usual > 0.0 ? usual : unit == base::Unit::seconds ? 1e-3 : 1e8;
  return base::format_quantity(real(usual_or_some, bounds), unit);
}

std::string Draw::a_text(std::string_view key) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> known{
      {"checkpoint_every", {"1ms", "100us", "young", "daly"}},
      {"class", {"host", "nic", "gpu", "fabric"}},
      {"link", {"nic-0", "nic-1", "backbone"}},
      {"from", {"a", "b"}},
      {"to", {"a", "b"}},
      {"name", {"a", "b"}},
      {"label", {"plain", "=1+2", "two words", "\"quoted\", comma", "\u03b1\u03b2"}}};
  const auto found = known.find(key);
  if (found == known.end()) return {};
  return found->second[dice_.one_of(found->second.size())];
}

void Draw::flag(std::string_view key, bool& value, std::string_view) {
  if (full(key) == "training.numbers" ? dice_.hits(0.1) : writes(key)) tree_[std::string(key)] = !value;
}

void Draw::integer(std::string_view key, std::int64_t& value, std::string_view, Bounds bounds) {
  if (full(key) == "cluster.workers" || writes(key)) tree_[std::string(key)] = whole(key, value, bounds);
}

void Draw::integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view, Bounds bounds) {
  const std::string all = full(key);
  if (all == "data.samples" || all == "stop.steps" || writes(key))
    tree_[std::string(key)] = whole(key, value.value_or(1), bounds);
}

void Draw::integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word, std::string_view,
                      Bounds bounds) {
  if (!writes(key)) return;
  if (dice_.hits(0.1))
    tree_[std::string(key)] = word;
  else
    tree_[std::string(key)] = whole(key, value.value_or(1), bounds);
}

void Draw::number(std::string_view key, double& value, std::string_view, Bounds bounds) {
  if (writes(key)) tree_[std::string(key)] = real(value, bounds);
}

void Draw::number(std::string_view key, std::optional<double>& value, std::string_view, Bounds bounds) {
  if (writes(key)) tree_[std::string(key)] = real(value.value_or(1.0), bounds);
}

void Draw::quantity(std::string_view key, double& value, base::Unit unit, std::string_view, Bounds bounds) {
  if (writes(key)) tree_[std::string(key)] = quantity_text(value, unit, bounds);
}

void Draw::quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view,
                    Bounds bounds) {
  if (writes(key)) tree_[std::string(key)] = quantity_text(value.value_or(0.0), unit, bounds);
}

void Draw::text(std::string_view key, std::string&, std::string_view) {
  // A table of a list is nothing without its name.
  if (const std::string drawn = a_text(key); !drawn.empty() && dice_.hits(std::max(rate_, 0.9)))
    tree_[std::string(key)] = drawn;
}

void Draw::text(std::string_view key, std::optional<std::string>&, std::string_view) {
  if (!writes(key)) return;
  if (const std::string drawn = a_text(key); !drawn.empty()) tree_[std::string(key)] = drawn;
}

void Draw::name_or_index(std::string_view key, std::optional<std::string>&, std::string_view) {
  if (writes(key)) tree_[std::string(key)] = dice_.between(0, 2);
}

void Draw::names_or_indices(std::string_view key, std::vector<std::string>&, std::string_view) {
  if (writes(key)) tree_[std::string(key)] = nlohmann::ordered_json::array({dice_.between(0, 2)});
}

void Draw::path(std::string_view key, std::string&, std::string_view) {
  static const std::map<std::string, std::string, std::less<>> files{{"data.csv", "data.csv"},
                                                                     {"data.libsvm", "data.libsvm"},
                                                                     {"strategy.graph.file", "graph.edges"},
                                                                     {"strategy.mixing.file", "mixing.txt"},
                                                                     {"cluster.failures.hosts.trace", "failures.csv"},
                                                                     {"cluster.stragglers.trace", "speeds.txt"}};
  if (full(key) == "cluster.platform") {
    if (dice_.hits(0.08)) tree_[std::string(key)] = "platform.xml";
    return;
  }
  if (const auto found = files.find(path_ + kind_); found != files.end()) tree_[std::string(key)] = found->second;
}

void Draw::numbers(std::string_view key, std::vector<double>&, std::string_view, Bounds bounds) {
  if (!writes(key)) return;
  Json list = Json::array();
  const bool integers = key != "relative_speeds";
  const auto count = dice_.between(1, 3);
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(integers ? Json(std::clamp(dice_.between(0, 4),
                                              static_cast<std::int64_t>(std::max(bounds.least, 0.0)), std::int64_t{5}))
                            : Json(real(1.0, bounds)));
  tree_[std::string(key)] = std::move(list);
}

void Draw::choose(std::string_view key, base::AnySlot& slot) {
  const std::vector<base::About> kinds = slot.kinds();
  const bool of_strategy = path_ == "strategy." && key == "kind";
  slot.choose(of_strategy && !strategy_.empty() ? strategy_ : kinds[dice_.one_of(kinds.size())].kind);
  strategy_ = {};
}

void Draw::component(std::string_view key, base::AnySlot& slot, std::string_view) {
  if (!writes(key)) return;
  choose(key, slot);
  Json options{{"kind", std::string(slot.kind())}};
  Draw nested(dice_, options, rate_, full(key) + ".", {});
  nested.kind_ = slot.kind();
  slot.object()->describe(nested);
  tree_[std::string(key)] = std::move(options);
}

void Draw::inline_component(std::string_view key, base::AnySlot& slot, std::string_view) {
  // Sources and models suit one another seldom: each is drawn often.
  if (slot.object() && !dice_.hits(std::max(rate_, 0.5))) return slot.object()->describe(*this);
  choose(key, slot);
  tree_[std::string(key)] = std::string(slot.kind());
  kind_ = slot.kind();
  slot.object()->describe(*this);
}

void Draw::section(std::string_view key, base::Described& options, std::string_view) {
  if (std::ranges::find(left_out, full(key)) != left_out.end()) return;
  Json table = Json::object();
  Draw nested(dice_, table, rate_, full(key) + ".", strategy_);
  options.describe(nested);
  if (!table.empty()) tree_[std::string(key)] = std::move(table);
}

void Draw::any_choice(std::string_view key, int&, std::span<const base::Choice> choices, std::string_view) {
  if (writes(key)) tree_[std::string(key)] = std::string(choices[dice_.one_of(choices.size())].name);
}

void Draw::any_list(std::string_view key, AnyList& items, std::string_view) {
  const bool strategies = full(key) == "strategy";
  if (!strategies && !writes(key)) return;
  Json list = Json::array();
  const auto count = strategies ? dice_.between(1, 2) : dice_.between(1, 2);
  for (std::int64_t i = 0; i < count; ++i) {
    Json item = Json::object();
    Draw nested(dice_, item, std::max(rate_, strategies ? 0.0 : 0.4), full(key) + ".", i == 0 ? strategy_ : "");
    items.example()->describe(nested);
    list.push_back(std::move(item));
  }
  tree_[std::string(key)] = std::move(list);
}

std::string drawn_scenario(Dice& dice, std::string_view strategy, Suited suited) {
  experiment::Settings settings;
  Draw::Json tree = Draw::Json::object();
  Draw draw(dice, tree, dice.log_between(0.03, 0.3), "", strategy);
  settings.describe(draw);
  if (suited == Suited::cut_model) cut(tree, dice);
  if (suited == Suited::mixture) mix(tree, dice);
  return scenario::toml(tree);
}

}  // namespace simgrad::fuzz
