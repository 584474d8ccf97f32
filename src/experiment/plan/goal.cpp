#include "experiment/plan/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace simgrad::experiment {

using base::Bounds;
using base::Unit;

void HostLimit::describe(base::Describer& d) {
  d.text("class", host_class, "a class of [[cluster.hosts]], or \"host\"");
  d.integer("most", most, "the most hosts of this class", Bounds::at_least(0));
}

std::optional<double> Goal::budget_usd() const {
  if (!budget) return {};
  try {
    return base::parse_quantity(*budget + "/h", Unit::dollars_per_hour);  // the only unit with the same prefixes
  } catch (const std::invalid_argument&) {
    return {};
  }
}

void Goal::describe(base::Describer& d) {
  d.component("objective", objective, "the quantity that is made as small as possible");
  d.number("tokens", tokens, "the number of tokens to train on, if the goal is not a target loss (stop.loss)",
           Bounds::above_zero());
  d.integer("samples", samples, "the number of samples to train on, if the goal is not a target loss (stop.loss)",
            Bounds::at_least(1));
  d.quantity("deadline", deadline_s, Unit::seconds, "the most simulated time to the goal", Bounds::above_zero());
  d.text("budget", budget, "the most money to the goal, as in \"100$\"");
  d.quantity("power", power_w, Unit::watts, "the most power of all hosts, as a mean over the training",
             Bounds::above_zero());
  d.quantity("memory", memory_bytes, Unit::bytes, "the most memory of a device that a rank may use",
             Bounds::above_zero());
  d.list("hosts", hosts, "the most hosts of a class: { class, most }");
  d.integer("seeds", seeds, "the most seeds of each candidate that is close to the best", Bounds::at_least(1));
  d.number("confidence", confidence, "confidence of the comparisons over seeds", Bounds::between(0.5, 0.9999));
  d.quantity("seconds", real_s, Unit::seconds, "real time of the command (the option --seconds)", Bounds::above_zero());
  d.pairs("space", space,
          "the keys that are searched, with lists of values as in [grid], zips included; they join those of [grid]");
  if (budget && !budget_usd().value_or(0.0))
    d.refuse("budget", fmt::format("a budget is an amount of dollars above 0, as in \"100$\"; found \"{}\"", *budget));
  if (tokens && samples) d.refuse("samples", "\"samples\" and \"tokens\" both say how long to train; give one of them");
  std::set<std::string> seen;
  for (const HostLimit& limit : hosts)
    if (!seen.insert(limit.host_class).second)
      d.refuse("hosts", fmt::format("the class \"{}\" is limited twice", limit.host_class));
}

}  // namespace simgrad::experiment
