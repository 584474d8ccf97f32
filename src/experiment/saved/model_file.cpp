#include "experiment/saved/model_file.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/memory.h"
#include "experiment/saved/encoding_text.h"
#include "experiment/saved/model_check.h"
#include "outputs/reader.h"
#include "outputs/results.h"
#include "outputs/summary.h"
#include "scenario/document.h"

namespace simgrad::experiment {

namespace {

using Json = nlohmann::ordered_json;
using outputs::Reader;

constexpr std::string_view format_name = "simgrad model";
constexpr int format_version = 1;
constexpr std::size_t checksum_digits = 32;
constexpr std::array precisions{training::Precision::float64, training::Precision::float32,
                                training::Precision::bfloat16, training::Precision::float16,
                                training::Precision::float8};

/// A mixture's sources; null of other data.
Json json_of(const std::vector<models::SourceShape>& sources) {
  Json all;
  for (const models::SourceShape& source : sources)
    all.push_back({{"name", source.name},
                   {"first", source.first},
                   {"features", source.features},
                   {"rows", source.rows},
                   {"classes", source.classes}});
  return all;
}

std::vector<models::SourceShape> sources_in(const Reader& problem) {
  std::vector<models::SourceShape> all;
  if (!problem.has("sources")) return all;
  for (const Json& json : problem.array("sources")) {
    const Reader source(json, "sources", all.size());
    all.push_back({.name = source.text("name"),
                   .first = source.integer<std::int64_t>("first"),
                   .features = source.integer<std::int64_t>("features"),
                   .rows = source.integer<std::int64_t>("rows"),
                   .classes = source.integer<int>("classes")});
  }
  return all;
}

Json json_of(const models::Problem& problem) {
  Json json{{"features", problem.features},    {"classes", problem.classes},   {"users", problem.users},
            {"items", problem.items},          {"nonzeros", problem.nonzeros}, {"fields", problem.fields},
            {"vocabulary", problem.vocabulary}};
  if (!problem.sources.empty()) json["sources"] = json_of(problem.sources);
  return json;
}

models::Problem problem_in(const Json& json) {
  const Reader problem(json, "problem");
  return {.features = problem.integer<std::int64_t>("features"),
          .classes = problem.integer<int>("classes"),
          .users = problem.integer<std::int64_t>("users"),
          .items = problem.integer<std::int64_t>("items"),
          .nonzeros = problem.number("nonzeros"),
          .fields = problem.integer<std::int64_t>("fields"),
          .vocabulary = problem.integer<std::int64_t>("vocabulary"),
          .sources = sources_in(problem)};
}

/// The options of the model, without those that name files: a shape that a file gave is written out.
Json json_of(const ModelSection& section) {
  Json json = scenario::echo(section);
  for (const char* key : {"path", "config", "timed_as"}) json.erase(key);
  return json;
}

Json json_of(const std::vector<models::Layer>& layers) {
  Json all = Json::array();
  for (const models::Layer& layer : layers)
    all.push_back({{"name", layer.name},
                   {"first", layer.first},
                   {"count", layer.count},
                   {"rows", layer.rows},
                   {"columns", layer.columns}});
  return all;
}

std::vector<models::Layer> layers_in(const Json& json) {
  std::vector<models::Layer> all;
  for (const Json& each : json) {
    const Reader layer(each, "layers", all.size());
    models::Layer& read_layer = all.emplace_back();
    read_layer.name = layer.text("name");
    read_layer.first = layer.integer<std::int64_t>("first");
    read_layer.count = layer.integer<std::int64_t>("count");
    read_layer.rows = layer.integer<std::int64_t>("rows");
    read_layer.columns = layer.integer<std::int64_t>("columns");
  }
  return all;
}

Json first_line_of(const RunPlan& run, const data::Split& data, const models::Problem& problem,
                   const record::Record& record, std::size_t count) {
  const Settings& settings = *run.settings;
  const record::Evaluation& last = record.curve.back();
  return {{"format", format_name},
          {"version", format_version},
          {"id", run.id},
          {"strategy", run.kind},
          {"label", run.label},
          {"parameters", run.parameters},
          {"seed", run.seed},
          {"status", record::name(record.status)},
          {"step", last.step},
          {"loss", last.loss ? Json(*last.loss) : Json()},
          {"metric_name", record.metric_name},
          {"metric", last.metric ? Json(*last.metric) : Json()},
          {"precision", training::name(settings.training.precision)},
          {"model", json_of(settings.model)},
          {"problem", json_of(problem)},
          {"layers", json_of(settings.model.model->layers(problem))},
          {"encoding", experiment::json_of(*data.encoding)},
          {"count", count}};
}

/// Little-endian doubles.
std::string little_endian(std::span<const double> w) {
  std::string bytes(w.size() * sizeof(double), '\0');
  for (std::size_t i = 0; i < w.size(); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(w[i]);
    for (std::size_t k = 0; k < sizeof(double); ++k)
      bytes[i * sizeof(double) + k] = static_cast<char>((bits >> (8 * k)) & 0xFFU);
  }
  return bytes;
}

std::vector<double> doubles_in(std::string_view bytes) {
  std::vector<double> w(bytes.size() / sizeof(double));
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint64_t bits = 0;
    for (std::size_t k = 0; k < sizeof(double); ++k)
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i * sizeof(double) + k])) << (8 * k);
    w[i] = std::bit_cast<double>(bits);
  }
  return w;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw base::ScenarioError(fmt::format("{}:1:1: {}", file, what));
}

/// Throws unless the members that name the run are there.
void require_run(const Reader& line) {
  for (const char* key : {"id", "strategy", "label", "status", "metric_name"}) line.text(key);
  line.object("parameters");
  line.integer<std::uint64_t>("seed");
  line.integer<std::int64_t>("step");
  for (const char* key : {"loss", "metric"}) line.number_or_nothing(key);
}

/// The first line of a file's bytes.
Json heading_in(const std::string& file, std::string_view bytes) {
  if (!bytes.starts_with(beginning_of_model()))
    refuse(file, "is no model, expected a file that a run with save_model = true has left in models/");
  try {
    Json json = outputs::parse_json(std::string(bytes.substr(0, bytes.find('\n'))), file);
    const Reader line(json, "its first line");
    if (line.integer<std::int64_t>("version") != format_version)
      refuse(file, fmt::format("has another version of the format, expected {}", format_version));
    require_run(line);
    return json;
  } catch (const base::EnvironmentError& fault) {
    refuse(file, fmt::format("is damaged: {}", fault.what()));
  }
}

/// The place of the checksum, with which the parameters end; nothing if it is another one.
std::optional<std::size_t> parameters_end(std::string_view bytes) {
  const std::size_t begin = bytes.find('\n') + 1, end = bytes.size() - std::min(bytes.size(), checksum_digits);
  if (begin == 0 || end < begin || bytes.substr(end) != base::hash(bytes.substr(0, end))) return {};
  return end;
}

/// [model] by itself.
struct OnlyModel : base::Described {
  ModelSection section;
  void describe(base::Describer& d) override { d.section("model", section, "the model"); }
};

/// The options of a model, read as those of a scenario are.
ModelSection section_in(const std::string& file, const Json& options) {
  if (const std::string fault = options_fault(options); !fault.empty()) refuse(file, "has " + fault);
  OnlyModel model;
  try {
    const scenario::Document document = scenario::Document::parse(scenario::toml(Json{{"model", options}}), "[model]");
    scenario::Faults faults;
    document.read_into(model, faults);
    faults.raise_if_any();
  } catch (const base::ScenarioError& error) {
    refuse(file, fmt::format("has options that are no model's: {}", error.faults().front()));
  }
  return std::move(model.section);
}

training::Precision precision_in(const Reader& line) {
  const std::string name = line.text("precision");
  for (const training::Precision known : precisions)
    if (training::name(known) == name) return known;
  line.refuse("precision", line.at("precision"), "one that this release knows");
}

SavedModel model_in(const std::string& file, Json json, std::string_view parameters) {
  const Reader line(json, "its first line");
  const std::size_t count = parameters.size() / sizeof(double);
  if (parameters.size() % sizeof(double) != 0 || line.integer<std::uint64_t>("count") != count)
    refuse(file, "is damaged, expected as many parameters as its first line says");
  const ModelSection section = section_in(file, line.object("model"));
  SavedModel saved;
  saved.kind = section.model.kind();
  saved.model = section.model.shared();
  saved.problem = problem_in(line.at("problem"));
  saved.precision = precision_in(line);
  if (const std::string fault =
          shape_fault(*saved.model, saved.problem, layers_in(line.array("layers")), static_cast<std::int64_t>(count));
      !fault.empty())
    refuse(file, fmt::format("is no {} of a training: {}", saved.kind, fault));
  saved.encoding = encoding_of(line.at("encoding"));
  if (const std::string fault = encoding_fault(*saved.model, saved.problem, saved.encoding); !fault.empty())
    refuse(file, fmt::format("has data that its {} was not trained on: {}", saved.kind, fault));
  saved.w = doubles_in(parameters);
  for (const char* key : {"model", "problem", "layers", "encoding", "format", "version"}) json.erase(key);
  saved.run = std::move(json);
  return saved;
}

}  // namespace

std::string model_file(const std::string& out, const std::string& stem) {
  return fmt::format("{}/models/{}.model", out, stem);
}

bool has_model(const std::string& out, const std::string& stem) {
  try {
    const std::string bytes = base::read_file(
        model_file(out, stem),
        {.bytes_most = base::as_memory_allows, .contents = base::Contents::bytes, .links = base::Links::refuse});
    return bytes.starts_with(beginning_of_model()) && parameters_end(bytes).has_value();
  } catch (const base::TooMuchMemory&) {
    throw;  // which says nothing about the model
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::string beginning_of_model() { return fmt::format(R"({{"format":"{}",)", format_name); }

void write_model(const std::string& file, const RunPlan& run, const data::Split& data, const models::Problem& problem,
                 const record::Record& record, std::span<const double> w) {
  base::check(data.encoding != nullptr && !record.curve.empty(), "a model that was evaluated has data");
  std::string bytes = outputs::compact(first_line_of(run, data, problem, record, w.size()));
  bytes += '\n';
  bytes += little_endian(w);
  bytes += base::hash(bytes);
  outputs::write_file(file, bytes);
}

Json heading_of_model(const std::string& file) { return heading_in(file, outputs::read_file(file)); }

SavedModel read_model(const std::string& file) {
  const std::string bytes = outputs::read_file(file);
  Json json = heading_in(file, bytes);
  const std::string_view all(bytes);
  const auto whole_until = parameters_end(bytes);
  if (!whole_until) refuse(file, "is damaged, expected the contents of its checksum");
  const std::size_t begin = bytes.find('\n') + 1, end = *whole_until;
  try {
    return model_in(file, std::move(json), all.substr(begin, end - begin));
  } catch (const base::EnvironmentError& fault) {
    refuse(file, fmt::format("is damaged: {}", fault.what()));
  }
}

}  // namespace simgrad::experiment
