import { listAgents } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { identityView } from '../../controls/identities/identity-view.ts';
import { listIdentities } from '../../store/identity-store.ts';

export const listAgentsRoute = ({ reader }: Context) =>
  handleTenant(listAgents)(({ query, caller: { tenant } }) =>
    listIdentities(reader, { tenant, kind: 'agent' }, { page: query, item: identityView }),
  );
