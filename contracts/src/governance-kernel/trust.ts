import { z } from 'zod';
import { Digest, Instant } from '../scalars.ts';
import { EvidenceKey } from './envelopes.ts';
import { TrustKey } from './log.ts';
import { Signature } from './receipt.ts';

/** The signed type of the list. It prevents the use of another statement of the root key as a list. */
export const trustListType = 'countersign.trust.v1';

/** More keys than weekly rotations create in a century. */
export const trustKeysMax = 1_024;

/** An Ed25519 public key: 32 bytes, base64url. */
export const RootKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'is not an Ed25519 public key in base64url');
export type RootKey = z.infer<typeof RootKey>;

/**
 * All keys of an installation, with purposes, validity windows and revocations. Each version contains all keys of the
 * previous one.
 */
export const TrustList = z.strictObject({
  type: z.literal(trustListType),
  version: z.int().min(1),
  /** `trust_hash` of the version before this one. `null` in version 1. */
  previous_hash: Digest.nullable(),
  issued_at: Instant,
  /** Signing keys and evidence keys. If it has no evidence keys, the keys that a kernel publishes count. */
  keys: z
    .array(z.union([TrustKey, EvidenceKey]))
    .min(1)
    .max(trustKeysMax),
});
export type TrustList = z.infer<typeof TrustList>;

/**
 * `trust.json`. The offline root key signs the canonical JSON (RFC 8785) of `list`. `trust_hash` is the SHA-256 of the
 * canonical JSON of the whole document.
 */
export const SignedTrustList = z.strictObject({ list: TrustList, signature: Signature });
export type SignedTrustList = z.infer<typeof SignedTrustList>;
