import { AppError, type Instant, type PrincipalId, type SessionId, type TenantId } from '@countersign/contracts';
import {
  exportReceipts,
  type Checkpoint,
  type ExportQuery,
  type PeriodStatement,
} from '@countersign/contracts/governance-kernel';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { createLogReader } from '../proof/log-reader.ts';
import { sealExport } from '../proof/seal-export.ts';
import { findWitnesses } from '../proof/witnesses.ts';
import { exportLines } from '../receipts/export-lines.ts';
import { periodLines } from '../receipts/period-lines.ts';
import type { PeriodReads } from '../receipts/period-pages.ts';
import { findChainEnd, hasSignedOfChain, listChain } from '../store/chain-store.ts';
import { logSource } from '../store/log-source.ts';
import { getLogReach } from '../store/log-store.ts';
import { countPeriod, hasSignedOfPeriod, listParts, listPeriod } from '../store/period-store.ts';
import type { Signed } from '../store/signed-by.ts';

type Exporter = { tenant: TenantId; by: PrincipalId };
type AskedSession = { session: SessionId; from: number; limit: number | undefined };
type AskedPeriod = { from: Instant; to: Instant };

export const exportReceiptsRoute = (kernel: Context) =>
  handleTenant(exportReceipts)(async ({ query, caller, res, signal }): Promise<typeof takenOver> => {
    const exporter = { tenant: caller.tenant, by: caller.principal };
    const asked = askedOf(query);
    const lines =
      'session' in asked ? await linesOfSession(kernel, exporter, asked) : await linesOfPeriod(kernel, exporter, asked);
    await sendLines({ res, signal }, lines);
    return takenOver;
  });

function askedOf({ session_id, from_lamport_clock = 1, limit, from, to }: ExportQuery): AskedSession | AskedPeriod {
  if (session_id !== undefined) return { session: session_id, from: from_lamport_clock, limit };
  if (from === undefined || to === undefined) throw new Error('The contract lets an export of nothing pass');
  return { from, to };
}

/** Seals where the session ends now, then gives its chain up to there, or the part of it that was asked for. */
async function linesOfSession(kernel: Context, { tenant, by }: Exporter, { session, from, limit }: AskedSession) {
  const { exports } = kernel;
  const scope = { tenant, session };
  const as_of = nowOf(kernel);
  const end = await findChainEnd(exports.reader, scope);
  if (end === null || end.lamport < from)
    throw new AppError('NOT_FOUND', 'There is no such part of a session', { param: 'session_id' });
  const { lamport: lamport_clock, receiptHash: receipt_hash } = end;
  const facts = { session_id: session, lamport_clock, receipt_hash, as_of };
  const head = await sealExport(kernel, { tenant, by, said: { kind: 'head', facts } });
  const to = Math.min(lamport_clock, from + (limit ?? lamport_clock) - 1);
  const hasSigned = (signed: Signed) => hasSignedOfChain(exports.reader, { ...scope, from, to }, signed);
  const [first] = await listChain(exports.reader, scope, { from, to: lamport_clock, limit: 1 });
  if (first === undefined) throw new Error('The ledger lacks links of this chain');
  const heads = { newest: await checkpointOver(kernel, head.logIndex), firstLeaf: first.logIndex };
  const parts = await proofParts(kernel, heads, hasSigned);
  const listPage = (at: number, most: number) =>
    listChain(exports.reader, scope, { from: at, to: lamport_clock, limit: most });
  return exportLines({ ...parts, head, listPage }, { from, to });
}

/**
 * Gives what the log holds of the period now, and seals at the end what that was. The cut is the size of one checkpoint: what is sealed
 * while the lines go out stands behind it, so that no transaction has to stay open.
 */
async function linesOfPeriod(kernel: Context, { tenant, by }: Exporter, { from, to }: AskedPeriod) {
  const { reader } = kernel.exports;
  const { periodReceiptsMax } = kernel;
  await kernel.keyGuard.assertCounting(['receipts']); // its statement stands at the end, and would break off what has been given
  const as_of = nowOf(kernel);
  if (to > as_of) throw new AppError('INVALID_REQUEST', `The period ends later than now, ${as_of}`, { param: 'to' });
  const newest = await checkpointOver(kernel, (await getLogReach(reader)).size - 1);
  const { tree_size: log_size, root_hash: log_root } = newest;
  const scope = { tenant, from, to, below: log_size };
  const { receipts, firstLeaf } = await countPeriod(reader, scope, periodReceiptsMax + 1);
  if (receipts > periodReceiptsMax) {
    const problem = `The period has more than ${periodReceiptsMax} receipts: ask for shorter ones`;
    throw new AppError('INVALID_REQUEST', problem, { param: 'to' });
  }
  const reads: PeriodReads = {
    list: (page) => listPeriod(reader, scope, page),
    listParts: (page) => listParts(reader, scope, page),
  };
  const state = async (facts: PeriodStatement) => {
    const sealed = await sealExport(kernel, { tenant, by, said: { kind: 'period', facts } });
    return { sealed, seen: await checkpointOver(kernel, sealed.logIndex) };
  };
  const hasSigned = (signed: Signed) => hasSignedOfPeriod(reader, scope, signed);
  const heads = { newest, firstLeaf: firstLeaf ?? log_size };
  const parts = { ...(await proofParts(kernel, heads, hasSigned)), reads, state };
  return periodLines(parts, { tenant, from, to }, { as_of, log_size, log_root });
}

function nowOf({ clock }: Context): Instant {
  return clock().toISOString() as Instant; // toISOString writes exactly this form
}

async function checkpointOver({ headsBy, publishedKeys }: Context, logIndex: number): Promise<Checkpoint> {
  return await headsBy(await publishedKeys.list()).getCovering(logIndex);
}

async function proofParts(
  { exports, provider, headsBy, publishedKeys }: Context,
  { newest, firstLeaf }: { newest: Checkpoint; firstLeaf: number },
  hasSigned: (signed: Signed) => Promise<boolean>,
) {
  const keys = await publishedKeys.list();
  const { findBefore, findUpTo } = headsBy(keys);
  const before = await findUpTo(firstLeaf);
  const witnesses = await findWitnesses(keys, { newest, before, findBefore, hasSigned });
  return { provider, newReader: () => createLogReader(provider, logSource(exports.reader)), witnesses };
}
