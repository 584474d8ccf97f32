#include "cluster/failures/failures.h"

#include <fmt/format.h>

#include <array>

#include "cluster/failures/processes.h"

namespace simgrad::cluster {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array recoveries{
    Choice{"restart", "all wait for the repair, then go on from the last checkpoint"},
    Choice{"wait",
           "all wait for the repair, then go on from the last step that all had completed: from the memory of a rank "
           "that still has it, or from the last checkpoint if none has"},
    Choice{"shrink", "the surviving ranks go on from the last checkpoint at once, without the lost ones until the end"},
    Choice{"elastic",
           "the surviving ranks go on from memory at once; a repaired rank joins again and receives the state"},
    Choice{"continue", "no rank stops: the others go on without the lost rank, and with it once it is back"}};

constexpr std::array markets{
    Choice{"on_demand", "hosts stay to the end, at the price of [prices] worker or of their class"},
    Choice{"spot",
           "hosts have a spot price and are taken away now and then; the price is not paid while a host is away"}};

constexpr std::array failing_roles{
    Choice{"worker", "one of the workers"},
    Choice{"server", "one of the strategy's servers; nothing happens where it has fewer"}};

}  // namespace

std::string_view name(Recovery recovery) { return recoveries.at(static_cast<std::size_t>(recovery)).name; }

std::span<const base::Choice> recovery_choices() { return recoveries; }

void Crash::describe(base::Describer& d) {
  d.integer("rank", rank, "the rank whose host crashes, with all ranks on it; counted among the ranks of its role",
            Bounds::at_least(0));
  d.choice("role", role, failing_roles, "the role of that rank");
  d.quantity("at", at_s, Unit::seconds, "the time of the crash", Bounds::at_least(0));
  d.quantity("repair", repair_s, Unit::seconds, "time until the host is back; default: never", Bounds::at_least(0));
}

void FailureOptions::describe(base::Describer& d) {
  d.list("crash", crashes, "the crashes: { rank, role, at, repair }");
  d.component("hosts", hosts, "failure process of each host, with all of its devices, of workers and servers");
  d.component("repair", repair,
              "time until a host that failed (hosts) is back; default under \"exponential\" and \"weibull\": constant; "
              "a trace has these times itself");
  d.choice("market", market, markets, "how workers' hosts are rented");
  d.section("spot", spot, "interruptions of workers' hosts while market = \"spot\"");
  d.component("links", links, "failure process of each link: transfers stall until the link is repaired, then go on");
  d.component("link_repair", link_repair, "time until a failed link is back");
  d.quantity(
      "detection", detection_s, Unit::seconds,
      "time from a crash until all ranks know of it; they then ask which ranks are alive, and learn of further crashes",
      Bounds::at_least(0));
  d.quantity(
      "restart_time", restart_time_s, Unit::seconds,
      "time that the ranks need, once all are up, before they work again; reading the checkpoint comes in addition",
      Bounds::between(0, 1e9));
  d.integer("spares", spares,
            "whole hosts in reserve: one of them replaces a lost host once the loss is "
            "detected, and a repaired host joins "
            "the reserve",
            Bounds::between(0, 1e6));
  d.choice("recovery", recovery, recoveries, "how the training recovers; a [[strategy]] may have its own recovery");
  if (market == Market::spot && hosts->happens())
    d.refuse("hosts",
             fmt::format("hosts = \"{}\" fail, and market = \"spot\" takes them away as well; leave one of them out",
                         hosts.kind()));
  if (spares > 0 && market == Market::spot)
    d.refuse("spares", "spares are hosts of one's own, but market = \"spot\" rents them; leave spares or market out");
  if (links.kind() == TracedFailures::about.kind)
    d.refuse("links", "a trace is of hosts, by their numbers; links = \"exponential\" or \"weibull\"");
  if (links->happens() && link_repair.kind() == NoRepair::about.kind)
    d.refuse("link_repair",
             "a link that is never repaired would stall the training for ever; give link_repair = \"constant\" "
             "or \"exponential\"");
}

}  // namespace simgrad::cluster
