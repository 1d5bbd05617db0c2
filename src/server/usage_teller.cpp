#include "server/usage_teller.hpp"

#include "server/objects/part_survey.hpp"

namespace stria::server {

namespace {

// Where there are no quotas; a quota that is set takes so long to be known.
constexpr int kCallsBetweenQuestions = 3;

}  // namespace

Status UsageTeller::add_older(wire::Usage& usage) {
  STRIA_ASSIGN_OR_RETURN(const auto page, survey_parts(paths_, wire::Parts{told_up_to_, {}}));
  for (const wire::PartsListed::Entry& entry : page.entries) {
    usage.parts.push_back({entry.file, entry.bytes});
    told_up_to_ = entry.file;
  }
  usage.complete = !page.more;
  return {};
}

Status UsageTeller::add_changed(wire::Usage& usage) const {
  const std::vector<uint64_t> changed = growth_.take_changed(wire::kMaxListed);
  if (changed.empty()) {
    return {};
  }
  const auto page = survey_parts(paths_, wire::Parts{0, changed});
  if (!page.ok()) {
    growth_.changed(changed);
    return page.status();
  }
  for (const wire::PartsListed::Entry& entry : page->entries) {
    usage.parts.push_back({entry.file, entry.bytes});
  }
  return {};
}

Status UsageTeller::tell() {
  if (!growth_.counts() && waits_-- > 0) {
    return {};
  }
  waits_ = kCallsBetweenQuestions;
  wire::Usage usage;
  usage.server = server_;
  const bool counts = growth_.counts();
  const uint64_t before = told_up_to_;
  older_next_ = !older_next_ && !told_all_;
  if (counts) {
    STRIA_RETURN_IF_ERROR(older_next_ ? add_older(usage) : add_changed(usage));
  }
  const auto reply = ask_(wire::Kind::kUsage, wire::encode(usage));
  const auto answer = reply.ok() ? wire::decode<wire::UsageAnswer>(*reply) : Result<wire::UsageAnswer>(reply.status());
  if (!answer.ok()) {
    told_up_to_ = before;
    for (const wire::Usage::Entry& entry : usage.parts) {
      growth_.changed(entry.part);
    }
    // A manager of an earlier version has no quotas.
    return answer.status().code() == ErrorCode::kUnsupported ? Status() : answer.status();
  }
  if (answer->counts && answer->accounts.size() != usage.parts.size()) {
    return Status(ErrorCode::kFormat, "the manager says of " + std::to_string(answer->accounts.size()) + " parts, not of " +
                                          std::to_string(usage.parts.size()) + ", whose they are");
  }
  growth_.learn(usage.parts, *answer);
  told_all_ = answer->counts && (told_all_ || usage.complete);
  told_up_to_ = answer->counts ? told_up_to_ : 0;
  return {};
}

}  // namespace stria::server
