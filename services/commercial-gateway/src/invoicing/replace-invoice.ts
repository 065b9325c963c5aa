import { AppError, type InvoiceId } from '@countersign/contracts';
import type { PlanVersion } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { assembleInvoice, type AssembledInvoice } from '../billing/assemble-invoice.ts';
import { newInvoiceId } from '../ids.ts';
import { sumBilledUsage } from '../store/billed-usage.ts';
import type { Tx } from '../store/database.ts';
import { insertInvoice, isPeriodBilled, type StoredInvoice } from '../store/invoices.ts';
import { findPlanVersion } from '../store/plan-versions.ts';
import { commitInvoice, getInvoice } from './commit-invoice.ts';

type Correction = { id: InvoiceId; planVersion: number; taxPercent: string | null };

/**
 * Drafts the invoice that replaces a void invoice. The new invoice bills the same time and the same usage events at
 * another version of the plan or with another tax. Throws ILLEGAL_TRANSITION when the invoice is not void or bills late
 * usage, and ALREADY_EXISTS when its time is billed by another invoice.
 */
export function replaceInvoice(
  deps: BillingDeps,
  { id, planVersion, taxPercent }: Correction,
  caller: BillingCaller,
): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const voided = await getInvoice(tx, caller, id);
    await assertReplaceable(tx, voided);
    const plan = await findPlanVersion(tx, { planId: voided.planId, version: planVersion });
    if (plan === null || plan.currency === null)
      throw new AppError('INVALID_REQUEST', `The plan ${voided.planId} has no price in version ${planVersion}`, {
        param: 'plan_version',
      });
    const assembled = await assembleAgain(tx, { voided, plan, taxPercent });
    const { subtotalMinor, taxMinor, totalMinor } = assembled;
    const after: StoredInvoice = {
      ...voided,
      ...{ id: newInvoiceId(), number: null, status: 'draft', currency: plan.currency, planVersion },
      ...{ subtotalMinor, taxMinor, totalMinor, createdAt: at, finalizedAt: null, closedAt: null },
    };
    await insertInvoice(tx, after, assembled.lines);
    await commitInvoice(tx, deps, { after, from: null, action: 'replaced', at, details: { replaces: id } }, caller);
    return after;
  });
}

async function assertReplaceable(tx: Tx, voided: StoredInvoice): Promise<void> {
  if (voided.status !== 'void')
    throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${voided.status}. Void it first`, {
      details: { status: voided.status, allowed_from: ['void'] },
    });
  if (voided.kind === 'late_usage')
    throw new AppError('ILLEGAL_TRANSITION', 'An invoice of late usage cannot be replaced. Grant a credit instead', {
      details: { kind: voided.kind, allowed: ['grant_credit'] },
    });
  if (await isPeriodBilled(tx, voided))
    throw new AppError('ALREADY_EXISTS', 'Another invoice bills the time of this invoice');
}

type Assembly = { voided: StoredInvoice; plan: PlanVersion; taxPercent: string | null };

/** Rates the usage events that the void invoice billed. */
async function assembleAgain(tx: Tx, { voided, plan, taxPercent }: Assembly): Promise<AssembledInvoice> {
  const usage = await sumBilledUsage(tx, voided.orgId, voided);
  const period = { start: voided.cycleStart, end: voided.cycleEnd };
  const span = { start: voided.periodStart, end: voided.periodEnd };
  return assembleInvoice(plan, { period, span, usage, taxPercent });
}
