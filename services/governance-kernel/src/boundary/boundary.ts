import { AppError } from '@countersign/contracts';
import type { DecisionReply, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { outputHash } from '@countersign/receipts';
import type { BudgetId, Instant } from '@countersign/contracts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { concludeCall, wantedFor, type Concluded, type CycleSettings } from './conclude-call.ts';
import { concludeSettlement, wantedForSettlement } from './conclude-settlement.ts';
import type { GovernedCall } from '../call/governed-call.ts';
import type { Boundary, SealedDecision, Settlement } from './sealed-decision.ts';
import { normalise, type Hasher, type SealedIntent } from '../call/normalise.ts';
import { closeReply, openReply, replyOf, type Answered } from './reply.ts';
import { evaluateAhead, type AskRules } from './rule-evaluation.ts';

type PolicySource = {
  /** The bundle in memory for this tenant, or null. */
  current(tenant: string): LoadedPolicy | null;
  /** Loads what the database holds. */
  reload(tenant: string): Promise<void>;
};

export type BoundaryParts = {
  ledger: GroupCommit;
  policies: PolicySource;
  askRules: AskRules;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  settings: CycleSettings;
};

/** A bundle that changes more often than this within one decision is an attack or a fault. */
const policyReloadsMax = 5;

/** The one decision cycle. Every governed route comes through here. */
export function createBoundary(parts: BoundaryParts): Boundary {
  return {
    decide: (call) => decideCall(parts, call),
    settle: (decision, settlement) => settleReceipt(parts, decision, settlement),
  };
}

async function decideCall(parts: BoundaryParts, call: GovernedCall): Promise<SealedDecision> {
  const intent = normalise(parts.hasher, call);
  for (let attempt = 0; attempt < policyReloadsMax; attempt += 1) {
    const concluded = await attemptCall(parts, call, intent);
    switch (concluded.kind) {
      case 'policy_changed':
        await parts.policies.reload(call.caller.tenant);
        break;
      case 'replayed':
        return new ReplayedDecision(concluded.json);
      case 'sealed':
        return new FreshDecision(concluded);
    }
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The policy keeps changing; nothing was executed');
}

async function attemptCall(parts: BoundaryParts, call: GovernedCall, intent: SealedIntent): Promise<Concluded> {
  const nowMs = parts.clock().getTime();
  const policy = parts.policies.current(call.caller.tenant);
  const now = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
  const evaluate = policy === null ? neverAsked : await evaluateAhead(parts.askRules, policy.policy, intent, now);
  const prepared = { ulid: parts.newUlid(nowMs), nowMs, now, call, intent, policy, evaluate };
  return parts.ledger.submit({
    chain: { tenant: call.caller.tenant, session: call.session },
    wants: wantedFor(call, intent),
    conclude: (batch) => concludeCall(batch, prepared, parts.settings),
  });
}

function neverAsked(): never {
  throw new Error('there is no policy to evaluate');
}

/** Seals how a dispatched call ended, as the route that dispatched it tells. */
async function settleReceipt(
  parts: BoundaryParts,
  decision: SealedDecision,
  settlement: Settlement,
): Promise<StoredReceipt> {
  const decided = decision.reply.receipt.payload;
  const nowMs = parts.clock().getTime();
  const { provider, saltOf } = parts.hasher;
  const salt = saltOf(decided.tenant_id);
  const prepared = {
    ulid: parts.newUlid(nowMs),
    nowMs,
    decided,
    outcome: settlement.outcome,
    outputHash: settlement.output === undefined ? null : outputHash(provider, salt, settlement.output),
    spentMinor: settlement.spentMinor ?? null,
  };
  return await parts.ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    wants: wantedForSettlement(decided, decision.held),
    conclude: (batch) => {
      const entry = concludeSettlement(batch, prepared);
      return (placeOf) => storedReceiptOf(entry, placeOf(entry));
    },
  });
}

// Classes, because an object literal with getters is built anew for every decision.

/** A door reads the object or the text, seldom both: each is made when it is read. */
class FreshDecision implements SealedDecision {
  readonly replayed = false;
  readonly held: readonly BudgetId[];
  readonly #answered: Answered;
  readonly #logIndex: number;
  #reply: DecisionReply | null = null;

  constructor({ answered, logIndex, held }: Extract<Concluded, { kind: 'sealed' }>) {
    this.#answered = answered;
    this.#logIndex = logIndex;
    this.held = held;
  }

  get json(): string {
    return closeReply(openReply(this.#answered), this.#logIndex);
  }

  get reply(): DecisionReply {
    this.#reply ??= replyOf(this.#answered, this.#logIndex);
    return this.#reply;
  }

  get headers(): Record<string, string> {
    return decisionHeaders(this.#answered.entry.payload);
  }
}

class ReplayedDecision implements SealedDecision {
  readonly replayed = true;
  readonly held: readonly BudgetId[] = [];
  readonly json: string;
  #reply: DecisionReply | null = null;

  constructor(json: string) {
    this.json = json;
  }

  get reply(): DecisionReply {
    this.#reply ??= JSON.parse(this.json) as DecisionReply; // a kernel wrote it
    return this.#reply;
  }

  get headers(): Record<string, string> {
    return { ...decisionHeaders(this.reply.receipt.payload), 'idempotency-replayed': 'true' };
  }
}

function decisionHeaders(receipt: ReceiptPayload): Record<string, string> {
  return {
    'x-gov-decision-id': receipt.decision_id,
    'x-gov-verdict': receipt.verdict,
    'x-gov-reason-code': receipt.reason_code,
    'x-gov-receipt-id': receipt.receipt_id,
    'x-gov-policy-hash': receipt.policy_hash ?? 'none',
    'x-gov-lamport-clock': String(receipt.lamport_clock),
  };
}
