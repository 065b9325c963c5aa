import { z } from 'zod';
import type { PersonRole } from './person-assertion.ts';
import type { AnyRoute } from './route.ts';

/** Everything that a person can have the right to do in a workspace. Rules check rights, never roles. */
export const Right = z.enum([
  'workspace.read',
  'workspace.leave',
  'workspace.manage',
  'settings.read',
  'settings.manage',
  'member.manage',
  'notification.manage',
  /** Send events of type `app.*` to the subscriptions of the workspace. */
  'event.emit',
  /** Manage own keys, with at most the own role. */
  'own_key.manage',
  /** Manage the keys of all members. */
  'key.manage',
  'agent_key.manage',
  'own_passkey.manage',
  'task.read',
  'task.create',
  'task.change',
  /** Tasks of other members. */
  'task.manage',
  'run.read',
  'run.start',
  'event.follow',
  /** The audit log of the workspace. */
  'audit.read',
  /** The audit log of the control plane. */
  'operation_audit.read',
  'approval.read',
  'approval.decide',
  /** Reports of one's own failed calls. */
  'report.read',
  /** Reports of every member. */
  'report.read_all',
  'report.create',
  'evidence.read',
  'evidence.publish',
  'evidence.unpublish',
  'budget.read',
  /** Record spend from elsewhere on a budget of the workspace. */
  'budget.record',
  'tool.read',
  /** Add and scan MCP servers of the workspace. */
  'tool.manage',
  'policy.read',
  'policy.draft',
  'policy.test',
  'policy.shadow',
  'policy.activate',
  'replay.read',
  'replay.create',
  'stop.read',
  'stop.give',
  'stop.lift',
  'stop.resync',
  'plan.read',
  'plan.create',
  'plan.approve',
  'plan.commit',
  'incident.read',
  'incident.manage',
]);
export type Right = z.infer<typeof Right>;
export type Rights = ReadonlySet<Right>;

const ofMember: readonly Right[] = [
  'workspace.read',
  'workspace.leave',
  'settings.read',
  'own_key.manage',
  'task.read',
  'task.create',
  'task.change',
  'run.read',
  'run.start',
  'event.follow',
  'audit.read',
  'approval.read',
  'report.read',
  'report.create',
  'evidence.read',
  'budget.read',
  'tool.read',
  'policy.read',
  'policy.draft',
  'policy.test',
  'replay.read',
  'replay.create',
  'stop.read',
  'plan.read',
  'incident.read',
];
const ofPartner: readonly Right[] = [
  ...ofMember,
  'own_passkey.manage',
  'task.manage',
  'operation_audit.read',
  'approval.decide',
  'report.read_all',
  'evidence.unpublish',
  'budget.record',
  'event.emit',
  'policy.shadow',
  'stop.give',
  'plan.create',
  'incident.manage',
];
const ofOwner: readonly Right[] = [
  ...ofPartner,
  'workspace.manage',
  'settings.manage',
  'member.manage',
  'notification.manage',
  'key.manage',
  'agent_key.manage',
  'tool.manage',
  'evidence.publish',
  'policy.activate',
  'stop.lift',
  'stop.resync',
  'plan.approve',
  'plan.commit',
];

/** The rights of each role. */
export const rightsOf: Readonly<Record<PersonRole, Rights>> = {
  member: new Set(ofMember),
  partner: new Set(ofPartner),
  owner: new Set(ofOwner),
};

export function mayDo(role: PersonRole, right: Right): boolean {
  return rightsOf[role].has(right);
}

/** Whether these rights open a route of a workspace. Routes without a right are closed. */
export function mayCall(rights: Rights, { right }: Pick<AnyRoute, 'right'>): boolean {
  return right !== undefined && rights.has(right);
}

/** Whether one set contains all rights of another. Each of two sets can have a right that the other lacks. */
export function holdsAll(rights: Rights, others: Rights): boolean {
  return [...others].every((right) => rights.has(right));
}
