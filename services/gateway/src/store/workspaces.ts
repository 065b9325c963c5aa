import { UserId, WorkspaceId } from '@countersign/contracts';
import { BudgetConfig, ModelConfig, PolicyConfig, Role, WorkspaceMode } from '@countersign/contracts/gateway';
import type { User, Workspace, WorkspaceSettings } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { settingsDefault } from '../workspaces/settings.ts';
import { openAuditChain } from './audit.ts';
import { instant, type Sql } from './sql.ts';

export type Membership = { workspaceId: WorkspaceId; workspaceName: string; role: Role };

export async function findFirstMembership(tx: Sql, userId: string): Promise<Membership | null> {
  const { rows } = await tx.query<{ id: string; name: string; role: string }>(
    `SELECT w.id, w.name, m.role FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
      WHERE m.user_id = $1 ORDER BY m.joined_at, w.id LIMIT 1`,
    [userId],
  );
  const [row] = rows;
  return row === undefined ? null : membershipOf(row);
}

/** Null alike for a workspace that does not exist and for one that is not the user's. */
export async function findMembership(sql: Sql, workspaceId: string, userId: string): Promise<Membership | null> {
  const { rows } = await sql.query<{ id: string; name: string; role: string }>(
    `SELECT w.id, w.name, m.role FROM workspaces w JOIN workspace_members m ON m.workspace_id = w.id
      WHERE w.id = $1 AND m.user_id = $2`,
    [workspaceId, userId],
  );
  const [row] = rows;
  return row === undefined ? null : membershipOf(row);
}

function membershipOf(row: { id: string; name: string; role: string }): Membership {
  return { workspaceId: WorkspaceId.parse(row.id), workspaceName: row.name, role: Role.parse(row.role) };
}

export async function createWorkspace(tx: Sql, owner: User, now: Date): Promise<Membership> {
  const id = newId('wsp');
  const name = `${owner.name}'s workspace`;
  await tx.query('INSERT INTO workspaces (id, name, created_by, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)', [
    id,
    name,
    owner.id,
    now,
  ]);
  await tx.query(
    `INSERT INTO workspace_members (workspace_id, user_id, role, joined_at) VALUES ($1, $2, 'owner', $3)`,
    [id, owner.id, now],
  );
  await openAuditChain(tx, id);
  return { workspaceId: WorkspaceId.parse(id), workspaceName: name, role: 'owner' };
}

/** Owners and partners of a workspace besides one person. */
export async function countOtherApprovers(sql: Sql, workspaceId: string, userId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM workspace_members
      WHERE workspace_id = $1 AND user_id <> $2 AND role IN ('owner', 'partner')`,
    [workspaceId, userId],
  );
  return rows[0]?.count ?? 0;
}

export async function findWorkspace(sql: Sql, workspaceId: string): Promise<Workspace | null> {
  const { rows } = await sql.query<{ id: string; name: string; mode: string; created_at: Date; updated_at: Date }>(
    'SELECT id, name, mode, created_at, updated_at FROM workspaces WHERE id = $1',
    [workspaceId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const members = await sql.query<{ id: string; name: string; email: string; role: string; joined_at: Date }>(
    `SELECT u.id, u.name, u.email, m.role, m.joined_at FROM workspace_members m JOIN users u ON u.id = m.user_id
      WHERE m.workspace_id = $1 ORDER BY m.joined_at, u.id`,
    [workspaceId],
  );
  return {
    id: WorkspaceId.parse(row.id),
    name: row.name,
    mode: WorkspaceMode.parse(row.mode),
    members: members.rows.map((member) => ({
      userId: UserId.parse(member.id),
      name: member.name,
      email: member.email,
      role: Role.parse(member.role),
      joinedAt: instant(member.joined_at),
    })),
    createdAt: instant(row.created_at),
    updatedAt: instant(row.updated_at),
  };
}

export async function setMode(tx: Sql, workspaceId: string, mode: WorkspaceMode, now: Date): Promise<void> {
  await tx.query('UPDATE workspaces SET mode = $2, updated_at = $3 WHERE id = $1', [workspaceId, mode, now]);
}

/** The stored settings, or the defaults of a workspace that never wrote any. */
export async function getSettings(sql: Sql, workspaceId: string): Promise<WorkspaceSettings> {
  const { rows } = await sql.query<{ policy_config: unknown; budget_config: unknown; model_config: unknown }>(
    'SELECT policy_config, budget_config, model_config FROM workspace_settings WHERE workspace_id = $1',
    [workspaceId],
  );
  const [row] = rows;
  if (row === undefined) return settingsDefault;
  return {
    policyConfig: PolicyConfig.parse(row.policy_config),
    budgetConfig: BudgetConfig.parse(row.budget_config),
    modelConfig: ModelConfig.parse(row.model_config),
  };
}

/** Holds the settings of a workspace until the transaction ends, also while none are stored. */
export async function lockSettings(tx: Sql, workspaceId: string): Promise<void> {
  await tx.query('SELECT 1 FROM workspaces WHERE id = $1 FOR UPDATE', [workspaceId]);
}

export async function putSettings(tx: Sql, workspaceId: string, settings: WorkspaceSettings, now: Date): Promise<void> {
  await tx.query(
    `INSERT INTO workspace_settings (workspace_id, policy_config, budget_config, model_config, updated_at)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id) DO UPDATE SET policy_config = $2, budget_config = $3, model_config = $4, updated_at = $5`,
    [
      workspaceId,
      JSON.stringify(settings.policyConfig),
      JSON.stringify(settings.budgetConfig),
      JSON.stringify(settings.modelConfig),
      now,
    ],
  );
}
