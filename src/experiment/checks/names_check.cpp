#include "experiment/checks/names_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "experiment/plan/places.h"
#include "experiment/plan/selected.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

class NamesCheck {
 public:
  NamesCheck(const Settings& settings, KnownNames& known, const Document& document, Faults& faults)
      : settings_(settings), known_(known), document_(document), faults_(faults) {}

  void failures() {
    const cluster::FailureOptions& failures = settings_.cluster.failures;
    const auto check = [&](const char* key, const char* what, const std::string& name, const auto& classes) {
      if (!name.empty())
        known_by(classes(), name, fmt::format("cluster.failures.{}.class", key),
                 fmt::format("{} is of the class", what));
    };
    const auto hosts = [&] { return known_.host_classes(); };
    check("hosts", "no host", failures.hosts->only_class, hosts);
    check("spot", "no host", failures.spot.only_class, hosts);
    check("links", "no link", failures.links->only_class, [&] { return known_.link_classes(); });
  }

  void slow_links(const std::vector<bool>& runs) {
    const std::vector<cluster::SlowLink>& slow = settings_.cluster.slow_links;
    for (std::size_t i = 0; i < slow.size(); ++i)
      slow_link(slow[i].link, fmt::format("cluster.slow_links.{}.link", i), runs);
  }

  void other_traffic(const std::vector<bool>& runs) {
    const std::vector<cluster::BackgroundFlow>& flows = settings_.cluster.background;
    for (std::size_t i = 0; i < flows.size(); ++i)
      for (const auto& [end, host] : {std::pair("from", flows[i].from), std::pair("to", flows[i].to)})
        end_of_flow(fmt::format("cluster.background.{}.{}", i, end), host, runs);
  }

 private:
  void known_by(const std::vector<std::string>& names, const std::string& name, const std::string& key,
                const std::string& complaint) {
    if (!names.empty() && std::ranges::find(names, name) == names.end())
      faults_.add(place(document_, key), fmt::format("{} \"{}\"{}", complaint, name, base::suggestion(name, names)));
  }

  /// A strategy that needs fewer hosts than another has fewer links.
  void slow_link(const std::string& link, const std::string& key, const std::vector<bool>& runs) {
    const std::string name = cluster::without_direction(link);
    const std::vector<std::string>& all = known_.links(known_.hosts());
    if (!all.empty() && std::ranges::find(all, name) == all.end()) return known_by(all, name, key, "there is no link");
    if (!settings_.jobs.empty() || !settings_.cluster.platform.empty()) return;
    for (std::size_t i = 0; i < settings_.strategies.size(); ++i) {
      if (!runs[i]) continue;
      const std::int64_t hosts = settings_.strategies[i].hosts(settings_.cluster.workers);
      const std::vector<std::string>& links = known_.links(hosts);
      if (!links.empty() && std::ranges::find(links, name) == links.end())
        return faults_.add(place(document_, key),
                           fmt::format("there is no link \"{}\" for {}, which has hosts 0 to {}; expected a link that "
                                       "every strategy's cluster has",
                                       name, settings_.strategies[i].name(), hosts - 1));
    }
  }

  void end_of_flow(const std::string& key, std::int64_t host, const std::vector<bool>& runs) {
    if (!settings_.jobs.empty()) {
      if (host >= known_.hosts())
        faults_.add(place(document_, key),
                    fmt::format("there is no host {}: they are 0 to {}", host, known_.hosts() - 1));
      return;
    }
    for (std::size_t i = 0; i < settings_.strategies.size(); ++i) {
      const StrategyEntry& entry = settings_.strategies[i];
      const std::int64_t hosts = entry.hosts(settings_.cluster.workers);
      if (!runs[i] || host < hosts) continue;
      return faults_.add(place(document_, key), fmt::format("there is no host {} for {}, which has hosts 0 to {}", host,
                                                            entry.name(), hosts - 1));
    }
  }

  const Settings& settings_;
  KnownNames& known_;
  const Document& document_;
  Faults& faults_;
};

}  // namespace

KnownNames::KnownNames(const Settings& settings) : cluster_(settings.cluster), hosts_(settings.hosts_needed()) {
  if (!cluster_.platform.empty()) return;
  host_classes_.emplace_back(cluster::plain_host_class);
  for (const cluster::HostClass& each : cluster_.host_classes)
    if (std::ranges::find(host_classes_, each.name) == host_classes_.end()) host_classes_.push_back(each.name);
}

const cluster::Classes& KnownNames::built() {
  if (!built_) built_ = cluster::classes_of(cluster_, static_cast<int>(hosts_));
  return *built_;
}

const std::vector<std::string>& KnownNames::links(std::int64_t hosts) {
  if (hosts == hosts_) return built().link_names;
  const auto [at, fresh] = links_.try_emplace(hosts);
  if (fresh) at->second = cluster::classes_of(cluster_, static_cast<int>(hosts)).link_names;
  return at->second;
}

const std::vector<std::string>& KnownNames::host_classes() {
  return cluster_.platform.empty() ? host_classes_ : built().hosts;
}

void check_names(const Settings& settings, KnownNames& known, const std::vector<std::string>& names,
                 const Document& document, Faults& faults) {
  NamesCheck check(settings, known, document, faults);
  check.failures();
  const std::vector<bool> runs = selected(settings, names);
  check.slow_links(runs);
  check.other_traffic(runs);
}

}  // namespace simgrad::experiment
