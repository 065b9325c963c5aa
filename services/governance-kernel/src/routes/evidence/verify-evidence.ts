import { verifyEvidence } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';
import { namedKeys } from '../../evidence/packs/named-keys.ts';
import { namedWitnesses } from '../../evidence/packs/named-witnesses.ts';

export const verifyEvidenceRoute = ({ judge, publishedKeys, provider }: Context) =>
  handlePublic(verifyEvidence, { rateLimit: 'verify' })(async ({ body, signal, clientAddress: name }) => {
    const { evidence: text, keys, expect: { contains, ...expected } = {}, witness_policy: witnesses } = body;
    const policy = witnesses === undefined ? undefined : namedWitnesses(witnesses, provider);
    const trust = keys === undefined ? trustedKeysOf(await publishedKeys.list()) : namedKeys(keys);
    return await judge.judge(
      { text, trust, expected: { ...expected, policy, wanted: { contains } } },
      { name, signal },
    );
  });
