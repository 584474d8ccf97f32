/// The transfer of a message between two ranks: one of SimGrid's, or a parcel on the cluster's own network.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "cluster/fabric/flow_network.h"
#include "cluster/usage/under_way.h"

namespace simgrid::s4u {
class Comm;
class Semaphore;
}  // namespace simgrid::s4u

namespace simgrad::cluster {

struct Message;
class ParcelPool;

/// Takes messages outside every actor, in the moment in which they have arrived.
class ParcelTaker {
 public:
  virtual ~ParcelTaker() = default;
  /// place: as it was given with the receive.
  virtual void arrived(std::size_t place, Message& message, double start_s) = 0;
};

/// A message on the cluster's own network. It starts when both its ends have come. Whoever comes first makes it; it
/// lives as long as a AnyTransfer refers to it, or until it is over.
class Parcel final : public Flow {
 public:
  explicit Parcel(ParcelPool& pool) : pool_(pool) {}
  /// Blocks the calling actor until it is over.
  void wait(bool receives);

  Parcel* next = nullptr;        ///< in the queue of its channel, where it waits for its other end
  Message* message = nullptr;    ///< null until its sender has come
  Message** landing = nullptr;   ///< where a receiving actor looks for the message; may be null
  ParcelTaker* taker = nullptr;  ///< takes the message at once; may be null
  std::size_t taker_place = 0;
  UnderWay under_way;  ///< for those who ask which messages are under way

  void add_reference() { ++references_; }
  void release();

 private:
  void arrived() override;
  void left() override;

  ParcelPool& pool_;
  int references_ = 0;
  simgrid::s4u::Semaphore* sender_ = nullptr;  ///< on which the actor of an end is blocked; null: it is not
  simgrid::s4u::Semaphore* receiver_ = nullptr;
};

/// Where parcels live: a run has as many places as parcels at a time.
class ParcelPool {
 public:
  Parcel& make();
  void give_back(Parcel& parcel);

 private:
  std::deque<Parcel> parcels_;
  std::vector<Parcel*> free_;
};

/// Parcels of which one end has come: all senders or all receivers, in their order.
class ParcelQueue {
 public:
  /// The first that waits for this end; null if there is none.
  Parcel* take(bool receives);
  void put(Parcel& parcel, bool receives);
  /// Forgets all.
  void clear();

 private:
  Parcel* first_ = nullptr;
  Parcel* last_ = nullptr;
  bool receivers_ = false;
};

/// A transfer as somebody refers to it, who keeps it alive.
class AnyTransfer {
 public:
  AnyTransfer() = default;  ///< none
  explicit AnyTransfer(simgrid::s4u::Comm& comm);
  explicit AnyTransfer(Parcel& parcel) : parcel_(&parcel) { parcel.add_reference(); }
  AnyTransfer(const AnyTransfer& other);
  AnyTransfer(AnyTransfer&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)), parcel_(std::exchange(other.parcel_, nullptr)) {}
  AnyTransfer& operator=(AnyTransfer other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(parcel_, other.parcel_);
    return *this;
  }
  ~AnyTransfer();

  explicit operator bool() const { return comm_ || parcel_; }
  /// Negative: it has not started; it is not over.
  double start_s() const;
  double finish_s() const;
  bool over() const;
  /// Blocks the calling actor until it is over.  receives: which end the actor is.  Errors: SimGrid's.
  void wait(bool receives) const;
  /// SimGrid's; null: it is a parcel.
  simgrid::s4u::Comm* comm() const { return comm_; }
  /// Null: it is SimGrid's.
  Parcel* parcel() const { return parcel_; }

 private:
  simgrid::s4u::Comm* comm_ = nullptr;
  Parcel* parcel_ = nullptr;
};

}  // namespace simgrad::cluster
