/// Hosts as they are rented, before anything runs on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/options.h"
#include "record/record.h"

namespace simgrad::cluster {

/// The number of the host of the cluster that a device belongs to: hosts of workers come first, then those that have
/// servers alone, of one device each.  device: as SimGrid's hosts are numbered, for which each device is a host.
std::int64_t host_of_device(const Options& options, std::int64_t device);

/// Adds the spare hosts, each with as many devices as a host of workers has. They are as the first device is, and no
/// rank lives on them.
void add_spares(std::vector<record::HostUse>& hosts, const Options& options);

/// Whether hosts of that class are on the spot market.
bool rented_on_spot(const FailureOptions& failures, const std::string& host_class);

/// A host of a topology: its class, and the price and powers that the cluster's options say.
record::HostUse planned_host(const Options& options, int host);

/// The hosts of a topology: those of the workers, then those that have servers alone. Empty on a platform's file, whose
/// classes are not known before it is loaded.  hosts: how many there are.
std::vector<record::HostUse> planned_hosts(const Options& options, std::int64_t hosts);

}  // namespace simgrad::cluster
