#include "experiment/plan/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>
#include <unordered_set>

#include "base/text.h"
#include "experiment/plan/directions.h"
#include "experiment/plan/places.h"
#include "experiment/plan/selected.h"
#include "experiment/plan/settings.h"
#include "outputs/fields.h"

namespace simgrad::experiment {

using scenario::Axis;
using scenario::Document;
using scenario::Faults;
using Json = nlohmann::ordered_json;

namespace {

/// A closed form is met up to rounding.
constexpr double usual_tolerance = 1e-9;

bool in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// "did you mean "a" or "b"? "; empty if no known name is near.
std::string meant_metrics(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> near = base::nearest(name, known, most);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"? ", base::joined(near, "\" or \""));
}

}  // namespace

void Expectation::describe(base::Describer& d) {
  d.text("strategy", strategy,
         "the strategy whose runs are tested, by its label, else by its kind; default: every strategy");
  d.text("metric", metric, "a number of a run in results.json, as a mean over the seeds");
  d.number("at_least", at_least, "the least allowed value");
  d.number("at_most", at_most, "the greatest allowed value");
  d.number("equals", equals, "the expected value, within the tolerance");
  d.number("tolerance", tolerance, "the allowed distance from `equals`, as a share of `equals`; default: 1e-9",
           base::Bounds::at_least(0));
  d.pairs("where", where, "the grid points: { \"cluster.workers\" = 8 }; default: all of them");
  d.text("relative_to", relative_to,
         "bounds are on the metric divided by that of this strategy, a label, else a kind, at the same grid point");
  d.pairs("relative_where", relative_where,
          "bounds are on the metric divided by that at the grid point which differs in these keys");
  d.text("better_than", better_than,
         "instead of a bound: the metric is better than that of this strategy, a label, else a kind, at the same grid "
         "point, in the mean over the seeds that both have");
  d.number("confidence", confidence,
           "the probability, one-sided by Student's t, with which `better_than` must be known; default: 0.95",
           base::Bounds::between(0.5, 0.999999));
  refuse_metric(d);
  better_than ? refuse_beside_better_than(d) : refuse_bounds(d);
}

void Expectation::refuse_metric(base::Describer& d) const {
  if (metric.empty())
    d.refuse("metric", "an expectation needs a metric, such as speedup_throughput or final_loss");
  else if (const auto& known = outputs::numeric_fields(); !in(known, metric))
    d.refuse("metric", fmt::format("a run has no number \"{}\"; {}\"simgrad explain metrics\" lists all of them",
                                   metric, meant_metrics(metric, known)));
  if (metric == "wall_s")
    d.refuse("metric", "wall_s depends on the machine; expect a number of the simulation, such as simulated_s");
}

void Expectation::refuse_bounds(base::Describer& d) const {
  // A bound that could not be read has been refused already.
  constexpr std::array bounds{"at_least", "at_most", "equals", "better_than"};
  if (std::ranges::none_of(bounds, [&d](const char* key) { return d.given(key); }))
    d.refuse("metric", "an expectation without a bound holds always; give it at_least, at_most, equals or better_than");
  if (confidence && !d.given("better_than"))
    d.refuse("confidence", "a confidence belongs to \"better_than\"; add it, or leave out the confidence");
  if (equals && (at_least || at_most))
    d.refuse("equals", "\"equals\" is bound enough; leave out at_least and at_most, or leave out \"equals\"");
  if (at_least && at_most && *at_least > *at_most)
    d.refuse("at_least", fmt::format("no number is at least {} and at most {}; exchange them", *at_least, *at_most));
  if (equals && *equals == 0.0 && tolerance && *tolerance > 0.0)
    d.refuse("tolerance",
             "a tolerance is a share of \"equals\", and a share of zero is zero; use at_most and at_least instead");
  if (tolerance && !d.given("equals"))
    d.refuse("tolerance", "a tolerance belongs to \"equals\"; add \"equals\", or leave out the tolerance");
}

void Expectation::refuse_beside_better_than(base::Describer& d) const {
  const auto& known = outputs::numeric_fields();
  if (in(known, metric) && metric != "wall_s" && !better(metric))
    d.refuse("metric", fmt::format("more of \"{}\" is neither better nor worse, so \"better_than\" cannot be decided; "
                                   "choose another metric, such as time_to_target_s: \"simgrad explain metrics\" says "
                                   "of which ones more, or less, is better",
                                   metric));
  const auto refuse = [&](const char* key, bool given) {
    if (given)
      d.refuse(key, fmt::format("\"better_than\" says all; leave out \"{}\", or leave out \"better_than\"", key));
  };
  refuse("at_least", at_least.has_value());
  refuse("at_most", at_most.has_value());
  refuse("equals", equals.has_value());
  refuse("tolerance", tolerance.has_value());
  refuse("relative_to", relative_to.has_value());
  refuse("relative_where", !relative_where.empty());
}

bool Expectation::holds(double value) const {
  if (equals) return std::abs(value - *equals) <= tolerance.value_or(usual_tolerance) * std::abs(*equals);
  return (!at_least || value >= *at_least) && (!at_most || value <= *at_most);
}

namespace {

std::string absolute_bound(const Expectation& e) {
  const auto& [equals, tolerance, at_least, at_most] = std::tie(e.equals, e.tolerance, e.at_least, e.at_most);
  if (equals && tolerance && *tolerance > 0.0) return fmt::format("{} within {:.6g} %", *equals, 100.0 * *tolerance);
  if (equals) return fmt::format("{}", *equals);
  if (at_least && at_most) return fmt::format("between {} and {}", *at_least, *at_most);
  return at_least ? fmt::format("at least {}", *at_least) : fmt::format("at most {}", at_most.value_or(0.0));
}

}  // namespace

std::string Expectation::bound() const {
  if (better_than) return "better than " + *better_than;
  if (!relative()) return absolute_bound(*this);
  std::string point;
  for (const auto& [key, toml] : relative_where) point += fmt::format("{}{}={}", point.empty() ? "" : ", ", key, toml);
  const std::string other =
      fmt::format("{}{}{}", relative_to.value_or(""), relative_to && !point.empty() ? " with " : "", point);
  if (equals)
    return fmt::format("{} x that of {}{}", *equals, other,
                       tolerance && *tolerance > 0.0 ? fmt::format(", within {:.6g} %", 100.0 * *tolerance) : "");
  return fmt::format("{} x that of {}", absolute_bound(*this), other);
}

Json Expectation::compared_with(Json parameters) const {
  for (const auto& [key, toml] : relative_where) parameters[key] = scenario::json_of({.toml = toml, .position = {}});
  return parameters;
}

bool Expectation::is_about(const Json& parameters) const {
  return std::ranges::all_of(where, [&](const auto& pair) {
    return parameters.contains(pair.first) &&
           parameters.at(pair.first) == scenario::json_of({.toml = pair.second, .position = {}});
  });
}

namespace {

class ExpectationCheck {
 public:
  ExpectationCheck(const std::vector<const Settings*>& points, const Document& document, Faults& faults)
      : document_(document), faults_(faults) {
    for (const Settings* point : points) add_names(*point);
  }

  /// Checks the name that stands at the expectation's `strategy` or `relative_to`.
  void strategy(std::size_t index, const char* option, const std::optional<std::string>& name) {
    if (!name || incomplete_ || names_.contains(*name)) return;
    faults_.add(place(index, option), fmt::format("no strategy of the scenario is called \"{}\"{}", *name,
                                                  explains() ? base::suggestion(*name, known_) : ""));
  }

  /// Checks one key of the expectation's `where` or `relative_where`.
  void where(std::size_t index, const char* option, const std::string& key, const std::string& toml,
             const std::vector<Axis>& axes) {
    if (axes.empty())
      return faults_.add(
          place(index, option),
          fmt::format("\"{}\" names grid points, but the scenario has no [grid]; leave it out, or add a grid", option));
    if (values_.empty()) learn(axes);
    const auto values = values_.find(key);
    if (values == values_.end())
      return faults_.add(place(index, option), fmt::format("the grid has no key \"{}\"{}", key,
                                                           explains() ? base::suggestion(key, keys_) : ""));
    if (std::ranges::find(values->second.parsed, scenario::json_of({.toml = toml, .position = {}})) !=
        values->second.parsed.end())
      return;
    constexpr std::size_t most = 200;
    const std::vector<std::string>& written = values->second.written;
    std::string text = fmt::format("the grid has no point with {} = {}", key, toml);
    if (explains()) {
      text += "; it takes " + base::joined(std::span(written).first(std::min(written.size(), most)));
      if (written.size() > most) text += fmt::format(" and {} more", written.size() - most);
    }
    faults_.add(place(index, option), std::move(text));
  }

 private:
  /// The values of a key in all axes, each once.
  struct Values {
    std::vector<std::string> written;
    std::vector<Json> parsed;
  };

  /// Whether a fault says what is known: more faults are not shown, and long lists take long.
  bool explains() { return explained_++ < 20; }

  void learn(const std::vector<Axis>& axes) {
    std::unordered_set<std::string> seen;
    for (const Axis& axis : axes) {
      const auto [values, fresh] = values_.try_emplace(axis.key);
      if (fresh) keys_.push_back(axis.key);
      for (const scenario::Value& value : axis.values) {
        if (!seen.insert(axis.key + '\n' + value.toml).second) continue;
        values->second.written.push_back(value.toml);
        values->second.parsed.push_back(scenario::json_of(value));
      }
    }
  }

  void add_names(const Settings& settings) {
    const auto add = [&](std::string name) {
      if (!name.empty() && names_.insert(name).second) known_.push_back(std::move(name));
    };
    incomplete_ = incomplete_ || std::ranges::any_of(settings.strategies, [](const auto& e) { return !e.strategy; });
    if (incomplete_) return;
    for (const JobEntry& job : settings.jobs) add(job.name);
    if (settings.jobs.empty())
      for (const StrategyEntry& entry : settings.strategies) add(entry.name());
    for (const StrategyEntry& entry : settings.strategies) add(std::string(entry.strategy.kind()));
  }

  scenario::Position place(std::size_t index, const char* key) const {
    return experiment::place(document_, fmt::format("expect.{}.{}", index, key));
  }

  const Document& document_;
  Faults& faults_;
  std::vector<std::string> known_;
  std::unordered_set<std::string> names_;  ///< the same
  std::map<std::string, Values> values_;   ///< by key of the grid
  std::vector<std::string> keys_;
  int explained_ = 0;
  bool incomplete_ = false;  ///< a strategy that could not be read has a fault of its own
};

}  // namespace

void check_expectations(const std::vector<const Settings*>& points, const std::vector<Axis>& written,
                        const std::vector<Axis>& taken, const Document& document, Faults& faults) {
  ExpectationCheck check(points, document, faults);
  std::vector<Axis> axes = written;  // an axis that the command line replaces may be named, too
  axes.insert(axes.end(), taken.begin(), taken.end());
  for (const Axis& axis : taken)
    if (axis.key == "expect" || axis.key.starts_with("expect."))
      faults.add(axis.position, "an expectation is about the whole grid, which cannot vary it; use its \"where\"");
  const std::vector<Expectation>& all = points.front()->expectations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    check.strategy(i, "strategy", all[i].strategy);
    check.strategy(i, "relative_to", all[i].relative_to);
    check.strategy(i, "better_than", all[i].better_than);
    for (const auto& [key, toml] : all[i].where) check.where(i, "where", key, toml, axes);
    for (const auto& [key, toml] : all[i].relative_where) check.where(i, "relative_where", key, toml, axes);
  }
}

}  // namespace simgrad::experiment
