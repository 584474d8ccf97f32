/// Gradients of a sparse batch that the devices of a host make together.
///
/// A host finds the distinct keys of all of its rows, so that a key that several devices need crosses the network once.
/// The keys go around the host in one piece, then their numbers in a chain of pieces; gradients come back in a chain.
/// Every device gets the numbers of all keys, a simplification: to send each of g devices its own, the first one's link
/// would carry g-1 times as many where all need the same keys, and (g-1)/g of them where no two need the same one.
/// Source: W. Zhao et al., "Distributed Hierarchical GPU Parameter Server for Massive Scale Deep Learning Ads Systems",
/// MLSys 2020 (a node asks for the union of the keys in its batch; there each GPU then holds a part of them).
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
