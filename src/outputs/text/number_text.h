/// Numbers for people: the digits that matter, a unit that fits, thousands separated, no exponent where one can do
/// without it.
///
/// A value that is no number ("nan", "inf") is "-". The rules of the report's page are the same (analysis/report/src/
/// format.ts), and a test holds both to each other.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace simgrad::outputs {

/// Returns a number with at least this many digits that matter, zeros at its end left out: "0.0123", "12.3", "1234",
/// "12,345". Sizes from 1e12 on and below 1e-6 have an exponent: "1.23e12".
std::string number_text(double value, int significant = 3);

/// Returns three digits of a number of moderate size: "6.10", "12.3", "1234", "12,345".
std::string three_digits(double value);

/// Returns a number rounded to an integer: "1234", "12,345".
std::string whole(double value);

/// Returns a ratio of speeds: "6.10x", "12.3x", "0.00412x".
std::string speedup_text(double ratio);

/// Returns a share as a percentage: "12.5 %", "0.00012 %", "1,500 %".
std::string percentage(double share, int significant = 3);

/// Returns what a number exceeds another one by: "12.5 % more", and from ten times on "16 times as much".
std::string more_than(double excess);

/// "850 ns", "12.3 ms", "1.24 s", "3 min 20 s", "2 h 5 min", "3 d 4 h", "1,234 d".
std::string duration(double seconds);

/// "512 B", "1.23 GB": units are powers of 1000, as in a scenario.
std::string byte_count(double bytes);

/// "512", "1.23 M".
std::string count(double number);

/// "1.23 G", "4.5 P": as count, with prefixes as far as flops reach.
std::string flops_text(double flops);

/// Returns an amount of money with cents, or of two digits at least: "$15,103.52", "$0.50", "$0.0123", "$0.0000011".
std::string dollars(double usd);

/// "850 J", "1.23 MJ".
std::string joules(double energy_j);

/// Whether a margin is shown beside its mean: below a billionth of the mean it is that of rounding.
bool shows_margin(double mean, double margin);

/// Returns a mean with its margin in one unit: "4.10 ms ± 0.30", "$0.0123 ± 0.00040", "3 min 20 s ± 12.0 s".
/// text: the function that writes the mean.
std::string with_margin(double mean, double margin, const std::function<std::string(double)>& text);

/// The kind of numbers in a column.
enum class Quantity { time, bytes, count, energy };

/// One unit for all numbers of a column. Where duration(), byte_count(), count() or joules() would give all of them the
/// same unit, their texts stay. Else it is the unit in which the longest number is the shortest of
/// the least, the median and the largest: "1230 ms" and "31.3 ms", "76.0 h" and "23.1 h".
class ColumnUnit {
 public:
  ColumnUnit(Quantity quantity, const std::vector<double>& column);
  std::string text(double value) const;

 private:
  Quantity quantity_;
  std::size_t unit_ = 0;
  bool natural_ = true;  ///< numbers are written as if each stood alone
};

/// Returns the texts of a column in one unit.
std::vector<std::string> column_texts(Quantity quantity, const std::vector<double>& column);

}  // namespace simgrad::outputs
