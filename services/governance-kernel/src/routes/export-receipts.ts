import { AppError, type Instant } from '@countersign/contracts';
import { exportReceipts } from '@countersign/contracts/governance-kernel';
import { sendLines, takenOver } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { coveringCheckpoint } from '../proof/log-proofs.ts';
import { createLogReader } from '../proof/log-reader.ts';
import { findWitnesses, type Witnesses } from '../proof/witnesses.ts';
import { exportLines } from '../receipts/export-lines.ts';
import { sealHead } from '../proof/seal-head.ts';
import { findChainEnd, listChain } from '../store/chain-store.ts';
import { findCheckpointBefore, findLatestCheckpoint } from '../store/checkpoint-store.ts';
import { logSource } from '../store/log-source.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

/** Seals where the session ends now, then streams its chain up to there, or the part of it that was asked for. */
export const exportReceiptsRoute = (kernel: Context) =>
  handleTenant(exportReceipts)(async ({ query, caller, res, signal }): Promise<typeof takenOver> => {
    const { exports, provider } = kernel;
    const scope = { tenant: caller.tenant, session: query.session_id };
    const as_of = kernel.clock().toISOString() as Instant; // toISOString writes exactly this form
    const end = await findChainEnd(exports.reader, scope);
    if (end === null || end.lamport < query.from)
      throw new AppError('NOT_FOUND', 'There is no such part of a session', { param: 'session_id' });
    const { lamport: lamport_clock, receiptHash: receipt_hash } = end;
    const head = await sealHead(kernel, {
      tenant: caller.tenant,
      by: caller.principal,
      head: { session_id: query.session_id, lamport_clock, receipt_hash, as_of },
    });
    const lines = exportLines(
      {
        provider,
        newReader: () => createLogReader(provider, logSource(exports.reader)),
        witnesses: await witnessesOf(kernel, head.logIndex),
        head,
        listPage: (from, limit) => listChain(exports.reader, scope, { from, to: lamport_clock, limit }),
      },
      { from: query.from, to: Math.min(lamport_clock, query.from + (query.limit ?? lamport_clock) - 1) },
    );
    await sendLines({ res, signal }, lines);
    return takenOver;
  });

async function witnessesOf({ reader, checkpoints }: Context, logIndex: number): Promise<Witnesses> {
  const findLatest = () => findLatestCheckpoint(reader);
  const newest = await coveringCheckpoint(logIndex, { findLatest, create: checkpoints.create });
  return findWitnesses(await listTrustKeys(reader), { newest, findBefore: (at) => findCheckpointBefore(reader, at) });
}
