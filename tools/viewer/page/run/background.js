// Commits that go on in the background: which of the rank's commits a span of theirs belongs to.
//
// A background thread has a strand of its own, and no call of the program is around its spans. Its
// work on a file belongs to the last commit of that file that the same rank began before: a new
// file of a name waits until the earlier one has it.

const kWork = ["background write", "background end"];
const kWait = "background wait";

// {commitOf, leftBy}: a map from the outermost spans of the work, and of the program's waiting, to
// the commit, and one from the commit to these.
export function tieBackground(model) {
  const { count, kind, kinds, rank, parent, begin } = model;
  const { file } = model.columns;
  const isOf = (names) => kinds.map(({ name }) => names.includes(name));
  const [isTied, isCommit] = [isOf([...kWork, kWait]), isOf(["File::commit"])];
  const ties = { commitOf: new Map(), leftBy: new Map() };
  if (!kinds.some(({ name }) => kWork.includes(name))) {
    return ties;
  }
  const commits = new Map(); // by rank and file, in order of begin
  const keyOf = (event) => `${rank[event]} ${file[event]}`;
  for (let event = 0; event < count; ++event) {
    if (isCommit[kind[event]]) {
      commits.set(keyOf(event), [...(commits.get(keyOf(event)) ?? []), event]);
    }
  }
  for (let event = 0; event < count; ++event) {
    if (isTied[kind[event]] && parent[event] < 0) {
      const commit = commits.get(keyOf(event))?.findLast((c) => begin[c] <= begin[event]);
      if (commit !== undefined) {
        ties.commitOf.set(event, commit);
        ties.leftBy.set(commit, [...(ties.leftBy.get(commit) ?? []), event]);
      }
    }
  }
  return ties;
}
