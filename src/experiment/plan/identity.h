/// The identity of a run: a hash of all that determines its results.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/plan/plan.h"

namespace simgrad::experiment {

/// Raised by every release that changes the results of a scenario.
constexpr int results_number = 6;

/// The members of a JSON object as texts, in their order. A seed is null in them: runs that differ by their seeds alone
/// have one text with other numbers in it.
using Members = std::vector<std::pair<std::string, std::string>>;

/// A JSON text in which the members called "seed" are open.
class SeededText {
 public:
  explicit SeededText(const Members& members);

  std::string with(std::uint64_t seed) const;

 private:
  std::vector<std::string> pieces_;  ///< a seed stands between any two of them
};

/// The sections of a grid point's settings as identities have them. A section that a point shares with the one before
/// is not written again.
class SectionTexts {
 public:
  /// document: the point's; null for settings that no document has as they are.
  Members of(const Settings& settings, const scenario::Document* document);
  /// The members of a baseline: sections that its training has in common with the run's are taken from `of_run`.
  Members of_baseline(const Settings& baseline, const Settings& run, const Members& of_run);

 private:
  std::optional<scenario::Document> document_;  ///< the last
  Members last_;
  std::map<std::string, std::string> clusters_;  ///< of baselines, by the few options that they keep
};

/// Plans the runs of one grid point. Runs of one strategy under many seeds share most of the work.
class PointPlanner {
 public:
  /// texts, document: of the points before, and of this one; null: the settings are all that is known.
  PointPlanner(std::shared_ptr<const Settings> settings, nlohmann::ordered_json parameters,
               SectionTexts* texts = nullptr, const scenario::Document* document = nullptr);

  /// The run of strategy `index` under a seed, with its id.
  RunPlan run(std::size_t index, std::uint64_t seed);
  /// The baseline of that run: the training by one worker at nominal speed, without network, failures or slow ranks.
  RunPlan baseline(std::size_t index, std::uint64_t seed);

 private:
  /// A run whose seed, id and work are open.
  struct Pattern {
    RunPlan run;
    SeededText id, work;
    bool works_as_baseline = false;
  };

  const Pattern& pattern(std::size_t index);
  const Pattern& baseline_pattern(std::size_t index);
  static RunPlan seeded(const Pattern& pattern, std::uint64_t seed);

  std::shared_ptr<const Settings> settings_;
  nlohmann::ordered_json parameters_;
  SectionTexts own_texts_;
  SectionTexts& texts_;
  Members sections_;
  std::map<std::size_t, Pattern> patterns_;   ///< by the strategy's index
  std::map<std::string, Pattern> baselines_;  ///< by their options
  std::map<std::size_t, Pattern*> baseline_of_;
};

/// The run of strategy `index` at a grid point under a seed, with its id.
RunPlan plan_run(const std::shared_ptr<const Settings>& settings, std::size_t index,
                 const nlohmann::ordered_json& parameters, std::uint64_t seed);

/// The run of a job at a grid point, beside all other jobs or by itself.
RunPlan plan_job(const std::shared_ptr<const Settings>& settings, const std::vector<JobPlan>& together, std::size_t job,
                 bool by_itself, const nlohmann::ordered_json& parameters, std::uint64_t seed);

}  // namespace simgrad::experiment
