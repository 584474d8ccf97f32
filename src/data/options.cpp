#include <fmt/format.h>

#include <array>
#include <cmath>

#include "data/limits.h"
#include "data/mixture.h"
#include "data/source.h"
#include "data/text_file.h"

namespace simgrad::data {

void Options::describe(base::Describer& d) {
  using base::Bounds;
  d.inline_component("source", source, "the source of the samples: a generator or a file");
  d.integer("samples", samples, "the number of samples that a generator makes (default 1000)",
            Bounds::between(1.0, 1e15));
  d.integer("features", features, "the number of features that a generator makes (default 10; click_log 10000)",
            Bounds::between(1.0, 1e12));
  d.number("test_fraction", test_fraction, "the share of rows, chosen by the seed, that is kept for testing; below 1",
           Bounds::between(0.0, 1.0));
  d.flag("standardize", standardize,
         "whether features are scaled to mean 0 and standard deviation 1 over the training set; users, items and "
         "sparse rows are not");
  d.flag("standardize_target", standardize_target,
         "whether the target of a regression, or ratings, are scaled in the same way");
  if (source->nonzeros()) {
    if (standardize && d.given("standardize"))
      d.refuse("standardize", fmt::format("standardize = true would fill in the zeros that the sparse rows of data "
                                          "source \"{}\" leave out; leave standardize out",
                                          source.kind()));
    standardize = false;
  }
  if (test_fraction == 1.0) d.refuse("test_fraction", "test_fraction = 1 leaves no rows to train on, expected less");
}

std::int64_t Options::samples_made() const { return source->fixed_samples().value_or(samples.value_or(1000)); }
std::int64_t Options::features_made() const {
  return source->fixed_features().value_or(features.value_or(source->default_features()));
}

std::int64_t Options::training_rows() const {
  if (const Mixture* const mixture = source->mixture()) return mixture->training_samples(test_fraction);
  const std::int64_t all = samples_made();
  return all - std::llround(test_fraction * static_cast<double>(all));
}

std::string_view name(Task task) {
  constexpr std::array<std::string_view, 6> names{"regression", "classification", "recommendation",
                                                  "clustering", "text",           "mixture"};
  return names[static_cast<std::size_t>(task)];
}

namespace {

/// A mixture serves models of several sources, and no other source does.
std::string mixture_refusal(const Options& options, Task task) {
  const Mixture* const mixture = options.source->mixture();
  if ((mixture != nullptr) == (task == Task::mixture)) return mixture ? mixture->refusal() : std::string();
  return mixture
             ? "data source \"mixture\" has rows of several sources, each with a target of its own; use [model] kind "
               "= \"multimodal_perceptron\", or one source"
             : fmt::format(
                   "data source \"{}\" is one source, but the model has a tower for each of several; use "
                   "source = \"mixture\", whose parts are the sources, or another model",
                   options.source.kind());
}

}  // namespace

std::string task_refusal(const Options& options, Task task) {
  if (const std::string fault = mixture_refusal(options, task); !fault.empty() || task == Task::mixture) return fault;
  if (options.source->generates() || options.source->suits(task)) return {};
  if (task == Task::text)
    return fmt::format(
        "data source \"{}\" has no sequences of tokens; use \"text\" or \"markov\", or a model that predicts something "
        "else",
        options.source.kind());
  if (options.source->suits(Task::text))
    return fmt::format(
        "data source \"{}\" has sequences of tokens, which only a model of text predicts; use [model] kind = "
        "\"transformer\", or another source",
        options.source.kind());
  if (task != Task::recommendation)
    return fmt::format(
        "data source \"{}\" has no labels, which a {} needs; give labels_path, or a model that needs none "
        "([model] kind = \"k_means\")",
        options.source.kind(), name(task));
  return fmt::format(
      "data source \"{}\" has no users, items and ratings; use \"ratings\" or \"csv\", or a model that "
      "predicts something else",
      options.source.kind());
}

std::string size_refusal(const Options& options, bool numbers) {
  if (const Mixture* const mixture = options.source->mixture()) return mixture->size_refusal(options, numbers);
  if (const auto fixed = options.source->fixed_features(); fixed && options.features.value_or(*fixed) != *fixed)
    return fmt::format("features = {} with the data source \"{}\", whose samples have {}; leave it out",
                       *options.features, options.source.kind(), *fixed);
  if (!numbers) return {};
  if (options.source->generates()) {
    const auto nonzeros = options.source->nonzeros();
    const std::string fault = nonzeros ? too_large_sparse(options.samples_made(), *nonzeros, options.features_made())
                                       : too_large(options.samples_made(), options.features_made());
    return fault.empty() ? fault : fmt::format("data source \"{}\": {}", options.source.kind(), fault);
  }
  const bool features = options.features && !options.source->suits(Task::text);  // else the model's sequence
  if (!options.samples && !features) return {};
  return fmt::format(
      "{} with the data source \"{}\": the file decides its size; leave it out (only a timing-only run, "
      "training.numbers = false, uses it, because it does not read the file)",
      options.samples ? "samples" : "features", options.source.kind());
}

}  // namespace simgrad::data
