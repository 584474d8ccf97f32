#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/errors.h"
#include "base/text.h"
#include "cluster/usage/planned_hosts.h"
#include "experiment/checks/fit_check.h"
#include "experiment/checks/memory_check.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/numbers_key.h"
#include "experiment/plan/places.h"
#include "experiment/plan/proxy.h"
#include "experiment/plan/selected.h"
#include "experiment/run/data_cache.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"
#include "planner/candidate.h"
#include "planner/goal_check.h"
#include "planner/nearest_fit.h"
#include "planner/rates.h"
#include "planner/reasons.h"
#include "planner/reliability.h"
#include "scenario/json.h"

namespace simgrad::planner {

using base::ScenarioError;
using experiment::Point;
using experiment::PointRead;
using experiment::SearchSpace;
using experiment::Settings;
using scenario::Faults;

namespace {

class Reading {
 public:
  Reading(const SearchSpace& space, const std::vector<std::string>& wanted, const std::function<bool()>& goes_on,
          std::uintmax_t most_bytes)
      : space_(space), wanted_(wanted), goes_on_(goes_on), most_bytes_(most_bytes) {}

  Candidates all() {
    raise_common_faults();
    check_goal(space_, goal_faults_);
    goal_faults_.raise_if_any();
    for (std::size_t p = 0; p < space_.points.size(); ++p) add_point(space_.points[p], space_.reads[p]);
    for (const std::string& name : wanted_)
      if (std::ranges::find(known_, name) == known_.end())
        throw ScenarioError(fmt::format("--strategy {}: no strategy of the scenario is called that{}", name,
                                        base::suggestion(name, known_)));
    goal_faults_.raise_if_any();
    const std::size_t of_a_point = wanted_.empty() ? space_.document.size("strategy") : wanted_.size();
    candidates_.unread += space_.unread * of_a_point;
    look_for_nearest_fits(candidates_.refused, goes_on_);
    if (candidates_.all.empty()) throw ScenarioError(nothing_left(candidates_));
    return std::move(candidates_);
  }

 private:
  /// Faults that every point has are the file's.
  void raise_common_faults() const {
    Faults common;
    for (const Faults::Fault& fault : space_.reads.front().faults.all()) {
      const auto same = [&](const Faults::Fault& other) {
        return other.message == fault.message && other.position.text() == fault.position.text();
      };
      if (std::ranges::all_of(space_.reads,
                              [&](const PointRead& read) { return std::ranges::any_of(read.faults.all(), same); }))
        common.add(fault.position, fault.message);
    }
    common.raise_if_any();
  }

  void add_point(const Point& point, const PointRead& read) {
    const Settings& settings = *read.settings;
    if (!settings.jobs.empty()) {
      goal_faults_.add(space_.document.position("job"),
                       "a plan is about one training, but the scenario has [[job]]s; leave one of the two out");
      return;
    }
    const std::size_t strategies = point.document.size("strategy");
    for (std::size_t s = 0; s < strategies; ++s) {
      if (s < settings.strategies.size()) {
        const auto& entry = settings.strategies[s];
        if (!entry.strategy) {
          refuse(point, fmt::format("strategy {}", s + 1), read.faults, nullptr, s);
          continue;
        }
        know(entry.name());
        know(std::string(entry.strategy.kind()));
        if (!chosen(entry)) continue;
      }
      if (read.faults.empty())
        add(point, point.document, read.settings, s);
      else
        add_alone(point, s, s < settings.strategies.size() ? settings.strategies[s].name() : "");
    }
  }

  void know(std::string name) {
    if (std::ranges::find(known_, name) == known_.end()) known_.push_back(std::move(name));
  }

  bool chosen(const experiment::StrategyEntry& entry) const {
    if (wanted_.empty()) return true;
    return std::ranges::any_of(
        wanted_, [&](const std::string& name) { return name == entry.name() || name == entry.strategy.kind(); });
  }

  /// A strategy of a point at which some strategy is at fault: perhaps another one.
  void add_alone(const Point& point, std::size_t strategy, const std::string& name) {
    if (goes_on_ && !goes_on_()) {
      ++candidates_.unread;
      return;
    }
    Point alone = point;
    if (point.document.size("strategy") > 1) alone.document.keep_only("strategy", strategy);
    PointRead read = experiment::read_each({alone}, {}, false).front();
    if (!read.faults.empty()) return refuse(point, name, read.faults, read.settings, 0);
    add(point, alone.document, read.settings, 0);
  }

  void refuse(const Point& point, const std::string& strategy, const Faults& faults,
              const std::shared_ptr<const Settings>& settings, std::size_t of_settings) {
    const std::string& fault = faults.all().front().message;
    const double excess = excess_of(fault);
    Refused& made = refused(point, strategy, reason_of(fault), fault.substr(0, fault.find("; it would fit")), excess);
    if (excess > 0.0) made.settings = settings;
    made.of_settings = of_settings;
    made.unnamed = !settings;
  }

  Refused& refused(const Point& point, std::string strategy, std::string reason, std::string fault, double excess) {
    return candidates_.refused.emplace_back(Refused{.index = candidates_.size(),
                                                    .strategy = std::move(strategy),
                                                    .parameters = point.parameters,
                                                    .reason = std::move(reason),
                                                    .fault = std::move(fault),
                                                    .excess = excess});
  }

  void add(const Point& point, const scenario::Document& document, const std::shared_ptr<const Settings>& settings,
           std::size_t strategy) {
    const auto& entry = settings->strategies[strategy];
    Candidate made{
        .index = candidates_.size(),
        .document = document,
        .settings = settings,
        .strategy = strategy,
        .parameters = point.parameters,
        .run = experiment::plan_run(settings, strategy, point.parameters, static_cast<std::uint64_t>(settings->seed))};
    made.hosts = cluster::planned_hosts(settings->cluster, entry.hosts(settings->cluster.workers));
    if (const Faults faults = faults_of_file(made); !faults.empty()) {
      if (settings->strategies.size() > 1) return add_alone(point, strategy, made.run.label);
      return refuse(point, made.run.label, faults, settings, strategy);
    }
    if (beyond_memory(point, made) || beyond_hosts(point, made)) return;
    const auto rows = experiment::known_rows(*settings);
    made.batch = settings->batch(rows.value_or(1));
    const models::Problem problem = settings->problem();
    const models::Model& timed = settings->model.proxied() ? *settings->model.timed_as : *settings->model.model;
    made.tokens_a_sample = timed.tokens_a_sample(timed.own_problem().value_or(problem));
    const auto samples = samples_of(*settings, made.tokens_a_sample, rows.value_or(1));
    if (!settings->stop.loss && !samples)
      goal_faults_.add(
          experiment::place(document, "plan.tokens"),
          "the goal is a number of tokens, but the samples of this model are no text; expected plan.samples");
    made.samples = samples.value_or(0.0);
    if (samples) take_failures(made);
    if (!samples) {
      made.numbers_key = experiment::numbers_key(made.run);
      if (!made.numbers_key.empty()) made.numbers_key += fmt::format("/{}", settings->evaluate.every_steps.value_or(1));
    }
    check_prices_of(made, document, goal_faults_);
    candidates_.all.push_back(std::move(made));
  }

  /// The faults that the scenario's checks find once the rows of a file are known; they have found the others while
  /// reading.
  Faults faults_of_file(const Candidate& candidate) {
    const Settings& settings = *candidate.settings;
    Faults faults;
    if (!settings.training.numbers || !settings.data.source) return faults;
    const std::optional<std::uintmax_t> bytes = experiment::file_bytes(settings);
    if (!bytes || *bytes > most_bytes_) return faults;
    try {
      if (const experiment::Data& data = data_.get(candidate.run))
        experiment::check_fit(settings, experiment::problem_of(*data), data->train.rows, faults);
    } catch (const experiment::OverRunMemory&) {  // its runs fail, and say so
    } catch (const ScenarioError& error) {
      for (const std::string& text : error.faults()) faults.add(settings.places.data, text);
    }
    return faults;
  }

  /// Whether plan.memory, which may be less than the device has, does not suffice.
  bool beyond_memory(const Point& point, const Candidate& candidate) {
    const Settings& settings = *candidate.settings;
    const std::optional<double> limit = settings.goal.memory_bytes;
    const auto rows = experiment::known_rows(settings);
    if (!limit || !rows) return false;
    const double bytes = experiment::worker_memory_bytes(settings, *settings.strategies[candidate.strategy].as_run(),
                                                         settings.problem(), *rows);
    if (bytes <= *limit) return false;
    Refused& made = refused(point, candidate.run.label, "needs more memory than plan.memory",
                            fmt::format("a worker needs {}, but plan.memory is {}", outputs::byte_count(bytes),
                                        outputs::byte_count(*limit)),
                            bytes / *limit - 1.0);
    made.settings = candidate.settings;
    made.of_settings = candidate.strategy;
    return true;
  }

  /// Says how failures of an amount of training are taken in.
  void take_failures(Candidate& candidate) {
    if (const std::string why = refusal_of_failures(candidate); !why.empty())
      goal_faults_.add(experiment::place(candidate.document, "cluster.failures"), why);
    candidate.undisturbed = reliability_of(candidate, candidate.settings).has_value();
  }

  bool beyond_hosts(const Point& point, const Candidate& candidate) {
    std::map<std::string, std::int64_t> counts = hosts_by_class(candidate);
    for (const experiment::HostLimit& limit : candidate.settings->goal.hosts) {
      const std::int64_t needed = counts[limit.host_class];
      if (needed <= limit.most) continue;
      refused(point, candidate.run.label, fmt::format("needs more hosts of class {} than plan.hosts", limit.host_class),
              fmt::format("{} {} of class {}, but plan.hosts has at most {}", needed, needed == 1 ? "host" : "hosts",
                          limit.host_class, limit.most),
              limit.most > 0 ? static_cast<double>(needed) / static_cast<double>(limit.most) - 1.0
                             : static_cast<double>(needed));
      return true;
    }
    return false;
  }

  const SearchSpace& space_;
  const std::vector<std::string>& wanted_;
  const std::function<bool()>& goes_on_;
  std::uintmax_t most_bytes_;
  std::vector<std::string> known_;  ///< labels and kinds
  Faults goal_faults_;
  experiment::DataCache data_;
  Candidates candidates_;
};

}  // namespace

Candidates candidates_of(const SearchSpace& space, const std::vector<std::string>& strategies,
                         const std::function<bool()>& goes_on, std::uintmax_t most_bytes) {
  return Reading(space, strategies, goes_on, most_bytes).all();
}

std::string name_of(const std::string& strategy, const nlohmann::ordered_json& parameters) {
  std::string name = outputs::printable(strategy);
  for (const auto& [key, value] : parameters.items())
    name +=
        fmt::format(", {} = {}", key,
                    value.is_string() ? outputs::printable(value.get<std::string>()) : scenario::inline_toml(value));
  return name;
}

std::string name_of(const Refused& refused) {
  return name_of(refused.unnamed ? outputs::translated(refused.strategy) : refused.strategy, refused.parameters);
}

std::string name_of(const Candidate& candidate) { return name_of(candidate.run.label, candidate.parameters); }

}  // namespace simgrad::planner
