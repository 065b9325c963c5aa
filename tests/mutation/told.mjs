import { keyOf } from './mutants.mjs';

/** Who is told each result. Stryker makes its reporters itself, so this is how one of them finds us. */
const listeners = new Set();

export const strykerPlugins = [{ kind: 'Reporter', name: 'told', factory: () => ({ onMutantTested }) }];

/** Tells `listener` each mutant's key and result as it comes, until the returned function is called. */
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function onMutantTested({ status, killedBy, ...mutant }) {
  const { start, end } = mutant.location;
  const location = { start: fromZero(start), end: fromZero(end) };
  for (const listener of listeners) listener(keyOf({ ...mutant, location }), { status, killedBy: killedBy?.[0] });
}

/** Reports count lines and columns from 1. */
function fromZero({ line, column }) {
  return { line: line - 1, column: column - 1 };
}
