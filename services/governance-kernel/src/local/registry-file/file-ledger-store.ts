import { randomInt } from 'node:crypto';
import { StaleFacts, type LedgerStore, type LedgerWrite, type Sought } from '../../ledger/commit.ts';
import type { AnyControl, Change, StoredRow } from '../../ledger/control.ts';
import type { ReadFacts } from '../../ledger/known-facts.ts';
import { chainName, type SealedEntry } from '../../ledger/statement.ts';
import type { RegistryFile } from './registry-file.ts';
import { readAll, withEntries, type LogEntry, type RegistryState } from './registry-state.ts';
import { requireRevisions, withDropped, withPut, type Tables } from './registry-tables.ts';

/** The timeline of a file. It is constant, since a file has no failover. */
const timeline = 'file';

/**
 * The ledger's store over the registry file, which contains what the tables of a kernel contain. Each append is one
 * change of the file, so a killed process leaves a whole batch or nothing. Events have no subscribers and are dropped.
 */
export function fileLedgerStore(file: RegistryFile, controls: readonly AnyControl[]): LedgerStore {
  return {
    read: async (sought) => factsOf(await file.read(), sought),
    append: (write) =>
      file.change((state) => {
        requireCurrent(state, write);
        return { state: appended(state, controls, write), result: state.log.length };
      }),
    underLocks: (sought, _how, conclude) =>
      file.change((state) => {
        const made = conclude(factsOf(state, sought));
        const after = made.write === null ? null : appended(state, controls, made.write);
        return { state: after, result: { ...made, first: state.log.length } };
      }),
  };
}

function factsOf(state: RegistryState, { chains, sets }: Sought): ReadFacts {
  const wanted = new Map<AnyControl, Set<string>>();
  for (const { control, set } of sets) wanted.set(control, (wanted.get(control) ?? new Set()).add(set));
  const rows = [...wanted].map(([control, names]) => {
    const found = readAll(control, state).filter((row) => control.setsOf(row).some((set) => names.has(set)));
    return [control.name, found] as const;
  });
  const heads = chains.flatMap((chain) => {
    const head = state.heads.get(chainName(chain));
    return head === undefined ? [] : [{ ...head, quiet: [] }];
  });
  return { epoch: { mark: state.epoch, timeline }, chains, heads, sets, rows: new Map(rows) };
}

/** Throws StaleFacts when a version of the batch differs from the version in the file. */
function requireCurrent(state: RegistryState, { epoch, batch }: LedgerWrite): void {
  if (epoch.mark !== state.epoch) throw new StaleFacts('The controls changed');
  for (const { from, ...chain } of batch.chains)
    if ((state.heads.get(chainName(chain))?.receiptHash ?? null) !== from.receiptHash)
      throw new StaleFacts('A session has another head');
  for (const { control, rows } of batch.reads) requireRevisions(state.tables, storedOf(control, rows));
}

function appended(state: RegistryState, controls: readonly AnyControl[], { batch }: LedgerWrite): RegistryState {
  const tables = controls.reduce<Tables>((before, control) => {
    const changes = batch.changes.filter((change) => change.control.name === control.name);
    const [puts, drops] = (['put', 'drop'] as const).map((kind) => rowsOf(changes, kind));
    const put = puts?.length ? withPut(before, storedOf(control, puts)) : before;
    return drops?.length ? withDropped(put, storedOf(control, drops)) : put;
  }, state.tables);
  const complete = withEntries(state, batch.sealed.map(logEntryOf));
  return { ...complete, tables: tables as RegistryState['tables'], epoch: epochAfter(state, batch) };
}

/**
 * The epoch after a write: the version of the facts that all decisions use. Changed amounts of a budget do not change
 * the epoch, since they have their own revision.
 */
function epochAfter({ epoch }: RegistryState, { changesControls }: LedgerWrite['batch']): number {
  if (!changesControls) return epoch;
  const mark = randomInt(1, 2 ** 47);
  return mark === epoch ? mark + 1 : mark;
}

function rowsOf(changes: readonly Change[], kind: Change['kind']): unknown[] {
  return changes.filter((change) => change.kind === kind).map(({ row }) => row);
}

function storedOf(control: AnyControl, rows: readonly unknown[]): { control: AnyControl; rows: StoredRow[] } {
  const { stored } = control;
  if (stored === undefined && rows.length > 0) throw new Error(`The ledger does not write ${control.name}`);
  return { control, rows: rows.map((row) => stored?.(row) ?? {}) };
}

function logEntryOf({ ulid, payload, payloadText, signature, receiptHash, recordText }: SealedEntry): LogEntry {
  return {
    ...{ ulid, payload: payloadText, key_id: signature.key_id, signature: signature.value },
    ...{ receipt_hash: receiptHash, record: recordText, content: payload },
    chain: { tenant: payload.tenant_id, session: payload.session_id },
  };
}
