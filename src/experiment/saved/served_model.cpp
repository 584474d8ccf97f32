#include "experiment/saved/served_model.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "experiment/plan/places.h"
#include "experiment/saved/model_file.h"
#include "models/transformer.h"

namespace simgrad::experiment {

namespace {

using models::TransformerShape;

constexpr const char* key = "serving.model";

struct ShapeOption {
  const char* name;
  std::string (*text)(const TransformerShape&);
};

std::string norm_text(const TransformerShape& s) {
  return s.norm == models::Norm::layer_norm ? "\"layer_norm\"" : "\"rms_norm\"";
}

std::string positions_text(const TransformerShape& s) {
  if (s.positions == models::Positions::learned) return "\"learned\"";
  return s.positions == models::Positions::rotary ? "\"rotary\"" : "\"none\"";
}

/// The options of [model] on which the parameters or their meaning depend.
constexpr std::array shape_options{
    ShapeOption{"layers", [](const TransformerShape& s) { return fmt::to_string(s.layers); }},
    ShapeOption{"hidden", [](const TransformerShape& s) { return fmt::to_string(s.hidden); }},
    ShapeOption{"heads", [](const TransformerShape& s) { return fmt::to_string(s.heads); }},
    ShapeOption{"kv_heads", [](const TransformerShape& s) { return fmt::to_string(s.kv_heads); }},
    ShapeOption{"feed_forward", [](const TransformerShape& s) { return fmt::to_string(s.feed_forward); }},
    ShapeOption{"gated", [](const TransformerShape& s) { return fmt::to_string(s.gated); }},
    ShapeOption{"sequence", [](const TransformerShape& s) { return fmt::to_string(s.sequence); }},
    ShapeOption{"vocabulary", [](const TransformerShape& s) { return fmt::to_string(s.vocabulary); }},
    ShapeOption{"tied", [](const TransformerShape& s) { return fmt::to_string(s.tied); }},
    ShapeOption{"biases", [](const TransformerShape& s) { return fmt::to_string(s.biases); }},
    ShapeOption{"experts", [](const TransformerShape& s) { return fmt::to_string(s.experts); }},
    ShapeOption{"norm", norm_text},
    ShapeOption{"positions", positions_text}};

/// "72 characters", "256 bytes"
std::string tokens_text(const data::Encoding& encoding) {
  const bool text = encoding.form == data::Encoding::Form::text;
  return fmt::format("{} {}", encoding.vocabulary,
                     !text                         ? "numbered tokens"
                     : encoding.characters.empty() ? "bytes"
                                                   : "characters");
}

}  // namespace

void check_served_model(const Settings& settings, const scenario::Document& document, scenario::Faults& faults) {
  const std::string& file = settings.serving.model;
  if (file.empty()) return;
  const scenario::Position position = place(document, key);
  if (!settings.training.numbers)
    return faults.add(
        position,
        "serving.model with training.numbers = false, under which no answer is computed; leave one of them out");
  const SavedModel saved = read_model(file);
  const auto* const trained = dynamic_cast<const models::Transformer*>(saved.model.get());
  if (!trained)
    return faults.add(position, fmt::format("{} has a {}; expected a transformer, as [model]", file, saved.kind));
  if (saved.precision != training::Precision::float64)
    faults.add(position, fmt::format("{} was trained with precision = \"{}\", but answers are computed in float64; "
                                     "expected a model of a training in float64",
                                     file, training::name(saved.precision)));
  const auto& model = dynamic_cast<const models::Transformer&>(*settings.model.model);
  const TransformerShape has = trained->options.shape(saved.problem.vocabulary),
                         wanted = model.options.shape(saved.problem.vocabulary);
  for (const ShapeOption& option : shape_options)
    if (const std::string found = option.text(has), expected = option.text(wanted); found != expected)
      faults.add(position, fmt::format("{} has {} = {}, but [model] has {}; expected the options of its training", file,
                                       option.name, found, expected));
  if (const std::string why = model.cut()->refusal(saved.problem, settings.parallel.shares()); !why.empty())
    faults.add(position, fmt::format("{} cannot be cut in this way: {}; a model that serves so has to be trained with "
                                     "such options, or is served with another tensor",
                                     file, why));
}

std::vector<double> served_parameters(const Settings& settings, const data::Split& data) {
  SavedModel saved = read_model(settings.serving.model);
  const data::Encoding &trained = saved.encoding, &given = *data.encoding;
  scenario::Faults faults;
  if (trained.form != given.form || trained.vocabulary != given.vocabulary || trained.characters != given.characters)
    faults.add(
        settings.places.served_model,
        fmt::format("{} was trained on {}, but the prompts are of {}; expected the tokens of its training, as its "
                    "own data have them",
                    settings.serving.model, tokens_text(trained), tokens_text(given)));
  // The file was checked before, and is read again here.
  if (std::cmp_not_equal(saved.w.size(), settings.model.model->parameters(saved.problem)))
    faults.add(settings.places.served_model,
               fmt::format("{} is another model than at the beginning of this command", settings.serving.model));
  faults.raise_if_any();
  return std::move(saved.w);
}

}  // namespace simgrad::experiment
