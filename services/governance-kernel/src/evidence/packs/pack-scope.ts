import { AppError, type TenantId } from '@countersign/contracts';
import { PackStatement, type EvidenceRequest, type EvidenceScope } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { EvidenceReads } from '../../store/evidence-store.ts';

type ScopeDeps = { reads: EvidenceReads; tenant: TenantId; logSize: number; now: Date };

/** Clocks of kernels differ by less than this, so a period that ended this long ago gets no more receipts. */
const skewMaxMs = 60_000;

/**
 * The leaf range of a request. Without new receipts in the scope, the same request has the same range. Throws
 * INVALID_REQUEST for a range beyond the log, and for a period that did not end at least a minute ago.
 * Throws NOT_FOUND when none of the sessions has a receipt.
 */
export async function packScope(request: EvidenceRequest, deps: ScopeDeps): Promise<EvidenceScope> {
  const { sessions, leaves, issued } = request;
  const { reads, tenant } = deps;
  const scope = { tenant_id: tenant, sessions: null, issued: null };
  if (sessions !== undefined) {
    const last = await reads.findLastLeafOf(tenant, sessions);
    if (last === null)
      throw new AppError('NOT_FOUND', 'The tenant has no session with any of these IDs', { param: 'sessions' });
    return { ...scope, leaves: { from: 0, to: last + 1 }, sessions: sessions.toSorted() };
  }
  if (issued !== undefined) return { ...scope, leaves: { from: 0, to: await endOfPeriod(issued, deps) }, issued };
  const from = leaves?.from ?? 0;
  // A receipt that is sealed during this request lies outside the log that was read.
  const lastLeaf = Math.min((await reads.findLastLeaf(tenant)) ?? -1, deps.logSize - 1);
  const to = leaves?.to ?? Math.max(from, lastLeaf + 1);
  if (to > deps.logSize)
    throw new AppError(
      'INVALID_REQUEST',
      `leaves.to is greater than ${deps.logSize}, the number of leaves in the log`,
      { param: 'leaves' },
    );
  return { ...scope, leaves: { from, to } };
}

/** The resource of the end statement. */
export function packResource({ issued, sessions }: EvidenceScope): string {
  if (issued !== null) return `evidence:${issued.from}/${issued.to}`;
  return sessions === null ? 'evidence:leaves' : 'evidence:sessions';
}

/**
 * The first statement about a period fixes the end of its range. Without a statement, the range ends with the current
 * log.
 */
async function endOfPeriod(
  issued: NonNullable<EvidenceScope['issued']>,
  { reads, tenant, logSize, now }: ScopeDeps,
): Promise<number> {
  if (Date.parse(issued.to) + skewMaxMs > now.getTime())
    throw new AppError(
      'INVALID_REQUEST',
      'The period must have ended at least a minute ago. Repeat the request later.',
      {
        param: 'issued',
      },
    );
  const resource = packResource({ tenant_id: tenant, leaves: { from: 0, to: 0 }, sessions: null, issued });
  const stated = await reads.findStatement(tenant, { resource });
  if (stated === null) return logSize;
  return StatementRecord.parse(JSON.parse(stated.record ?? 'null')).intent.facts.scope.leaves.to;
}

const StatementRecord = z.object({ intent: z.object({ facts: PackStatement }) });
