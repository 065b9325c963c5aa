import type { ReceiptId, TenantId } from '@countersign/contracts';
import { Action, type ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import type { Reader } from './database.ts';
import { ledgerList, type LedgerFilter, type LedgerPage } from './ledger-list.ts';
import { WholeNumber } from './whole-number.ts';
import { sealedPayload } from '../ledger/sealed-text.ts';

type ActionFilter = Omit<LedgerFilter, 'kind' | 'ulid' | 'action'>;

/** An action with the place of its decision in the log, by which lists are paged. */
type PlacedAction = { logIndex: number; action: Action };

/** Records may have megabytes, so the database returns only the required member. */
const columns = Sql.sql`log_index, payload, record::json->>'dispatched_by' AS dispatched_by`;

/**
 * Decisions of a tenant with the outcome of each call, newest first. Most entries are decisions or their outcomes, so
 * no index excludes the other kinds.
 */
export async function listActions(
  reader: Reader,
  tenant: TenantId,
  filter: ActionFilter,
  page: LedgerPage,
): Promise<PlacedAction[]> {
  const statement = ledgerList(columns, tenant, { filter, page, having: Sql.sql`kind = 'decision'` });
  if (statement === null) return [];
  const decisions = DecisionRows.parse(await reader.$queryRaw(statement)).map((row) => ({
    ...row,
    sealed: sealedPayload(row.payload),
  }));
  const ids = decisions.map(({ sealed }) => sealed.receipt_id);
  // Open calls are read before outcomes, so that a call which is settled between the two reads is found by its outcome.
  const open = await listOpenAmong(reader, tenant, ids);
  const outcomes = await listOutcomesOf(reader, tenant, ids);
  return decisions.map(({ log_index: logIndex, dispatched_by, sealed }) => ({
    logIndex,
    action: actionOf({
      sealed,
      dispatched_by,
      isOpen: open.has(sealed.receipt_id),
      outcome: outcomes.get(sealed.receipt_id),
    }),
  }));
}

const DecisionRows = z.array(
  z.object({ log_index: WholeNumber, payload: z.string(), dispatched_by: Action.shape.dispatched_by }),
);

async function listOpenAmong(reader: Reader, tenant: TenantId, ids: ReceiptId[]): Promise<ReadonlySet<ReceiptId>> {
  const where = { tenant_id: tenant, ulid: { in: ids.map(ulidOf) } };
  const rows = await reader.dispatch.findMany({ where, select: { ulid: true } });
  const open = new Set(rows.map(({ ulid }) => ulid));
  return new Set(ids.filter((id) => open.has(ulidOf(id))));
}

/** The outcomes, by the receipt of the decision. */
async function listOutcomesOf(
  reader: Reader,
  tenant: TenantId,
  ids: ReceiptId[],
): Promise<ReadonlyMap<ReceiptId | undefined, ReceiptPayload>> {
  const rows = await reader.$queryRaw`
    SELECT payload FROM ledger
     WHERE substring(payload from '"decision_receipt_id":"([^"]+)"') = ANY(${ids}) AND kind = 'outcome' AND tenant_id = ${tenant}`;
  const outcomes = OutcomeRows.parse(rows).map(({ payload }) => sealedPayload(payload));
  return new Map(outcomes.map((outcome) => [outcome.decision_receipt_id, outcome]));
}

const OutcomeRows = z.array(z.object({ payload: z.string() }));

type Joined = {
  sealed: ReceiptPayload;
  dispatched_by: Action['dispatched_by'];
  isOpen: boolean;
  outcome: ReceiptPayload | undefined;
};

function actionOf({ sealed, dispatched_by, isOpen, outcome }: Joined): Action {
  const { decision_id, verdict, reason_code, action, tool, effect_level, principal_id, session_id, shadow } = sealed;
  return {
    ...{
      decision_id,
      verdict,
      reason_code,
      action,
      tool,
      effect_level,
      principal_id,
      session_id,
      shadow,
      dispatched_by,
    },
    outcome: outcome?.outcome ?? (isOpen ? 'open' : 'none'),
    receipt_ids: [sealed.receipt_id, ...(outcome === undefined ? [] : [outcome.receipt_id])],
    approval_id: sealed.approval_id ?? null,
    decided_at: sealed.issued_at,
    settled_at: outcome?.issued_at ?? null,
  };
}
