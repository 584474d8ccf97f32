#include "outputs/counterfactual.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"

namespace simgrad::outputs {
namespace {

struct Words {
  std::string_view name;
  std::string_view change;
  std::string_view cause;
  std::string_view column;
};

// The texts of the column are short: a row of the table is one line.
constexpr std::array known_changes{
    Words{"bandwidth", translatable("twice the bandwidth"), translatable("the bandwidth of the links"),
          translatable("bandwidth")},
    Words{"latency", translatable("half the latency"), translatable("the latency of the links"),
          translatable("latency")},
    Words{"worker_speed", translatable("workers twice as fast"), translatable("the speed of the workers"),
          translatable("worker speed")},
    Words{"server_speed", translatable("servers twice as fast"), translatable("the speed of the servers"),
          translatable("server speed")},
    Words{"storage", translatable("a storage twice as fast"), translatable("the speed of the storage"),
          translatable("storage")},
    Words{"stragglers", translatable("no stragglers"), translatable("the time that stragglers take"),
          translatable("stragglers")},
    Words{"slow_workers", translatable("all workers at full speed"), translatable("the slowness of some workers"),
          translatable("slow workers")},
    Words{"failures", translatable("no failures"), translatable("the time that failures take"),
          translatable("failures")},
    Words{"slow_links", translatable("all links at full bandwidth"), translatable("the slowness of some links"),
          translatable("slow links")},
    Words{"background", translatable("no other traffic"), translatable("the other traffic on the links"),
          translatable("other traffic")},
    Words{"jitter", translatable("no jitter"), translatable("the jitter of the messages"), translatable("jitter")},
    Words{"algorithm", translatable("the fastest algorithm for each sum"),
          translatable("the algorithm of the allreduce"), translatable("algorithm")},
    Words{"micro_batches", translatable("twice the micro-batches"), translatable("the number of micro-batches"),
          translatable("micro-batches")},
    Words{"schedule", translatable("the schedule zb_h1"), translatable("the schedule of the stages"),
          translatable("schedule")},
    Words{"tensor_place", translatable("tensor innermost"), translatable("the places of the tensor ranks"),
          translatable("tensor ranks")},
    Words{"recompute", translatable("no recomputation"), translatable("the recomputation of activations"),
          translatable("recomputation")},
};

const Words* words_of(const Change& change) {
  const auto found = std::ranges::find(known_changes, change.name, &Words::name);
  return found == known_changes.end() ? nullptr : &*found;
}

}  // namespace

const Change* binding(const Counterfactual& counterfactual) {
  if (counterfactual.changes.size() == 1 && counterfactual.changes.front().name == "failures") return nullptr;
  const auto best = std::ranges::max_element(counterfactual.changes, {}, &Change::gain);
  return best == counterfactual.changes.end() || !(best->gain >= least_gain(counterfactual)) ? nullptr : &*best;
}

std::vector<const Change*> all_binding(const Counterfactual& counterfactual) {
  std::vector<const Change*> all;
  const Change* best = binding(counterfactual);
  if (!best) return all;
  all.push_back(best);
  for (const Change& change : counterfactual.changes)
    if (&change != best && report::times(change.gain) == report::times(best->gain)) all.push_back(&change);
  return all;
}

const Change* slowing(const Counterfactual& counterfactual) {
  const auto worst = std::ranges::min_element(counterfactual.changes, {}, &Change::gain);
  const bool slower = worst != counterfactual.changes.end() && worst->gain * least_gain(counterfactual) <= 1.0;
  return slower ? &*worst : nullptr;
}

std::string words(const Change& change) {
  const Words* found = words_of(change);
  return found ? tr(found->change) : change.name;
}

std::string cause(const Change& change) {
  const Words* found = words_of(change);
  return found ? tr(found->cause) : change.name;
}

std::string cause_in_column(const Change& change) {
  const Words* found = words_of(change);
  return found ? tr(found->column) : change.name;
}

}  // namespace simgrad::outputs
