import { z } from 'zod';
import { RegisteredTool, ToolPageQuery } from '../governance-kernel/registered-tools.ts';
import { JsonDifference } from '../json-differences.ts';
import { page } from '../list.ts';
import { defineRoute } from '../route.ts';
import { OfWorkspace } from './workspace-path.ts';

export const listConsoleTools = defineRoute({
  operation: 'list-console-tools',
  summary:
    "List the tools in the kernel's registry by name, with their pins, their drift, and whether the workspace " +
    'blocks them.',
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
  /** `unknown`: the tool was never approved. The kernel sends no calls of drifted or unknown tools. */
  status: z.enum(['in_sync', 'drifted', 'unknown']),
  /**
   * The differences between the approved definition and the current one. `null` when one of them is too long or none
   * was approved.
   */
  diff: z.array(JsonDifference).nullable(),
});
export type ToolDrift = z.infer<typeof ToolDrift>;

export const listToolDrift = defineRoute({
  operation: 'list-tool-drift',
  summary: 'List the tools by name, with the differences between their approved and their current definitions.',
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
