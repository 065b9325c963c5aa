import { z } from 'zod';
import { Action, ActionFilter } from '../governance-kernel/actions.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { RunId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** `run_id`: of the run whose call it is; null: the call came by another door. */
export const ConsoleAction = Action.extend({ run_id: RunId.nullable() });
export type ConsoleAction = z.infer<typeof ConsoleAction>;

export const listConsoleActions = defineRoute({
  operation: 'list-console-actions',
  summary: "Attempted actions in the workspace, newest first: the kernel's decision on each, and its outcome.",
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
