import type { RE2JS } from 're2js';

/**
 * The maximum number of instructions visited for all transitions, a few milliseconds. An ordinary pattern visits a few
 * thousand.
 */
const workMax = 100_000;
/**
 * Flags of the library. `atBeginning`: the start of the text is also the start of a line. `unanchored`: a search may
 * begin anywhere.
 */
const atBeginning = 5;
const unanchored = 0;

/**
 * Whether a pattern's automaton has few states for every text. Then reading takes a few nanoseconds per character. If
 * each text creates new states (`a.{0,80}b`), the cost of each character grows with the length of the pattern.
 */
export function hasSmallAutomaton({ re2Input }: RE2JS): boolean {
  const { dfa } = re2Input;
  const { start } = dfa.prog as { start: number }; // the library does not declare its type
  const first = dfa.makeState([start], atBeginning, []) as State | null;
  const seen = new Set([first]);
  let work = 0;
  // A set may grow during iteration, which then includes the new members.
  for (const state of seen) {
    if (state === null) return false;
    work += dfa.numClasses * (1 + state.nfaStates.length);
    if (work > workMax) return false;
    for (let nr = 0; nr < dfa.numClasses; nr += 1)
      seen.add(dfa.step(state, nr, nr === 0 ? 0 : dfa.classBounds[nr - 1], unanchored) as State | null);
  }
  return true;
}

/** `null` when the library's memory for states is used up. */
type State = { nfaStates: readonly number[] };
