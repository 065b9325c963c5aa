import { AppError } from '@countersign/contracts';
import type { Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { PolicyBundle, Signature } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf, parsePlainJson, utf8Bytes, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement } from '@countersign/receipts';
import { compilePolicy, PolicyError, type CompiledPolicy } from '@countersign/policy';
import { put, wanted } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { isSignedByTrustedKey, moveOf, type PolicyKey } from './activation.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { policyHeads, type PolicyHead } from './policy-heads.ts';

export type StoredPolicy = {
  tenant: string;
  epoch: number;
  hash: Digest;
  bundle: string;
  keyId: string;
  signature: string;
};

type PolicyParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  trustedKeys: readonly PolicyKey[];
  /** The active bundles of these tenants, as the database holds them. */
  load(tenants: string[]): Promise<StoredPolicy[]>;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Activation = { tenant: string; bundle: PolicyBundle; epoch: number; signature: Signature; by: PrincipalId };
type Activated = { epoch: number; hash: Digest; move: 'activate' | 'confirm'; at: Instant };

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
        cause: error,
      });
    }
  }

  /** Makes a bundle the active one, or confirms that it still is. Throws PERMISSION_DENIED, INVALID_REQUEST, ILLEGAL_TRANSITION. */
  async activate(activation: Activation): Promise<Activated> {
    const compiled = this.compile(activation.bundle);
    const bundle = { epoch: activation.epoch, hash: compiled.hash as Digest }; // compilePolicy hashes with digestOf
    const { provider, trustedKeys, ledger } = this.#parts;
    if (!isSignedByTrustedKey(provider, trustedKeys, { ...activation, policyHash: bundle.hash })) {
      throw new AppError('PERMISSION_DENIED', 'The activation is not signed by a trusted policy key', {
        reasonCode: 'POLICY_SIGNATURE_INVALID',
      });
    }
    const nowMs = this.#parts.clock().getTime();
    const at = new Date(nowMs).toISOString() as Instant; // toISOString writes exactly this form
    const chain = { tenant: receiptTenant(activation.tenant), session: 'policy' as SessionId }; // within its schema
    const move = await ledger.submit({
      chain,
      wants: [wanted(policyHeads, activation.tenant)],
      conclude: (batch) => {
        const active = batch.row(policyHeads, activation.tenant);
        const next = moveOf(active, bundle);
        const head = { tenant: activation.tenant, ...bundle, confirmedAtMs: nowMs };
        if (next === 'confirm') batch.renew(put(policyHeads, { ...active, ...head }));
        else
          batch.seal(this.#receiptOf(activation, { ...chain, ...bundle, nowMs, at }), () => ({
            changes: [put(policyHeads, this.#activated(activation, head))],
          }));
        return () => next;
      },
    });
    return { ...bundle, move, at };
  }

  #activated({ bundle, signature }: Activation, head: PolicyHead): PolicyHead {
    const text = canonicalize(parsePlainJson(JSON.parse(JSON.stringify(bundle)))); // drops members that are undefined
    return { ...head, activation: { text, keyId: signature.key_id, signature: signature.value } };
  }

  #receiptOf(
    activation: Activation,
    said: { tenant: TenantId; session: SessionId; hash: Digest; epoch: number; nowMs: number; at: Instant },
  ) {
    const { provider, newUlid } = this.#parts;
    return announcementStatement(provider, {
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
