/// A mixture: samples that have rows of several sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/source.h"

namespace simgrad::data {

/// The sources that can be parts of a mixture: those of dense rows with a number or a class each.
const base::Registry<Source>& part_sources();

/// One source of a mixture.
struct MixturePart : base::Described {
  enum class Predicts { number, classes };

  std::optional<std::string> name;  ///< default: the source's kind
  base::Slot<Source> source{part_sources(), "house_prices"};
  std::optional<std::int64_t> samples;   ///< as Options::samples
  std::optional<std::int64_t> features;  ///< as Options::features
  std::int64_t rows = 1;                 ///< of this source in every sample
  std::optional<Predicts> predicts;      ///< none: as the source has it

  void describe(base::Describer& d) override;
  std::string title() const { return name.value_or(std::string(source.kind())); }
  /// The task of its rows: as `predicts` says, or the only one that the source suits; nothing if it suits both.
  std::optional<Task> task() const;
  /// This source alone, split and standardised as the mixture says.
  Options alone(const Options& mixture) const;
};

/// Sample i of a mixture has the rows k i .. k i + k - 1 of each source, where k is the part's `rows`. An epoch goes
/// through the longest source once, and the rows of shorter sources come again. A sample is one row of a matrix: part
/// after part its rows, each its features and then its target. Every source is split into training and test rows, and
/// standardised, by itself. Part j > 0 is made with a seed of its own, so that two generators of one kind make unlike
/// rows.
struct Mixture final : Source {
  static constexpr base::About about{
      .kind = "mixture",
      .summary = "Several sources: every sample has rows of each, for a model with a tower for each",
      .cost = "that of its sources",
      .source = "P. Barham et al., Pathways: Asynchronous Distributed Dataflow for ML, 2022"};

  std::vector<MixturePart> parts;

  void describe(base::Describer& d) override;
  bool generates() const override;
  bool suits(Task task) const override { return task == Task::mixture; }
  const Mixture* mixture() const override { return this; }
  std::optional<std::int64_t> fixed_features() const override;
  std::optional<std::int64_t> fixed_samples() const override;
  std::vector<std::string> files() const override;
  /// Errors: InvariantError, since its sources are loaded one by one: load_mixture.
  Dataset load(const Request& request) const override;

  /// The columns of its samples, as far as they are known before files are read: a file's classes are two.
  Dataset outline() const;
  /// Samples of the training set, and of the test set, if that share of every source's rows is kept for testing.
  std::int64_t training_samples(double test_fraction) const;
  /// The reason why these parts are no mixture, or empty; and as data::size_refusal has it.
  std::string refusal() const;
  std::string size_refusal(const Options& options, bool numbers) const;
};

/// data::load of a mixture. `shuffle` holds for every source; `bias` and `sparse` do not concern mixtures.
Split load_mixture(const Mixture& mixture, const Options& options, const Preparation& preparation);

}  // namespace simgrad::data
