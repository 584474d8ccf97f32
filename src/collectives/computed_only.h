/// Collectives that are computed at their last arrival always, and never go message by message.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/computed/collective_timing.h"
#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {
struct Options;
}

namespace simgrad::collectives {

/// The reason why a cluster has none such, or empty.  option: the one that asks for it, as in "rings = 4".
std::string computed_only_refusal(std::string_view option, const cluster::Options& cluster);

/// Whether these members' cluster has such ones, and their hosts no other ranks or jobs.
bool may_be_computed_only(const cluster::Communicator& comm);

/// This member's part. The timing divides its links among its own hops, and sees nothing else on them.
/// Errors: std::runtime_error where ranks or jobs share hosts.
values::Tensor run_computed_only(const cluster::Communicator& comm, std::string_view option,
                                 const std::function<std::shared_ptr<const cluster::CollectiveTiming>()>& timing,
                                 values::Tensor x);

}  // namespace simgrad::collectives
