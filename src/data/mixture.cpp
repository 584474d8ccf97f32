#include "data/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "data/encoding.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

using base::Bounds;

std::uint64_t seed_of_part(std::uint64_t seed, std::size_t part) {
  if (part == 0) return seed;
  const std::array<std::uint64_t, 2> words{seed, part};
  return base::digest(words).low;
}

/// Samples with so many rows of a source that all of its rows are in one.
std::int64_t samples_of(std::int64_t rows, std::int64_t rows_a_sample) {
  return rows / rows_a_sample + (rows % rows_a_sample == 0 ? 0 : 1);
}

void add_part(Dataset& set, const std::string& name, std::int64_t features, std::int64_t rows, int classes) {
  const PartColumns part{.name = name, .first = set.columns, .features = features, .rows = rows, .classes = classes};
  set.columns += part.columns();
  set.parts.push_back(part);
}

void add_names(Dataset& set, const PartColumns& part, const Dataset& source) {
  for (std::int64_t k = 0; k < part.rows; ++k) {
    const std::string row = part.rows == 1 ? part.name : fmt::format("{}[{}]", part.name, k);
    for (const std::string& feature : source.feature_names) set.feature_names.push_back(row + "." + feature);
    set.feature_names.push_back(row + "." + source.target_name);
  }
}

void write_samples(Dataset& set, const PartColumns& part, const Dataset& source) {
  for (std::int64_t i = 0; i < set.rows; ++i) {
    double* to = set.features.data() + i * set.columns + part.first;
    for (std::int64_t k = 0; k < part.rows; ++k) {
      const std::int64_t row = (i * part.rows + k) % source.rows;
      to = std::ranges::copy(source.row(row), to).out;
      *to++ = source.targets[static_cast<std::size_t>(row)];
    }
  }
}

/// The samples of all sources' rows.
Dataset joined(const Mixture& mixture, const std::vector<const Dataset*>& all) {
  Dataset set;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const MixturePart& part = mixture.parts[j];
    add_part(set, part.title(), all[j]->columns, part.rows, all[j]->classes);
    set.rows = std::max(set.rows, samples_of(all[j]->rows, part.rows));
    set.in_time = set.in_time || all[j]->in_time;
    add_names(set, set.parts.back(), *all[j]);
    for (const std::string& note : all[j]->notes) set.notes.push_back(fmt::format("{}: {}", part.title(), note));
  }
  if (set.rows == 0) return set;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const double times = static_cast<double>(set.rows * set.parts[j].rows) / static_cast<double>(all[j]->rows);
    if (times >= 1.5)
      set.notes.push_back(
          fmt::format("{}: its {} rows come {:.3g} times in an epoch of {} samples, which the longest "
                      "source has",
                      set.parts[j].name, all[j]->rows, times, set.rows));
  }
  if (const std::string fault = too_large(set.rows, set.columns); !fault.empty())
    throw base::ScenarioError(fmt::format("data source \"mixture\": {}", fault));
  set.features.resize(static_cast<std::size_t>(set.rows * set.columns));
  set.targets.resize(static_cast<std::size_t>(set.rows));
  for (std::size_t j = 0; j < all.size(); ++j) write_samples(set, set.parts[j], *all[j]);
  return set;
}

}  // namespace

void MixturePart::describe(base::Describer& d) {
  constexpr std::array<base::Choice, 2> kinds{{{"number", "a number, by squared error"}, {"classes", "a class"}}};
  d.text("name", name, "the source's name in messages and files (default: its kind)");
  d.inline_component("source", source, "the source of the part's rows: a generator or a file");
  d.integer("samples", samples, "the number of rows that a generator makes (default 1000)", Bounds::between(1.0, 1e15));
  d.integer("features", features, "the number of features that a generator makes (default 10)",
            Bounds::between(1.0, 1e12));
  d.integer("rows", rows, "the rows of this source in every sample", Bounds::between(1.0, 1e6));
  d.choice("predicts", predicts, {"as_the_source", "the only kind of target that the source has"}, kinds,
           "the kind of the rows' targets");
  if (name && name->empty()) d.refuse("name", "a part without a name; expected one, or no name at all");
  if (predicts && !source->suits(*task()))
    d.refuse("predicts", fmt::format("the source \"{}\" has {}; leave predicts out", source.kind(),
                                     *predicts == Predicts::number ? "classes" : "numbers"));
  if (!task() && !source.kind().empty())
    d.refuse("source", fmt::format("the source \"{}\" may hold numbers or classes; say which of them the part is to "
                                   "predict: predicts = \"number\" or predicts = \"classes\"",
                                   source.kind()));
}

std::optional<Task> MixturePart::task() const {
  if (predicts) return *predicts == Predicts::number ? Task::regression : Task::classification;
  const bool number = source->suits(Task::regression), classes = source->suits(Task::classification);
  if (number && classes) return {};
  return number ? Task::regression : Task::classification;
}

Options MixturePart::alone(const Options& mixture) const {
  Options options;
  options.source = source;
  options.samples = samples;
  options.features = features;
  options.test_fraction = mixture.test_fraction;
  options.standardize = mixture.standardize;
  options.standardize_target = mixture.standardize_target;
  return options;
}

void Mixture::describe(base::Describer& d) {
  d.list("parts", parts, "the sources");
  std::set<std::string> names;
  for (const MixturePart& part : parts)
    if (!names.insert(part.title()).second)
      d.refuse("parts", fmt::format("two parts are named \"{}\"; give one of them a name of its own", part.title()));
}

bool Mixture::generates() const {
  return std::ranges::all_of(parts, [](const MixturePart& part) { return part.source->generates(); });
}

std::vector<std::string> Mixture::files() const {
  std::vector<std::string> all;
  for (const MixturePart& part : parts)
    for (std::string& file : part.source->files()) all.push_back(std::move(file));
  return all;
}

std::optional<std::int64_t> Mixture::fixed_features() const { return std::max<std::int64_t>(outline().columns, 1); }
std::optional<std::int64_t> Mixture::fixed_samples() const { return training_samples(0.0); }

Dataset Mixture::load(const Request&) const {
  base::check(false, "a mixture is loaded source by source");
  return {};
}

Dataset Mixture::outline() const {
  Dataset set;
  for (const MixturePart& part : parts) {
    const Options options = part.alone({});
    int classes = part.task() == Task::classification ? 2 : 0;
    if (part.source->generates() && part.task() && part.source->suits(*part.task()))
      classes = part.source->load({.task = *part.task(), .seed = 0, .samples = 1, .features = 1}).classes;
    add_part(set, part.title(), options.features_made(), part.rows, classes);
  }
  return set;
}

std::int64_t Mixture::training_samples(double test_fraction) const {
  std::int64_t most = 0;
  for (const MixturePart& part : parts) {
    Options options = part.alone({});
    options.test_fraction = test_fraction;
    most = std::max(most, samples_of(options.training_rows(), part.rows));
  }
  return most;
}

std::string Mixture::refusal() const {
  if (parts.empty()) return "data source \"mixture\" has no parts, expected one [[data.parts]] for each of its sources";
  for (const MixturePart& part : parts)
    if (const std::string fault = task_refusal(part.alone({}), part.task().value_or(Task::regression)); !fault.empty())
      return fmt::format("part \"{}\": {}", part.title(), fault);
  return {};
}

std::string Mixture::size_refusal(const Options& options, bool numbers) const {
  if (options.samples || options.features)
    return fmt::format("{} with the data source \"mixture\": each of its parts has its own; leave it out",
                       options.samples ? "samples" : "features");
  for (const MixturePart& part : parts) {
    if (const std::string fault = data::size_refusal(part.alone(options), numbers); !fault.empty())
      return fmt::format("part \"{}\": {}", part.title(), fault);
    const std::int64_t samples = part.alone(options).samples_made();
    if (numbers && part.source->generates() && part.rows > samples)
      return fmt::format("part \"{}\": rows = {} of every sample, but the source makes {}", part.title(), part.rows,
                         samples);
  }
  if (!numbers || !generates() || parts.empty()) return {};
  const std::string fault = too_large(options.samples_made(), outline().columns);
  return fault.empty() ? fault : fmt::format("data source \"mixture\": {}", fault);
}

Split load_mixture(const Mixture& mixture, const Options& options, const Preparation& preparation) {
  std::vector<Split> splits;
  auto encoding = std::make_shared<Encoding>();
  encoding->task = Task::mixture;
  for (std::size_t j = 0; j < mixture.parts.size(); ++j) {
    const MixturePart& part = mixture.parts[j];
    base::check(part.task().has_value(), "a part's task is known");
    try {
      splits.push_back(load(part.alone(options), {.task = *part.task(),
                                                  .seed = seed_of_part(preparation.seed, j),
                                                  .shuffle = preparation.shuffle,
                                                  .threads = preparation.threads}));
    } catch (const base::ScenarioError& error) {
      if (!part.source->files().empty()) throw;  // the text names the file
      throw base::ScenarioError(fmt::format("part \"{}\": {}", part.title(), error.what()));
    }
    if (splits.back().train.rows < part.rows)
      throw base::ScenarioError(fmt::format("part \"{}\": rows = {} of every sample, but there {} {} to train on",
                                            part.title(), part.rows, splits.back().train.rows == 1 ? "is" : "are",
                                            splits.back().train.rows));
    encoding->part_names.push_back(part.title());
    encoding->parts.push_back(*splits.back().encoding);
  }
  std::vector<const Dataset*> train, test;
  for (const Split& split : splits) {
    train.push_back(&split.train);
    test.push_back(&split.test);
  }
  Split split{.train = joined(mixture, train), .test = joined(mixture, test)};
  encoding->features = split.train.columns;
  split.encoding = std::move(encoding);
  return split;
}

}  // namespace simgrad::data
