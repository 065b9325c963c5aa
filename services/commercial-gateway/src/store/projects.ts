import { ProjectId, UserId, WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { ProjectModel, ProjectWorkspaceModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, readCursor, type PageOf } from './page-cursor.ts';

type NewProject = { id: ProjectId; orgId: OrgId; name: string; createdBy: UserId; createdAt: Date };
/** The workspaces are sorted by ID. */
export type StoredProject = NewProject & { workspaceIds: WorkspaceId[] };

const withWorkspaces = { workspaces: { orderBy: { workspaceId: 'asc' } } } as const;

export function countProjects(tx: Tx, orgId: OrgId): Promise<number> {
  return tx.project.count({ where: { orgId } });
}

/** Returns false when the organisation already has a project with this name. */
export async function insertProject(tx: Tx, project: NewProject): Promise<boolean> {
  return (await tx.project.createMany({ data: project, skipDuplicates: true })).count === 1;
}

/** Adds each workspace once. Returns how many were added. */
export async function insertProjectWorkspaces(
  tx: Tx,
  { id: projectId, orgId }: Pick<StoredProject, 'id' | 'orgId'>,
  workspaceIds: readonly WorkspaceId[],
): Promise<number> {
  const data = workspaceIds.map((workspaceId) => ({ projectId, orgId, workspaceId }));
  return (await tx.projectWorkspace.createMany({ data, skipDuplicates: true })).count;
}

/** Searches all organisations. The caller must check the organisation. */
export async function findProject(reader: Reader, id: ProjectId): Promise<StoredProject | null> {
  const row = await reader.project.findUnique({ where: { id }, include: withWorkspaces });
  return row === null ? null : projectOf(row);
}

type Listed = PageOf & {
  orgId: OrgId;
  /** Selects the projects that contain this workspace. `null` selects all projects. */
  workspaceId: WorkspaceId | null;
};

/** Returns projects, newest first. */
export async function listProjects(
  reader: Reader,
  { orgId, workspaceId, limit, cursor }: Listed,
): Promise<{ rows: StoredProject[]; nextCursor: string | null }> {
  const before = readCursor(cursor, ProjectId);
  const rows = await reader.project.findMany({
    where: {
      orgId,
      ...(workspaceId === null ? {} : { workspaces: { some: { workspaceId } } }),
      ...(before === null ? {} : { id: { lt: before } }),
    },
    include: withWorkspaces,
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  return pageOf(rows.map(projectOf), limit, ({ id }) => id);
}

type Owned = { workspaceId: WorkspaceId; orgId: OrgId };

/**
 * Returns the projects of these workspaces, by workspace. Projects of a different organisation than the workspace are
 * omitted.
 */
export async function findProjectIds(
  reader: Reader,
  owned: readonly Owned[],
): Promise<ReadonlyMap<string, ProjectId[]>> {
  const found = new Map<string, ProjectId[]>();
  if (owned.length === 0) return found;
  const where = { OR: owned.map(({ workspaceId, orgId }) => ({ workspaceId, orgId })) };
  const rows = await reader.projectWorkspace.findMany({ where, orderBy: { projectId: 'asc' } });
  for (const { workspaceId, projectId } of rows)
    found.set(workspaceId, [...(found.get(workspaceId) ?? []), ProjectId.parse(projectId)]);
  return found;
}

function projectOf({ id, orgId, name, createdBy, createdAt, workspaces }: Row): StoredProject {
  return {
    ...{ id: ProjectId.parse(id), orgId: OrgId.parse(orgId), name, createdAt },
    createdBy: UserId.parse(createdBy),
    workspaceIds: workspaces.map(({ workspaceId }) => WorkspaceId.parse(workspaceId)),
  };
}

type Row = ProjectModel & { workspaces: ProjectWorkspaceModel[] };
