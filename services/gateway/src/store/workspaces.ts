import { instantOf, UserId, WorkspaceId } from '@countersign/contracts';
import { BudgetConfig, ModelConfig, PolicyConfig, Role, WorkspaceMode } from '@countersign/contracts/gateway';
import type { User, Workspace, WorkspaceSettings } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { settingsDefault } from '../workspaces/settings.ts';
import { openAuditChain } from './audit.ts';
import type { Reader, Tx } from './database.ts';

export type Membership = {
  workspaceId: WorkspaceId;
  workspaceName: string;
  role: Role;
  /** The version of the list of members that contains the role. The kernel accepts no vote while its list is older. */
  membersVersion: number;
};

/** The version of a list that was never published. */
export const firstListVersion = 1;

const withWorkspace = { include: { workspace: true } } as const;

export async function findFirstMembership(tx: Tx, userId: string): Promise<Membership | null> {
  const orderBy = [{ joinedAt: 'asc' }, { workspaceId: 'asc' }] as const;
  const row = await tx.workspaceMember.findFirst({ where: { userId }, orderBy: [...orderBy], ...withWorkspace });
  return row === null ? null : membershipOf(row);
}

/** `null` both for a missing workspace and for one that the user is not a member of. */
export async function findMembership(reader: Reader, workspaceId: string, userId: string): Promise<Membership | null> {
  const where = { workspaceId_userId: { workspaceId, userId } };
  const row = await reader.workspaceMember.findUnique({ where, ...withWorkspace });
  return row === null ? null : membershipOf(row);
}

type StoredMembership = { role: string; workspace: { id: string; name: string; membersVersion: number } };

export function membershipOf({ role, workspace: { id, name, membersVersion } }: StoredMembership): Membership {
  return {
    workspaceId: WorkspaceId.parse(id),
    workspaceName: name,
    role: Role.parse(role),
    membersVersion: Math.max(membersVersion, firstListVersion),
  };
}

export async function createWorkspace(
  tx: Tx,
  { owner, name }: { owner: User; name: string },
  now: Date,
): Promise<Membership> {
  const id = newId('wsp');
  await tx.workspace.create({ data: { id, name, createdBy: owner.id, createdAt: now, updatedAt: now } });
  await tx.workspaceMember.create({ data: { workspaceId: id, userId: owner.id, role: 'owner', joinedAt: now } });
  await openAuditChain(tx, id);
  return membershipOf({ role: 'owner', workspace: { id, name, membersVersion: 0 } });
}

/** The number of owners and partners of a workspace, not counting this person. */
export function countOtherApprovers(reader: Reader, workspaceId: string, userId: string): Promise<number> {
  const where = { workspaceId, userId: { not: userId }, role: { in: ['owner', 'partner'] } };
  return reader.workspaceMember.count({ where });
}

export async function findWorkspace(reader: Reader, workspaceId: string): Promise<Workspace | null> {
  const row = await reader.workspace.findUnique({
    where: { id: workspaceId },
    include: { members: { include: { user: true }, orderBy: [{ joinedAt: 'asc' }, { userId: 'asc' }] } },
  });
  if (row === null) return null;
  return {
    id: WorkspaceId.parse(row.id),
    name: row.name,
    mode: WorkspaceMode.parse(row.mode),
    members: row.members.map(({ user, role, joinedAt }) => ({
      userId: UserId.parse(user.id),
      name: user.name,
      email: user.email,
      role: Role.parse(role),
      joinedAt: instantOf(joinedAt),
    })),
    createdAt: instantOf(row.createdAt),
    updatedAt: instantOf(row.updatedAt),
  };
}

export async function setName(tx: Tx, workspaceId: string, name: string, now: Date): Promise<void> {
  await tx.workspace.update({ where: { id: workspaceId }, data: { name, updatedAt: now } });
}

export async function setMode(tx: Tx, workspaceId: string, mode: WorkspaceMode, now: Date): Promise<void> {
  await tx.workspace.update({ where: { id: workspaceId }, data: { mode, updatedAt: now } });
}

/** The version rises with each change. The kernel accepts settings only in this order. */
export type VersionedSettings = { settings: WorkspaceSettings; version: number };

/** The version of a workspace without stored settings. */
const versionOfDefaults = 1;

/** The version of the next settings: above the last one, and above every version that the kernel was seen to have. */
export async function nextSettingsVersion(tx: Tx, workspaceId: string, version: number): Promise<number> {
  const { settingsFloor } = await tx.workspace.findUniqueOrThrow({ where: { id: workspaceId } });
  return Math.max(version, settingsFloor) + 1;
}

/** Stores the highest version that the kernel was seen to have. */
export async function raiseSettingsFloor(
  tx: Tx,
  { workspaceId, version }: { workspaceId: string; version: number },
): Promise<void> {
  await tx.$executeRaw`UPDATE workspaces SET settings_floor = greatest(settings_floor, ${version}::int) WHERE id = ${workspaceId}`;
}

/** The stored settings, or the defaults. */
export async function getSettings(reader: Reader, workspaceId: string): Promise<VersionedSettings> {
  const row = await reader.workspaceSettings.findUnique({ where: { workspaceId } });
  if (row === null) return { settings: settingsDefault, version: versionOfDefaults };
  const settings = {
    policyConfig: PolicyConfig.parse(row.policyConfig),
    budgetConfig: BudgetConfig.parse(row.budgetConfig),
    modelConfig: ModelConfig.parse(row.modelConfig),
  };
  return { settings, version: row.version };
}

/** Locks the settings of a workspace until the transaction ends, even when none are stored. */
export async function lockSettings(tx: Tx, workspaceId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM workspaces WHERE id = ${workspaceId} FOR UPDATE`;
}

export async function putSettings(
  tx: Tx,
  workspaceId: string,
  { settings, version }: VersionedSettings,
  now: Date,
): Promise<void> {
  const { policyConfig, budgetConfig, modelConfig } = settings;
  const data = { policyConfig, budgetConfig, modelConfig, version, updatedAt: now };
  await tx.workspaceSettings.upsert({ where: { workspaceId }, create: { workspaceId, ...data }, update: data });
  await tx.$executeRaw`UPDATE workspaces SET settings_due_at = now() WHERE id = ${workspaceId}`;
}
