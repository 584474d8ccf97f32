/// A worker's side of a server that hands out one model.
#pragma once

#include <cstdint>

#include "strategies/compression.h"
#include "training/compressors/encoder.h"
#include "training/worker.h"

namespace simgrad::strategies {

struct Model {
  Tensor w;
  std::int64_t version = 0;  ///< the server's updates that made it
};

class ModelLink {
 public:
  /// models: the code that is sent instead of them; it must outlive the link. A worker that has come back asks for the
  /// model; at the beginning the server sends it unasked.
  ModelLink(Worker& worker, const training::Compressor& models);

  /// Blocks until a model has come.
  Model receive();
  /// Blocks until the server has x.
  void send(const Tensor& x) const { worker_.comm().send(worker_.server(), x); }
  /// Sends a code of x, and takes the model that answers it.
  struct Exchanged {
    Tensor sent;  ///< the code
    Tensor received;
  };
  Exchanged exchange(const Tensor& x);

 private:
  Worker& worker_;
  training::Encoder models_;
};

}  // namespace simgrad::strategies
