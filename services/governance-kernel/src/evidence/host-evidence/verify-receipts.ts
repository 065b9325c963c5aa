import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type Digest } from '@countersign/contracts';
import type {
  HostChain,
  HostReceipt,
  HostReceiptReason,
  HostReceiptState,
  RecorderKey,
} from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, isAcceptablePublicKey, type CryptoProvider } from '@countersign/crypto';
import { derSignature } from '../envelopes/der-signature.ts';
import { isWellFormed } from './hardware-form.ts';
import { bytesIn, hashOf, hostReceiptBytes } from './host-hashes.ts';

export type VerifiedReceipt = {
  position: number;
  receipt: HostReceipt;
  /** The hash of the receipt as the kernel computed it, not as the recorder declared it. */
  hash: Digest;
  state: HostReceiptState;
  reasons: HostReceiptReason[];
};

type Deps = {
  provider: CryptoProvider;
  /** Whether an earlier import of the tenant has a receipt of this hash. */
  isKnown(hash: Digest): Promise<boolean>;
};

const failures: readonly HostReceiptReason[] = [
  'hash_mismatch',
  'link_broken',
  'signature_invalid',
  'hardware_evidence_malformed',
];
/** The number of signatures that are verified before other tasks run. */
const verifiedInOneTurn = 20;

/**
 * Verifies each receipt separately, since a wrong one does not invalidate the others. Throws INVALID_REQUEST for
 * malformed keys.
 */
export async function verifyHostReceipts(
  { provider, isKnown }: Deps,
  chain: HostChain,
  keys: readonly RecorderKey[],
): Promise<VerifiedReceipt[]> {
  const byId = keysById(keys);
  const verified: VerifiedReceipt[] = [];
  for (const [index, receipt] of chain.receipts.entries()) {
    const bytes = hostReceiptBytes(chain.chain_id, receipt);
    const hash = hashOf(provider, bytes);
    const reasons: HostReceiptReason[] = receipt.receipt_hash === hash ? [] : ['hash_mismatch'];
    const previous = verified.at(-1);
    if (previous !== undefined) reasons.push(...(receipt.prev_receipt_hash === previous.hash ? [] : broken));
    else if (receipt.prev_receipt_hash !== null && !(await isKnown(receipt.prev_receipt_hash)))
      reasons.push('predecessor_unknown');
    reasons.push(...signatureReasons(provider, { bytes, receipt, byId }), ...hardwareReasons(receipt));
    verified.push({ position: index + 1, receipt, hash, state: stateOf(reasons), reasons });
    if ((index + 1) % verifiedInOneTurn === 0) await nextTurn();
  }
  return verified;
}

const broken: readonly HostReceiptReason[] = ['link_broken'];

function stateOf(reasons: readonly HostReceiptReason[]): HostReceiptState {
  if (reasons.length === 0) return 'verified';
  return reasons.some((reason) => failures.includes(reason)) ? 'failed' : 'not_verified';
}

type Signed = { bytes: Uint8Array; receipt: HostReceipt; byId: ReadonlyMap<string, RecorderKey> };

function signatureReasons(provider: CryptoProvider, { bytes, receipt, byId }: Signed): HostReceiptReason[] {
  const { signature } = receipt;
  if (signature === undefined) return ['unsigned'];
  const key = byId.get(signature.key_id);
  if (key === undefined) return ['key_unknown'];
  const isRight = key.alg === signature.alg && isSignedBy(provider, key, { bytes, value: signature.value });
  return isRight ? [] : ['signature_invalid'];
}

function isSignedBy(provider: CryptoProvider, key: RecorderKey, of: { bytes: Uint8Array; value: string }): boolean {
  const [signature, publicKey] = [bytesIn(of.value, 'base64url'), bytesIn(key.public_key, 'base64url')];
  if (signature === null || publicKey === null) return false;
  if (key.alg === 'Ed25519') return provider.verifyEd25519(publicKey, of.bytes, signature);
  const [x, y] = [publicKey.subarray(1, 33), publicKey.subarray(33)];
  const jwk = { kty: 'EC', crv: 'P-256', x: encodeBase64Url(x), y: encodeBase64Url(y) } as const;
  return provider.verifyWebAuthn(jwk, of.bytes, derSignature(signature));
}

/** Every hardware root gives a reason, since none is verified here. */
function hardwareReasons({ hardware_root: root }: HostReceipt): HostReceiptReason[] {
  if (root === undefined) return [];
  return isWellFormed(root) ? ['hardware_root_unsupported'] : ['hardware_evidence_malformed'];
}

function keysById(keys: readonly RecorderKey[]): ReadonlyMap<string, RecorderKey> {
  const byId = new Map(keys.map((key) => [key.key_id, key]));
  if (byId.size !== keys.length) throw refused('Two keys have the same key_id');
  for (const key of keys) if (!isPublicKey(key)) throw refused(`${key.key_id} is not a public key of ${key.alg}`);
  return byId;
}

function isPublicKey({ alg, public_key: text }: RecorderKey): boolean {
  const bytes = bytesIn(text, 'base64url');
  if (bytes === null) return false;
  return alg === 'Ed25519' ? isAcceptablePublicKey(bytes) : bytes[0] === 0x04;
}

function refused(problem: string): AppError {
  return new AppError('INVALID_REQUEST', problem, { param: 'keys' });
}
