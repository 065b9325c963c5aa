import pg from 'pg';
import { createTestDatabase } from '@countersign/database/testing';
import { openGatewayDatabase, type GatewayDatabase } from '../src/store/database.ts';
import { serviceDir } from './_gateway.ts';

type Columns = Record<string, unknown>;
export type TestStore = {
  database: GatewayDatabase;
  /** Inserts rows past the gateway. Omitted columns have default values. Referenced rows need not exist. */
  insert(table: keyof typeof plain, ...rows: Columns[]): Promise<void>;
  rows(text: string, values?: unknown[]): Promise<Columns[]>;
  /** Empties every table that `insert` fills. */
  clear(): Promise<void>;
  close(): Promise<void>;
};

/** Opens the store functions on a database, without a gateway. */
export async function openTestStore(): Promise<TestStore> {
  const scratch = await createTestDatabase({ serviceDir, schema: 'gateway' });
  const options = '-c search_path=gateway -c session_replication_role=replica';
  const client = new pg.Client({ connectionString: scratch.adminUrl, options });
  await client.connect();
  const database = openGatewayDatabase(scratch.url);
  return {
    database,
    insert: async (table, ...rows) => {
      const full = rows.map((row) => ({ ...plain[table], ...row }));
      const columns = Object.keys(Object.assign({}, ...full) as Columns)
        .map((name) => `"${name}"`)
        .join(', ');
      const source = `jsonb_populate_recordset(NULL::${table}, $1)`;
      await client.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${source}`, [JSON.stringify(full)]);
    },
    rows: async (text, values = []) => (await client.query<Columns>(text, values)).rows,
    clear: async () => {
      for (const table of Object.keys(plain)) await client.query(`DELETE FROM ${table}`);
    },
    close: async () => {
      await database.close();
      await client.end();
      await scratch.drop();
    },
  };
}

/** A time `nth` minutes after the start of a day. */
export const minute = (nth: number) => new Date(Date.UTC(2026, 0, 1, 0, nth));
export const instantAt = (nth: number) => minute(nth).toISOString();
export const idOf = (prefix: string, nth: number) => `${prefix}_${String(nth).padStart(26, '0')}`;
export const digest = `sha256:${'0'.repeat(64)}`;

/** The workspace, the task, the run and the person of default rows. */
export const home = idOf('wsp', 1);
export const away = idOf('wsp', 2);
export const ada = idOf('usr', 1);

const [at, expires_at] = [instantAt(0), instantAt(60)];
const place = { workspace_id: home, task_id: idOf('tsk', 1), run_id: idOf('run', 1), step_id: idOf('stp', 1) };

const plain = {
  users: { name: 'Ada', created_at: at },
  workspaces: { name: 'Home', mode: 'discover', created_by: ada, created_at: at, updated_at: at },
  workspace_members: { workspace_id: home, user_id: ada, role: 'owner', joined_at: at },
  workspace_settings: { workspace_id: home, policy_config: {}, budget_config: {}, model_config: {}, updated_at: at },
  confirmed_settings: { workspace_id: home, confirmed_at: at },
  entitlements: { limits: {}, published_at: at },
  org_workspaces: { added_at: at },
  invites: { workspace_id: home, role: 'member', invited_by: ada, created_at: at, expires_at },
  api_keys: {
    ...{ workspace_id: home, user_id: ada, name: 'Robot', prefix: 'hp_abc', role: 'member', scopes: ['read'] },
    ...{ created_at: at, expires_at },
  },
  sessions: { user_id: ada, created_at: at, expires_at },
  email_codes: { email: 'ada@example.org', code_hmac: 'hmac', tries: 0, sends: 1, created_at: at, expires_at },
  messenger_sign_ins: { expires_at },
  idempotency_keys: { scope: 'scope', fingerprint: 'print', created_at: at },
  tasks: {
    ...{ workspace_id: home, title: 'Tidy', description: 'All of it', status: 'pending', created_by: ada },
    ...{ created_at: at, updated_at: at },
  },
  runs: {
    ...{ workspace_id: home, task_id: place.task_id, status: 'running', started_by: ada, iteration_budget: 5 },
    ...{ iterations_used: 0, tokens_in: 0, tokens_out: 0, cost_micros: 0, lease_fence: 0, attempts: 0 },
    ...{ currency: 'EUR', created_at: at },
  },
  run_steps: {
    ...{ workspace_id: home, run_id: place.run_id, seq: 1, kind: 'tool_call', state: 'submitted', args: '{"a":1}' },
    started_at: at,
  },
  approvals: {
    ...{ workspace_id: home, session_id: place.run_id, status: 'pending', action: 'tool.call', args: '{"a":1}' },
    ...{ facts: '{"b":2}', effect_level: 'E2', reason_code: 'APPROVAL_REQUIRED', reason: 'Ask', requested_by: 'agent' },
    ...{ demand: { tool_calls: 1, spend_micros: '2', egress_bytes: 3, writes: 4 }, started_by: ada },
    ...{ held: false, expires_at, created_at: at },
  },
  violations: { workspace_id: home, source: 'kernel', reason_code: 'DENIED', reason: 'No', created_at: at },
  refused_receipts: { workspace_id: home, fault: 'SIGNATURE_INVALID', received_at: at },
  receipt_faults: { workspace_id: home, fault: 'KEY_REVOKED', found_at: at },
  receipts: { workspace_id: home, verification: 'verified', verified_at: at, received_at: at },
  call_reports: { workspace_id: home, user_id: ada, request_id: 'call', status: 400, created_at: at },
};
