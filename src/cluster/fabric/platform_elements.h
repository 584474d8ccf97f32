/// The elements of a platform file that describe hosts and links, and the limits of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::cluster {

struct PlatformAttribute {
  std::string_view name;
  std::string value;
};

/// The attributes of a well-formed start tag, in the bytes that SimGrid sees: it knows no encodings.
std::vector<PlatformAttribute> attributes_of(std::string_view tag);

/// The fault of an element of that name: "<config> ..., expected ..."; or "" for those of the list.
std::string fault_of_element(const std::string& name);

/// The hosts that an element makes.
/// Errors: std::invalid_argument for a list of hosts that is none, or a topology's numbers beyond any cluster's.
std::int64_t hosts_of_element(std::string_view name, const std::vector<PlatformAttribute>& attributes);

/// Whether SimGrid reads the file that this attribute names.
bool names_file(std::string_view attribute);

/// The fault of a profile, the speeds or states of a host or link over time; or "". A run would never end where
/// one begins again at once.
std::string fault_of_profile(std::string_view text);
/// As above, of an attribute `periodicity`.
std::string fault_of_period(const std::string& value);

}  // namespace simgrad::cluster
