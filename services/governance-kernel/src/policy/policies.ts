import { AppError } from '@countersign/contracts';
import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf, parsePlainJson, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { compilePolicy, PolicyError, type CompiledPolicy } from '@countersign/policy';
import { announcementOf } from '../ledger/announcement.ts';
import type { ActivatedPolicy } from '../ledger/batch.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { isSignedByTrustedKey, moveOf, type PolicyKey } from './activation.ts';
import type { LoadedPolicy } from './loaded-policy.ts';

export type StoredPolicy = {
  tenant: string;
  epoch: number;
  hash: Digest;
  bundle: string;
  keyId: string;
  signature: string;
};

export type PolicyParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  trustedKeys: readonly PolicyKey[];
  /** The active bundles of these tenants, as the database holds them. */
  load(tenants: string[]): Promise<StoredPolicy[]>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  rosterHash: Digest;
};

export type Activation = { tenant: string; bundle: PolicyBundle; epoch: number; signature: Signature; by: PrincipalId };
export type Activated = { epoch: number; hash: Digest; move: 'activate' | 'confirm'; at: Instant };

/** Bundles in memory, each compiled once; the database decides which one is active. */
export class Policies {
  readonly #parts: PolicyParts;
  readonly #loaded = new Map<string, LoadedPolicy>();

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  current(tenant: string): LoadedPolicy | null {
    return this.#loaded.get(tenant) ?? this.#loaded.get('*') ?? null;
  }

  /** The bundle in memory that was activated for this tenant itself. */
  own(tenant: string): LoadedPolicy | null {
    return this.#loaded.get(tenant) ?? null;
  }

  async reload(tenant: string): Promise<void> {
    const wanted = [tenant, '*'];
    const stored = await this.#parts.load(wanted);
    for (const owner of wanted) {
      const policy = stored.find((row) => row.tenant === owner);
      if (policy === undefined) this.#loaded.delete(owner);
      else if (this.#loaded.get(owner)?.epoch !== policy.epoch) this.#loaded.set(owner, this.#compileStored(policy));
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
      });
    }
  }

  /** Makes a bundle the active one, or confirms that it still is. Throws PERMISSION_DENIED, INVALID_REQUEST, ILLEGAL_TRANSITION. */
  async activate(activation: Activation): Promise<Activated> {
    const compiled = this.compile(activation.bundle);
    const wanted = { epoch: activation.epoch, hash: compiled.hash as Digest }; // compilePolicy hashes with digestOf
    const { provider, trustedKeys, ledger } = this.#parts;
    if (!isSignedByTrustedKey(provider, trustedKeys, { ...activation, policyHash: wanted.hash })) {
      throw new AppError('PERMISSION_DENIED', 'The activation is not signed by a trusted policy key', {
        reasonCode: 'POLICY_SIGNATURE_INVALID',
      });
    }
    const nowMs = this.#parts.clock().getTime();
    const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
    const chain = { tenant: receiptTenant(activation.tenant), session: 'policy' as SessionId }; // within its schema
    const move = await ledger.submit({
      chain,
      reads: { policyOf: activation.tenant },
      conclude: (batch) => {
        const next = moveOf(batch.ownPolicy(activation.tenant), wanted);
        if (next === 'confirm') batch.confirmedPolicies.push({ tenant: activation.tenant, confirmedAtMs: nowMs });
        else {
          batch.append(this.#receiptOf(activation, { ...chain, ...wanted, nowMs, at }));
          batch.newPolicies.push(this.#rowOf(activation, { hash: wanted.hash, confirmedAtMs: nowMs }));
        }
        return next;
      },
    });
    return { ...wanted, move, at };
  }

  #rowOf(
    { tenant, epoch, bundle, signature }: Activation,
    head: Pick<ActivatedPolicy, 'hash' | 'confirmedAtMs'>,
  ): ActivatedPolicy {
    const text = canonicalize(parsePlainJson(JSON.parse(JSON.stringify(bundle)))); // drops members that are undefined
    return { ...head, tenant, epoch, text, keyId: signature.key_id, signature: signature.value };
  }

  #receiptOf(
    activation: Activation,
    said: { tenant: TenantId; session: SessionId; hash: Digest; epoch: number; nowMs: number; at: Instant },
  ) {
    const { provider, newUlid, rosterHash } = this.#parts;
    return announcementOf(provider, {
      ...said,
      ulid: newUlid(said.nowMs),
      principal: activation.by,
      kind: 'policy',
      action: 'policy.change',
      tool: null,
      resource: `policy:${activation.tenant}`,
      effectLevel: 'E3',
      verdict: 'ALLOW',
      reasonCode: 'ALLOWED',
      argsHash: digestOf(provider, utf8Bytes(`${said.hash}:${said.epoch}`)) as Digest, // digestOf writes exactly this form
      policyHash: said.hash,
      policyEpoch: said.epoch,
      approvalId: null,
      rosterHash,
    });
  }

  #compileStored(row: StoredPolicy): LoadedPolicy {
    const { provider, trustedKeys } = this.#parts;
    const signature: Signature = { alg: 'Ed25519', key_id: row.keyId, value: row.signature };
    return {
      policy: compileText(row.bundle, provider),
      hash: row.hash,
      epoch: row.epoch,
      signatureValid: isSignedByTrustedKey(provider, trustedKeys, {
        tenant: row.tenant,
        epoch: row.epoch,
        policyHash: row.hash,
        signature,
      }),
    };
  }
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

/** The chain that tells of a tenant's policy changes; `*` belongs to the system's own tenant. */
function receiptTenant(tenant: string): TenantId {
  return (tenant === '*' ? 'system' : tenant) as TenantId; // PolicyTenant bounds the rest the same way
}
