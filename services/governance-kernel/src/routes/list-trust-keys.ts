import { listTrustKeys } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Kernel } from '../context.ts';
import { jwksOf, logVkey } from '../proof/trusted-keys.ts';
import * as store from '../store/trust-key-store.ts';

export const listTrustKeysRoute = ({ pool, provider, signer, config }: Kernel) =>
  handlePublic(listTrustKeys)(async () => ({
    keys: jwksOf(await store.listTrustKeys(pool)),
    log_origin: config.GOV_LOG_ORIGIN,
    log_vkey: logVkey(provider, config.GOV_LOG_ORIGIN, signer),
  }));
