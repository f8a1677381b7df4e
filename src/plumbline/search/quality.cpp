// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/quality.h"

#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr double kNinety = 1.6448536269514722;  // half-width of 90 % in standard errors

/// loss = e + a / parameters^alpha + b / tokens^beta, with standard errors.
struct Law {
  std::string_view name, source;
  double e, a, alpha, b, beta;
  double e_error, a_error, alpha_error, b_error, beta_error;
  double least_parameters, most_parameters, least_tokens, most_tokens;  ///< that it was fitted to
};

/// Besiroglu, Erdil, Barnett, You: Chinchilla Scaling: A replication attempt (arXiv 2404.10102), fitted to
/// the models of Hoffmann et al. (arXiv 2203.15556): 70 M to 16 B parameters, 5 to 500 B tokens.
constexpr Law kBesiroglu{"besiroglu2024",
                         "Besiroglu et al. 2024, arXiv 2404.10102",
                         1.8172,
                         482.01,
                         0.3478,
                         2085.43,
                         0.3658,
                         0.03,
                         124.58,
                         0.02,
                         1293.23,
                         0.02,
                         70e6,
                         16e9,
                         5e9,
                         500e9};

Quality of_law(const Law& law, double tokens) {
  Quality out;
  const double data = law.b / std::pow(tokens, law.beta);
  const std::string size = fmt::format("parameters ** {}", format_double(-law.alpha));
  out.quantities.push_back({"loss", fmt::format("{} + {} * {} + {}", format_double(law.e),
                                                format_double(law.a), size, format_double(data))});
  out.quantities.push_back(
      {"loss_error",
       fmt::format("{} * {} * sqrt({} + ({} * log(parameters)) ** 2)", format_double(kNinety), size,
                   format_double(law.a_error * law.a_error), format_double(law.a * law.alpha_error))});
  out.quantities.push_back({"loss_low", "loss - loss_error"});
  out.quantities.push_back({"loss_high", "loss + loss_error"});
  out.note = fmt::format(
      "{} ({}): loss = E + A/parameters^alpha + B/tokens^beta, E {} ({}), A {} ({}), alpha {} ({}), B {} "
      "({}), beta {} "
      "({}); standard errors in brackets. The interval holds only the errors of A and alpha: the others are "
      "the same for "
      "every shape. Fitted to {} to {} parameters and {} to {} tokens",
      law.name, law.source, law.e, law.e_error, law.a, law.a_error, law.alpha, law.alpha_error, law.b,
      law.b_error, law.beta, law.beta_error, law.least_parameters, law.most_parameters, law.least_tokens,
      law.most_tokens);
  if (tokens < law.least_tokens || tokens > law.most_tokens)
    out.note += fmt::format("; {} tokens are outside that range", tokens);
  return out;
}

Parsed<Quality> of_table(const std::string& file, const std::string& csv) {
  Quality out;
  int line = 0;
  std::size_t loss = 0, error = 0;
  bool has_error = false;
  const auto refuse = [&](std::string message) {
    return failed<Quality>(diagnose("search-quality-file", std::move(message), {file, line, 1}));
  };
  for (std::string_view rest = csv; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line;
    if (text.empty()) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      cells.emplace_back(trim(text.substr(at, comma - at)));
      at = comma + 1;
    }
    if (out.table.of.empty()) {
      out.table.of = cells;
      const auto place = [&](std::string_view name) {
        return static_cast<std::size_t>(std::find(cells.begin(), cells.end(), name) - cells.begin());
      };
      loss = place("loss");
      error = place("stderr");
      has_error = error < cells.size();
      if (loss == cells.size() || cells.size() < (has_error ? 3U : 2U))
        return refuse("the header names quantities of the space, loss and perhaps stderr");
      std::erase(out.table.of, "loss");
      std::erase(out.table.of, "stderr");
      continue;
    }
    if (cells.size() != out.table.of.size() + (has_error ? 2 : 1))
      return refuse("another number of cells than the header");
    std::vector<double> key;
    double value = 0, spread = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto number = parse_double(cells[i]);
      if (!number) return refuse(fmt::format("{} is not a finite number", in_quotes(cells[i])));
      (i == loss ? value : has_error && i == error ? spread : key.emplace_back()) = *number;
    }
    if (spread < 0) return refuse("stderr is negative");
    const double half = kNinety * spread;
    if (!out.table.rows.emplace(key, std::array<double, 3>{value, value - half, value + half}).second)
      return refuse("the same shape appears twice");
  }
  if (out.table.rows.empty()) return refuse("no row");
  out.note = fmt::format("{} rows of {}", out.table.rows.size(), file);
  return {std::move(out), {}};
}

}  // namespace

Parsed<Quality> load_quality(const SpaceQuality& wanted, const std::string& csv) {
  if (!wanted.csv.empty()) return of_table(wanted.csv, csv);
  if (wanted.law == kBesiroglu.name) return {of_law(kBesiroglu, wanted.tokens), {}};
  return failed<Quality>(
      diagnose("search-field-invalid",
               fmt::format("[quality] law {} is not known; there is: besiroglu2024", in_quotes(wanted.law)),
               wanted.at));
}

}  // namespace plumbline
