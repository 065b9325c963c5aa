import { listDriftedTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import * as store from '../store/registered-tools.ts';

export const listDriftedToolsRoute = ({ reader, mcp, clock }: Pick<Context, 'reader' | 'mcp' | 'clock'>) =>
  handleSystem(listDriftedTools)(async ({ query }) => {
    // A tool drifts also while no call of it is made.
    await mcp.askConnected();
    return await store.listDriftedTools(reader, query, clock());
  });
