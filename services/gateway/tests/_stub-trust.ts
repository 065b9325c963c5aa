import type { SignedTrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url, publicKeyToJwk, type JsonValue, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { trustHash } from '@countersign/verifier';

type Window = { valid_from?: string; valid_until?: string | null; revoked_at?: string | null };

/** The trust list of the kernel stub, and the offline root that signs it. */
export class StubTrust {
  /** The newest list. `null` when none was published. */
  list: SignedTrustList | null = null;
  readonly #root = createSigner(generateSigningKey().privateKeyPem);

  /** The value of `GOV_TRUST_ROOT`. */
  get root(): string {
    return encodeBase64Url(this.#root.publicKey);
  }

  /** Publishes the next version, with these receipt keys. `by` signs it instead of the root. */
  publish(keys: readonly { key: Pick<Signer, 'keyId' | 'publicKey'>; window?: Window }[], by = this.#root): void {
    const list = {
      ...{ type: 'countersign.trust.v1', version: (this.list?.list.version ?? 0) + 1 },
      ...{ previous_hash: this.list === null ? null : trustHash(this.list, nodeProvider) },
      ...{ issued_at: '2026-01-01T00:00:00.000Z', keys: keys.map(jwkOf) },
    };
    const value = encodeBase64Url(by.sign(canonicalBytes(list as JsonValue))); // plain JSON
    const signed = { list, signature: { alg: 'Ed25519', key_id: by.keyId, value } };
    this.list = signed as unknown as SignedTrustList; // has exactly its members
  }
}

/** The answer of `/api/v1/trust/keys` for a kernel with this receipt key. */
export function keySetOf(key: Pick<Signer, 'keyId' | 'publicKey'>, revokedAt: string | null): object {
  return { keys: [jwkOf({ key, window: { revoked_at: revokedAt } })], log_origin: 'stub', log_vkey: 'stub' };
}

function jwkOf({ key, window }: Parameters<StubTrust['publish']>[0][number]): object {
  return {
    ...publicKeyToJwk(key.publicKey),
    ...{ kid: key.keyId, use: 'sig', alg: 'EdDSA', purpose: 'receipts', log_origin: null },
    ...{ valid_from: '2020-01-01T00:00:00.000Z', valid_until: null, revoked_at: null, ...window },
  };
}
