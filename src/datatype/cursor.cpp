#include "datatype/cursor.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "datatype/node.hpp"

namespace stria {

using datatype::Node;
using datatype::NodeKind;

namespace {

/// `offset - base`, limited to what the sums over a tree can hold.
int64_t relative(int64_t offset, int64_t base) {
  int64_t difference = 0;
  if (!checked_add(offset, -base, &difference)) {
    return offset < 0 ? -datatype::kOffsetLimit : datatype::kOffsetLimit;
  }
  return std::clamp(difference, -datatype::kOffsetLimit, datatype::kOffsetLimit);
}

bool is_run(const Node& node) {
  return node.kind == NodeKind::kRun;
}

}  // namespace

Cursor::Cursor(Datatype type, int64_t displacement_bytes, int64_t count) : base_(displacement_bytes + type.displacement()) {
  Result<datatype::NodePtr> repeated = count == 1 ? Result<datatype::NodePtr>(type.shared_node())
                                                  : datatype::make_strided(count, type.extent(), type.shared_node());
  STRIA_ASSERT(repeated.ok(), repeated.status(), count, type.extent());
  root_ = repeated.ok() ? std::move(*repeated) : datatype::empty_node();
  stream_bytes_ = root_->size;
  levels_.reserve(static_cast<size_t>(root_->depth));
  seek(0);
}

void Cursor::set_row(int64_t begin, int64_t piece_bytes, int64_t stride, int64_t left) {
  begin_ = begin;
  end_ = begin + piece_bytes;
  piece_bytes_ = piece_bytes;
  stride_ = stride;
  left_ = left;
}

void Cursor::enter_first(const Node* node, int64_t base) {
  while (true) {
    switch (node->kind) {
      case NodeKind::kEmpty:
      case NodeKind::kRun:
        return set_row(base, node->size, 0, 0);
      case NodeKind::kStrided:
        if (is_run(*node->children[0])) {
          return set_row(base, node->children[0]->size, node->stride, node->count - 1);
        }
        break;
      case NodeKind::kBlocks:
        levels_.push_back({node, 0, base});
        return set_row(base, node->entry_size(0), 0, 0);
      case NodeKind::kIndexed:
        break;
    }
    levels_.push_back({node, 0, base});
    node = &node->child(0);
  }
}

void Cursor::next_row() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    const Node& node = *level.node;
    if (++level.index == node.count) {
      levels_.pop_back();
      continue;
    }
    if (node.kind == NodeKind::kStrided) {
      return enter_first(node.children[0].get(), level.base + level.index * node.stride);
    }
    const int64_t begin = level.base + node.displacements[static_cast<size_t>(level.index)];
    if (node.kind == NodeKind::kBlocks) {
      return set_row(begin, node.entry_size(level.index), 0, 0);
    }
    return enter_first(&node.child(level.index), begin);
  }
  begin_ = end_;
}

int64_t Cursor::row_count() const {
  STRIA_ASSERT(!done());
  // A strided node is on the stack only when its child isn't a run; on top of the stack, its child
  // is the present row.
  if (levels_.empty() || levels_.back().node->kind != NodeKind::kStrided) {
    return 1;
  }
  const Level& level = levels_.back();
  const bool is_begun = left_ + 1 != level.node->children[0]->count || end_ - begin_ != piece_bytes_;
  return is_begun ? 1 : level.node->count - level.index;
}

int64_t Cursor::row_stride() const {
  STRIA_ASSERT(row_count() > 1);
  return levels_.back().node->stride;
}

void Cursor::advance_rows(int64_t count) {
  STRIA_ASSERT(0 < count && count <= row_count(), count, row_count());
  const int64_t pieces = left_ + 1;
  if (count > 1) {
    Level& level = levels_.back();
    const int64_t shift = (count - 1) * level.node->stride;
    level.index += count - 1;
    begin_ += shift;
    end_ += shift;
    position_ += (count - 1) * pieces * piece_bytes_;
  }
  advance_row(row().count);
}

void Cursor::enter_at(const Node* node, int64_t base, int64_t position) {
  while (true) {
    int64_t index = 0;
    if (node->kind == NodeKind::kEmpty || is_run(*node)) {
      set_row(base, node->size, 0, 0);
      break;
    }
    if (node->kind == NodeKind::kStrided) {
      const Node& child = *node->children[0];
      index = position / child.size;
      position -= index * child.size;
      if (is_run(child)) {
        set_row(base + index * node->stride, child.size, node->stride, node->count - 1 - index);
        break;
      }
      levels_.push_back({node, index, base});
      base += index * node->stride;
      node = &child;
      continue;
    }
    if (node->entry_bytes > 0) {
      index = position / node->entry_bytes;
    } else {
      const auto& sums = node->stream_offsets;
      index = std::upper_bound(sums.begin(), sums.end(), position) - sums.begin() - 1;
    }
    levels_.push_back({node, index, base});
    base += node->displacements[static_cast<size_t>(index)];
    position -= node->stream_offset(index);
    if (node->kind == NodeKind::kBlocks) {
      set_row(base, node->entry_size(index), 0, 0);
      break;
    }
    node = &node->child(index);
  }
  begin_ += position;
}

void Cursor::seek(int64_t stream_position) {
  position_ = std::clamp<int64_t>(stream_position, 0, stream_bytes_);
  levels_.clear();
  if (done()) {
    set_row(base_, 0, 0, 0);
  } else if (position_ == 0) {
    enter_first(root_.get(), base_);
  } else {
    enter_at(root_.get(), base_, position_);
  }
}

void Cursor::seek_offset(int64_t offset_bytes) {
  STRIA_ASSERT(root_->is_sorted);
  seek(datatype::stream_bytes_below(*root_, relative(offset_bytes, base_)));
}

void Cursor::advance_far(int64_t bytes) {
  const int64_t further = bytes - (end_ - begin_);
  // A near target within the innermost loop is found without a search from the root.
  if (left_ > 0 && further / piece_bytes_ < left_) {
    const int64_t pieces = further / piece_bytes_;
    end_ += (pieces + 1) * stride_;
    begin_ = end_ - piece_bytes_ + further % piece_bytes_;
    left_ -= pieces + 1;
    position_ += bytes;
    return;
  }
  int64_t target = 0;
  seek(checked_add(position_, bytes, &target) ? target : stream_bytes_);
}

ByteRange cut(const Datatype& type, int64_t displacement_bytes, ByteRange window) {
  STRIA_ASSERT(type.is_sorted());
  const int64_t base = displacement_bytes + type.displacement();
  const int64_t begin = datatype::stream_bytes_below(type.node(), relative(window.begin, base));
  const int64_t end = datatype::stream_bytes_below(type.node(), relative(window.end, base));
  return {begin, std::max(begin, end)};
}

}  // namespace stria
