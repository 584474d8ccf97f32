/// Numbers for people: three digits and a unit that fits.
#pragma once

#include <string>

namespace simgrad::outputs {

/// Returns three digits of a number of moderate size: "6.10", "12.3", "1234".
std::string three_digits(double value);

/// Returns a ratio of speeds: "6.10x", "12.3x", "0.00412x".
std::string speedup_text(double ratio);

/// "850 ns", "12.3 ms", "1.24 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "-" for a number that is not finite.
std::string duration(double seconds);

/// "512 B", "1.23 GB": units are powers of 1000, as in a scenario.
std::string byte_count(double bytes);

/// "512", "1.23 M".
std::string count(double number);

/// "1.23 G", "4.5 P": as count, with prefixes as far as flops reach.
std::string flops_text(double flops);

/// "$12.30", "$0.0123".
std::string dollars(double usd);

/// Returns a mean with its margin in one unit: "4.10 ms ± 0.30", "$0.0123 ± 0.0004", "3 min 20 s ± 12.0 s".
/// text: the function that writes the mean.
std::string with_margin(double mean, double margin, std::string (*text)(double));

/// "850 J", "1.23 MJ".
std::string joules(double energy_j);

}  // namespace simgrad::outputs
