import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { ReasonCode } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { ledgerOf } from './_caller.ts';
import { attempt, connectMcp, doors, type Site } from './_doors.ts';
import { startUpstreams } from './_upstreams.ts';

let site: Site;
beforeAll(async () => {
  const upstreams = await startUpstreams();
  site = { ...upstreams, mcp: await connectMcp(upstreams.test.kernel.url) };
});
afterAll(async () => {
  await site.mcp.close();
  await site.close();
});

/** Starts a call while an open transaction locks the rows that decide the call. Then commits the `change`. */
async function whileItWaits<Result>(call: () => Promise<Result>, change: string): Promise<Result> {
  const { pool } = site.test;
  const holder = await pool.connect();
  await holder.query(`BEGIN; ${change}`);
  const result = call();
  try {
    await untilReachable(async () => {
      const { rowCount } = await pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount !== 0;
    });
  } finally {
    await holder.query('COMMIT');
    holder.release();
  }
  return await result;
}

const of = `WHERE server_id = 'notes'`;
const pin = (hash: string) =>
  `UPDATE mcp_tools SET pinned_hash = ${hash}, drifted_at = CASE WHEN ${hash} <> current_hash THEN now() END ${of} AND tool_name = 'write_note'`;
type Change = { name: string; change: string; back: string; code: ReasonCode };
const changes: Change[] = [
  {
    name: 'whose server is revoked',
    change: `UPDATE mcp_servers SET state = 'revoked' ${of}`,
    back: `UPDATE mcp_servers SET state = 'approved' ${of}`,
    code: 'SERVER_REVOKED',
  },
  {
    name: 'that gets another pin',
    change: pin(`'sha256:other'`),
    back: pin('current_hash'),
    code: 'REGISTRY_UNAVAILABLE',
  },
  { name: 'that loses its pin', change: pin('NULL'), back: pin('current_hash'), code: 'REGISTRY_UNAVAILABLE' },
];

// Proposals are left out. Their model call waits for the lock first, so their tool is looked up only after the change.
const waiting = doors.filter(({ registered, proposed }) => registered && !proposed);

describe('a tool', () => {
  for (const { name, change, back, code } of changes) {
    verifies('kn.gates', `${name} while a call waits for the lock is denied, despite the earlier read`, async () => {
      expect(waiting.map((door) => door.name)).toEqual([
        'evaluate',
        'call-mcp, a plain call',
        'call-mcp, by the SDK server',
        'execute-mcp',
        'authorize-mcp-call',
      ]);
      for (const door of waiting) {
        const seen = await whileItWaits(() => attempt(site, door), change);
        expect([door.name, seen.verdict, seen.code, seen.executed]).toEqual([door.name, 'DENY', code, false]);
        expect(await ledgerOf(site.test, seen.session)).toHaveLength(1);
        await site.test.pool.query(back);
        expect([door.name, (await attempt(site, door)).verdict]).toEqual([door.name, 'ALLOW']);
      }
    });
  }
});
