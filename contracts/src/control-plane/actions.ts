import { z } from 'zod';
import { Action, ActionFilter } from '../governance-kernel/actions.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { RunId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** The run that made the call. `null` when no run did. */
export const ConsoleAction = Action.extend({ run_id: RunId.nullable() });
export type ConsoleAction = z.infer<typeof ConsoleAction>;

export const listConsoleActions = defineRoute({
  operation: 'list-console-actions',
  summary: "List attempted actions in the workspace with the kernel's decisions and their outcomes, newest first.",
  method: 'GET',
  path: '/api/v1/workspaces/{id}/actions',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject({ ...ActionFilter, ...PageQuery }),
  reply: page(ConsoleAction),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});
