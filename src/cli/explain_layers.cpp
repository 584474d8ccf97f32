#include "cli/explain_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "experiment/plan/proxy.h"
#include "experiment/run/simulate.h"
#include "models/profiles/profiled_model.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"
#include "strategies/parallel/on_mesh.h"
#include "training/learning/layer_times.h"

namespace simgrad::cli {

namespace {

using models::Layer;
using outputs::counted;
using outputs::flops_text;
using outputs::tr;

std::string totals_of(const std::vector<Layer>& layers) {
  const models::LayerTotals sum = models::totals(layers);
  if (sum.parameters == 0) return {};
  std::string text = tr("{} parameters in {}", outputs::count(static_cast<double>(sum.parameters)),
                        counted(layers.size(), "{} layer", "{} layers"));
  if (sum.forward_flops > 0.0)
    text +=
        tr("; a sample {} flop forward, {} backward", flops_text(sum.forward_flops), flops_text(sum.backward_flops));
  if (sum.forward_s > 0.0)
    text +=
        tr("; a sample {} forward, {} backward", outputs::duration(sum.forward_s), outputs::duration(sum.backward_s));
  if (sum.kept.numbers > 0.0 || sum.kept.bytes > 0.0)
    text +=
        tr("; keeps {} numbers and {} a sample", outputs::count(sum.kept.numbers), outputs::byte_count(sum.kept.bytes));
  return text;
}

bool alike(const Layer& a, const Layer& b) {
  return a.count == b.count && a.forward_flops == b.forward_flops && a.backward_flops == b.backward_flops &&
         a.forward_s == b.forward_s && a.backward_s == b.backward_s && a.kept.numbers == b.kept.numbers &&
         a.kept.bytes == b.kept.bytes;
}

using Unit = std::vector<Layer>;

std::vector<Unit> units_of(const std::vector<Layer>& layers) {
  std::vector<Unit> units;
  for (const Layer& layer : layers) {
    if (units.empty() || units.back().back().unit != layer.unit) units.emplace_back();
    units.back().push_back(layer);
  }
  return units;
}

/// "12544 x 64 x 147", "96 of 2048 x 2048 x 128".
std::string products_text(const Layer& layer) {
  std::vector<std::string> all;
  for (const models::Product& product : layer.products)
    all.push_back(product.count == 1.0 ? fmt::format("{} x {} x {}", product.m, product.n, product.k)
                                       : tr("{} of {} x {} x {}", product.count, product.m, product.n, product.k));
  return base::joined(all, ", ");
}

/// Prints a line of the table; nothing stands behind its last column, which has any width.
void print_line(const std::array<std::string, 8>& cells) {
  constexpr std::array<std::size_t, 7> widths{28, 5, 10, 10, 10, 10, 9};
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i)
    line += outputs::padded(cells[i], widths[i], i == 0 ? outputs::Align::left : outputs::Align::right) + "  ";
  fmt::print("{}{}\n", line, cells.back());
}

void print_layer(const Layer& layer, std::size_t index, std::size_t times) {
  const bool timed = layer.forward_s > 0.0 || layer.backward_s > 0.0;
  print_line({layer.name.empty() ? tr("layer {}", index + 1) : layer.name, fmt::format("{}", times),
              outputs::count(static_cast<double>(layer.count)),
              timed ? outputs::duration(layer.forward_s) : flops_text(layer.forward_flops),
              timed ? outputs::duration(layer.backward_s) : flops_text(layer.backward_flops),
              outputs::count(layer.kept.numbers), outputs::byte_count(layer.kept.bytes), products_text(layer)});
}

void print_model(std::string_view kind, const std::vector<Layer>& layers) {
  fmt::print("{}\n\n", tr("{}: {}", kind, totals_of(layers)));
  print_line({tr("layer"), tr("times"), tr("parameters"), tr("forward"), tr("backward"), tr("numbers"), tr("bytes"),
              tr("products (m x n x k)")});
  const std::vector<Unit> units = units_of(layers);
  std::size_t index = 0;
  for (std::size_t u = 0; u < units.size();) {
    std::size_t next = u + 1;
    while (next < units.size() && std::ranges::equal(units[u], units[next], alike)) ++next;
    for (std::size_t i = 0; i < units[u].size(); ++i) print_layer(units[u][i], index + i, next - u);
    index += units[u].size() * (next - u);
    u = next;
  }
  if (const std::int64_t tied = layers.empty() ? 0 : layers.back().tied; tied > 0)
    fmt::print(
        "\n{}\n",
        tr("The last layer multiplies by {} parameters of the first one, too, and makes a part of their gradient.",
           outputs::count(static_cast<double>(tied))));
  if (const double bytes = layers.empty() ? 0.0 : layers.back().backward_bytes; bytes > 0.0)
    fmt::print("\n{}\n",
               tr("The backward pass through the last layer has {} a sample more: the gradient of the logits.",
                  outputs::byte_count(bytes)));
}

/// Prints how a device's passes read and write memory for parameters, beside the products (training::LayerTimes).
void print_parameter_passes(const experiment::RunPlan& run, const std::vector<Layer>& layers) {
  const experiment::Settings& settings = *run.settings;
  if (!settings.cluster.device_of(0)) return;
  const training::Traits traits = run.strategy->traits(static_cast<int>(run.workers));
  const training::ParameterPasses passes =
      training::parameter_passes(settings.training.number_bytes(), traits.main_gradients, false);
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(*run.strategy);
  const training::ParameterPasses later =
      training::parameter_passes(settings.training.number_bytes(), traits.main_gradients, true);
  const bool adds = !training::any_measured(layers);  // measured layers take their seconds alone
  if (adds && !passes.in_products && on_mesh && on_mesh->parallel().micro_batch_count() > 1)
    fmt::print(
        "\n{}\n",
        tr("After the backward pass of each micro-batch but the first, {} of the device's memory are read and written "
           "for each parameter, to add its gradient to those before.",
           outputs::byte_count(later.sum_bytes)));
  if (adds && passes.in_products)
    fmt::print(
        "\n{}\n",
        tr("A backward pass adds the gradient of each parameter to a buffer: {} of the device's memory are read and "
           "written for it, within the product that makes the gradient if there is one.",
           outputs::byte_count(passes.sum_bytes)));
  if (settings.training.precision != training::Precision::float8) return;
  std::vector<std::string> half;  // "router", once
  for (const Layer& layer : layers) {
    const std::size_t block = layer.name.rfind(": ");
    const std::string name = block == std::string::npos ? layer.name : layer.name.substr(block + 2);
    if (std::ranges::any_of(layer.products, &models::Product::half) && std::ranges::find(half, name) == half.end())
      half.push_back(name);
  }
  const char* const comma = outputs::language() == outputs::Language::chinese ? "、" : ", ";
  fmt::print("\n{}\n", half.empty() ? tr("Products by parameters are of float8 numbers.")
                                    : tr("Products by parameters are of float8 numbers, but those of bfloat16 in {}.",
                                         base::joined(half, comma)));
}

}  // namespace

std::string totals_text(const base::Described& component) {
  const auto* model = dynamic_cast<const models::Model*>(&component);
  const auto problem = model ? model->own_problem() : std::nullopt;
  return problem ? totals_of(model->layers(*problem)) : "";
}

void print_layers(const experiment::RunPlan& run) {
  const experiment::Settings& settings = *run.settings;
  const models::Model& model = *settings.model.model;
  fmt::print(
      "{}\n\n",
      tr("A sample's work and memory, layer by layer in forward order; alike units once. Forward and backward: flops "
         "of the products, or measured times.\nNumbers, in the format of activations, and bytes: kept for the "
         "backward pass."));
  const models::Problem problem = experiment::problem_of_run(run);
  print_model(settings.model.model.kind(), model.layers(problem));
  if (!settings.model.proxied()) print_parameter_passes(run, model.layers(problem));
  if (!settings.model.proxied()) return;
  const experiment::Settings timed =
      experiment::timed_settings(settings, known_rows(settings).value_or(settings.batch(0)), {});
  fmt::print("\n{}\n\n", tr("Times, bytes and memory are those of the model that timed_as names:"));
  print_model(settings.model.timed_as.kind(), timed.model.model->layers(timed.problem()));
  print_parameter_passes(run, timed.model.model->layers(timed.problem()));
}

}  // namespace simgrad::cli
