/// The time of an exchange between ranks of a replica as a line over the numbers that it carries.
#pragma once

namespace simgrad::serving {

/// The time of an exchange that carries nothing, and the time that a number more takes.
struct Line {
  double latency_s = 0.0, number_s = 0.0;

  /// The time of so many exchanges that carry so many numbers together.
  double seconds(double times, double numbers) const { return times * latency_s + numbers * number_s; }
};

/// The exchanges of a stage, on idle links.
struct StageLines {
  Line sum = {};      ///< among its tensor ranks
  Line spread = {};   ///< of numbers that its first rank has got from the stage before
  Line message = {};  ///< to the next stage; from the last one to the first: of chosen tokens
};

}  // namespace simgrad::serving
