import { instantOf, sha256Of, AppError } from '@countersign/contracts';
import type { DecisionId, Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import { confirmationSkewMaxMs, type CompiledPolicy } from '@countersign/policy';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Wanted } from '../../ledger/control.ts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import { keyFaultText, type KeyFault } from '../../ledger/key-fault.ts';
import { moveOf } from './activation.ts';
import { compileBundle, compileText, textOf } from './compile.ts';
import type { Confirmations } from './confirmations.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { lackedCeiling, wantedCeilings, type CeilingsReader } from './policy-ceilings.ts';
import { policyBundles } from './policy-bundles.ts';
import { policyHeads, type PolicyHead } from './policy-heads.ts';
import { assertAllowed, wantedDecision } from './needed-decision.ts';
import { receiptTenant } from './receipt-tenant.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

/** The stored policies of these tenants. */
export type StoredPolicies = {
  active: readonly { head: PolicyHead; bundle: string }[];
  /** The signed statement of each tenant's last activation. Activations are never removed. */
  activated: readonly PolicyHead[];
};

type PolicyDeps = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  load(tenants: string[]): Promise<StoredPolicies>;
  /** The reason why this key cannot sign at this instant. `null` when it can. */
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
  /** The decision for which the activation was signed. */
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

/** Compiled bundles in memory. The database decides which one is active. */
export class Policies {
  readonly #deps: PolicyDeps;
  readonly #loaded = new Map<string, LoadedPolicy>();
  readonly #heads = new Map<string, PolicyHead>();
  readonly #compiling = new Map<string, { epoch: number; hash: Digest; done: Promise<void> }>();

  constructor(deps: PolicyDeps) {
    this.#deps = deps;
  }

  current(tenant: string): LoadedPolicy | null {
    return this.#loaded.get(tenant) ?? this.#loaded.get('*') ?? null;
  }

  /** The tenant's own active bundle as last read, whether it is signed, and the newest known statement. */
  stateOf(tenant: string): { active: PolicyHead | null; isSigned: boolean; newest: PolicyHead | null } {
    const { confirmations } = this.#deps;
    const active = this.#heads.get(tenant) ?? null;
    return {
      active,
      isSigned: active !== null && confirmations.isSigned(active),
      newest: confirmations.newest(tenant),
    };
  }

  async reload(tenant: string): Promise<void> {
    const { load, confirmations, clock } = this.#deps;
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
    return await compileBundle(this.#deps.provider, bundle);
  }

  /**
   * Activates a bundle, or confirms that it is active. Throws PERMISSION_DENIED, INVALID_REQUEST, CEILING_MISSING,
   * DECISION_REQUIRED, ILLEGAL_TRANSITION.
   */
  async activate(activation: Activation): Promise<Activated> {
    const prepared = await this.prepare(activation);
    const { head, chain } = prepared;
    const move = await this.#deps.ledger.submit({
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

  /** The checks of an activation before its batch. Throws PERMISSION_DENIED, INVALID_REQUEST. */
  async prepare(activation: Activation): Promise<PreparedActivation> {
    const { tenant, bundle, epoch, confirmedAt, signature } = activation;
    const policy = await this.compile(bundle);
    const hash = policy.hash;
    const confirmedAtMs = Date.parse(confirmedAt);
    const head = { tenant, epoch, hash, confirmedAtMs, keyId: signature.key_id, signature: signature.value };
    const nowMs = this.#deps.clock().getTime();
    this.#assertSignedInTime(head, nowMs);
    await this.#assertKeyCounts(head, nowMs);
    return {
      ...{ activation, policy, head, nowMs },
      bundleText: textOf(bundle),
      chain: { tenant: receiptTenant(tenant), session: ownSession('policy') },
      wants: [wanted(policyHeads, tenant), ...wantedCeilings(tenant), ...wantedDecision(activation)],
    };
  }

  /**
   * Runs within a batch. Throws CEILING_MISSING, DECISION_REQUIRED and ILLEGAL_TRANSITION before anything is sealed.
   */
  statementIn(batch: LedgerBatch, prepared: PreparedActivation, ceilings: CeilingsReader = batch) {
    const { activation, head, policy, chain, nowMs } = prepared;
    const lacked = lackedCeiling(ceilings, head.tenant, policy);
    if (lacked !== null)
      throw new AppError('CEILING_MISSING', `The bundle differs from the ceilings in force: ${lacked}`, {
        param: 'bundle.rules',
        details: { ceiling: lacked },
      });
    const move = moveOf(this.#newestOf(batch, head.tenant), head);
    if (move === 'activate') assertAllowed(batch, ceilings, { activation, head });
    return {
      move,
      make: () => {
        if (move === 'stands') return;
        const { confirmedAtMs: activatedAtMs, ...message } = head;
        const activated = put(policyBundles, { ...message, activatedAtMs, bundle: prepared.bundleText });
        const changes = [...(move === 'activate' ? [activated] : []), put(policyHeads, head)];
        batch.seal(this.#receiptOf(activation, { ...chain, head, nowMs, move }), () => ({ changes }));
      },
      /** Called after the commit. Remembers the new statement. */
      learn: () => {
        if (move !== 'stands') this.#deps.confirmations.learn(head, nowMs);
      },
    };
  }

  /** Refuses unsigned, early and late activations. A late activation would make a stale bundle active. */
  #assertSignedInTime(head: PolicyHead, nowMs: number): void {
    const { confirmations, policyAgeMaxMs } = this.#deps;
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
   * Refuses new statements of a revoked or expired key, since they could not be verified. Statements that were accepted
   * before stay in force until they are stale.
   */
  async #assertKeyCounts({ keyId, confirmedAtMs }: PolicyHead, nowMs: number): Promise<void> {
    const fault = await this.#deps.findKeyFault(keyId, new Date(Math.max(confirmedAtMs, nowMs)));
    if (fault === null) return;
    throw new AppError(
      'PERMISSION_DENIED',
      `The activation is signed by the policy key ${keyId}, which ${keyFaultText[fault]}`,
      {
        reasonCode: 'POLICY_SIGNATURE_INVALID',
      },
    );
  }

  /** The newest known statement. An unsigned row has the time of the newest signed statement, or 0. */
  #newestOf(batch: LedgerBatch, tenant: string): PolicyHead | null {
    const { confirmations } = this.#deps;
    const existing = confirmations.newest(tenant);
    const row = batch.row(policyHeads, tenant);
    if (row === null || (existing !== null && !confirmations.isNewest(tenant, row))) return existing;
    return confirmations.isSigned(row) ? row : { ...row, confirmedAtMs: existing?.confirmedAtMs ?? 0 };
  }

  #receiptOf(
    { tenant, by, confirmedAt, signature }: Activation,
    statement: { tenant: TenantId; session: SessionId; head: PolicyHead; nowMs: number; move: 'activate' | 'confirm' },
  ) {
    const { provider, newUlid } = this.#deps;
    const { head, nowMs, move } = statement;
    return announcementStatement(provider, {
      tenant: statement.tenant,
      session: statement.session,
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
      argsHash: sha256Of(provider, utf8Bytes(`${head.hash}:${head.epoch}:${confirmedAt}`)),
      policyHash: head.hash,
      policyEpoch: head.epoch,
      approvalId: null,
      facts: { confirmed_at: confirmedAt, signature: { ...signature } },
    });
  }

  /**
   * Compiles a bundle once for all simultaneous callers. Its epoch alone does not identify it, since an epoch may
   * repeat after a failover that lost commits.
   */
  async #keep({ head: { tenant, hash, epoch }, bundle }: StoredPolicies['active'][number]): Promise<void> {
    const loaded = this.#loaded.get(tenant);
    if (loaded?.epoch === epoch && loaded.hash === hash) return;
    const running = this.#compiling.get(tenant);
    if (running?.epoch === epoch && running.hash === hash) return await running.done;
    const done = compileText(this.#deps.provider, bundle).then((policy) => {
      if (this.#compiling.get(tenant)?.done !== done) return; // a later epoch has arrived
      this.#compiling.delete(tenant);
      this.#loaded.set(tenant, { policy, hash, epoch });
    });
    this.#compiling.set(tenant, { epoch, hash, done });
    await done;
  }
}
