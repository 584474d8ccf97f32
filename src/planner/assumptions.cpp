#include "planner/assumptions.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>

#include "experiment/plan/assumed.h"
#include "experiment/plan/changed_options.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "scenario/document.h"

namespace simgrad::planner {

using base::Unit;
using experiment::ChangedOptions;
using experiment::scaled;
using nlohmann::ordered_json;

namespace {

const std::array<Assumption, 7> known_assumptions{{
    {"bandwidth", std::string(outputs::translatable("the bandwidth of all links")), "cluster.bandwidth"},
    {"latency", std::string(outputs::translatable("the latency of all links")), "cluster.latency"},
    {"speed", std::string(outputs::translatable("the speed of all hosts")), "cluster.speed"},
    {"interruptions", std::string(outputs::translatable("the rate of failures")), "cluster.failures.spot.interruption"},
    {"price", std::string(outputs::translatable("the price of hosts on demand")), "prices.worker"},
    {"spot price", std::string(outputs::translatable("the price of spot hosts")), "prices.spot"},
    {"power", std::string(outputs::translatable("the power of hosts")), "prices.busy"},
}};

constexpr std::string_view class_price = "price of class ";

std::vector<std::string> prices(const Candidate& candidate, std::initializer_list<const char*> keys,
                                std::initializer_list<const char*> of_classes, Unit unit, double factor) {
  const ordered_json echo = scenario::echo(candidate.settings->prices);
  ChangedOptions changed(echo, "prices");
  for (const char* key : keys)
    if (echo.contains(key)) changed.option(key, scaled(unit, factor));
  changed.option("hosts", [&](ordered_json& classes) {
    for (ordered_json& each : classes)
      for (const char* key : of_classes)
        if (each.contains(key)) experiment::scale(each[key], unit, factor);
  });
  return changed.sets();
}

/// The price of one class of hosts, in [prices] and in [[cluster.hosts]].
std::vector<std::string> price_of_class(const Candidate& candidate, const std::string& host_class, double factor) {
  const auto of_class = [&](ordered_json& classes) {
    for (ordered_json& each : classes)
      if (each.at("class") == host_class && each.contains("price"))
        experiment::scale(each["price"], Unit::dollars_per_hour, factor);
  };
  const ordered_json prices_echo = scenario::echo(candidate.settings->prices);
  const ordered_json cluster_echo = scenario::echo(candidate.settings->cluster);
  ChangedOptions of_prices(prices_echo, "prices"), of_cluster(cluster_echo, "cluster");
  std::vector<std::string> sets = of_prices.option("hosts", of_class).sets();
  for (const std::string& set : of_cluster.option("hosts", of_class).sets()) sets.push_back(set);
  return sets;
}

std::vector<std::string> speed(const Candidate& candidate, double factor) {
  const cluster::Options& cluster = candidate.settings->cluster;
  std::vector<double> speeds = cluster.relative_speeds;
  speeds.resize(static_cast<std::size_t>(cluster.workers), 1.0);
  for (double& each : speeds) each *= factor;
  const ordered_json echo = scenario::echo(cluster);
  return ChangedOptions(echo, "cluster").put("relative_speeds", speeds).sets();
}

std::vector<std::string> interruptions(const Candidate& candidate, double factor) {
  const experiment::Settings& settings = *candidate.settings;
  if (candidate.undisturbed && settings.capacity.failures->happens()) {
    const ordered_json capacity = scenario::echo(settings.capacity);
    return ChangedOptions(capacity, "capacity").option("failures", scaled(Unit::seconds, 1.0 / factor)).sets();
  }
  const ordered_json cluster = scenario::echo(settings.cluster);
  if (!settings.cluster.failures.any()) return {};
  return ChangedOptions(cluster.at("failures"), "cluster.failures")
      .option("hosts", scaled(Unit::seconds, 1.0 / factor))
      .option("spot",
              [&](ordered_json& spot) {
                if (spot.contains("interruption")) experiment::scale(spot["interruption"], Unit::seconds, 1.0 / factor);
              })
      .sets();
}

/// "54.2us" of "\"54.17022187747572us\"".
std::string rounded(const std::string& toml) {
  std::string text = toml;
  std::erase(text, '"');
  std::size_t digits = 0;
  try {
    const double number = std::stod(text, &digits);
    return fmt::format("{:.3g}{}", number, text.substr(digits));
  } catch (const std::logic_error&) {
    return text;
  }
}

}  // namespace

std::vector<Assumption> assumptions_of(const Candidate& candidate) {
  std::vector<Assumption> has;
  std::set<std::string> classes;
  for (const record::HostUse& host : candidate.hosts)
    if (classes.insert(host.host_class).second && !price_of_class(candidate, host.host_class, 2.0).empty())
      has.push_back({.name = std::string(class_price) + host.host_class,
                     .noun = fmt::format("the price of {}", host.host_class),
                     .key = {}});
  for (const Assumption& each : known_assumptions)
    if (!changes_of(candidate, each.name, 2.0).empty()) has.push_back(each);
  const outputs::Prices& prices = candidate.settings->prices;
  for (Assumption& each : has)
    if (each.name == "price")
      each.key = prices.host_usd_per_h ? "prices.host" : prices.device_usd_per_h ? "prices.device" : each.key;
  return has;
}

std::vector<std::string> changes_of(const Candidate& candidate, const std::string& name, double factor) {
  const cluster::Options& cluster = candidate.settings->cluster;
  const bool links = cluster.platform.empty();
  if (name == "bandwidth")
    return links ? experiment::assumed_times(cluster, "bandwidth", factor) : std::vector<std::string>();
  if (name == "latency")
    return links ? experiment::assumed_times(cluster, "latency", 1.0 / factor) : std::vector<std::string>();
  if (name.starts_with(class_price)) return price_of_class(candidate, name.substr(class_price.size()), factor);
  if (name == "speed") return speed(candidate, factor);
  if (name == "interruptions") return interruptions(candidate, factor);
  if (name == "price")
    return prices(candidate, {"worker", "device", "host", "server"}, {}, Unit::dollars_per_hour, factor);
  if (name == "spot price") return prices(candidate, {"spot"}, {"spot"}, Unit::dollars_per_hour, factor);
  return prices(candidate, {"busy", "idle"}, {"busy", "idle"}, Unit::watts, factor);
}

std::string value_at(const Candidate& candidate, const Assumption& assumption, double factor) {
  const cluster::FailureOptions& failures = candidate.settings->cluster.failures;
  if (assumption.name == "interruptions")
    return failures.market == cluster::Market::spot
               ? fmt::format("one every {} on a host", outputs::duration(failures.spot.interruption_s / factor))
               : "";
  for (const std::string& set : changes_of(candidate, assumption.name, factor))
    if (set.starts_with(assumption.key + "=")) return rounded(set.substr(assumption.key.size() + 1));
  return {};
}

}  // namespace simgrad::planner
