// SPDX-License-Identifier: Apache-2.0
#include "plumbline/search/quality.h"

#include <fmt/format.h>

#include <cmath>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"

namespace plumbline {
namespace {

constexpr double kNinety = 1.6448536269514722;          // half-width of 90 % in standard errors
constexpr double kOneSidedNinety = 1.2815515655446004;  // below it: 90 %
constexpr double kOneSided975 = 1.959963984540054;      // below it: 97.5 %

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

/// When one shape surely has the lower loss. E and the tokens' part are the same for both, and for any A and
/// alpha above 0 the larger model's loss is the lower one. With a scatter of their own the difference of two
/// losses is least, of all A and alpha inside their bounds, at the lower end of A and the upper end of alpha
/// (x · exp(-alpha · x) falls in x above 1/alpha: for models of a million parameters or more that is so of
/// every alpha above 0.073, which is 13 standard errors below). Two bounds that 2.5 % pass each and the
/// scatters' 5 % leave 90 %, however the errors are correlated.
void add_rule(const Law& law, double scatter, Quality& out) {
  if (scatter == 0) {
    out.rule =
        "two losses of one law share its constants: for every A and alpha above 0, which is nearly certain, "
        "the "
        "larger model has the lower loss, so that nothing but the front is left";
    return;
  }
  const double a = law.a - kOneSided975 * law.a_error;
  const double alpha = law.alpha + kOneSided975 * law.alpha_error;
  const std::string least = fmt::format("{} * parameters ** {}", format_double(a), format_double(-alpha));
  const std::string reach = format_double(kNinety * scatter);
  out.at_most = fmt::format("{} + {}", least, reach);
  out.at_least = fmt::format("{} - {}", least, reach);
  out.rule = fmt::format(
      "two losses of one law share its constants, and each has a scatter of {} of its own: A and alpha at "
      "the "
      "ends (2.5 % each) where the two losses differ least, and there by {} standard errors of either "
      "scatter, "
      "whatever the correlation",
      format_double(scatter), format_fixed(kNinety, 3));
}

Quality of_law(const Law& law, double tokens, double scatter) {
  Quality out;
  const double data = law.b / std::pow(tokens, law.beta);
  const std::string size = fmt::format("parameters ** {}", format_double(-law.alpha));
  out.quantities.push_back({"loss", fmt::format("{} + {} * {} + {}", format_double(law.e),
                                                format_double(law.a), size, format_double(data))});
  std::string error =
      fmt::format("{} * {} * sqrt({} + ({} * log(parameters)) ** 2)", format_double(kNinety), size,
                  format_double(law.a_error * law.a_error), format_double(law.a * law.alpha_error));
  if (scatter > 0)
    error = fmt::format("sqrt(({}) ** 2 + {})", error, format_double(std::pow(kNinety * scatter, 2)));
  out.quantities.push_back({"loss_error", std::move(error)});
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
  if (scatter > 0) out.note += fmt::format("; the interval holds a scatter of {} too", scatter);
  out.range = LawRange{std::string(law.name), law.least_parameters, law.most_parameters,
                       law.least_tokens,      law.most_tokens,      tokens};
  add_rule(law, scatter, out);
  return out;
}

Parsed<Quality> of_table(const std::string& file, const std::string& csv) {
  Quality out;
  int line = 0;
  std::size_t loss = 0, error = 0;
  bool has_error = false, spread_seen = false;
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
    spread_seen = spread_seen || spread > 0;
    const double half = kNinety * spread;
    if (!out.table.rows.emplace(key, std::array<double, 3>{value, value - half, value + half}).second)
      return refuse("the same shape appears twice");
  }
  if (out.table.rows.empty()) return refuse("no row");
  out.note = fmt::format("{} rows of {}", out.table.rows.size(), file);
  if (!spread_seen) return {std::move(out), {}};
  // max() changes no value: it keeps the bounds of a box whose losses lie far apart near these losses.
  const std::string share = format_double(kOneSidedNinety / kNinety);
  out.at_most = fmt::format("max(loss, loss + {} * (loss_high - loss))", share);
  out.at_least = fmt::format("max(loss_low, loss - {} * (loss - loss_low))", share);
  out.rule = fmt::format(
      "its loss is lower by at least {} times the sum of both standard errors, which is 90 % or more "
      "whatever the correlation of the two",
      format_fixed(kOneSidedNinety, 3));
  return {std::move(out), {}};
}

}  // namespace

Parsed<Quality> load_quality(const SpaceQuality& wanted, const std::string& csv) {
  if (!wanted.csv.empty()) return of_table(wanted.csv, csv);
  if (wanted.law == kBesiroglu.name) return {of_law(kBesiroglu, wanted.tokens, wanted.scatter), {}};
  return failed<Quality>(
      diagnose("search-field-invalid",
               fmt::format("[quality] law {} is not known; there is: besiroglu2024", in_quotes(wanted.law)),
               wanted.at));
}

}  // namespace plumbline
