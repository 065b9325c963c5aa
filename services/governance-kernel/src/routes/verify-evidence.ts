import { verifyEvidence } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import { namedKeys } from '../evidence/named-keys.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

export const verifyEvidenceRoute = ({ reader, judge }: Context) =>
  handlePublic(verifyEvidence, { rateLimit: 'verify' })(async ({ body, signal }) => {
    const { evidence: text, keys, expect: { contains, ...expected } = {} } = body;
    const trust = keys === undefined ? trustedKeysOf(await listTrustKeys(reader)) : namedKeys(keys);
    return await judge.judge({ text, trust, expected: { ...expected, wanted: { contains } } }, signal);
  });
