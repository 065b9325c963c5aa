import { clockSkewMaxMs } from '@countersign/service-kit';
import type { AnyControl, Wanted } from '../ledger/control.ts';
import type { Sought } from '../ledger/commit.ts';
import { appendArguments, holdArguments, type Appending } from './append-arguments.ts';
import { textArray } from './binary-array.ts';

const argumentsInOrder = Object.entries({ ...appendArguments, ...holdArguments });

export const lockControls = { name: 'ledger-lock-controls', text: 'SELECT lock_controls($1)' };
export const lockChains = { name: 'ledger-lock-chains', text: 'SELECT lock_chains($1::text[], $2::text[])' };
/**
 * All arguments are named. Keys and times of the receipts are compared with the published keys before anything is
 * appended.
 */
export const append = {
  name: 'ledger-append',
  text: `SELECT append(${Object.keys(appendArguments)
    .map((name) => `${name} => ${placeholderOf(name)}`)
    .join(', ')}) AS first
    FROM hold_append(dated => ${placeholderOf('dated')}, skew_max => interval '${clockSkewMaxMs} ms', keys => ${placeholderOf('key_ids')},
      issued => ${placeholderOf('issued')}, read_on => ${placeholderOf('read_on')})`,
  valuesOf: (appending: Appending): unknown[] => argumentsInOrder.map(([, { value }]) => value(appending)),
};

type Prepared = { name: string; text: string };

/**
 * Reads all facts in one statement, and so from one snapshot: two parameters for the chains, then those of each
 * control in turn.
 */
export function readStatement(controls: readonly AnyControl[]): Prepared {
  const quiet = controls.flatMap((control) =>
    control.quiet === undefined ? [] : [{ name: control.name, sql: control.quiet.sql }],
  );
  const flags = quiet.map(({ name, sql }) => `CASE WHEN ${sql} THEN '${name}' END`).join(', ');
  const heads = `SELECT h.tenant_id, h.session_id, h.lamport_clock, h.receipt_hash, h.issued_at, array_remove(ARRAY[${flags}]::text[], NULL) AS quiet
      FROM unnest($1::text[], $2::text[]) AS wanted(tenant_id, session_id) JOIN session_heads h USING (tenant_id, session_id)`;
  let before = 2;
  const sets = controls.map((control) => {
    const offset = before;
    before += control.keyColumns;
    return `(SELECT json_agg(s) FROM (${control.select(placeholder(offset))}) AS s) AS ${control.name}`;
  });
  const columns = [
    '(SELECT epoch FROM controls WHERE id = 1) AS mark',
    'timeline() AS timeline',
    `(SELECT json_agg(h) FROM (${heads}) AS h) AS heads`,
    ...sets,
  ];
  return { name: 'ledger-read', text: `SELECT ${columns.join(',\n')}` };
}

export function readParameters(controls: readonly AnyControl[], { chains, sets }: Sought): Buffer[] {
  return [
    textArray(chains.map(({ tenant }) => tenant)),
    textArray(chains.map(({ session }) => session)),
    ...controls.flatMap((control) => keyParameters(control, sets)),
  ];
}

/**
 * The statements that lock rows, in the order of the list. A control that is locked in another way has no such
 * statement.
 */
export function rowLocks(
  controls: readonly AnyControl[],
  sets: readonly Wanted[],
): (Prepared & { values: Buffer[] })[] {
  return controls.flatMap((control) => {
    if (control.lock === undefined || !sets.some((set) => set.control === control)) return [];
    const text = control.lock(placeholder(0));
    return [{ name: `ledger-lock-${control.name}`, text, values: keyParameters(control, sets) }];
  });
}

function placeholder(offset: number): (index: number) => string {
  return (index) => `$${offset + index + 1}::text[]`;
}

function keyParameters(control: AnyControl, sets: readonly Wanted[]): Buffer[] {
  const keys = sets.filter((set) => set.control === control).map(({ key }) => control.keyValues(key));
  return Array.from({ length: control.keyColumns }, (_, column) =>
    textArray(keys.map((values) => values[column] ?? null)),
  );
}

/** The placeholder of an argument, with its type. */
function placeholderOf(argument: string): string {
  const index = argumentsInOrder.findIndex(([name]) => name === argument);
  const found = argumentsInOrder[index];
  if (found === undefined) throw new Error(`append has no argument ${argument}`);
  return `$${index + 1}::${found[1].type}`;
}
