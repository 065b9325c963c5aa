import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Instant, UserId, WorkspaceId } from '@countersign/contracts';
import { orgCreated, orgWorkspaceAdded } from '@countersign/contracts/control-plane';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { eventFactory, recordEventsIn } from '@countersign/messaging';
import { until } from '@countersign/testkit/until';
import { syncDirectory } from '../src/directory/sync-directory.ts';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';

const adminId = UserId.parse('usr_01ARZ3NDEKTSV4RRFFQ69G5FA1');
const createdAt = Instant.parse('2026-11-01T00:00:00.000Z');
const ulidOf = (index: number) => `01ARZ3NDEKTSV4RRFFQ69G5${String(index).padStart(3, '0')}`;
const orgOf = (index: number) => ({
  org_id: OrgId.parse(`org_${ulidOf(index)}`),
  name: `Org ${index}`,
  admin_id: adminId,
  created_at: createdAt,
});
const workspaceOf = (index: number) => ({
  workspace_id: WorkspaceId.parse(`wsp_${ulidOf(index)}`),
  org_id: orgOf(index).org_id,
  added_at: createdAt,
});

let site: CommercialSite;

beforeAll(async () => {
  site = await startCommercialSite({
    before: (directory) => {
      // Each list has more than one page.
      for (let index = 0; index < 205; index += 1) {
        directory.orgs.push(orgOf(index));
        directory.workspaces.push(workspaceOf(index));
      }
    },
  });
});

afterAll(() => site?.stop());

/** Counts how many of the workspaces with these numbers are stored. */
async function storedAmong(...indexes: number[]): Promise<number> {
  const workspaceId = { in: indexes.map((index) => workspaceOf(index).workspace_id) };
  return site.gateway.context.database.reader.orgWorkspace.count({ where: { workspaceId } });
}

it('all pages of the directory are copied at the start, and a second copy changes nothing', async () => {
  const { context } = site.gateway;
  await until(async () => (await storedAmong(0, 199, 200, 204)) === 4);
  await syncDirectory(context);
  expect(await findOrg(context.database.reader, orgOf(204).org_id)).toEqual({
    id: orgOf(204).org_id,
    name: 'Org 204',
    adminId,
  });
});

it('events of the directory apply in any order, and a repeated event applies once', async () => {
  const { context } = site.gateway;
  await site.gateway.subscribed;
  const newEvent = eventFactory({ source: '/control-plane' });
  for (const index of [900, 900, 901]) {
    const events = [newEvent(orgWorkspaceAdded, workspaceOf(index)), newEvent(orgCreated, orgOf(index))];
    await context.transaction((tx) => recordEventsIn(tx, events));
  }
  await until(async () => (await findOrg(context.database.reader, orgOf(901).org_id)) !== null);
  await until(async () => (await storedAmong(900, 901)) === 2);
});
