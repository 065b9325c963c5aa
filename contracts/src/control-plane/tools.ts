import { z } from 'zod';
import { RegisteredTool, ToolPageQuery } from '../governance-kernel/registered-tools.ts';
import { page } from '../list.ts';
import { defineRoute } from '../route.ts';
import { OfWorkspace } from './workspace-path.ts';

export const listConsoleTools = defineRoute({
  operation: 'list-console-tools',
  summary:
    "The kernel's own registry of tools, by name: which are pinned, which have drifted from it, and which the workspace blocks.",
  method: 'GET',
  path: '/api/v1/workspaces/{id}/tools',
  auth: 'session',
  leastRole: 'member',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject(ToolPageQuery),
  reply: page(RegisteredTool),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});
