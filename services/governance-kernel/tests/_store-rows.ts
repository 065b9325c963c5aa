import pg from 'pg';
import { createTestDatabase } from '@countersign/database/testing';
import { openKernelDatabase, type KernelDatabase } from '../src/store/database.ts';
import { serviceDir } from './_service-dir.ts';

type Columns = Record<string, unknown>;
export type TestStore = {
  database: KernelDatabase;
  /** The administrator's connection. */
  client: pg.Client;
  /** Inserts rows into a table. Columns that a row leaves out get a default value. */
  insert(table: keyof typeof plain, ...rows: Columns[]): Promise<void>;
  /** Deletes all rows of the tables that `insert` accepts, and all signing keys. */
  empty(): Promise<void>;
  close(): Promise<void>;
};

/** Opens the kernel's store on a new database, without a kernel. */
export async function openTestStore(): Promise<TestStore> {
  const scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=kernel' });
  await client.connect();
  const database = openKernelDatabase(scratch.url);
  return {
    database,
    client,
    insert: async (table, ...rows) => {
      const full = rows.map((row) => ({ ...plain[table], ...row }));
      const columns = Object.keys(Object.assign({}, ...full) as Columns)
        .map((name) => `"${name}"`)
        .join(', ');
      const source = `jsonb_populate_recordset(NULL::${table}, $1)`;
      await client.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${source}`, [JSON.stringify(full)]);
    },
    empty: async () => {
      await client.query(`TRUNCATE ${Object.keys(plain).join(', ')}, trust_keys CASCADE`);
    },
    close: async () => {
      await database.close();
      await client.end();
      await scratch.drop();
    },
  };
}

/** The instant `nth` minutes after the start of 2026. */
export const minute = (nth: number) => new Date(Date.UTC(2026, 0, 1, 0, nth));
export const instant = (nth: number) => minute(nth).toISOString();
export const ulid = (nth: number) => String(nth).padStart(26, '0');
export const digest = (nth: number) => `sha256:${String(nth).padStart(64, '0')}`;

/** A row of the ledger. `sealed` overrides members of its payload. */
export function entry(nth: number, { sealed = {}, ...columns }: Columns & { sealed?: object } = {}): Columns {
  const issued_at = columns['issued_at'] ?? instant(nth);
  const payload = { receipt_id: `rcp_${ulid(nth)}`, decision_id: `dec_${ulid(nth)}`, issued_at, ...sealed };
  const place = { log_index: nth, ulid: ulid(nth), lamport_clock: nth, receipt_hash: digest(nth), issued_at };
  return { ...place, payload: JSON.stringify(payload), ...columns };
}

const tenant_id = 'acme';
const by = { created_by: 'operator', created_at: instant(0) };

const plain = {
  ledger: {
    ...{ tenant_id, session_id: 's', principal_id: 'p', kind: 'decision', verdict: 'ALLOW', reason_code: 'ALLOWED' },
    ...{ action: 'tool.call', tool: 'files.read', key_id: 'k', signature: 'sig', record: '{}' },
  },
  session_heads: { tenant_id, session_id: 's', lamport_clock: 1, receipt_hash: digest(1), issued_at: instant(0) },
  dispatches: { tenant_id, reservations: [], deadline_at: instant(0), tools: [] },
  fences: { kind: 'quarantine', reason: 'test', effective_at: instant(0), epoch: 1, set_by: 'operator' },
  tenant_orgs: { org_id: null, version: 1, updated_at: instant(0) },
  access_keys: {
    tenant_id,
    principal_id: 'p',
    kind: 'agent',
    doors: [],
    prefix: 'agk_',
    expires_at: instant(600),
    ...by,
  },
  identities: {
    ...{ tenant_id, kind: 'agent', display_name: 'test', live_keys: 0, revision: 1 },
    ...{ enrolled_at: instant(0), enrolled_by: 'operator', revoked_at: null, revoked_by: null },
  },
  identity_keys: { tenant_id, principal_id: 'p', public_key: 'none', revoked_at: null, revoked_by: null, ...by },
  passkeys: {
    ...{ tenant_id, principal_id: 'p', public_key: 'none', counter: 0, transports: [], activated_at: null },
    ...{ is_backup_eligible: false, is_backed_up: false, revoked_at: null, ...by },
  },
  approvals: {
    ...{ tenant_id, state: 'pending', requested_by: 'p', session_id: 's', action: 'tool.call', effect_level: 'E1' },
    ...{ demand: {}, facts: {}, args_hash: digest(0), args_encrypted: null, intent_hash: digest(0) },
    ...{ judged_hash: digest(0), policy_epoch: 1, preconditions: [], reason: 'test', quorum: 1, approvers: [] },
    ...{ approved_by: [], approved_with: [], scope: 'once', uses_remaining: 1, timelock_seconds: 0 },
    ...{ expires_at: instant(600), ceremony_hash: digest(0), created_at: instant(0), updated_at: instant(0) },
  },
  budgets: { tenant_id, subject: 'tenant', window: 'total', tool_call_limit: 5, updated_at: instant(0) },
  budget_usage: { tenant_id, budget_id: 'b', fingerprint: 'print', counted: true },
  checkpoints: { root_hash: digest(0), record_count: 0, note: 'note', previous_checkpoint_id: null },
  mcp_servers: {
    name: 'test',
    transport: 'stdio',
    config: {},
    state: 'approved',
    created_at: instant(0),
    updated_at: instant(0),
  },
  mcp_tools: {
    ...{ pinned_hash: digest(0), current_hash: digest(0), effect_level: 'E1', drifted_at: null },
    ...{ definition: { name: 'pinned' }, observed_definition: null },
  },
  tool_blocks: { tenant_id, version: 1, tools: [], updated_at: instant(0) },
  policy_bundles: { bundle: '{}', key_id: 'k', signature: 'sig', policy_hash: digest(0), activated_at: instant(0) },
  policy_heads: { epoch: 1, key_id: 'k', signature: 'sig', policy_hash: digest(0), confirmed_at: instant(0) },
  conformance_reports: {
    ...{ report_id: 'r', verdict: 'PASS', ended_at: instant(0), report: '{}', report_hash: digest(0) },
    ...{ signature: '{}', receipt_id: `rcp_${ulid(0)}` },
  },
  relation_tuples: { tenant_id, is_userset: false },
  relation_entities: { tenant_id, entity_type: 'user', properties: {} },
  relation_snapshots: {
    ...{ tenant_id, previous_hash: null, changes: {}, tuple_count: 0, model_hash: null },
    ...{ created_at: instant(0), confirmed_at: instant(0) },
  },
  relation_heads: { tenant_id, version: 1, snapshot_hash: digest(1), confirmed_at: instant(0) },
  outbox: { type: 'test', envelope: '{}', sent_at: null },
} satisfies Record<string, Columns>;
