import { addTrustKeys, revokeTrustKeys } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { acceptTrustList } from '../../evidence/trust/accept-trust-list.ts';
import { listTrustKeys } from '../../store/trust-key-store.ts';

export const addTrustKeysRoute = (kernel: Context) =>
  handleSystem(addTrustKeys)(({ body, caller }) =>
    acceptTrustList(partsOf(kernel), { ...body, change: 'add', by: caller.principal }),
  );

export const revokeTrustKeysRoute = (kernel: Context) =>
  handleSystem(revokeTrustKeys)(({ body, caller }) =>
    acceptTrustList(partsOf(kernel), { ...body, change: 'revoke', by: caller.principal }),
  );

function partsOf({ reader, config, signers, ...kernel }: Context) {
  const ownKeyIds = Object.values(signers).map(({ keyId }) => keyId);
  return { ...kernel, root: config.trustRoot, ownKeyIds, listRows: () => listTrustKeys(reader) };
}
