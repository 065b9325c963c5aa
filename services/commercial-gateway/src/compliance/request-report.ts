import { AppError, type UserId } from '@countersign/contracts';
import {
  compliancePeriodDaysMax,
  type ComplianceFramework,
  type ComplianceReportSummary,
} from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { offeredPlans } from '../billing/plan-catalog.ts';
import { inBillingAccount, type BillingDeps } from '../billing-deps.ts';
import { checkEntitlement } from '../entitlements/check-entitlement.ts';
import { termsOfPlan } from '../entitlements/entitlement-terms.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import { newComplianceReportId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import * as store from '../store/compliance-reports.ts';
import type { Tx } from '../store/database.ts';
import { listWorkspacesAddedBefore } from '../store/orgs.ts';
import { catalogueVersion } from './catalogue.ts';

const dayMs = 86_400_000;
/** Limit of unfinished reports of one organisation, because each report reads the receipts of a whole period. */
const openMax = 10;
/**
 * The pause between the end of the period and the start of the report. A receipt from before the end may reach the log
 * a moment later.
 */
const settleMs = 60_000;

type ReportRequest = { orgId: OrgId; framework: ComplianceFramework; from: string; to: string };
type Requester = { userId: UserId; requestId: string | null };

/**
 * Queues a report, or returns the report of an equal request. A failed report is queued again. Throws INVALID_REQUEST
 * for a period that is empty, too long or not over, ENTITLEMENT_REQUIRED when the plan has no reports, and
 * ILLEGAL_TRANSITION while ten reports are unfinished.
 */
export function requestReport(
  deps: BillingDeps,
  { orgId, framework, from, to }: ReportRequest,
  { userId, requestId }: Requester,
): Promise<ComplianceReportSummary> {
  return inBillingAccount(deps, orgId, async (tx, at) => {
    assertPeriod({ from, to }, at);
    await assertEntitled(tx, deps, { orgId, at });
    const workspaces = await listWorkspacesAddedBefore(tx, orgId, new Date(to));
    const input = { framework, from, to, workspaces, catalogue_version: catalogueVersion };
    const question = digestOf(nodeProvider, canonicalize(input));
    const existing = await store.findReportOfQuestion(tx, orgId, question);
    if (existing !== null && existing.state !== 'failed') return existing;
    await assertFewOpen(tx, orgId);
    const id = existing?.report_id ?? newComplianceReportId();
    const availableAt = new Date(Math.max(at.getTime(), Date.parse(to) + settleMs));
    const period = { periodFrom: new Date(from), periodTo: new Date(to) };
    const report = { id, orgId, question, framework, ...period, workspaces, availableAt };
    if (existing === null) await store.insertReport(tx, { ...report, requestedBy: userId, createdAt: at });
    else await store.requeueReport(tx, orgId, id, at);
    const details = { framework, from, to };
    const act = { scope: orgId, action: 'compliance_report.requested', actor: userId, requestId, subject: id } as const;
    await recordAudit(tx, { ...act, verdict: 'allow', details }, at);
    const queued = await store.findReportOfQuestion(tx, orgId, question);
    if (queued === null) throw new Error('The report that was just inserted is missing');
    return queued;
  });
}

function assertPeriod({ from, to }: Pick<ReportRequest, 'from' | 'to'>, at: Date): void {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const days = (end - start) / dayMs;
  if (days <= 0) throw new AppError('INVALID_REQUEST', `to is ${to}, which is not after from`, { param: 'to' });
  if (days > compliancePeriodDaysMax)
    throw new AppError(
      'INVALID_REQUEST',
      `The period has ${Math.ceil(days)} days (limit ${compliancePeriodDaysMax}). Request several reports`,
      { param: 'from' },
    );
  if (end > at.getTime())
    throw new AppError('INVALID_REQUEST', `to is ${to}, which is in the future. A period must be over`, {
      param: 'to',
    });
}

async function assertEntitled(
  tx: Tx,
  { entitlementTerms }: Pick<BillingDeps, 'entitlementTerms'>,
  { orgId, at }: { orgId: OrgId; at: Date },
): Promise<void> {
  const entitlements = await entitlementsOf(tx, entitlementTerms, { orgId, now: at });
  const check = checkEntitlement(entitlements, { name: 'compliance', amount: 1 }, offeredPlans().map(termsOfPlan));
  if (check.allowed) return;
  const message = `The plan ${entitlements.plan_id} does not include compliance reports. Exports of evidence need no plan`;
  throw new AppError('ENTITLEMENT_REQUIRED', message, { details: { upgrade: check.upgrade?.plan_id ?? null } });
}

async function assertFewOpen(tx: Tx, orgId: OrgId): Promise<void> {
  const open = await store.countOpenReports(tx, orgId);
  if (open >= openMax)
    throw new AppError(
      'ILLEGAL_TRANSITION',
      `${open} reports are not finished (limit ${openMax}). Wait for one of them`,
    );
}
