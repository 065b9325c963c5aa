import { listEnvironments } from '@countersign/contracts/commercial-gateway';
import { environmentView } from '../../basic/create-environment.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import * as store from '../../store/environments.ts';

export const listEnvironmentsRoute = ({ database }: Pick<Context, 'database'>) =>
  handleWorkspace(listEnvironments)(async ({ caller }) => {
    const environments = await store.listEnvironments(database.reader, caller.workspaceId);
    return { data: environments.map(environmentView), next_cursor: null };
  });
