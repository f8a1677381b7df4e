// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/syntax.h"

#include <algorithm>
#include <limits>

#include "plumbline/bench/python/parser.h"

namespace plumbline {

/// Turns what the parser built into a tree in breadth-first order.
class SyntaxTreeBuilder {
 public:
  static SyntaxTree build(python::Parser& parser, std::string source, const std::string& file) {
    SyntaxTree tree;
    tree.file_ = file;
    tree.extra_names_ = std::move(parser.extra_names);
    tree.names_.reserve(parser.names.size());
    for (const python::BuildName& name : parser.names) tree.names_.push_back({name.begin, name.length});
    parser.names = {};
    flatten(parser.nodes, tree.nodes_);
    tree.source_ = std::move(source);
    tree.lines_.push_back(0);
    for (std::size_t i = tree.source_.find('\n'); i != std::string::npos;
         i = tree.source_.find('\n', i + 1)) {
      tree.lines_.push_back(static_cast<std::uint32_t>(i + 1));
    }
    return tree;
  }

 private:
  static void flatten(const std::vector<python::BuildNode>& built, std::vector<SyntaxNode>& nodes) {
    std::vector<python::Id> order;
    order.reserve(built.size());
    nodes.reserve(built.size());
    const auto add = [&](python::Id id, SyntaxTree::Index parent) {
      const python::BuildNode& node = built[id];
      nodes.push_back(
          {node.kind, node.role, node.detail, parent, 0, 0, node.begin, node.end, node.name, node.as_name});
      order.push_back(id);
    };
    add(0, 0);
    for (SyntaxTree::Index i = 0; i < nodes.size(); ++i) {
      const auto first = static_cast<SyntaxTree::Index>(nodes.size());
      for (python::Id child = built[order[i]].first; child != 0; child = built[child].next) add(child, i);
      nodes[i].first_child = first;
      nodes[i].child_count = static_cast<SyntaxTree::Index>(nodes.size()) - first;
    }
  }
};

const SyntaxNode* SyntaxTree::child(const SyntaxNode& node, Role role) const {
  for (const SyntaxNode& child : children(node)) {
    if (child.role == role) return &child;
  }
  return nullptr;
}

std::string_view SyntaxTree::text_of(std::uint32_t name) const {
  const Name& piece = names_[name];
  if (piece.begin < source_.size()) return std::string_view(source_).substr(piece.begin, piece.length);
  return std::string_view(extra_names_).substr(piece.begin - source_.size(), piece.length);
}

TextPosition SyntaxTree::position(std::size_t offset) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset);
  const auto line = static_cast<int>(after - lines_.begin());
  int column = 1;
  for (std::size_t i = *std::prev(after); i < offset && i < source_.size(); ++i) {
    if ((static_cast<unsigned char>(source_[i]) & 0xC0) != 0x80) ++column;
  }
  return {line, column};
}

Location SyntaxTree::locate(const SyntaxNode& node) const {
  const TextPosition at = position(node.begin);
  return {file_, at.line, at.column};
}

std::vector<SyntaxTree::Index> SyntaxTree::walk(Index root) const {
  std::vector<Index> order{root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const SyntaxNode& node = nodes_[order[i]];
    for (Index child = 0; child < node.child_count; ++child) order.push_back(node.first_child + child);
  }
  return order;
}

bool SyntaxTree::inside(Index inner, Index outer) const {
  // Parents stand before their children: the climb ends as soon as it has passed `outer`.
  while (inner > outer) inner = nodes_[inner].parent;
  return inner == outer;
}

Parsed<SyntaxTree> parse_python(std::string text, const std::string& file, std::string_view code) {
  const auto refuse = [&](std::size_t offset, std::string message) {
    const TextPosition at = position_at(text, std::min(offset, text.size()));
    return failed<SyntaxTree>(diagnose(code, std::move(message), {file, at.line, at.column}));
  };
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 4) return refuse(0, "the file is too large");
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    return refuse(nul, "source code cannot contain null bytes");
  }
  try {
    python::Parser parser(text);
    parser.run();
    return {SyntaxTreeBuilder::build(parser, std::move(text), file), {}};
  } catch (const python::SyntaxFailure& failure) {
    return refuse(failure.offset, failure.message);
  }
}

}  // namespace plumbline
