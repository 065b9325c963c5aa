import { verifyEvidence } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import { namedKeys } from '../evidence/named-keys.ts';

export const verifyEvidenceRoute = ({ judge, publishedKeys }: Context) =>
  handlePublic(verifyEvidence, { rateLimit: 'verify' })(async ({ body, signal, clientAddress: name }) => {
    const { evidence: text, keys, expect: { contains, ...expected } = {} } = body;
    const trust = keys === undefined ? trustedKeysOf(await publishedKeys.list()) : namedKeys(keys);
    return await judge.judge({ text, trust, expected: { ...expected, wanted: { contains } } }, { name, signal });
  });
