/// The class of a link, for prices and for reading links.csv.
#pragma once

#include <string>

namespace simgrid::s4u {
class Link;
}

namespace simgrad::cluster {

/// For a topology's link the name before its number: "nic" for "nic-3_UP". For a platform's link (`on_platform`) its
/// property <prop id="class">, which both directions of a SPLITDUPLEX link have; of a
/// <cluster>'s links <prop id="link_class"> of the cluster; "link" without one.
std::string link_class(const simgrid::s4u::Link& link, bool on_platform);

}  // namespace simgrad::cluster
