import { verifyReplay } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { namedKeys } from '../evidence/named-keys.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import { listTrustKeys } from '../store/trust-key-store.ts';

export const verifyReplayRoute = ({ reader, judge }: Context) =>
  handlePublic(verifyReplay, { rateLimit: 'verify' })(async ({ body, signal }) => {
    const { evidence: text, keys, policy = null, expect: { contains, ...expected } = {} } = body;
    const trust = keys === undefined ? trustedKeysOf(await listTrustKeys(reader)) : namedKeys(keys);
    return await judge.replay({ text, trust, policy, expected: { ...expected, wanted: { contains } } }, signal);
  });
