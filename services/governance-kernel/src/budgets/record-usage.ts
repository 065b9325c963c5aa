import {
  AppError,
  microsOf,
  windowStartMs,
  type BudgetId,
  type Digest,
  type PrincipalId,
  type TenantId,
} from '@countersign/contracts';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { budgetThresholdEvents } from '../events.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgetUsage, usageAgeMaxMs, usageAheadMsMax } from './budget-usage.ts';
import { budgets } from './budgets.ts';
import { spend } from './reserve.ts';
import { standingBudget, wantedBudget } from './standing-budget.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Usage = {
  event_id: string;
  occurred_at: string;
  amount_minor: number;
  currency: string | null;
  tool_calls: number;
  egress_bytes: number;
  writes: number;
};

type Told = { tenant: TenantId; id: BudgetId; by: PrincipalId; usage: Usage };

type Recorded = { counted: boolean; budget: StoredBudget };

type Parts = SettingParts & { newEvent: NewEvent };

/**
 * Counts what was used elsewhere and seals that, or tells what became of an event that was told before. It counts beyond the ceiling
 * too, since it has happened. Throws NOT_FOUND, INVALID_REQUEST, and IDEMPOTENCY_KEY_REUSED for another event of the same name.
 */
export async function recordUsage(parts: Parts, { tenant, id, by, usage }: Told): Promise<Recorded> {
  const nowMs = parts.clock().getTime();
  assertTimely(usage, nowMs);
  const told = parsePlainJson({ ...usage });
  const fingerprint = digestOf(parts.provider, canonicalBytes(told)) as Digest; // digestOf writes exactly this form
  const key = { tenant, budget: id, event: usage.event_id };
  const chain = { tenant, session: ownSession('budgets') };
  return await parts.ledger.submit({
    chain,
    wants: [...wantedBudget({ tenant, id }), wanted(budgetUsage, key)],
    conclude: (batch) => {
      const standing = knownBudget(batch, { tenant, id }, nowMs);
      const earlier = batch.row(budgetUsage, key);
      if (earlier !== null) {
        assertSameEvent(earlier.fingerprint, fingerprint);
        return () => ({ counted: earlier.counted, budget: standing });
      }
      assertCountable(standing.row, usage);
      const counted = isOfWindow(standing.row, usage);
      const row = counted ? spend(standing.row, amountsOf(usage)) : standing.row;
      const setting = { ...usage, counted };
      const said = { ...chain, by, nowMs, action: 'budget.usage', resource: `budget:${id}`, setting } as const;
      batch.seal(settingStatement(parts, said), () => ({
        changes: [put(budgetUsage, { ...key, fingerprint, counted, recordedAtMs: nowMs }), put(budgets, row)],
        events: budgetThresholdEvents(parts, { before: [standing.row], after: [row], nowMs }),
      }));
      return () => ({ counted, budget: { ...standing, row } });
    },
  });
}

function assertTimely({ occurred_at }: Usage, nowMs: number): void {
  const ageMs = nowMs - Date.parse(occurred_at);
  if (ageMs > usageAgeMaxMs)
    throw new AppError('INVALID_REQUEST', 'The event is older than 35 days', { param: 'occurred_at' });
  if (ageMs < -usageAheadMsMax)
    throw new AppError('INVALID_REQUEST', 'The event has not happened yet', { param: 'occurred_at' });
}

function knownBudget(batch: LedgerBatch, key: { tenant: TenantId; id: BudgetId }, nowMs: number): StoredBudget {
  const standing = standingBudget(batch, key, nowMs);
  if (standing === null) throw new AppError('NOT_FOUND', 'There is no such budget');
  return standing;
}

function assertSameEvent(told: Digest, now: Digest): void {
  if (told !== now) throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This event_id was told of another use');
}

/** Money of another currency cannot be added. */
function assertCountable(budget: BudgetRow, { amount_minor, currency }: Usage): void {
  const needsCurrency = amount_minor > 0 || currency !== null;
  if (!needsCurrency || (currency !== null && currency === budget.currency)) return;
  const counts = budget.currency === null ? 'no money' : `money in ${budget.currency}`;
  throw new AppError('INVALID_REQUEST', `The budget counts ${counts}`, { param: 'currency' });
}

function isOfWindow(budget: BudgetRow, { occurred_at }: Usage): boolean {
  const startMs = windowStartMs(budget);
  return startMs === null || Date.parse(occurred_at) >= startMs;
}

function amountsOf({ amount_minor, tool_calls, egress_bytes, writes }: Usage) {
  return { tool_calls, spend_micros: microsOf(amount_minor), egress_bytes, writes };
}
