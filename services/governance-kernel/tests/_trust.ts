import type { SignedTrustList, TrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url, type JsonValue } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { trustHash } from '@countersign/verifier';

export type TrustKeyChange = Partial<Record<keyof TrustList['keys'][number], string | null>>;

/** An offline root that signs any list, even an invalid one. */
export function newRoot() {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  const sign = (list: object): SignedTrustList => {
    const value = encodeBase64Url(signer.sign(canonicalBytes(list as JsonValue))); // tests pass plain JSON
    return { list, signature: { alg: 'Ed25519', key_id: signer.keyId, value } } as SignedTrustList; // as above
  };
  return {
    publicKey: encodeBase64Url(signer.publicKey),
    sign,
    first: (keys: readonly object[], at: Date): SignedTrustList =>
      sign({ ...listType, version: 1, previous_hash: null, issued_at: at.toISOString(), keys }),
    next: (previous: SignedTrustList, keys: readonly object[], at: Date): SignedTrustList =>
      sign({
        ...{ ...listType, version: previous.list.version + 1, previous_hash: trustHash(previous, nodeProvider) },
        ...{ issued_at: at.toISOString(), keys },
      }),
  };
}

export type Root = ReturnType<typeof newRoot>;

const listType = { type: 'countersign.trust.v1' };

/** The keys of a list, with one key changed. */
export function changing({ list }: SignedTrustList, kid: string, change: TrustKeyChange): object[] {
  return list.keys.map((key) => (key.kid === kid ? { ...key, ...change } : key));
}
