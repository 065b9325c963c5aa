import { verifyReplay } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { namedKeys } from '../../evidence/packs/named-keys.ts';
import { trustedKeysOf } from '../../evidence/proof/trusted-keys.ts';

export const verifyReplayRoute = ({ judge, publishedKeys }: Context) =>
  handlePublic(verifyReplay, { rateLimit: 'verify' })(async ({ body, signal, clientAddress: name }) => {
    const { evidence: text, keys, policy = null, expect: { contains, ...expected } = {} } = body;
    const trust = keys === undefined ? trustedKeysOf(await publishedKeys.list()) : namedKeys(keys);
    return await judge.replay(
      { text, trust, policy, expected: { ...expected, wanted: { contains } } },
      { name, signal },
    );
  });
