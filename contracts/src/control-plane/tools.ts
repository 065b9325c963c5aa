import { z } from 'zod';
import { RegisteredTool, ToolPageQuery } from '../governance-kernel/registered-tools.ts';
import { JsonDifference } from '../json-differences.ts';
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
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject(ToolPageQuery),
  reply: page(RegisteredTool),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});

const ToolDrift = RegisteredTool.pick({ tool: true, server_id: true, observed_hash: true }).extend({
  /** The approved hash; `null` when none was approved. */
  expected_hash: RegisteredTool.shape.pinned_hash,
  /** `unknown`: it was never approved. The kernel sends a call of neither that nor a drifted one. */
  status: z.enum(['in_sync', 'drifted', 'unknown']),
  /** From what was approved to what its server shows; null where a definition is too long to be told, or nothing was approved. */
  diff: z.array(JsonDifference).nullable(),
});
export type ToolDrift = z.infer<typeof ToolDrift>;

export const listToolDrift = defineRoute({
  operation: 'list-tool-drift',
  summary: 'Each tool by name: whether its server shows what was approved, and what it has changed.',
  method: 'GET',
  path: '/api/ops/drift',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  query: z.strictObject(ToolPageQuery),
  reply: page(ToolDrift),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});
