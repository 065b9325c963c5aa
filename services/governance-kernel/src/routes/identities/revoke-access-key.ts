import { revokeAccessKey } from '@countersign/contracts/governance-kernel';
import { revokeKey } from '../../controls/access-keys/change-keys.ts';
import { keyView } from '../../controls/access-keys/key-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { findLastUse } from '../../store/access-key-store.ts';

export const revokeAccessKeyRoute = ({ cycle, reader }: Context) =>
  handleTenant(revokeAccessKey)(async ({ params, caller }) => {
    const key = await revokeKey(cycle, caller, params.key_id);
    const lastUse = await findLastUse(reader, { tenant: caller.tenant, id: key.id });
    return keyView(key, lastUse?.getTime() ?? null);
  });
