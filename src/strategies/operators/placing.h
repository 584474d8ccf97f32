/// Operators of a dataflow graph that are to be given to devices, and their schedule on these.
///
/// The cost model is that of list scheduling: a device does one operator at a time, and a message takes latency + bytes
/// / bandwidth of its path, whatever else is on the network.  Source: H. Topcuoglu, S. Hariri, M.-Y. Wu,
/// "Performance-Effective and Low-Complexity Task Scheduling for Heterogeneous Computing", IEEE TPDS 13, 2002.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::strategies {

/// The devices of a graph, by number.
struct Devices {
  std::vector<double> memory_bytes;  ///< infinite: anything fits
  /// The path from one device (first index) to another: its latency in seconds, and bytes a second of its narrowest
  /// link.
  std::vector<std::vector<double>> latency_s, bytes_per_s;
  /// The links of that path that messages share, by their numbers in `link_bytes_per_s`. A placement does not look at
  /// them.
  std::vector<std::vector<std::vector<int>>> links = {};
  std::vector<double> link_bytes_per_s = {};

  int count() const { return static_cast<int>(memory_bytes.size()); }
  /// Seconds of a message alone on the network; 0 on one device.
  double message_s(int from, int to, double bytes) const;
};

/// An operator to be placed.
struct OperatorCost {
  /// An operator whose output this one reads.
  struct Input {
    std::size_t from = 0;
    double bytes = 0.0;  ///< of a message, if the two are on different devices
  };
  std::string name;
  std::vector<double> seconds = {};      ///< on each device
  std::vector<double> update_s = {};     ///< likewise, of the update at the end of a step; empty: none
  std::vector<Input> inputs = {};        ///< each stands before this operator
  std::optional<std::size_t> with = {};  ///< an operator before this one, on whose device it must be
  double memory_bytes = 0.0;             ///< that a device must have for it and for those that are `with` it
  double flops = 0.0;                    ///< likewise, for contiguous stages
};

struct PlacementProblem {
  std::vector<OperatorCost> operators;
  Devices devices;
};

/// Devices of operators, and a schedule on them.
struct PlacedSchedule {
  std::vector<int> device;                      ///< by operator
  std::vector<std::vector<std::size_t>> order;  ///< by device: its operators, one after the other
  std::vector<double> start_s, end_s;           ///< by operator
  double makespan_s = 0.0;                      ///< the last end, updates included
  bool proven = true;                           ///< exhaustive: whether the whole space was searched
};

/// The schedule in which every operator starts as soon as its inputs are there and the operators before it on its
/// device are done.  device, order: of a placement.  Errors: InvariantError for an order that contradicts the inputs.
PlacedSchedule timed(const PlacementProblem& problem, std::vector<int> device,
                     std::vector<std::vector<std::size_t>> order);

/// A schedule that grows operator by operator.
class ListSchedule {
 public:
  explicit ListSchedule(const PlacementProblem& problem);

  /// Whether the operator is placed; and whether all of its inputs are.
  bool placed(std::size_t op) const { return device_[op] >= 0; }
  bool ready(std::size_t op) const;
  int device(std::size_t op) const { return device_[op]; }
  /// When the last of its inputs ends, wherever it is.
  double inputs_end_s(std::size_t op) const;
  /// Its earliest start on a device behind all that is placed there; with insertion also between two operators.
  double start_s(std::size_t op, int device, bool insertion = false) const;
  double end_s(std::size_t op, int device, bool insertion = false) const {
    return start_s(op, device, insertion) + problem_.operators[op].seconds[static_cast<std::size_t>(device)];
  }
  /// The devices that may have it: that of its `with`, or all that have room.
  std::vector<int> devices_for(std::size_t op) const;
  double room(int device) const { return room_[static_cast<std::size_t>(device)]; }
  void place(std::size_t op, int device, bool insertion = false);
  /// The schedule of all operators; each is placed.
  PlacedSchedule placement() const { return timed(problem_, device_, order_); }

 private:
  const PlacementProblem& problem_;
  std::vector<int> device_;  ///< -1: not placed
  std::vector<std::vector<std::size_t>> order_;
  std::vector<double> start_, end_;
  std::vector<double> room_;  ///< bytes, by device
};

}  // namespace simgrad::strategies
