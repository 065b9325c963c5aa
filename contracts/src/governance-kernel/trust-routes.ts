import { z } from 'zod';
import type { ErrorCode } from '../error-codes.ts';
import { defineRoute } from '../route.ts';
import { Digest, ReceiptId } from '../scalars.ts';
import { SignedTrustList } from './trust.ts';

export const getTrustList = defineRoute({
  operation: 'get-trust-list',
  summary: 'Get trust.json: the newest list of keys, signed by the offline root key. Verify it with your pinned root.',
  method: 'GET',
  path: '/api/v1/trust/list',
  auth: 'public',
  forward: { opensTo: 'member', right: 'evidence.read' },
  reply: SignedTrustList,
  errors: ['NOT_FOUND'],
});

const change = {
  method: 'POST',
  auth: 'admin',
  idempotency: 'key',
  body: z.strictObject({ trust: SignedTrustList }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'] as ErrorCode[],
} as const;

const Accepted = z.strictObject({
  version: z.int().min(1),
  trust_hash: Digest,
  /** The keys that this version adds or revokes. */
  key_ids: z.array(z.string()),
  /** The receipt that sealed the version. `null` when the kernel already had it. */
  receipt_id: ReceiptId.nullable(),
});

export const addTrustKeys = defineRoute({
  operation: 'add-trust-keys',
  summary: 'Publish the next version of the trust list, which adds keys. Only the offline root key can sign it.',
  path: '/api/v1/trust/keys/add',
  ...change,
  reply: Accepted,
});

export const revokeTrustKeys = defineRoute({
  operation: 'revoke-trust-keys',
  summary: 'Publish the next version of the trust list, which revokes keys. Only the offline root key can sign it.',
  path: '/api/v1/trust/keys/revoke',
  ...change,
  reply: Accepted,
});
