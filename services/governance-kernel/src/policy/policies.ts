import { AppError } from '@countersign/contracts';
import type { DecisionId, Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { digestOf, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import { confirmationSkewMaxMs, type CompiledPolicy } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Wanted } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { keyFaultText, type KeyFault } from '../ledger/key-fault.ts';
import { instantOf, moveOf } from './activation.ts';
import { compileBundle, compileText, textOf } from './compile.ts';
import type { Confirmations } from './confirmations.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { lackedCeiling, wantedCeilings, type CeilingsReader } from './policy-ceilings.ts';
import { policyBundles } from './policy-bundles.ts';
import { policyHeads, type PolicyHead } from './policy-heads.ts';
import { assertAllowed, wantedDecision } from './needed-decision.ts';
import { receiptTenant } from './receipt-tenant.ts';
import { ownSession } from '../ledger/own-sessions.ts';

/** The stored policies of these tenants. */
export type StoredPolicies = {
  active: readonly { head: PolicyHead; bundle: string }[];
  /** The last bundle that each of them activated, as it was signed. An activation is never removed. */
  activated: readonly PolicyHead[];
};

type PolicyParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  load(tenants: string[]): Promise<StoredPolicies>;
  /** Whether this key is revoked, or has ended by an instant. */
  findKeyFault(keyId: string, at: Date): Promise<KeyFault | null>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

export type Activation = {
  tenant: string;
  bundle: PolicyBundle;
  epoch: number;
  confirmedAt: Instant;
  signature: Signature;
  by: PrincipalId;
  /** The decision for which it was signed. */
  decisionId?: DecisionId;
};
type Move = ReturnType<typeof moveOf>;
type PreparedActivation = {
  activation: Activation;
  policy: CompiledPolicy;
  head: PolicyHead;
  nowMs: number;
  bundleText: string;
  chain: { tenant: TenantId; session: SessionId };
  wants: readonly Wanted[];
};
export type Activated = { epoch: number; hash: Digest; move: Move; confirmedAt: Instant };

/** Bundles in memory, each compiled once; the database decides which one is active. */
export class Policies {
  readonly #parts: PolicyParts;
  readonly #loaded = new Map<string, LoadedPolicy>();
  readonly #heads = new Map<string, PolicyHead>();
  readonly #compiling = new Map<string, { epoch: number; hash: Digest; done: Promise<void> }>();

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  current(tenant: string): LoadedPolicy | null {
    return this.#loaded.get(tenant) ?? this.#loaded.get('*') ?? null;
  }

  /** The tenant's own active bundle, as it was last read, whether it is signed, and the newest known statement. */
  standing(tenant: string): { active: PolicyHead | null; isSigned: boolean; newest: PolicyHead | null } {
    const { confirmations } = this.#parts;
    const active = this.#heads.get(tenant) ?? null;
    return {
      active,
      isSigned: active !== null && confirmations.isSigned(active),
      newest: confirmations.newest(tenant),
    };
  }

  async reload(tenant: string): Promise<void> {
    const { load, confirmations, clock } = this.#parts;
    const owners = [tenant, '*'];
    const { active, activated } = await load(owners);
    for (const head of activated) confirmations.learn(head, clock().getTime());
    for (const owner of owners) {
      const stored = active.find(({ head }) => head.tenant === owner);
      if (stored === undefined) {
        this.#loaded.delete(owner);
        this.#compiling.delete(owner);
        this.#heads.delete(owner);
        continue;
      }
      this.#heads.set(owner, stored.head);
      await this.#keep(stored);
    }
  }

  /** Throws INVALID_REQUEST for a bundle that does not compile or fails its own tests. */
  async compile(bundle: PolicyBundle): Promise<CompiledPolicy> {
    return await compileBundle(this.#parts.provider, bundle);
  }

  /**
   * Makes a bundle the active one, or confirms that it still is. Throws PERMISSION_DENIED, INVALID_REQUEST, CEILING_MISSING,
   * DECISION_REQUIRED, ILLEGAL_TRANSITION.
   */
  async activate(activation: Activation): Promise<Activated> {
    const prepared = await this.prepare(activation);
    const { head, chain } = prepared;
    const move = await this.#parts.ledger.submit({
      chain,
      wants: prepared.wants,
      conclude: (batch) => {
        const statement = this.statementIn(batch, prepared);
        statement.make();
        return () => {
          statement.learn();
          return statement.move;
        };
      },
    });
    return { epoch: head.epoch, hash: head.hash, move, confirmedAt: activation.confirmedAt };
  }

  /** The checks of an activation before the batch that concludes it. Throws PERMISSION_DENIED, INVALID_REQUEST. */
  async prepare(activation: Activation): Promise<PreparedActivation> {
    const { tenant, bundle, epoch, confirmedAt, signature } = activation;
    const policy = await this.compile(bundle);
    const hash = policy.hash as Digest; // the compiler hashes with digestOf
    const confirmedAtMs = Date.parse(confirmedAt);
    const head = { tenant, epoch, hash, confirmedAtMs, keyId: signature.key_id, signature: signature.value };
    const nowMs = this.#parts.clock().getTime();
    this.#assertSignedInTime(head, nowMs);
    await this.#assertKeyCounts(head, nowMs);
    return {
      ...{ activation, policy, head, nowMs },
      bundleText: textOf(bundle),
      chain: { tenant: receiptTenant(tenant), session: ownSession('policy') },
      wants: [wanted(policyHeads, tenant), ...wantedCeilings(tenant), ...wantedDecision(activation)],
    };
  }

  /** Within a batch: throws CEILING_MISSING, DECISION_REQUIRED and ILLEGAL_TRANSITION, and nothing is sealed before it is made. */
  statementIn(batch: LedgerBatch, prepared: PreparedActivation, ceilings: CeilingsReader = batch) {
    const { activation, head, policy, chain, nowMs } = prepared;
    const lacked = lackedCeiling(ceilings, head.tenant, policy);
    if (lacked !== null)
      throw new AppError('CEILING_MISSING', `The bundle differs from the ceilings in force: ${lacked}`, {
        param: 'bundle.rules',
        details: { ceiling: lacked },
      });
    const move = moveOf(this.#standing(batch, head.tenant), head);
    if (move === 'activate') assertAllowed(batch, ceilings, { activation, head });
    return {
      move,
      make: () => {
        if (move === 'stands') return;
        const { confirmedAtMs: activatedAtMs, ...said } = head;
        const activated = put(policyBundles, { ...said, activatedAtMs, bundle: prepared.bundleText });
        const changes = [...(move === 'activate' ? [activated] : []), put(policyHeads, head)];
        batch.seal(this.#receiptOf(activation, { ...chain, head, nowMs, move }), () => ({ changes }));
      },
      /** For when it is committed. */
      learn: () => {
        if (move !== 'stands') this.#parts.confirmations.learn(head, nowMs);
      },
    };
  }

  /** A late activation would remove the tenant's policy: it would be stale as soon as it is active. */
  #assertSignedInTime(head: PolicyHead, nowMs: number): void {
    const { confirmations, policyAgeMaxMs } = this.#parts;
    if (!confirmations.isSigned(head))
      throw new AppError('PERMISSION_DENIED', 'The activation is not signed by a trusted policy key', {
        reasonCode: 'POLICY_SIGNATURE_INVALID',
      });
    const ageMs = nowMs - head.confirmedAtMs;
    if (ageMs <= policyAgeMaxMs && ageMs >= -confirmationSkewMaxMs) return;
    const fault = ageMs > 0 ? 'was signed too long ago' : 'is signed for a time that has not come';
    throw new AppError('INVALID_REQUEST', `The activation ${fault}`, {
      param: 'confirmed_at',
      reasonCode: 'POLICY_STALE',
    });
  }

  /**
   * Statements of a dead key could not be proven. Its statements from when it was valid stay in force, until they are
   * stale.
   */
  async #assertKeyCounts({ keyId, confirmedAtMs }: PolicyHead, nowMs: number): Promise<void> {
    const fault = await this.#parts.findKeyFault(keyId, new Date(Math.max(confirmedAtMs, nowMs)));
    if (fault === null) return;
    throw new AppError(
      'PERMISSION_DENIED',
      `The activation is signed by the policy key ${keyId}, which ${keyFaultText[fault]}`,
      {
        reasonCode: 'POLICY_SIGNATURE_INVALID',
      },
    );
  }

  /** The newest that is known. The time of an unsigned row does not count. */
  #standing(batch: LedgerBatch, tenant: string): PolicyHead | null {
    const { confirmations } = this.#parts;
    const known = confirmations.newest(tenant);
    const row = batch.row(policyHeads, tenant);
    if (row === null || (known !== null && !confirmations.isNewest(tenant, row))) return known;
    return confirmations.isSigned(row) ? row : { ...row, confirmedAtMs: known?.confirmedAtMs ?? 0 };
  }

  #receiptOf(
    { tenant, by, confirmedAt, signature }: Activation,
    said: { tenant: TenantId; session: SessionId; head: PolicyHead; nowMs: number; move: 'activate' | 'confirm' },
  ) {
    const { provider, newUlid } = this.#parts;
    const { head, nowMs, move } = said;
    return announcementStatement(provider, {
      tenant: said.tenant,
      session: said.session,
      ulid: newUlid(nowMs),
      at: instantOf(nowMs),
      principal: by,
      kind: 'policy',
      action: move === 'activate' ? 'policy.change' : 'policy.confirm',
      tool: null,
      resource: `policy:${tenant}`,
      effectLevel: 'E3',
      verdict: 'ALLOW',
      reasonCode: 'ALLOWED',
      argsHash: digestOf(provider, utf8Bytes(`${head.hash}:${head.epoch}:${confirmedAt}`)) as Digest, // digestOf writes exactly this form
      policyHash: head.hash,
      policyEpoch: head.epoch,
      approvalId: null,
      facts: { confirmed_at: confirmedAt, signature: { ...signature } },
    });
  }

  /** Compiles once for all callers at the same time. The hash is compared too: after a lost failover an epoch may come again. */
  async #keep({ head: { tenant, hash, epoch }, bundle }: StoredPolicies['active'][number]): Promise<void> {
    const loaded = this.#loaded.get(tenant);
    if (loaded?.epoch === epoch && loaded.hash === hash) return;
    const running = this.#compiling.get(tenant);
    if (running?.epoch === epoch && running.hash === hash) return await running.done;
    const done = compileText(this.#parts.provider, bundle).then((policy) => {
      if (this.#compiling.get(tenant)?.done !== done) return; // a later epoch has come
      this.#compiling.delete(tenant);
      this.#loaded.set(tenant, { policy, hash, epoch });
    });
    this.#compiling.set(tenant, { epoch, hash, done });
    await done;
  }
}
