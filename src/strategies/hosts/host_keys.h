/// Gradients of a sparse batch that the devices of a host make together.
///
/// A host finds the distinct keys of all of its rows, so that a key that several devices need crosses the network once.
/// The keys, then their numbers, go around the host in a chain, and every device gets those of all: to send each device
/// its own the first one's link would carry about as many, and more where devices need the same keys. The gradients of
/// all of them come back in a chain. Source: W. Zhao et al., "Distributed Hierarchical GPU Parameter Server for Massive
/// Scale Deep Learning Ads Systems", MLSys 2020 (a node asks for the union of its GPUs' keys).
#pragma once

#include <memory>

#include "cluster/ranks/communicator.h"
#include "training/sparse/sparse_batch.h"
#include "training/sparse/sparse_learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// The first device's side; arguments as Worker::sparse_gradient has them.  batch: of the shares of all devices.
values::Tensor make_sparse_gradient(training::Worker& first, const cluster::Communicator& devices,
                                    const training::SparseLearning& learning,
                                    const std::shared_ptr<const training::SparseBatch>& batch, const values::Tensor& at,
                                    const values::Tensor& replica);

/// The other devices' side.
void assist_with_keys(training::Worker& device);

}  // namespace simgrad::strategies
