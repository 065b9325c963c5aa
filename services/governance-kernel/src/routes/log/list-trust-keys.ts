import { listTrustKeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { jwksOf, logVkey } from '../../evidence/proof/trusted-keys.ts';

export const listTrustKeysRoute = ({ publishedKeys, provider, signers, config }: Context) =>
  handlePublic(listTrustKeys)(async () => ({
    keys: jwksOf(await publishedKeys.list()),
    log_origin: config.logOrigin,
    log_vkey: logVkey(provider, config.logOrigin, signers.log),
  }));
