#include "experiment/run/collective_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/text.h"
#include "cluster/against_computing.h"
#include "cluster/computed/beside_messages.h"
#include "cluster/computed/computed_collectives.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/local_groups.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "collectives/allreduce.h"
#include "experiment/plan/settings.h"
#include "outputs/text/number_text.h"

namespace simgrad::experiment {

namespace {

constexpr const char* by_formula = "collectives were timed by formula";
constexpr const char* by_message = "collectives were simulated message by message";
constexpr std::int64_t many_members = 64;  // messages among fewer take little real time

/// The reason why that collective went by messages from the start; empty if it was computed, or never is.
std::string reason_for_messages(const cluster::World& world, const std::string& collective) {
  const std::string algorithm = collective.substr(0, collective.find(' '));  // of "ring all_gather"
  if (!collectives::allreduces().find(algorithm) && algorithm != "all_to_all" && !algorithm.starts_with("flat_"))
    return {};
  const cluster::Options& options = world.cluster().options();
  if (const auto option = cluster::against_computing_with_crashes(options); !option.empty())
    return fmt::format("cluster.{}", option);
  if (!world.ranks().own_hosts()) return "several ranks on one host";
  if (world.cluster().tenants() > 1) return "several jobs";
  // In spite of crashes: but for the strategies and the algorithm of which DESIGN.md tells.
  if (options.failures.any() && (algorithm == "naive" || !world.computes_collectives())) return "cluster.failures";
  if (algorithm == "naive" && !options.alike_routes()) return fmt::format("algorithm = \"{}\"", algorithm);
  return {};
}

std::string note_on_reason(const cluster::World& world, const record::Record& record) {
  if (world.cluster().options().collectives == cluster::Collectives::messages) return {};
  for (const record::CollectiveUse& use : record.collectives)
    if (const std::string reason = reason_for_messages(world, use.name); use.members >= many_members && !reason.empty())
      return fmt::format(
          "collectives were simulated message by message: with {} they cannot be computed from their routes", reason);
  return {};
}

}  // namespace

bool were_computed(const RunPlan& run, const record::Record& record) {
  const auto noted = [&](const char* begin) {
    return std::ranges::any_of(record.notes, [&](const std::string& note) { return note.starts_with(begin); });
  };
  if (noted(by_formula) || noted(by_message)) return noted(by_formula);
  const auto many = [](const record::CollectiveUse& use) { return use.members >= many_members; };
  return run.settings->cluster.collectives != cluster::Collectives::messages &&
         std::ranges::any_of(record.collectives, many);
}

std::string note_on_way(cluster::World& world, const record::Record& record) {
  switch (world.computed_collectives().way()) {
    case cluster::ComputedCollectives::Way::none:
      return note_on_reason(world, record);
    case cluster::ComputedCollectives::Way::apart:
      return std::string(by_formula) + ", because their transfers never share a link";
    case cluster::ComputedCollectives::Way::fair_shares:
      return std::string(by_formula) + "; transfers on one link share it fairly";
  }
  return {};
}

void require_none_left_out(cluster::World& world, const record::Record& record) {
  constexpr std::int64_t messages_in_a_second = 100'000;
  const cluster::BesideMessages* const beside = world.computed_collectives().beside_messages();
  if (beside && beside->left_out_s() > 0.0 && record.messages <= messages_in_a_second)
    throw CollectivesMeet(beside->left_out_on());
}

std::string note_on_left_out(cluster::World& world, const record::Record& record) {
  const cluster::BesideMessages* const beside = world.computed_collectives().beside_messages();
  const double left_out_s = beside ? beside->left_out_s() : 0.0;
  if (!(left_out_s > 0.0)) return {};
  return fmt::format(
      "messages of a rank were on a link of its collectives at the same time, or two of these, and neither makes the "
      "other slower here, so that the run may take up to {} more ({:.2g} %): cluster.collectives = \"messages\" takes "
      "that into account",
      outputs::duration(left_out_s), 100.0 * left_out_s / record.simulated_s);
}

std::vector<std::string> notes_on_nccl(const record::Record& record) {
  constexpr std::string_view by_nccl = "nccl ";
  std::map<std::pair<std::string, std::int64_t>, std::pair<std::int64_t, std::int64_t>> bytes_of;
  for (const record::CollectiveUse& use : record.collectives) {
    if (!use.name.starts_with(by_nccl)) continue;
    auto& [least, most] = bytes_of.try_emplace({use.name, use.members}, use.bytes, use.bytes).first->second;
    least = std::min(least, use.bytes);
    most = std::max(most, use.bytes);
  }
  std::vector<std::string> notes;
  for (const auto& [choice, bytes] : bytes_of) {
    const std::string least = outputs::byte_count(static_cast<double>(bytes.first));
    const std::string most = outputs::byte_count(static_cast<double>(bytes.second));
    notes.push_back(fmt::format("nccl chose {} for vectors of {} among {} ranks", choice.first.substr(by_nccl.size()),
                                least == most ? least : least + " - " + most, choice.second));
  }
  return notes;
}

std::vector<std::string> notes_on_auto(cluster::World& world) {
  constexpr std::size_t most = 6;
  // By ranks, the most of them first, and bytes. Groups in other places may have other algorithms.
  std::map<std::pair<int, std::int64_t>, std::set<std::string>> algorithms;
  for (const cluster::ChosenSum& sum : world.localities().chosen_sums())
    algorithms[{-sum.members, sum.bytes}].insert(sum.name.starts_with("nccl ") ? "nccl" : sum.name);
  std::vector<std::string> notes;
  for (auto at = algorithms.begin(); at != algorithms.end();) {
    const auto& [ranks, names] = std::pair(-at->first.first, at->second);
    const std::int64_t least = at->first.second;
    std::int64_t largest = least;  // of neighbouring lengths with the same algorithm
    for (; at != algorithms.end() && -at->first.first == ranks && at->second == names; ++at) largest = at->first.second;
    const auto text = [](std::int64_t bytes) { return outputs::byte_count(static_cast<double>(bytes)); };
    const std::string used = base::joined(std::vector(names.begin(), names.end()), " or ");
    notes.push_back(
        text(least) == text(largest)
            ? fmt::format("algorithm = \"auto\": sums of {} among {} ranks use {}", text(least), ranks, used)
            : fmt::format("algorithm = \"auto\": sums of {} to {} among {} ranks use {}", text(least), text(largest),
                          ranks, used));
  }
  if (notes.size() <= most) return notes;
  const std::size_t others = notes.size() - most;
  notes.resize(most);
  notes.push_back(fmt::format("algorithm = \"auto\": {} more choices, for other sums", others));
  return notes;
}

RunPlan another_way(const RunPlan& run, const std::string& link) {
  RunPlan changed = run;
  changed.every_rank = true;
  if (link.empty()) return changed;
  auto settings = std::make_shared<Settings>(*run.settings);
  settings->cluster.collectives = cluster::Collectives::messages;
  changed.settings = settings;
  return changed;
}

std::string note_on_another_way(const std::string& link) {
  if (link.empty())
    return "every rank was simulated: a vector does not divide into equal chunks among the ranks of a group, so that "
           "one "
           "of them cannot stand for the others to nine digits";
  return fmt::format("collectives were simulated message by message: several transfers may be on link {} at one time",
                     link);
}

}  // namespace simgrad::experiment
