import { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

type StoredTrial = {
  orgId: OrgId;
  planId: BillingPlanId;
  planVersion: number;
  startsAt: Date;
  endsAt: Date;
  startedBy: string;
};

export async function findTrial(
  reader: Reader,
  orgId: OrgId,
): Promise<Pick<StoredTrial, 'planId' | 'planVersion' | 'endsAt'> | null> {
  const row = await reader.trial.findUnique({ where: { orgId } });
  return row === null ? null : { ...row, planId: BillingPlanId.parse(row.planId) };
}

/** Returns the trials that this organisation, one of these registrable domains or a subdomain has used. */
export async function listUsedTrials(
  reader: Reader,
  { orgId, domains }: { orgId: OrgId; domains: readonly string[] },
): Promise<{ org: string; domains: string[] }[]> {
  const names = domains.flatMap((domain) => [{ domain }, { domain: { endsWith: `.${domain}` } }]);
  const where = { OR: [{ orgId }, { domains: { some: { OR: names } } }] };
  const rows = await reader.trial.findMany({ where, include: { domains: true } });
  return rows.map((row) => ({ org: row.orgId, domains: row.domains.map(({ domain }) => domain) }));
}

/** Stores a trial with its domains. Returns false when the organisation or a domain has already used a trial. */
export async function insertTrial(tx: Tx, trial: StoredTrial, domains: readonly string[]): Promise<boolean> {
  const { orgId } = trial;
  const { count } = await tx.trial.createMany({ data: trial, skipDuplicates: true });
  if (count === 0) return false;
  const data = domains.map((domain) => ({ domain, orgId }));
  const used = await tx.trialDomain.createMany({ data, skipDuplicates: true });
  return used.count === domains.length;
}
