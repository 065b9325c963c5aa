import { InvoiceId, SubscriptionId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { Prisma } from '../generated/prisma/client.ts';
import type { Tx } from './database.ts';

/*
 * The due work of all organisations, in pages by ID. A row is only a hint: the step that handles it locks the account
 * and checks its rule again.
 */

type DuePage = { now: Date; after: string; limit: number };

type DueOrg = { id: string; orgId: OrgId };
type Row = { id: string; org_id: string };

/** Billed subscriptions whose monthly period is over. */
export function listEndedPeriods(tx: Tx, { now, ...page }: DuePage): Promise<DueOrg[]> {
  return listDue(tx, page, {
    table: Prisma.sql`subscriptions`,
    // This expression must equal the expression of the index subscriptions_period_end.
    where: Prisma.sql`status IN ('active', 'past_due', 'unpaid')
      AND (anchor_at AT TIME ZONE 'UTC') + make_interval(months => period_index + 1) <= ${now}::timestamptz AT TIME ZONE 'UTC'`,
  });
}

/** Past-due subscriptions whose grace period is over. */
export function listEndedGraces(tx: Tx, { now, ...page }: DuePage): Promise<DueOrg[]> {
  const where = Prisma.sql`status = 'past_due' AND past_due_since <= ${now}::timestamptz`;
  return listDue(tx, page, { table: Prisma.sql`subscriptions`, where });
}

/** Canceled subscriptions whose late usage is not billed yet. */
export async function listUnsettled(
  tx: Tx,
  { now, ...page }: DuePage,
): Promise<(DueOrg & { subscriptionId: SubscriptionId })[]> {
  const where = Prisma.sql`status = 'canceled' AND settled_at IS NULL AND canceled_at <= ${now}::timestamptz`;
  const due = await listDue(tx, page, { table: Prisma.sql`subscriptions`, where });
  return due.map((row) => ({ ...row, subscriptionId: SubscriptionId.parse(row.id) }));
}

export async function listDrafts(tx: Tx, page: Omit<DuePage, 'now'>): Promise<(DueOrg & { invoiceId: InvoiceId })[]> {
  const due = await listDue(tx, page, { table: Prisma.sql`invoices`, where: Prisma.sql`status = 'draft'` });
  return due.map((row) => ({ ...row, invoiceId: InvoiceId.parse(row.id) }));
}

/** Expired credit grants with a remaining amount. */
export function listExpiredGrants(tx: Tx, { now, ...page }: DuePage): Promise<DueOrg[]> {
  const where = Prisma.sql`remaining_minor > 0 AND expires_at IS NOT NULL AND expires_at <= ${now}::timestamptz`;
  return listDue(tx, page, { table: Prisma.sql`credit_grants`, where });
}

/** Organisations whose usage has changed since the last check of their budget. */
export async function listUncheckedBudgets(tx: Tx, { after, limit }: Omit<DuePage, 'now'>): Promise<DueOrg[]> {
  const rows = await tx.$queryRaw<{ org_id: string }[]>`
    SELECT b.org_id FROM billing_budgets b JOIN usage_heads h ON h.org_id = b.org_id
     WHERE b.org_id > ${after} AND (h.last_seq, h.billed_until) IS DISTINCT FROM (b.checked_seq, b.checked_until)
     ORDER BY b.org_id LIMIT ${limit}::int`;
  return rows.map(({ org_id }) => ({ id: org_id, orgId: OrgId.parse(org_id) }));
}

async function listDue(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
  { table, where }: { table: Prisma.Sql; where: Prisma.Sql },
): Promise<DueOrg[]> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT id, org_id FROM ${table} WHERE ${where} AND id > ${after} ORDER BY id LIMIT ${limit}::int`;
  return rows.map(({ id, org_id }) => ({ id, orgId: OrgId.parse(org_id) }));
}
