/// Rows that come after a training: read in blocks, and encoded as the rows that the model has learnt from.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/encoding.h"

namespace simgrad::data {

/// A block of rows.
struct NewRows {
  Dataset rows;                                   ///< encoded and scaled; a row without a target has the target 0
  std::vector<std::int64_t> lines = {};           ///< where each row stands in the file, from 1
  std::vector<std::int64_t> labelled = {};        ///< numbers of the rows with a target
  std::vector<double> targets = {};               ///< as the file has them, or class numbers; 0 without one
  std::vector<std::array<double, 2>> names = {};  ///< of ratings: user and item, as the file has them
  std::int64_t left_out = 0;                      ///< rows with a missing cell, under missing = "drop"
};

/// The rule for a text or a LIBSVM feature that no training row had.
enum class Unseen {
  refuse,
  ignore  ///< its features are 0
};

using VisitRows = std::function<void(NewRows& block)>;

/// Visits the rows of a CSV or LIBSVM file in their order. A column of the target is read where there is one; a cell of
/// it may be empty. Missing cells of features are refused, filled in, or leave their row out, as in the training.
/// Errors: EnvironmentError for a file that cannot be opened or read; ScenarioError `path:line:column: what, expected
/// what` for a column that is not there, a row of another length, a cell of another kind, a text, class, user, item or
/// feature that the training has not seen.
void read_new_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit);

/// The tokens of a text.  Errors: as above, for a character or token that is not in the vocabulary, and for bytes that
/// are not UTF-8 where tokens are characters.
std::vector<std::uint32_t> read_new_tokens(const Encoding& encoding, const std::string& path);
/// A token as text: the byte or character, or its number where tokens are numbers.
std::string token_text(const Encoding& encoding, std::uint32_t token);

// The two forms of read_new_rows.
void read_table_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit);
void read_sparse_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit);
/// Scales encoded rows, and makes them sparse where the training's are.
void finish_rows(const Encoding& encoding, NewRows& block);
/// Whether a text reads as a number.
bool is_number(std::string_view text);
/// The class of a label, which may be written as another spelling of the same number; -1: there is none.
std::int64_t class_of(const Encoding& encoding, std::string_view label);
/// "expected a, b, c or d": some of the known names.
std::string known_names(const std::vector<std::string>& names);

}  // namespace simgrad::data
