/// Files that describe a model or its requests: config.json, tables of layers and of operators, traces of requests.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan/plan.h"
#include "fuzz/targets.h"
#include "models/profiles/layer_table.h"
#include "models/profiles/operator_table.h"
#include "models/transformer_config.h"
#include "models/transformer_shape.h"
#include "serving/requests.h"

namespace simgrad::fuzz {

namespace {

bool is_amount(double number) { return std::isfinite(number) && number >= 0.0; }

std::vector<experiment::RunPlan> planned(const std::string& scenario) {
  return experiment::make_plan(files().write("described.toml", scenario), {.baselines = false}).runs;
}

/// The runs of a scenario whose model is in a file beside it.
std::vector<experiment::RunPlan> planned_with(std::string_view model) {
  return planned(fmt::format(R"(
[cluster]
workers = 2
[data]
samples = 100
[model]
{}
[training]
numbers = false
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
)",
                             model));
}

constexpr const char* served = R"(
[cluster]
workers = 2
device = "a100_80gb"
[model]
kind = "transformer"
preset = "gpt2"
[training]
numbers = false
[serving]
trace = "requests.csv"
)";

/// Layers follow each other in w, in units that follow each other, with work that a device can do.
void check_layers(const std::vector<models::Layer>& layers) {
  std::int64_t end = 0, unit = 0;
  double flops = 0.0, bytes = 0.0;
  for (const models::Layer& layer : layers) {
    expect(layer.first == end && layer.count >= 0, "a layer does not begin where the one before ends");
    expect(layer.unit == unit || layer.unit == unit + 1, "units do not follow each other");
    expect(is_amount(layer.forward_flops) && is_amount(layer.backward_flops), "flops that are no amount");
    expect(is_amount(layer.kept.bytes) && is_amount(layer.kept.numbers), "activations that are no amount");
    end += layer.count;
    flops += layer.forward_flops + layer.backward_flops;
    bytes += layer.kept.bytes;
    unit = layer.unit;
  }
  constexpr std::int64_t most = 100'000'000'000'000'000;
  expect(end <= most, "more parameters than a model may have");
  expect(std::isfinite(flops) && std::isfinite(bytes), "sums over the layers that are not finite");
}

/// The layers of the model that the scenario has, as a run cuts it.
std::vector<models::Layer> planned_layers(const std::vector<experiment::RunPlan>& runs) {
  expect(runs.size() == 1, "not one run of one strategy");
  const models::Model& model = *runs.front().settings->model.model;
  std::vector<models::Layer> layers = model.layers(model.own_problem().value_or(models::Problem{}));
  check_layers(layers);
  return layers;
}

}  // namespace

void read_config(const std::string& bytes) {
  const models::TransformerShape shape = models::shape_in_config(files().write("config.json", bytes));
  // The bounds that `explain transformer` states hold for the numbers of a file, too.
  const auto within = [](std::int64_t number, const base::Bounds& bounds) {
    return bounds.contains(static_cast<double>(number));
  };
  constexpr models::ShapeBounds bounds = models::shape_bounds;
  expect(within(shape.layers, bounds.layers) && within(shape.hidden, bounds.hidden) &&
             within(shape.heads, bounds.heads) && within(shape.kv_heads, bounds.heads) &&
             within(shape.feed_forward, bounds.feed_forward) && within(shape.sequence, bounds.sequence) &&
             within(shape.vocabulary, bounds.vocabulary),
         "a number outside of the bounds of its option");
  const auto of_run = planned_layers(planned_with("kind = \"transformer\"\nconfig = \"config.json\""));
  expect(models::refusal(shape).empty(), "a shape that is refused is planned");
  expect(shape.hidden % shape.heads == 0 && shape.heads % shape.kv_heads == 0, "heads that do not divide");
  const std::vector<models::Layer> layers = models::layers(shape);
  check_layers(layers);
  expect(layers.back().first + layers.back().count == models::parameters(shape),
         "layers have not the parameters of the shape");
  expect(of_run.size() == layers.size() && of_run.back().first == layers.back().first, "a run of another shape");
}

void read_profile(const std::string& bytes) {
  const models::LayerTable table = models::read_layers(files().write("layers.csv", bytes));
  check_layers(table.layers);
  expect(table.entrance_bytes.empty() || table.entrance_bytes.size() == table.layers.size(),
         "bytes at the entrance are not one number for each layer");
  for (const double entrance : table.entrance_bytes) expect(is_amount(entrance), "bytes at the entrance are no amount");
  std::string text =
      "name,parameters,forward_flops,backward_flops,forward_s,backward_s,weights_s,activation_bytes,unit\n";
  bool splits = false;  // a column of zeros would be refused
  for (const models::Layer& layer : table.layers) {
    expect(is_amount(layer.forward_s) && is_amount(layer.backward_s), "seconds that are no amount");
    expect(layer.weights_s >= 0.0 && layer.weights_s <= layer.backward_s, "weights_s is more than backward_s");
    splits = splits || layer.weights_s > 0.0;
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", layer.name, layer.count, layer.forward_flops, layer.backward_flops,
                    layer.forward_s, layer.backward_s, layer.weights_s, layer.kept.bytes, layer.unit);
  }
  if (splits) {
    const models::LayerTable again = models::read_layers(files().write("again.csv", text));
    expect(again.layers.size() == table.layers.size(), "a table that is read back has other layers");
    for (std::size_t k = 0; k < again.layers.size(); ++k) {
      const models::Layer &one = table.layers[k], &other = again.layers[k];
      expect(one.name == other.name && one.first == other.first && one.count == other.count &&
                 one.forward_flops == other.forward_flops && one.backward_flops == other.backward_flops &&
                 one.forward_s == other.forward_s && one.backward_s == other.backward_s &&
                 one.weights_s == other.weights_s && one.kept.bytes == other.kept.bytes && one.unit == other.unit,
             "a table that is read back differs");
    }
  }
  const auto of_run = planned_layers(planned_with("kind = \"profile\"\npath = \"layers.csv\""));
  expect(of_run.size() == table.layers.size() && of_run.back().first == table.layers.back().first,
         "a run of other layers");
}

namespace {

std::string csv(const std::vector<models::GraphOperator>& table) {
  std::string text = "name,inputs,flops,backward_flops,parameters,output_bytes,activation_bytes\n";
  const auto optional = [](const std::optional<double>& number) { return number ? fmt::to_string(*number) : ""; };
  for (const models::GraphOperator& each : table)
    text +=
        fmt::format("{},{},{},{},{},{},{}\n", each.name, fmt::join(each.inputs, " "), each.flops,
                    optional(each.backward_flops), each.parameters, each.output_bytes, optional(each.activation_bytes));
  return text;
}

}  // namespace

void read_operators(const std::string& bytes) {
  if (bytes.find("[[") != std::string::npos) {  // tables of TOML
    files().write("operators.toml", bytes);
    planned_layers(planned_with("kind = \"operator_graph\"\npath = \"operators.toml\""));
    return;
  }
  const auto table = models::read_operators(files().write("operators.csv", bytes));
  const models::OrderedGraph graph = models::ordered(table);
  expect(!graph.fault && graph.order.size() == table.size() && graph.inputs.size() == table.size(), "no order of all");
  expect(std::set<std::size_t>(graph.order.begin(), graph.order.end()).size() == table.size(), "an operator twice");
  for (std::size_t place = 0; place < table.size(); ++place) {
    const models::GraphOperator& each = table[graph.order[place]];
    expect(graph.inputs[place].size() == each.inputs.size(), "an input is lost");
    for (const std::size_t input : graph.inputs[place]) expect(input < place, "an operator before its input");
    expect(is_amount(each.flops) && is_amount(each.output_bytes) && is_amount(each.backward_flops.value_or(0.0)) &&
               is_amount(each.activation_bytes.value_or(0.0)) && each.parameters >= 0,
           "a number of an operator that is no amount");
  }
  const std::string text = csv(table);
  expect(csv(models::read_operators(files().write("again.csv", text))) == text, "operators that are read back differ");
  const auto of_run = planned_layers(planned_with("kind = \"operator_graph\"\npath = \"operators.csv\""));
  expect(of_run.size() == table.size(), "a run of other operators");
}

void read_requests(const std::string& bytes) {
  serving::Options options;
  options.trace = files().write("requests.csv", bytes);
  const std::vector<serving::Request> all = serving::requests_of(options, 1);
  constexpr double longest_s = 1e9;
  constexpr std::int64_t most_tokens = 10'000'000;
  double before_s = 0.0, tokens = 0.0;
  std::string text = "arrival_s,prompt_tokens,output_tokens\n";
  for (const serving::Request& each : all) {
    expect(each.arrival_s >= before_s && each.arrival_s <= longest_s, "arrivals do not ascend");
    expect(each.prompt_tokens >= 1 && each.prompt_tokens <= most_tokens && each.output_tokens >= 1 &&
               each.output_tokens <= most_tokens,
           "tokens outside of their bounds");
    before_s = each.arrival_s;
    tokens += static_cast<double>(each.tokens());
    text += fmt::format("{},{},{}\n", each.arrival_s, each.prompt_tokens, each.output_tokens);
  }
  const serving::Expected facts = serving::expected(options);
  const auto count = static_cast<double>(all.size());
  expect(std::abs((facts.prompt_tokens + facts.output_tokens) * count - tokens) <= 1e-9 * tokens,
         "means that are not those of the requests");
  expect(is_amount(facts.rate_per_s) && facts.longest_prompt + facts.longest_output >= facts.longest, "wrong facts");
  options.trace = files().write("again.csv", text);
  const std::vector<serving::Request> again = serving::requests_of(options, 1);
  expect(again.size() == all.size(), "a trace that is read back has other requests");
  for (std::size_t k = 0; k < all.size(); ++k)
    expect(again[k].arrival_s == all[k].arrival_s && again[k].prompt_tokens == all[k].prompt_tokens &&
               again[k].output_tokens == all[k].output_tokens,
           "a trace that is read back differs");
  options.requests = 2;
  expect(all.size() < 2 || serving::requests_of(options, 1).size() == 2, "the first two requests are not two");
  planned(served);
}

}  // namespace simgrad::fuzz
