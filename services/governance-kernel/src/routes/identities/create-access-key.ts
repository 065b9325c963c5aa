import { createAccessKey } from '@countersign/contracts/governance-kernel';
import { createKey } from '../../controls/access-keys/change-keys.ts';
import { keyView } from '../../controls/access-keys/key-view.ts';
import { requireAgentOfItsOwn } from '../../controls/access-keys/require-agent-of-its-own.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const createAccessKeyRoute = ({ cycle }: Context) =>
  handleTenant(createAccessKey)(async ({ body, caller }) => {
    requireAgentOfItsOwn(caller, body);
    const { key, secret } = await createKey(cycle, caller, body);
    return { ...keyView(key, null), key: secret };
  });
