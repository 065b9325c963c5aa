import type { RE2JS } from 're2js';

/** Instructions looked at for all transitions: some milliseconds at most. An honest pattern takes some thousand. */
const workMax = 100_000;
/** Flags of the library: the text begins, and so does a line; a search may begin anywhere. */
const atBeginning = 5;
const unanchored = 0;

/**
 * Whether the states of a pattern's automaton are few, whatever the text. With them a text is read at some nanoseconds a character; where
 * each text makes new ones (`a.{0,80}b`), every character costs as much as the pattern is long.
 */
export function hasSmallAutomaton({ re2Input }: RE2JS): boolean {
  const { dfa } = re2Input;
  const { start } = dfa.prog as { start: number }; // the library leaves its type open
  const first = dfa.makeState([start], atBeginning, []) as State | null;
  const seen = new Set([first]);
  let work = 0;
  // A set may grow while it is walked, and ends with its last.
  for (const state of seen) {
    if (state === null) return false;
    work += dfa.numClasses * (1 + state.nfaStates.length);
    if (work > workMax) return false;
    for (let nr = 0; nr < dfa.numClasses; nr += 1)
      seen.add(dfa.step(state, nr, nr === 0 ? 0 : dfa.classBounds[nr - 1], unanchored) as State | null);
  }
  return true;
}

/** Null where the library's memory for states is used up. */
type State = { nfaStates: readonly number[] };
