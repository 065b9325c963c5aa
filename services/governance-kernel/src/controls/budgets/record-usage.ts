import {
  sha256Of,
  AppError,
  microsOf,
  windowStartMs,
  type BudgetId,
  type Digest,
  type PrincipalId,
  type TenantId,
} from '@countersign/contracts';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { budgetThresholdEvents } from '../../events.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import type { BudgetRow, StoredBudget } from './budget-row.ts';
import { budgetUsage, usageAgeMaxMs, usageAheadMsMax } from './budget-usage.ts';
import { budgets } from './budgets.ts';
import { spend } from './reserve.ts';
import { standingBudget, wantedBudget } from './standing-budget.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Usage = {
  event_id: string;
  occurred_at: string;
  amount_minor: number;
  currency: string | null;
  tool_calls: number;
  egress_bytes: number;
  writes: number;
};

type UsageReport = { tenant: TenantId; id: BudgetId; by: PrincipalId; usage: Usage };

type Recorded = { counted: boolean; budget: StoredBudget };

type Deps = SettingDeps & { newEvent: NewEvent };

/**
 * Counts external usage, even beyond the ceiling, since it has already happened, and seals it. Usage from before the
 * current window is sealed and not counted. For a repeated event, returns the earlier result. Throws NOT_FOUND,
 * INVALID_REQUEST, and IDEMPOTENCY_KEY_REUSED for a different event with the same ID.
 */
export async function recordUsage(deps: Deps, { tenant, id, by, usage }: UsageReport): Promise<Recorded> {
  const nowMs = deps.clock().getTime();
  assertTimely(usage, nowMs);
  const plain = parsePlainJson({ ...usage });
  const fingerprint = sha256Of(deps.provider, canonicalBytes(plain));
  const key = { tenant, budget: id, event: usage.event_id };
  const chain = { tenant, session: ownSession('budgets') };
  return await deps.ledger.submit({
    chain,
    wants: [...wantedBudget({ tenant, id }), wanted(budgetUsage, key)],
    conclude: (batch) => {
      const current = knownBudget(batch, { tenant, id }, nowMs);
      const earlier = batch.row(budgetUsage, key);
      if (earlier !== null) {
        assertSameEvent(earlier.fingerprint, fingerprint);
        return () => ({ counted: earlier.counted, budget: current });
      }
      assertCountable(current.row, usage);
      const counted = isOfWindow(current.row, usage);
      const row = counted ? spend(current.row, amountsOf(usage)) : current.row;
      const setting = { ...usage, counted };
      const statement = { ...chain, by, nowMs, action: 'budget.usage', resource: `budget:${id}`, setting } as const;
      batch.seal(settingStatement(deps, statement), () => ({
        changes: [put(budgetUsage, { ...key, fingerprint, counted, recordedAtMs: nowMs }), put(budgets, row)],
        events: budgetThresholdEvents(deps, { before: [current.row], after: [row], nowMs }),
      }));
      return () => ({ counted, budget: { ...current, row } });
    },
  });
}

function assertTimely({ occurred_at }: Usage, nowMs: number): void {
  const ageMs = nowMs - Date.parse(occurred_at);
  if (ageMs > usageAgeMaxMs)
    throw new AppError('INVALID_REQUEST', 'occurred_at is more than 35 days ago. Usage this old is not recorded', {
      param: 'occurred_at',
    });
  if (ageMs < -usageAheadMsMax)
    throw new AppError('INVALID_REQUEST', 'occurred_at is more than 5 minutes in the future. Check the clock', {
      param: 'occurred_at',
    });
}

function knownBudget(batch: LedgerBatch, key: { tenant: TenantId; id: BudgetId }, nowMs: number): StoredBudget {
  const current = standingBudget(batch, key, nowMs);
  if (current === null) throw new AppError('NOT_FOUND', 'The tenant has no budget with this ID');
  return current;
}

function assertSameEvent(earlier: Digest, now: Digest): void {
  if (earlier !== now)
    throw new AppError(
      'IDEMPOTENCY_KEY_REUSED',
      'This event_id was already reported with other data. Use a new event_id',
    );
}

/** Amounts in different currencies cannot be added. */
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
