import type { At, Cause } from './_causes.ts';
import { ofNoTwin } from './_twins.ts';

type Means = {
  openRules: (at: At) => Promise<void>;
  administrator: (at: At, sql: string) => Promise<unknown>;
  activateWith: (at: At, member: string) => Promise<void>;
};

/** A relation that every call requires. */
const open = { object: 'tenant:{tenant}', relation: 'open', subject: 'principal:{principal}', required: {} };
const required = `relations: ${JSON.stringify({ open })}`;

async function changeTuple({ site, door: { tenant, principal } }: At, change: 'writes' | 'deletes'): Promise<void> {
  const tuple = { object: `tenant:${tenant}`, relation: 'open', subject: `principal:${principal}` };
  const body = { tenant_id: tenant, [change]: [tuple] } as never; // the schema brands these strings and fills in the defaults
  await site.test.system.writeRelationships({ body });
}

export const relationCauses = ({ openRules, administrator, activateWith }: Means): Cause[] => [
  {
    gate: 'relationship',
    name: 'a required relation that was removed',
    text: 'DENY RELATION_MISSING',
    arises: async (at) => {
      await activateWith(at, required);
      await changeTuple(at, 'writes');
      await changeTuple(at, 'deletes');
    },
    ends: openRules,
  },
  {
    gate: 'relationship',
    name: 'relations that were not confirmed for a day',
    text: 'DENY AUTHZ_SNAPSHOT_STALE',
    arises: async (at) => {
      await activateWith(at, required);
      await changeTuple(at, 'writes');
      await administrator(
        at,
        `UPDATE relation_heads SET confirmed_at = confirmed_at - interval '25 hours' WHERE ${ofNoTwin}`,
      );
    },
    ends: openRules,
  },
  {
    gate: 'relationship',
    name: 'relations that were never written',
    text: 'DENY AUTHZ_SNAPSHOT_STALE',
    arises: async (at) => {
      await administrator(at, `UPDATE relation_heads SET tenant_id = 'gone ' || tenant_id WHERE ${ofNoTwin}`);
      await activateWith(at, required);
    },
    ends: async (at) => {
      await administrator(at, `UPDATE relation_heads SET tenant_id = replace(tenant_id, 'gone ', '')`);
      await openRules(at);
    },
  },
  {
    gate: 'relationship',
    name: 'relations that cannot be read',
    text: 'DENY AUTHZ_SNAPSHOT_STALE',
    arises: async (at) => {
      await activateWith(at, required);
      // Writes a new snapshot, because answers about the previous one are cached.
      await changeTuple(at, 'writes');
      await changeTuple(at, 'deletes');
      // Makes reads of tuples fail. The tenants have a member list, which calls must not read.
      await administrator(
        at,
        `UPDATE relation_heads SET members_version = 1 WHERE ${ofNoTwin};
         ALTER TABLE relation_tuples RENAME TO kept_tuples;
         CREATE FUNCTION unreadable() RETURNS SETOF kept_tuples LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'unreadable'; END $$;
         CREATE VIEW relation_tuples AS SELECT * FROM unreadable();
         GRANT SELECT ON relation_tuples TO PUBLIC`,
      );
    },
    ends: async (at) => {
      await administrator(
        at,
        // Locks heads first, as kernels do, to prevent a deadlock.
        `UPDATE relation_heads SET members_version = 0 WHERE ${ofNoTwin};
         DROP VIEW relation_tuples; DROP FUNCTION unreadable(); ALTER TABLE kept_tuples RENAME TO relation_tuples`,
      );
      await openRules(at);
    },
  },
];
