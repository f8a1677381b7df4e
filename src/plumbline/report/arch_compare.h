// SPDX-License-Identifier: Apache-2.0
// Two artifacts of arch report compared: what moved, what changed rank, what is new or gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plumbline/base/diagnostics.h"
#include "plumbline/base/json.h"
#include "plumbline/report/text_table.h"

namespace plumbline {

/// One latency of an artifact: a layer's total, one of its kernels, or a size of a sweep.
struct ArtifactEntry {
  std::string hardware;
  std::string name;    ///< "llama3_8b", "hidden_dim=4096"
  std::string kernel;  ///< "" for the total
  double ms = 0;
  std::string shape;  ///< the layer's fields as JSON; "" where the artifact does not say
};

/// A layer's place in a ranking, from 1.
struct ArtifactRank {
  std::string hardware;
  std::string metric;
  std::string name;
  std::int64_t rank = 0;
};

/// What of an artifact is compared.
struct Artifact {
  std::string schema;  ///< "plumbline-arch-report" or "noeris-1"
  std::vector<ArtifactEntry> entries;
  std::vector<ArtifactRank> ranks;
};

/// Reads an artifact of either schema. Errors: json-syntax, artifact-unknown, artifact-version,
/// artifact-malformed.
Parsed<Artifact> parse_artifact(std::string_view text, const std::string& file);

/// A latency in both artifacts that is not the same.
struct Moved {
  std::string hardware;
  std::string name;
  std::string kernel;
  double before_ms = 0;
  double after_ms = 0;
  double pct = 0;              ///< (after / before − 1)·100
  bool shape_changed = false;  ///< the name means another layer now
};

/// A place that changed.
struct RankChange {
  std::string hardware;
  std::string metric;
  std::string name;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// The comparison. Lists are by GPU and name, but `moved` and `kernels` by falling |pct|.
struct ArtifactComparison {
  std::int64_t compared = 0;   ///< totals in both
  std::vector<Moved> moved;    ///< totals
  std::vector<Moved> kernels;  ///< kernels of the totals that moved
  std::vector<RankChange> ranks;
  std::vector<std::string> added;  ///< "h100 llama3_8b"
  std::vector<std::string> gone;
  double largest_pct = 0;  ///< largest |pct| of `moved`
};

/// Compares B against A. Shapes are compared between artifacts of one schema alone.
ArtifactComparison compare_artifacts(const Artifact& a, const Artifact& b);

/// The comparison as text. `fail_above`: the bound in per cent, if any.
std::string comparison_text(const ArtifactComparison& comparison, std::optional<double> fail_above,
                            const Look& look);
/// The same as Markdown, at most 25 rows a table.
std::string comparison_markdown(const ArtifactComparison& comparison, std::optional<double> fail_above);
/// The same as JSON; "passed" is the gate.
Json comparison_json(const ArtifactComparison& comparison, std::optional<double> fail_above);

}  // namespace plumbline
