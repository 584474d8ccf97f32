/// Operators that devices cannot hold, as far as it is known before a run.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/units.h"
#include "strategies/operators/cluster_devices.h"
#include "strategies/operators/operators.h"
#include "strategies/operators/step_graph.h"
#include "strategies/parallel/stages.h"

namespace simgrad::strategies {

namespace {

/// The device of each unit under `balanced`.  joined: the last unit is where the first one is.
std::vector<int> stages_of_units(const training::MemoryTerms& terms, const std::vector<models::ModelOperator>& units,
                                 bool joined) {
  const auto count = static_cast<std::int64_t>(units.size());
  const std::vector<models::Layer> layers =
      models::cut_into_operators(*terms.model)->layers(*terms.problem, {.first_unit = 0, .end_unit = count});
  std::vector<double> flops;
  for (const models::ModelOperator& unit : units) {
    double& unit_flops = flops.emplace_back(0.0);
    for (std::size_t l = unit.first_layer; l < unit.first_layer + unit.layers; ++l)
      unit_flops += layers[l].forward_flops + layers[l].backward_flops;
  }
  if (joined) {
    flops.front() += flops.back();
    flops.pop_back();
  }
  const auto stages = std::min<std::int64_t>(terms.workers, std::ssize(flops));
  const std::vector<std::int64_t> firsts = balanced(flops, stages);
  std::vector<int> devices;
  for (int stage = 0; stage < stages; ++stage)
    devices.resize(static_cast<std::size_t>(firsts[static_cast<std::size_t>(stage) + 1]), stage);
  if (joined) devices.push_back(devices.front());
  return devices;
}

/// Whether the devices can hold all operators, each whole on one of them; nothing if a long search has not told.
/// The largest operator comes first, and goes to one of several devices with equal room.
class Packing {
 public:
  Packing(std::vector<double> bytes, std::vector<double> room) : bytes_(std::move(bytes)), room_(std::move(room)) {
    std::ranges::sort(bytes_, std::greater<>());
  }

  std::optional<bool> possible() {
    const bool found = place(0);
    return found || looked_at_ <= most_looks ? std::optional(found) : std::nullopt;
  }

 private:
  static constexpr std::int64_t most_looks = 100'000;

  bool place(std::size_t op) {
    if (op == bytes_.size()) return true;
    if (++looked_at_ > most_looks) return false;
    std::set<double> tried;
    for (double& room : room_) {
      if (room < bytes_[op] || !tried.insert(room).second) continue;
      const double before = std::exchange(room, room - bytes_[op]);
      if (place(op + 1)) return true;
      room = before;
    }
    return false;
  }

  std::vector<double> bytes_, room_;
  std::int64_t looked_at_ = 0;
};

}  // namespace

std::string Operators::memory_refusal(const training::MemoryTerms& terms, const cluster::Options& cluster) const {
  const std::vector<models::ModelOperator> units = models::operators_of(*terms.model, *terms.problem);
  std::vector<double> bytes = memory_of_units(terms, units, static_cast<int>(micro_batches));
  std::vector<double> rooms;
  for (int worker = 0; worker < terms.workers; ++worker) {
    const std::optional<double> room = memory_of(cluster, worker);
    if (!room) return {};
    rooms.push_back(*room);
  }
  const double largest = std::ranges::max(rooms), all = std::accumulate(rooms.begin(), rooms.end(), 0.0);
  double sum = 0.0;
  const auto text = [](double size) { return base::format_quantity(size, base::Unit::bytes); };
  const bool joined = tied(*terms.model, *terms.problem, units.size());
  if (joined) bytes.front() += std::exchange(bytes.back(), 0.0);
  for (std::size_t u = 0; u < units.size(); ++u) {
    sum += bytes[u];
    if (bytes[u] > largest)
      return fmt::format(
          "operator {} ({}) needs {}, but the largest device has {}; take a larger device, a smaller "
          "batch or model, or set training.memory = \"ignore\"",
          u, units[u].name, text(bytes[u]), text(largest));
  }
  if (sum > all)
    return fmt::format(
        "the operators need {} together, but the devices have {}; take more devices, a smaller batch or "
        "model, or set training.memory = \"ignore\"",
        text(sum), text(all));
  std::vector<double> given(static_cast<std::size_t>(terms.workers), 0.0);
  if (placement == Placing::by_hand && devices.size() == units.size())
    for (std::size_t u = 0; u < units.size(); ++u)
      if (devices[u] < static_cast<double>(terms.workers)) given[static_cast<std::size_t>(devices[u])] += bytes[u];
  if (placement == Placing::balanced) {
    const std::vector<int> stages = stages_of_units(terms, units, joined);
    for (std::size_t u = 0; u < units.size(); ++u) given[static_cast<std::size_t>(stages[u])] += bytes[u];
  }
  for (std::size_t worker = 0; worker < rooms.size(); ++worker)
    if (given[worker] > rooms[worker])
      return fmt::format(
          "the operators of worker {} need {}, but its device has {}; {}, or set training.memory = \"ignore\"", worker,
          text(given[worker]), text(rooms[worker]),
          placement == Placing::balanced ? "take placement = \"heft\", which looks at memory"
                                         : "give some of them to another worker");
  if (Packing(bytes, rooms).possible().value_or(true)) return {};
  return fmt::format(
      "the operators, {} together, do not fit into the devices, {} together, since each must be whole on one of them; "
      "take larger devices, a smaller batch or model, or set training.memory = \"ignore\"",
      text(sum), text(all));
}

}  // namespace simgrad::strategies
