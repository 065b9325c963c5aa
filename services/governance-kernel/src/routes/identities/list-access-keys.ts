import { listAccessKeys } from '@countersign/contracts/governance-kernel';
import { keyView } from '../../controls/access-keys/key-view.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import * as store from '../../store/access-key-store.ts';

export const listAccessKeysRoute = ({ reader }: Context) =>
  handleTenant(listAccessKeys)(({ query, caller }) =>
    store.listAccessKeys(reader, caller.tenant, { page: query, item: keyView }),
  );
