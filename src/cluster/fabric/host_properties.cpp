#include "cluster/fabric/host_properties.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>

#include "base/errors.h"
#include "base/units.h"

namespace simgrad::cluster {

namespace {

[[noreturn]] void refuse(const simgrid::s4u::Host& host, const char* name, const std::string& text) {
  throw base::ScenarioError(fmt::format("host \"{}\", property \"{}\": {}", host.get_name(), name, text));
}

std::optional<double> property(const simgrid::s4u::Host& host, const char* name, base::Unit unit) {
  const char* text = host.get_property(name);
  if (!text) return {};
  try {
    const double value = base::parse_quantity(text, unit);
    if (value < 0.0) refuse(host, name, fmt::format("found \"{}\", expected at least 0", text));
    return value;
  } catch (const std::invalid_argument& error) {
    refuse(host, name, error.what());
  }
}

}  // namespace

HostProperties properties_of(const simgrid::s4u::Host& host) {
  const HostProperties found{.price_usd_per_h = property(host, "price", base::Unit::dollars_per_hour),
                             .idle_w = property(host, "watts_idle", base::Unit::watts),
                             .busy_w = property(host, "watts_busy", base::Unit::watts)};
  if (found.idle_w && found.busy_w && *found.busy_w < *found.idle_w)
    refuse(host, "watts_busy",
           fmt::format("found {} W, expected at least the {} W of watts_idle", *found.busy_w, *found.idle_w));
  return found;
}

}  // namespace simgrad::cluster
