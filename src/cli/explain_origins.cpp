#include "cli/explain_origins.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/units.h"
#include "cluster/fabric/device.h"
#include "experiment/plan/proxy.h"
#include "experiment/run/simulate.h"
#include "models/profiles/profiled_model.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"
#include "scenario/json.h"
#include "training/compressors/compressor.h"

namespace simgrad::cli {

namespace {

using nlohmann::ordered_json;
using outputs::tr;
using outputs::translatable;

constexpr std::string_view published = translatable("published");
constexpr std::string_view assumed = translatable("assumed");
constexpr std::string_view measured = translatable("measured");
constexpr std::string_view computed = translatable("computed");

void print_row(std::string_view name, std::string_view value, std::string_view origin) {
  fmt::print("{}  {}  {}\n", outputs::padded(name, 40, outputs::Align::left),
             outputs::padded(value, 14, outputs::Align::right), origin);
}

bool is_quantity(const ordered_json& value, base::Unit unit) {
  if (!value.is_string()) return false;
  try {
    base::parse_quantity(value.get<std::string>(), unit);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// The origin of a share of a device's peak: what the catalogue's was fitted to, if it is the catalogue's.
std::string origin_of_share(const ordered_json& device, std::string_view key, double value) {
  const auto* const entry = cluster::devices().find(device.at("kind").get<std::string>());
  if (!entry) return tr(assumed);
  const std::unique_ptr<cluster::Device> catalogued = entry->make();
  std::string_view to;
  if (key == "efficiency" && value == catalogued->efficiency) to = catalogued->fitted_to;
  if (key == "attention_efficiency" && value == catalogued->attention) to = catalogued->attention_fitted_to;
  if (key == "float8_efficiency" && value == catalogued->float8_efficiency)
    return tr("efficiency, by the largest measured products");
  return to.empty() ? tr(assumed) : tr("fitted to {}", tr(to));
}

/// The numbers of a device; peaks of the catalogue's are in its sources.
void print_device(const std::string& table, const ordered_json& device) {
  const bool own = device.at("kind") == "custom";
  for (const auto& [key, value] : device.items()) {
    const std::string name = table + "." + key;
    if (is_quantity(value, base::Unit::flops_per_second))
      print_row(name, value.get<std::string>(), tr(own ? assumed : published));
    else if (key == "memory" && value.is_string())
      print_row(name, value.get<std::string>(), tr(own ? assumed : published));
    else if (is_quantity(value, base::Unit::bytes_per_second) || key == "launch")
      print_row(name, value.get<std::string>(), tr(assumed));
    else if (key == "efficiency" && value.is_string())
      print_row(name, value.get<std::string>(), tr(published));
    else if (value.is_number())
      print_row(name, fmt::format("{}", value.get<double>()), origin_of_share(device, key, value.get<double>()));
  }
}

/// The speeds, bandwidths and latencies of a table, its devices' numbers among them.
void print_table(const std::string& table, const ordered_json& options) {
  for (const auto& [key, value] : options.items()) {
    const std::string name = table + "." + key;
    if (key == "device" && value.is_object() && value.at("kind") != "none")
      print_device(name, value);
    else if (key == "topology" && value.is_object())
      print_table(name, value);
    else if (key == "hosts" && value.is_array())
      for (const ordered_json& each : value)
        print_table(fmt::format("{}.{}", name, each.at("class").get<std::string>()), each);
    else if (is_quantity(value, base::Unit::flops_per_second) || is_quantity(value, base::Unit::bytes_per_second) ||
             (key.find("latency") != std::string::npos && is_quantity(value, base::Unit::seconds)))
      print_row(name, value.get<std::string>(), tr(assumed));
  }
}

/// The run that says how long work takes: of a run with timed_as the large model's.
experiment::RunPlan of_times(const experiment::RunPlan& run) {
  const experiment::Settings& settings = *run.settings;
  if (!settings.model.proxied()) return run;
  const auto known = experiment::known_rows(settings);
  return experiment::timed_plan(run, known ? *known : experiment::load_data(run)->train.rows, {});
}

void print_work(const experiment::RunPlan& run) {
  const models::LayerTotals sum = models::totals(run.settings->model.model->layers(experiment::problem_of_run(run)));
  if (sum.parameters == 0) return;
  print_row(tr("parameters"), outputs::count(static_cast<double>(sum.parameters)), tr(computed));
  const std::string forward = tr("a sample's forward pass"), backward = tr("a sample's backward pass");
  if (sum.forward_s > 0.0 || sum.backward_s > 0.0) {
    print_row(forward, outputs::duration(sum.forward_s), tr(measured));
    print_row(backward, outputs::duration(sum.backward_s), tr(measured));
  } else {
    print_row(forward, outputs::flops_text(sum.forward_flops) + "flop", tr(computed));
    print_row(backward, outputs::flops_text(sum.backward_flops) + "flop", tr(computed));
  }
}

/// The passes over a device's memory to encode; a host without one takes the flops that explain says.
void print_passes(const experiment::Settings& settings) {
  if (!settings.cluster.device->there()) return;
  for (const experiment::StrategyEntry& entry : settings.strategies) {
    const std::string name = entry.label.value_or(std::string(entry.strategy.kind()));
    const ordered_json options = scenario::echo(*entry.strategy);
    for (const char* const key : {"compression", "parameter_compression"}) {
      const auto found = options.find(key);
      if (found == options.end() || !found->is_object()) continue;
      const auto* const known = training::compressors().find(found->at("kind").get<std::string>());
      const bool given = found->contains("encode_passes") && found->at("encode_passes").is_number();
      using Fitted = training::Compressor::Fitted;
      const Fitted fitted = known ? known->make()->fitted().value_or(Fitted()) : Fitted();  // nothing: no name
      const double passes = given ? found->at("encode_passes").get<double>() : fitted.encode_passes;
      const bool own = !fitted.to.empty() && passes == fitted.encode_passes;
      print_row(fmt::format("strategy.{}.{}.encode_passes", name, key),
                given || !fitted.to.empty() ? fmt::format("{}", passes) : tr("one an operation"),
                own ? tr("fitted to {}", tr(fitted.to)) : tr(assumed));
    }
  }
}

void print_prices(const experiment::Settings& settings) {
  const ordered_json prices = scenario::echo(settings.prices);
  for (const auto& [key, value] : prices.items())
    if (value.is_number() && value.get<double>() != 0.0)
      print_row("prices." + key, fmt::format("{}", value.get<double>()), tr(assumed));
}

}  // namespace

void print_origins(const experiment::RunPlan& run) {
  const experiment::Settings& settings = *run.settings;
  fmt::print(
      "{}\n\n",
      tr("The numbers that times and costs rest on. Published: the device's source says it, as a bound. Assumed: "
         "nobody has\nmeasured what is reached of it in this scenario (a bandwidth may be a data sheet's), unless it "
         "was fitted by simgrad\ncalibrate. Fitted to: published times of others decided about it. Measured: a file of "
         "times says it. Computed: it\nfollows from the model. Everything else (seconds, bytes, tokens a second, mfu, "
         "memory, dollars, joules) is computed from\nthese."));
  print_row(tr("number"), tr("value"), tr("origin"));
  ordered_json cluster = scenario::echo(settings.cluster);
  if (settings.cluster.device->there()) cluster.erase("speed");  // the device says how long work takes
  if (settings.cluster.platform.empty())
    print_table("cluster", cluster);
  else
    print_row(tr("speeds and links"), "", tr("{}: {}", tr(assumed), settings.cluster.platform));
  print_passes(settings);
  print_work(of_times(run));
  print_prices(settings);
}

}  // namespace simgrad::cli
