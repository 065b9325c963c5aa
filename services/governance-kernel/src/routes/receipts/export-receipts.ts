import {
  instantOf,
  AppError,
  type Instant,
  type PrincipalId,
  type SessionId,
  type TenantId,
} from '@countersign/contracts';
import {
  exportReceipts,
  type Checkpoint,
  type ExportQuery,
  type PeriodStatement,
} from '@countersign/contracts/governance-kernel';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { logReaders } from '../../evidence/proof/log-reader.ts';
import { sealExport } from '../../evidence/proof/seal-export.ts';
import { findCosigned, withCosignatures } from '../../store/with-cosignatures.ts';
import { findWitnesses } from '../../evidence/proof/witnesses.ts';
import { exportLines } from '../../evidence/receipts/export-lines.ts';
import { periodLines } from '../../evidence/receipts/period-lines.ts';
import type { PeriodReads } from '../../evidence/receipts/period-pages.ts';
import { findChainEnd, hasSignedOfChain, listChain } from '../../store/chain-store.ts';
import { logSource } from '../../store/log-source.ts';
import { getLogReach } from '../../store/log-store.ts';
import { countPeriod, hasSignedOfPeriod, listParts, listPeriod } from '../../store/period-store.ts';
import type { Signed } from '../../store/signed-by.ts';

type Exporter = { tenant: TenantId; by: PrincipalId };
type AskedSession = { session: SessionId; from: number; limit: number | undefined };
type AskedPeriod = { from: Instant; to: Instant };

export const exportReceiptsRoute = (kernel: Context) =>
  handleTenant(exportReceipts)(async ({ query, caller, res, signal }): Promise<typeof takenOver> => {
    const exporter = { tenant: caller.tenant, by: caller.principal };
    const input = askedOf(query);
    const lines =
      'session' in input ? await linesOfSession(kernel, exporter, input) : await linesOfPeriod(kernel, exporter, input);
    await sendLines({ res, signal }, lines);
    return takenOver;
  });

function askedOf({ session_id, from_lamport_clock = 1, limit, from, to }: ExportQuery): AskedSession | AskedPeriod {
  if (session_id !== undefined) return { session: session_id, from: from_lamport_clock, limit };
  if (from === undefined || to === undefined)
    throw new Error('The export names neither a session nor a complete period');
  return { from, to };
}

/** Seals the current end of the session, then sends its chain up to there, or the requested part of it. */
async function linesOfSession(kernel: Context, { tenant, by }: Exporter, { session, from, limit }: AskedSession) {
  const { exports } = kernel;
  const scope = { tenant, session };
  const as_of = nowOf(kernel);
  const end = await findChainEnd(exports.reader, scope);
  if (end === null || end.lamport < from)
    throw new AppError('NOT_FOUND', 'The session has no receipts in this range', { param: 'session_id' });
  const { lamport: lamport_clock, receiptHash: receipt_hash } = end;
  const facts = { session_id: session, lamport_clock, receipt_hash, as_of };
  const head = await sealExport(kernel, { tenant, by, statement: { kind: 'head', facts } });
  const to = Math.min(lamport_clock, from + (limit ?? lamport_clock) - 1);
  const hasSigned = (signed: Signed) => hasSignedOfChain(exports.reader, { ...scope, from, to }, signed);
  const [first] = await listChain(exports.reader, scope, { from, to: lamport_clock, limit: 1 });
  if (first === undefined) throw new Error('The ledger lacks links of this chain');
  const [last = first] = await listChain(exports.reader, scope, { from: to, to, limit: 1 });
  const newest = await checkpointOver(kernel, head.logIndex);
  const heads = { newest, firstLeaf: first.logIndex, lastLeaf: last.logIndex };
  const deps = await proofParts(kernel, heads, hasSigned);
  const listPage = (at: number, most: number) =>
    listChain(exports.reader, scope, { from: at, to: lamport_clock, limit: most });
  return exportLines({ ...deps, head, listPage }, { from, to });
}

/**
 * Sends the log's receipts of the period, and seals at the end what was sent. One checkpoint fixes the range: later
 * receipts lie outside it, so no transaction has to stay open.
 */
async function linesOfPeriod(kernel: Context, { tenant, by }: Exporter, { from, to }: AskedPeriod) {
  const { reader } = kernel.exports;
  const { periodReceiptsMax } = kernel;
  // Fails now if the key is not valid. The statement is sealed at the end, where a failure would cut off the export.
  await kernel.keyGuard.assertCounting(['receipts']);
  const as_of = nowOf(kernel);
  if (to > as_of)
    throw new AppError('INVALID_REQUEST', `to is after the current time, ${as_of}. Send an earlier time`, {
      param: 'to',
    });
  const newest = await checkpointOver(kernel, (await getLogReach(reader)).size - 1);
  const { tree_size: log_size, root_hash: log_root } = newest;
  const scope = { tenant, from, to, below: log_size };
  const { receipts, firstLeaf, lastLeaf } = await countPeriod(reader, scope, periodReceiptsMax + 1);
  if (receipts > periodReceiptsMax) {
    const problem = `The period has more than ${periodReceiptsMax} receipts. Request shorter periods`;
    throw new AppError('INVALID_REQUEST', problem, { param: 'to' });
  }
  const reads: PeriodReads = {
    list: (page) => listPeriod(reader, scope, page),
    listParts: (page) => listParts(reader, scope, page),
  };
  const state = async (facts: PeriodStatement) => {
    const sealed = await sealExport(kernel, { tenant, by, statement: { kind: 'period', facts } });
    return { sealed, seen: await checkpointOver(kernel, sealed.logIndex) };
  };
  const hasSigned = (signed: Signed) => hasSignedOfPeriod(reader, scope, signed);
  const heads = { newest, firstLeaf: firstLeaf ?? log_size, lastLeaf: lastLeaf ?? log_size - 1 };
  const deps = { ...(await proofParts(kernel, heads, hasSigned)), reads, state };
  return periodLines(deps, { tenant, from, to }, { as_of, log_size, log_root });
}

function nowOf({ clock }: Context): Instant {
  return instantOf(clock());
}

async function checkpointOver({ headsBy, publishedKeys }: Context, logIndex: number): Promise<Checkpoint> {
  return await headsBy(await publishedKeys.list()).getCovering(logIndex);
}

async function proofParts(
  { exports, provider, headsBy, publishedKeys }: Context,
  { newest, firstLeaf, lastLeaf }: { newest: Checkpoint; firstLeaf: number; lastLeaf: number },
  hasSigned: (signed: Signed) => Promise<boolean>,
) {
  const keys = await publishedKeys.list();
  const { findBefore, findUpTo } = headsBy(keys);
  const before = await findUpTo(firstLeaf);
  const cosigned = await findCosigned({ reader: exports.reader, headsBy: headsBy(keys) }, lastLeaf + 1);
  const found = await findWitnesses(keys, { newest, before, cosigned, findBefore, hasSigned });
  const noted = found.checkpoints.map((each) => withCosignatures({ reader: exports.reader, provider }, each));
  const witnesses = { ...found, checkpoints: await Promise.all(noted) };
  return { provider, newReader: logReaders(provider, logSource(exports.reader)), witnesses };
}
