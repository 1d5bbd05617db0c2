#include "file/verify/findings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

void add_damage(std::vector<Damage>& found, const std::string& dataset, int64_t first_row, int64_t last_row) {
  const bool follows = !found.empty() && found.back().dataset == dataset && found.back().first_row <= first_row &&
                       first_row <= found.back().last_row;
  if (follows) {
    found.back().last_row = std::max(found.back().last_row, last_row);
  } else {
    found.push_back({dataset, first_row, last_row});
  }
}

namespace {

void encode_damages(const std::vector<Damage>& damages, FieldWriter& fields) {
  fields.number(static_cast<int64_t>(damages.size()));
  for (const Damage& damage : damages) {
    fields.text(damage.dataset);
    fields.number(damage.first_row);
    fields.number(damage.last_row);
  }
}

void decode_damages(FieldReader& fields, std::vector<Damage>& damages) {
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    std::string dataset = fields.text();
    const int64_t first_row = fields.number();
    damages.push_back({std::move(dataset), first_row, fields.number()});
  }
}

}  // namespace

std::vector<std::byte> encode_findings(const Findings& findings) {
  FieldWriter fields;
  encode_damages(findings.damages, fields);
  encode_damages(findings.repeated, fields);
  fields.bytes(std::as_bytes(std::span(findings.summed)));
  for (const std::string& remark : findings.remarks) {
    fields.text(remark);
  }
  return fields.take();
}

void decode_findings(std::span<const std::byte> message, Findings& findings) {
  FieldReader fields(message);
  decode_damages(fields, findings.damages);
  decode_damages(fields, findings.repeated);
  fields.append_to(findings.summed);
  while (!fields.done()) {
    findings.remarks.push_back(fields.text());
  }
  STRIA_CHECK(fields.is_whole(), message.size());
}

void tidy(std::vector<Damage>& damages) {
  std::stable_sort(damages.begin(), damages.end(), [](const Damage& a, const Damage& b) {
    return std::tie(a.dataset, a.first_row) < std::tie(b.dataset, b.first_row);
  });
  std::vector<Damage> merged;
  for (const Damage& damage : damages) {
    add_damage(merged, damage.dataset, damage.first_row, damage.last_row);
  }
  damages = std::move(merged);
}

}  // namespace stria::file
