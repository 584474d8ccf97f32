#include "fuzz/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>

#include "experiment/plan/settings.h"
#include "scenario/document.h"
#include "scenario/json.h"

namespace simgrad::fuzz {

using base::Bounds;

double Dice::log_between(double least, double most) { return least * std::pow(most / least, share()); }

bool Aim::leads_through(std::string_view key) const {
  return std::ranges::any_of(wanted, [&](const std::string& each) {
    return each.starts_with(key) && (each.size() == key.size() || each[key.size()] == '.' || each[key.size()] == '=');
  });
}

bool Aim::wants(std::string_view key, std::string_view value) const {
  return std::ranges::find(wanted, std::string(key) + "=" + std::string(value)) != wanted.end();
}

bool Draw::writes(std::string_view key) { return aim_.leads_through(full(key)) || dice_.hits(rate_); }

const Draw::Json* Draw::given_at(std::string_view key) const {
  if (!context_ || !context_->is_object()) return nullptr;
  const auto found = context_->find(std::string(key));
  return found == context_->end() ? nullptr : &*found;
}

bool Draw::write_known(std::string_view key) {
  const std::vector<Json>* known = &values_of(kind_.empty() ? full(key) : path_ + kind_ + "." + std::string(key));
  if (known->empty()) known = &values_of(full(key));
  if (known->empty()) return false;
  tree_[std::string(key)] = (*known)[dice_.one_of(known->size())];
  return true;
}

std::int64_t Draw::whole(std::string_view key, std::int64_t usual, Bounds bounds) {
  std::pair<std::int64_t, std::int64_t> range{0, std::max<std::int64_t>(12, 2 * std::abs(usual))};
  bool small = false;
  if (const auto size = size_of(full(key))) {
    range = *size;
    small = true;
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

void Draw::flag(std::string_view key, bool& value, std::string_view) {
  const double default_written = full(key) == "training.numbers" ? 0.5 : 0.1;
  if (writes(key)) tree_[std::string(key)] = dice_.hits(default_written) ? value : !value;
}

void Draw::integer(std::string_view key, std::int64_t& value, std::string_view, Bounds bounds) {
  if ((full(key) == "cluster.workers" || writes(key)) && !write_known(key))
    tree_[std::string(key)] = whole(key, value, bounds);
}

void Draw::integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view, Bounds bounds) {
  const std::string all = full(key);
  if ((all == "data.samples" || all == "stop.steps" || writes(key)) && !write_known(key))
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

void Draw::number_or(std::string_view key, std::optional<double>& value, std::string_view word, std::string_view,
                     Bounds bounds) {
  if (!writes(key)) return;
  if (dice_.hits(0.1))
    tree_[std::string(key)] = word;
  else if (!write_known(key))
    tree_[std::string(key)] = real(value.value_or(1.0), bounds);
}

void Draw::quantity_or(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view word,
                       std::string_view, Bounds bounds) {
  if (!writes(key)) return;
  if (dice_.hits(0.1))
    tree_[std::string(key)] = word;
  else if (!write_known(key))
    tree_[std::string(key)] = quantity_text(value.value_or(0.0), unit, bounds);
}

void Draw::number(std::string_view key, double& value, std::string_view, Bounds bounds) {
  if (writes(key) && !write_known(key)) tree_[std::string(key)] = real(value, bounds);
}

void Draw::number(std::string_view key, std::optional<double>& value, std::string_view, Bounds bounds) {
  if (writes(key) && !write_known(key)) tree_[std::string(key)] = real(value.value_or(1.0), bounds);
}

void Draw::quantity(std::string_view key, double& value, base::Unit unit, std::string_view, Bounds bounds) {
  if (writes(key) && !write_known(key)) tree_[std::string(key)] = quantity_text(value, unit, bounds);
}

void Draw::quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view,
                    Bounds bounds) {
  if (writes(key) && !write_known(key)) tree_[std::string(key)] = quantity_text(value.value_or(0.0), unit, bounds);
}

// Names, files and pairs are those of the table of values: a table of a list is nothing without its name.
void Draw::text(std::string_view key, std::string&, std::string_view) {
  if (writes(key) || path_ != "") write_known(key);
}

void Draw::text(std::string_view key, std::optional<std::string>&, std::string_view) {
  if (writes(key)) write_known(key);
}

void Draw::name_or_index(std::string_view key, std::optional<std::string>&, std::string_view) {
  if (writes(key)) write_known(key);
}

void Draw::names_or_indices(std::string_view key, std::vector<std::string>&, std::string_view) {
  if (writes(key)) write_known(key);
}

void Draw::pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>&, std::string_view) {
  if (writes(key)) write_known(key);
}

void Draw::path(std::string_view key, std::string&, std::string_view) {
  const bool optional = full(key) == "cluster.platform" || path_ == "serving." || key == "config";
  if (optional ? aim_.leads_through(full(key)) || dice_.hits(0.2 * rate_)
               : writes(key) || key == "path" || key == "file")
    write_known(key);
}

void Draw::numbers(std::string_view key, std::vector<double>&, std::string_view, Bounds bounds) {
  if (!writes(key) || write_known(key)) return;
  Json list = Json::array();
  const bool integers = key != "relative_speeds";
  const auto count = dice_.between(integers && key == "hidden" ? 0 : 1, 3);
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(integers ? Json(std::clamp(dice_.between(0, 4),
                                              static_cast<std::int64_t>(std::max(bounds.least, 0.0)), std::int64_t{5}))
                            : Json(real(1.0, bounds)));
  tree_[std::string(key)] = std::move(list);
}

namespace {

/// Whether the kind has the option, or "key=value" a choice of it. What kinds have is looked up once.
bool has_option(base::AnySlot& slot, std::string_view kind, const std::string& below, const std::string& wanted) {
  static std::map<std::pair<std::string, std::string>, Schema> known;
  const auto [found, is_new] = known.try_emplace({below, std::string(kind)});
  if (is_new) found->second = schema_of(*slot.example(kind), below);
  return found->second.keys.contains(wanted) || found->second.values.contains(wanted);
}

}  // namespace

/// below: what stands before the keys of the kind's options.
void Draw::choose(std::string_view key, base::AnySlot& slot, const std::string& below) {
  const auto has_wanted = [&](std::string_view kind) {
    if (aim_.wants(full(key), kind)) return true;
    return std::ranges::any_of(aim_.wanted, [&](const std::string& each) {
      if (!each.starts_with(below)) return false;
      return has_option(slot, kind, below, each);
    });
  };
  std::vector<std::string> kinds, all;
  for (const base::About& about : slot.kinds()) {
    all.emplace_back(about.kind);
    if (has_wanted(about.kind)) kinds.emplace_back(about.kind);
  }
  if (kinds.empty()) kinds = all;
  if (const Json* given = given_at(key); given && std::ranges::find(aim_.wanted, full(key)) == aim_.wanted.end()) {
    const Json& kind = given->is_object() && given->contains("kind") ? given->at("kind") : *given;
    if (kind.is_string() && std::ranges::find(kinds, kind.get<std::string>()) != kinds.end())
      kinds = {kind.get<std::string>()};
  }
  slot.choose(kinds[dice_.one_of(kinds.size())]);
}

void Draw::component(std::string_view key, base::AnySlot& slot, std::string_view) {
  if (!writes(key)) return;
  choose(key, slot, full(key) + ".");
  Json options{{"kind", std::string(slot.kind())}};
  Draw nested(dice_, options, aim_, full(key) + ".", given_at(key));
  nested.kind_ = slot.kind();
  slot.object()->describe(nested);
  tree_[std::string(key)] = std::move(options);
}

void Draw::inline_component(std::string_view key, base::AnySlot& slot, std::string_view) {
  choose(key, slot, path_);
  tree_[std::string(key)] = std::string(slot.kind());
  kind_ = slot.kind();
  slot.object()->describe(*this);
}

void Draw::section(std::string_view key, base::Described& options, std::string_view) {
  Json table = Json::object();
  Draw nested(dice_, table, aim_, full(key) + ".", given_at(key));
  // A section that most scenarios do without is drawn as a whole, or not at all.
  const bool rare = full(key) == "capacity" || full(key) == "plan" || full(key) == "serving";
  if (rare && !aim_.leads_through(full(key)) && !given_at(key) && !dice_.hits(0.1)) return;
  options.describe(nested);
  if (!table.empty()) tree_[std::string(key)] = std::move(table);
}

void Draw::any_choice(std::string_view key, int&, std::span<const base::Choice> choices, std::string_view) {
  for (const base::Choice& choice : choices)
    if (aim_.wants(full(key), choice.name)) {
      tree_[std::string(key)] = std::string(choice.name);
      return;
    }
  if (writes(key)) tree_[std::string(key)] = std::string(choices[dice_.one_of(choices.size())].name);
}

void Draw::any_list(std::string_view key, AnyList& items, std::string_view) {
  const bool strategies = full(key) == "strategy";
  const Json* const given = given_at(key);
  if (!strategies && !given && !writes(key)) return;
  Json list = Json::array();
  const auto count = std::max(static_cast<std::size_t>(dice_.between(1, 2)), given ? given->size() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    Json item = Json::object();
    const bool has = given && given->is_array() && i < given->size();
    Draw nested(dice_, item, aim_, full(key) + ".", has ? &(*given)[i] : nullptr);
    nested.rate_ = std::max(rate_, strategies ? 0.0 : 0.4);
    items.example()->describe(nested);
    list.push_back(std::move(item));
  }
  tree_[std::string(key)] = std::move(list);
}

void lay(Draw::Json& tree, const Draw::Json& over, const Aim& aim, const std::string& path) {
  for (const char* const kind : {"kind", "source"})
    if (tree.contains(kind) && over.contains(kind) && tree[kind] != over[kind]) return;
  for (const auto& [key, value] : over.items()) {
    const std::string here = path + key;
    Draw::Json& under = tree[key];
    if (value.is_object() && under.is_object()) {
      lay(under, value, aim, here + ".");
    } else if (value.is_array() && under.is_array() && !value.empty() && value[0].is_object()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        i < under.size() ? lay(under[i], value[i], aim, here + ".") : under.push_back(value[i]);
    } else if (under.is_null() || !aim.leads_through(here)) {
      under = value;
    }
  }
}

Draw::Json drawn(Dice& dice, const Aim& aim) {
  experiment::Settings settings;
  Draw::Json tree = Draw::Json::object();
  Draw draw(dice, tree, aim, "", &aim.context);
  settings.describe(draw);
  lay(tree, aim.context, aim);
  return tree;
}

}  // namespace simgrad::fuzz
