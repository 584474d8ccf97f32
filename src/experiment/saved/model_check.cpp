#include "experiment/saved/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/memory.h"
#include "data/limits.h"
#include "models/transformer.h"
#include "models/wide_and_deep.h"

namespace simgrad::experiment {

namespace {

using Json = nlohmann::ordered_json;

// With these limits no product of a problem's lengths and a model's options leaves 63 bits.
constexpr std::int64_t parameters_most = std::int64_t{1} << 33;
constexpr std::int64_t features_most = data::keys_most - 1;  // a bias is the key behind the features
constexpr std::size_t option_values_most = 100'000;
constexpr std::size_t sources_most = 1000;

constexpr std::array<std::string_view, 3> options_of_files{"path", "config", "timed_as"};

/// Counts the values of options, and finds one that no training writes.
std::string fault_among(const Json& value, std::size_t& count) {
  if (++count > option_values_most) return fmt::format("more than {} options of [model]", option_values_most);
  if (value.is_null()) return "an option of [model] without a value";
  if (!value.is_structured()) return {};
  for (const auto& [key, item] : value.items()) {
    if (value.is_object() && std::ranges::find(options_of_files, key) != options_of_files.end())
      return fmt::format("the option \"{}\" in its [model], which names a file; expected the shape itself", key);
    if (std::string fault = fault_among(item, count); !fault.empty()) return fault;
  }
  return {};
}

std::string range_fault(const char* name, std::int64_t found, std::int64_t least, std::int64_t most) {
  if (found >= least && found <= most) return {};
  return fmt::format("{} = {}, expected {} to {}", name, found, least, most);
}

/// 0, or at least two.
std::string classes_fault(std::int64_t classes) {
  return classes == 0 ? std::string() : range_fault("classes", classes, 2, data::values_most);
}

std::string sources_fault(const models::Problem& problem) {
  if (problem.sources.size() > sources_most) return fmt::format("more than {} sources", sources_most);
  std::int64_t first = 0;
  for (const models::SourceShape& source : problem.sources) {
    if (std::string fault = range_fault("features of a source", source.features, 1, problem.features); !fault.empty())
      return fault;
    if (std::string fault = classes_fault(source.classes); !fault.empty()) return fault;
    const std::int64_t room = (problem.features - first) / (source.features + 1);
    if (source.first != first || source.rows < 1 || source.rows > room)
      return "sources that are not one behind the other among the features";
    first += source.rows * (source.features + 1);
  }
  if (!problem.sources.empty() && first != problem.features) return "fewer columns in its sources than features";
  return {};
}

std::string problem_fault(const models::Problem& problem, std::int64_t parameters) {
  for (const std::string& fault :
       {range_fault("features", problem.features, 1, features_most), classes_fault(problem.classes),
        range_fault("users", problem.users, 0, parameters), range_fault("items", problem.items, 0, parameters),
        range_fault("vocabulary", problem.vocabulary, 0, parameters),
        range_fault("fields", problem.fields, 0, std::min(problem.features, parameters))})
    if (!fault.empty()) return fault;
  if (!(problem.nonzeros >= 0.0) || problem.nonzeros > static_cast<double>(problem.features))
    return fmt::format("nonzeros = {}, expected at most the features", problem.nonzeros);
  return sources_fault(problem);
}

/// Rows of wide_and_deep have an embedding for each field, or for each feature.
bool has_room_for_embeddings(const models::Model& model, const models::Problem& problem, std::int64_t parameters) {
  const auto* const wide = dynamic_cast<const models::WideAndDeep*>(&model);
  return !wide || (problem.fields > 0 ? problem.fields : problem.features) <= parameters / wide->embedding;
}

/// The memory that a prediction of one row takes. For text it holds the probabilities of all tokens, attention among
/// them, and what each part of a block makes of the tokens.
double bytes_of_row(const models::Model& model, const models::Problem& problem) {
  auto numbers = static_cast<double>(model.prediction_size(problem));
  if (const auto* const transformer = dynamic_cast<const models::Transformer*>(&model)) {
    const models::TransformerShape shape = transformer->options.shape(problem.vocabulary);
    const auto length = static_cast<double>(shape.sequence);
    numbers += length * (length + static_cast<double>(shape.hidden) + static_cast<double>(shape.feed_forward));
  }
  return 8.0 * numbers;
}

std::string layers_fault(const std::vector<models::Layer>& expected, const std::vector<models::Layer>& found) {
  const auto same = [](const models::Layer& a, const models::Layer& b) {
    return a.name == b.name && a.first == b.first && a.count == b.count && a.rows == b.rows && a.columns == b.columns;
  };
  return std::ranges::equal(expected, found, same) ? std::string() : "layers that are not those of its [model]";
}

}  // namespace

std::string options_fault(const Json& options) {
  std::size_t count = 0;
  return fault_among(options, count);
}

std::string shape_fault(const models::Model& model, const models::Problem& problem,
                        const std::vector<models::Layer>& layers, std::int64_t parameters) {
  if (std::string fault = range_fault("count", parameters, 1, parameters_most); !fault.empty()) return fault;
  if (std::string fault = problem_fault(problem, parameters); !fault.empty()) return fault;
  if (std::string fault = model.numbers_refusal(); !fault.empty()) return fault;
  if (problem.sources.empty() == (model.predicts() == models::Predicts::mixture))
    return fmt::format("{} sources, which its kind of model does not have", problem.sources.size());
  if (model.sequence() > 0 && (problem.vocabulary < 2 || problem.features != model.sequence()))
    return fmt::format("rows of {} tokens of {}, expected {} of at least two", problem.features, problem.vocabulary,
                       model.sequence());
  if (std::string fault = model.refusal(problem); !fault.empty()) return fault;
  const bool room = has_room_for_embeddings(model, problem, parameters);
  if (!room || model.parameters(problem) != parameters)
    return fmt::format("{} parameters, expected {}", parameters,
                       room ? fmt::format("{}", model.parameters(problem)) : "many more");
  if (bytes_of_row(model, problem) > static_cast<double>(base::half_of_free_memory()))
    return "rows that are too long for this machine's memory";
  return layers_fault(model.layers(problem), layers);
}

}  // namespace simgrad::experiment
