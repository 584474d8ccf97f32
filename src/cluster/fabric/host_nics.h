/// The NICs of a host whose devices are in the catalogue.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace simgrad::cluster {

/// The NICs of a host with so many devices of that kind, as its source says; nothing where no source does.
std::optional<std::int64_t> nics_of_host(std::string_view device, std::int64_t devices);

}  // namespace simgrad::cluster
