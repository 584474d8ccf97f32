#include "strategies/servers/model_link.h"

#include "strategies/notes.h"
#include "strategies/servers/parameter_store.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Packet;
using cluster::Pending;

ModelLink::ModelLink(Worker& worker, const training::Compressor& models) : worker_(worker), models_(models, worker) {
  request_parameters_again(worker);
}

Model ModelLink::receive() {
  const Packet packet = worker_.comm().receive(worker_.server());
  return {models_.decoded(worker_.comm(), packet.tensor), packet.note<Version>().step};
}

ModelLink::Exchanged ModelLink::exchange(const Tensor& x) {
  Pending answer = worker_.comm().start_receive(worker_.server());
  const Tensor sent = models_(worker_.comm(), x);
  send(sent);
  return {sent, models_.decoded(worker_.comm(), answer.wait().tensor)};
}

}  // namespace simgrad::strategies
