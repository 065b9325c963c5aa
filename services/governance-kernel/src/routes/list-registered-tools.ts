import { listRegisteredTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import * as store from '../store/registered-tools.ts';

export const listRegisteredToolsRoute = ({ reader }: Context) =>
  handleTenant(listRegisteredTools)(({ query, caller }) => store.listRegisteredTools(reader, caller.tenant, query));
