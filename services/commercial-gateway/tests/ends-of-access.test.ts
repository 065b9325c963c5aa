import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { reaching } from '@countersign/testkit/until';
import { listDueOrgs, takeDuePeople } from '../src/store/scim-effects.ts';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';
import { newDirectory } from './_scim-site.ts';

let site: CommercialSite;

beforeAll(async () => {
  site = await startCommercialSite();
});
afterAll(() => site?.stop());

it('an end of access is published once, before thousands of other changes, as a separate event beside the state', async () => {
  const here = await newDirectory(site);
  const { context } = site.gateway;
  const { orgId } = here;
  const idOf = (nth: number) => `scu_01ARZ3NDEKTSV4RRFFQ${String(nth).padStart(7, '0')}`;
  const ids = Array.from({ length: 3_000 }, (_, nth) => idOf(nth));
  const last = idOf(2_999);
  // One transaction inserts and publishes the people, so that the publisher of the service cannot take them first.
  await context.transaction(async (tx) => {
    await tx.$executeRaw`
      INSERT INTO scim_users (id, org_id, user_name_key, email_keys, active, attributes, version, access_epoch, address, created_at, changed_at)
      SELECT id, ${orgId}, id, '{}', id <> ${last}, '{"active":true,"userName":"' || id || '"}', 1,
             CASE WHEN id = ${last} THEN 1 ELSE 0 END, id || '@corp.example', now(), now()
        FROM unnest(${ids}::text[]) AS id`;
    expect(await listDueOrgs(tx)).toContain(orgId);
    const first = await takeDuePeople(tx, orgId, 100);
    expect(first.filter(({ endsAccess }) => endsAccess).map(({ id }) => id)).toEqual([last]);
    expect(first).toHaveLength(100);
    await tx.scimUser.updateMany({ where: { orgId }, data: { effectDue: true } });
    expect((await takeDuePeople(tx, orgId, 100)).filter(({ endsAccess }) => endsAccess)).toEqual([]);
    await tx.scimUser.updateMany({ where: { orgId }, data: { effectDue: false } });
    await tx.scimUser.updateMany({
      where: { orgId, id: { in: [idOf(0), last] } },
      data: { effectDue: true, publishedEpoch: 0 },
    });
  });
  // The publisher of the service publishes the remaining people.
  const published = () =>
    context.transaction(
      (tx) => tx.$queryRaw<{ type: string; count: number }[]>`
        SELECT type, count(*)::int AS count FROM outbox WHERE type LIKE 'person.%' GROUP BY type ORDER BY type`,
    );
  await reaching(published, (rows) => rows.length === 2);
  expect(await published()).toEqual([
    { type: 'person.access-ended.v1', count: 1 },
    { type: 'person.provisioned.v1', count: 2 },
  ]);
});
