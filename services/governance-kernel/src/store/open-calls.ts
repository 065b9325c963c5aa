import { instantOf, type TenantId } from '@countersign/contracts';
import type { CallInFlight, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { dispatches, type Dispatch } from '../decision/dispatches.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';
import { sealedPayload } from '../ledger/sealed-text.ts';

/** At most this many open calls are searched, oldest first. Later ones are found once these are settled. */
const openMax = 1_000;

/** A dispatched call that is not settled, with its sealed decision. */
export type OpenCall = { readonly dispatch: Dispatch; readonly sealed: ReceiptPayload };

/**
 * The oldest open calls of these tenants, or of all tenants for `null`. `areAll`: whether there are no other open
 * calls.
 */
export async function listOpenDispatches(
  reader: Reader,
  tenants: readonly TenantId[] | null,
): Promise<{ open: Dispatch[]; areAll: boolean }> {
  const where = tenants === null ? {} : { tenant_id: { in: [...tenants] } };
  const rows = await reader.dispatch.findMany({ where, orderBy: { ulid: 'asc' }, take: openMax });
  return { open: rows.map((row) => dispatches.rowOf(asStored(row))), areAll: rows.length < openMax };
}

/** The calls with their decisions, in the same order. */
export async function openCallsOf(reader: Reader, open: readonly Dispatch[]): Promise<OpenCall[]> {
  const decisions = await reader.ledgerEntry.findMany({
    where: { ulid: { in: open.map(({ ulid }) => ulid) } },
    select: { ulid: true, payload: true },
  });
  const sealed = new Map(decisions.map(({ ulid, payload }) => [ulid, sealedPayload(payload)]));
  return open.flatMap((dispatch) => {
    const decision = sealed.get(dispatch.ulid);
    return decision === undefined ? [] : [{ dispatch, sealed: decision }];
  });
}

export function callInFlight({ dispatch, sealed }: OpenCall): CallInFlight {
  const { decision_id, tenant_id, principal_id, tool, issued_at } = sealed;
  const deadline_at = instantOf(dispatch.deadlineAtMs);
  return { decision_id, tenant_id, principal_id, tool, issued_at, deadline_at };
}
