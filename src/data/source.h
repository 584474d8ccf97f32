/// The source of samples: a generator or a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "data/dataset.h"

namespace simgrad::data {

/// The arguments of Source::load.
struct Request {
  Task task = Task::regression;
  std::uint64_t seed = 1;
  std::int64_t samples = 0;   ///< for generators
  std::int64_t features = 0;  ///< for generators; of a text the tokens of a row
  bool sparse = false;        ///< sparse rows, if the source has them
};

struct Mixture;
struct RowGenerator;

class Source : public base::Described {
 public:
  /// Whether this is a generator, whose size `samples` and `features` decide; a file has a size of its own.
  virtual bool generates() const = 0;
  /// Whether the source's samples serve such a task. A file may hold numbers or classes; only some sources have users
  /// and items.
  virtual bool suits(Task task) const {
    return task != Task::recommendation && task != Task::text && task != Task::mixture;
  }
  /// The source as a mixture of others; null where it is none.
  virtual const Mixture* mixture() const { return nullptr; }
  /// The source as one that makes each row where it will stay; null where it is none.
  virtual const RowGenerator* row_generator() const { return nullptr; }
  /// The number of features, if it is not a choice; and of samples.
  virtual std::optional<std::int64_t> fixed_features() const { return {}; }
  virtual std::optional<std::int64_t> fixed_samples() const { return {}; }
  /// The number of features that are not zero in a row, if rows are sparse.
  virtual std::optional<std::int64_t> nonzeros() const { return {}; }
  /// The number of features that a generator makes by default.
  virtual std::int64_t default_features() const { return 10; }
  /// Whether rows that are requested as sparse are never a dense matrix, which could be standardised.
  virtual bool keeps_sparse() const { return nonzeros().has_value(); }
  /// The files read, the samples' first; none for a generator.
  virtual std::vector<std::string> files() const { return {}; }
  /// Errors: ScenarioError `file:line: what, expected what` for wrong contents; EnvironmentError for a file that cannot
  /// be opened or read.
  virtual Dataset load(const Request& request) const = 0;
};

/// The kinds of source.
const base::Registry<Source>& sources();

/// The scenario's section [data].
struct Options : base::Described {
  base::Slot<Source> source{sources(), "house_prices"};
  std::optional<std::int64_t> samples;   ///< default 1000 for a generator; refused for a file unless timing only
  std::optional<std::int64_t> features;  ///< default 10; of a text the model's sequence
  double test_fraction = 0.0;
  bool standardize = true;
  bool standardize_target = true;

  void describe(base::Describer& d) override;
  std::int64_t samples_made() const;   ///< `samples` or its default
  std::int64_t features_made() const;  ///< `features` or its default
  /// The rows of the training set that remain of samples_made().
  std::int64_t training_rows() const;
};

/// The task's name: "regression", ...
std::string_view name(Task task);

/// The reason why the source's samples do not serve the task, or empty. Generators name their own task when they load.
std::string task_refusal(const Options& options, Task task);

/// The reason why `samples` and `features` do not suit the source, or empty: they are given for a file that is read, or
/// they are too large for a generator. A timing-only run (numbers false) accepts any.
std::string size_refusal(const Options& options, bool numbers);

/// The data set of a run: loaded, split, standardised by the training set's statistics, its training rows shuffled by
/// the seed when `shuffle` (so that contiguous shards are random ones), a last constant column of ones when `bias`.
/// Sparse rows of the source are not standardised; rows in the order of time are not shuffled.
struct Preparation {
  Task task = Task::regression;
  std::uint64_t seed = 1;
  bool shuffle = true;
  bool bias = false;
  bool sparse = false;  ///< dense rows are made sparse, too
  int threads = 1;      ///< that make and standardise large data; the numbers do not depend on it
};
/// Loads the data set. The test set has round(test_fraction * rows) rows. A constant column is centred, not scaled; the
/// bias is neither. Errors: those of the source; ScenarioError if a side of the split would be empty.
Split load(const Options& options, const Preparation& preparation);

}  // namespace simgrad::data
