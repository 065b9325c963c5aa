import { listTrustKeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { jwksOf, logVkey } from '../proof/trusted-keys.ts';
import * as store from '../store/trust-key-store.ts';

export const listTrustKeysRoute = ({ reader, provider, signers, config }: Context) =>
  handlePublic(listTrustKeys)(async () => ({
    keys: jwksOf(await store.listTrustKeys(reader)),
    log_origin: config.logOrigin,
    log_vkey: logVkey(provider, config.logOrigin, signers.log),
  }));
