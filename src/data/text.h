/// A text file as samples: sequences of tokens.
#pragma once

#include "data/source.h"

namespace simgrad::data {

/// The file's tokens, cut into rows of `features` tokens, each row with the token behind it as its target: row r has
/// tokens r T .. r T + T - 1, and the target r T + T. The tokens behind the last whole row are left out. Bytes are
/// tokens 0 .. 255; characters (of UTF-8) are numbered in the order of their code points, those alone that occur.
struct Text : Source {
  static constexpr base::About about{
      .kind = "text",
      .summary = "A text file, whose bytes or characters are tokens; rows are stretches of it (transformer)",
      .cost = "one pass over the file; 8 bytes a token",
      .source = "The Unicode Standard 15.0, section 3.9, UTF-8"};
  enum class Tokens { bytes, characters };

  std::string path;
  Tokens tokens = Tokens::bytes;

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  bool suits(Task task) const override { return task == Task::text; }
  std::vector<std::string> files() const override { return {path}; }
  /// Errors: as text_file for characters, as file_contents for bytes; ScenarioError for a file that is too short for
  /// one row, for characters that are not UTF-8 (with line and column), or for a single character in all of it.
  Dataset load(const Request& request) const override;

  /// The data set of that text; `path` is only for errors.
  Dataset read(const std::string& text, const Request& request) const;
};

}  // namespace simgrad::data
