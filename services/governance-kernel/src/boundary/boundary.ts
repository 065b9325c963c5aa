import { AppError } from '@countersign/contracts';
import type { DecisionReply, ReceiptPayload, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { canonicalize, concatBytes, digestOf, utf8Bytes } from '@countersign/crypto';
import type { Digest, Instant } from '@countersign/contracts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { storedReceiptOf } from '../ledger/statement.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { concludeCall, scopeOf, type Concluded, type CycleSettings } from './conclude-call.ts';
import { concludeSettlement, ulidOf } from './conclude-settlement.ts';
import { fenceScopes } from './facts.ts';
import type { Boundary, GovernedCall, SealedDecision, Settlement } from './governed-call.ts';
import { normalise, type Hasher, type SealedIntent } from './normalise.ts';
import { registeredTool } from './registry-fact.ts';
import { evaluateAhead, type AskRules } from './rule-evaluation.ts';

export type PolicySource = {
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
    settle: (decision, settlement) => settleReceipt(parts, decision.reply.receipt.payload, settlement),
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
        return new DecisionText(concluded.json, { replayed: true, headers: null });
      case 'sealed':
        return new DecisionText(concluded.json, { replayed: false, headers: decisionHeaders(concluded.entry.payload) });
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
  const { tenant } = call.caller;
  return parts.ledger.submit({
    chain: { tenant, session: call.session },
    reads: {
      fences: fenceScopes(call.caller),
      policyOf: tenant,
      budgetsOf: tenant,
      tool: registeredTool(call),
      approval: { tenant, id: call.approvalGrant, intentHash: intent.intent_hash },
      idempotency: call.idempotency ? scopeOf(call, call.idempotency) : undefined,
    },
    conclude: (batch) => concludeCall(batch, prepared, parts.settings),
  });
}

function neverAsked(): never {
  throw new Error('there is no policy to evaluate');
}

/** Seals how a dispatched call ended, as the route that dispatched it tells. */
async function settleReceipt(
  parts: BoundaryParts,
  decided: ReceiptPayload,
  settlement: Settlement,
): Promise<StoredReceipt> {
  const nowMs = parts.clock().getTime();
  const prepared = {
    ulid: parts.newUlid(nowMs),
    nowMs,
    decided,
    outcome: settlement.outcome,
    outputHash: outputHash(parts.hasher, decided.tenant_id, settlement.output),
    spentMinor: settlement.spentMinor ?? null,
  };
  const entry = await parts.ledger.submit({
    chain: { tenant: decided.tenant_id, session: decided.session_id },
    reads: { dispatch: ulidOf(decided.decision_id), budgetsOf: decided.tenant_id },
    conclude: (batch) => concludeSettlement(batch, prepared),
  });
  return storedReceiptOf(entry);
}

function outputHash({ provider, saltOf }: Hasher, tenant: string, output: Settlement['output']): Digest | null {
  if (output === undefined) return null;
  const text = typeof output === 'string' ? output : canonicalize(output);
  return digestOf(provider, concatBytes(saltOf(tenant), utf8Bytes(text))) as Digest; // digestOf writes exactly this form
}

/** A class, because an object literal with getters is built anew for every decision. */
class DecisionText implements SealedDecision {
  readonly json: string;
  readonly replayed: boolean;
  #headers: Record<string, string> | null;
  #reply: DecisionReply | null = null;

  constructor(json: string, { replayed, headers }: { replayed: boolean; headers: Record<string, string> | null }) {
    this.json = json;
    this.replayed = replayed;
    this.#headers = headers;
  }

  /** Parsed only by routes that look inside; evaluate passes the text on. */
  get reply(): DecisionReply {
    this.#reply ??= JSON.parse(this.json) as DecisionReply; // this process wrote it
    return this.#reply;
  }

  get headers(): Record<string, string> {
    this.#headers ??= { ...decisionHeaders(this.reply.receipt.payload), 'idempotency-replayed': 'true' };
    return this.#headers;
  }
}

export function decisionHeaders(receipt: ReceiptPayload): Record<string, string> {
  return {
    'x-gov-decision-id': receipt.decision_id,
    'x-gov-verdict': receipt.verdict,
    'x-gov-reason-code': receipt.reason_code,
    'x-gov-receipt-id': receipt.receipt_id,
    'x-gov-policy-hash': receipt.policy_hash ?? 'none',
    'x-gov-lamport-clock': String(receipt.lamport_clock),
  };
}
