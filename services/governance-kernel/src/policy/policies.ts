import { AppError } from '@countersign/contracts';
import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf, parsePlainJson, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import { compilePolicy, confirmationSkewMaxMs, PolicyError, type CompiledPolicy } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { instantOf, moveOf } from './activation.ts';
import type { Confirmations } from './confirmations.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { policyHeads, type PolicyHead } from './policy-heads.ts';
import { receiptTenant } from './receipt-tenant.ts';

/** What the database holds of these tenants' policies. */
export type StoredPolicies = {
  active: readonly { head: PolicyHead; bundle: string }[];
  /** The last bundle that each of them activated, as it was signed. What was activated is never taken away. */
  activated: readonly PolicyHead[];
};

type PolicyParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  load(tenants: string[]): Promise<StoredPolicies>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Activation = {
  tenant: string;
  bundle: PolicyBundle;
  epoch: number;
  confirmedAt: Instant;
  signature: Signature;
  by: PrincipalId;
};
type Move = ReturnType<typeof moveOf>;
export type Activated = { epoch: number; hash: Digest; move: Move; confirmedAt: Instant };

/** Bundles in memory, each compiled once; the database decides which one is active. */
export class Policies {
  readonly #parts: PolicyParts;
  readonly #loaded = new Map<string, LoadedPolicy>();
  readonly #heads = new Map<string, PolicyHead>();

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  current(tenant: string): LoadedPolicy | null {
    return this.#loaded.get(tenant) ?? this.#loaded.get('*') ?? null;
  }

  /** Which bundle of the tenant's own is active, as it was last read, and whether anybody signed for it. */
  standing(tenant: string): { active: PolicyHead | null; isSigned: boolean } {
    const active = this.#heads.get(tenant) ?? null;
    return { active, isSigned: active !== null && this.#parts.confirmations.isSigned(active) };
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
        this.#heads.delete(owner);
        continue;
      }
      this.#heads.set(owner, stored.head);
      if (this.#loaded.get(owner)?.epoch !== stored.head.epoch) this.#loaded.set(owner, this.#compileStored(stored));
    }
  }

  /** Throws INVALID_REQUEST for a bundle that does not compile or fails its own tests. */
  compile(bundle: PolicyBundle): CompiledPolicy {
    try {
      return compilePolicy(bundle, this.#parts.provider);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      throw new AppError('INVALID_REQUEST', error.message, {
        param: `bundle${error.path.replaceAll('/', '.')}`,
        details: { code: error.code },
        cause: error,
      });
    }
  }

  /** Makes a bundle the active one, or confirms that it still is. Throws PERMISSION_DENIED, INVALID_REQUEST, ILLEGAL_TRANSITION. */
  async activate(activation: Activation): Promise<Activated> {
    const { ledger, confirmations, clock } = this.#parts;
    const head = this.#headOf(activation);
    const nowMs = clock().getTime();
    this.#assertSignedInTime(head, nowMs);
    const chain = { tenant: receiptTenant(activation.tenant), session: 'policy' as SessionId }; // within its schema
    const move = await ledger.submit({
      chain,
      wants: [wanted(policyHeads, activation.tenant)],
      conclude: (batch) => {
        const next = moveOf(this.#standing(batch, head.tenant), head);
        if (next === 'stands') return () => next;
        const stated = next === 'activate' ? { ...head, bundle: textOf(activation.bundle) } : head;
        batch.seal(this.#receiptOf(activation, { ...chain, head, nowMs, move: next }), () => ({
          changes: [put(policyHeads, stated)],
        }));
        return () => {
          confirmations.learn(head, nowMs);
          return next;
        };
      },
    });
    return { epoch: head.epoch, hash: head.hash, move, confirmedAt: activation.confirmedAt };
  }

  #headOf({ tenant, bundle, epoch, confirmedAt, signature }: Activation): PolicyHead {
    const hash = this.compile(bundle).hash as Digest; // compilePolicy hashes with digestOf
    const confirmedAtMs = Date.parse(confirmedAt);
    return { tenant, epoch, hash, confirmedAtMs, keyId: signature.key_id, signature: signature.value };
  }

  /** What comes too late would take the tenant's policy away: it would be stale as soon as it is active. */
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

  /** The newest that is known. The time of a row that nobody signed says nothing. */
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

  #compileStored({ head: { hash, epoch }, bundle }: StoredPolicies['active'][number]): LoadedPolicy {
    return { policy: compileText(bundle, this.#parts.provider), hash, epoch };
  }
}

function textOf(bundle: PolicyBundle): string {
  return canonicalize(parsePlainJson(JSON.parse(JSON.stringify(bundle)))); // drops members that are undefined
}

/** A row that was damaged becomes a bundle without rules: its hash is not the active one, so the policy gate denies, with a receipt. */
function compileText(text: string, provider: CryptoProvider): CompiledPolicy {
  try {
    return compilePolicy(JSON.parse(text) as PolicyBundle, provider); // written by activate() after it was parsed
  } catch {
    return compilePolicy(
      { format: 'countersign/policy.v1', name: 'unreadable', version: '0', rules: [], tests: [] },
      provider,
    );
  }
}
