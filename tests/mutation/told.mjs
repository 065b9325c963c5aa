import { keyOf } from './mutants.mjs';

/** The receivers of results. Stryker constructs its reporters itself, so this reporter finds them here. */
const listeners = new Set();

export const strykerPlugins = [{ kind: 'Reporter', name: 'told', factory: () => ({ onMutantTested }) }];

/** Calls `listener` with each mutant's key and result, until the returned function is called. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function onMutantTested({ status, killedBy, ...mutant }) {
  const { start, end } = mutant.location;
  const location = { start: fromZero(start), end: fromZero(end) };
  for (const listener of listeners) listener(keyOf({ ...mutant, location }), { status, killedBy: killedBy?.[0] });
}

/** Converts a position of a report. Reports count lines and columns from 1. */
function fromZero({ line, column }) {
  return { line: line - 1, column: column - 1 };
}
