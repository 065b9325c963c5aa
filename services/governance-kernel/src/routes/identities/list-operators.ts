import { listOperators } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { identityView } from '../../controls/identities/identity-view.ts';
import { listIdentities } from '../../store/identity-store.ts';

export const listOperatorsRoute = ({ reader }: Context) =>
  handleTenant(listOperators)(({ query, caller: { tenant } }) =>
    listIdentities(reader, { tenant, kind: 'operator' }, { page: query, item: identityView }),
  );
