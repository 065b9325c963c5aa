import { listDriftedTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import * as store from '../../store/registered-tools.ts';

export const listDriftedToolsRoute = ({ reader, mcp, clock }: Pick<Context, 'reader' | 'mcp' | 'clock'>) =>
  handleSystem(listDriftedTools)(async ({ query }) => {
    // Lists the servers' tools again first, since a tool may drift while it is not called.
    await mcp.askConnected();
    return await store.listDriftedTools(reader, query, clock());
  });
