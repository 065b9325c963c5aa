import { listDriftedTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import * as store from '../store/registered-tools.ts';

export const listDriftedToolsRoute = ({ reader, mcp }: Pick<Context, 'reader' | 'mcp'>) =>
  handleSystem(listDriftedTools)(async ({ query }) => {
    // Whoever lists them holds them against their pins: a tool drifts also where nobody calls it.
    await mcp.askDeclared();
    return await store.listDriftedTools(reader, query);
  });
