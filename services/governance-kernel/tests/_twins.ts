import type { TwinOptions } from '@countersign/database/testing';
import { controls } from '../src/controls.ts';

const tenant_id = `NEW.tenant_id || '.twin'`;
/** A time in the far future. Workers leave a row alone until it is due. */
const never = `'9000-01-01'`;
/** Excludes rows that apply to all tenants, and rows of the demo, which the kernel maintains itself. */
const owned = { of: `NEW.tenant_id NOT IN ('', '*', 'demo')` };

/** A condition for tests that damage the rows of every tenant: it excludes twins. */
export const ofNoTwin = `tenant_id NOT LIKE '%.twin'`;

/** The tables of controls whose primary key begins with the tenant. Their twins differ only in the tenant. */
const ofControls = Object.fromEntries(
  controls
    .flatMap(({ writes }) => (writes?.primaryKey[0] === 'tenant_id' ? [writes.table] : []))
    .map((table) => [table, { ...owned, columns: { tenant_id } }]),
);

/**
 * Each tenant has a twin: another tenant with the same sessions, budgets, keys, policies and approvals. The ledger has
 * no twin rows, because its log may contain only what the kernel sealed. Decision counters are derived from the
 * ledger.
 */
export const tenantTwins: TwinOptions = {
  owner: 'tenant_id',
  without: ['ledger', 'decision_counts'],
  tables: {
    ...ofControls,
    session_heads: { ...owned, columns: { tenant_id } },
    // Readiness uses the newest confirmation, so twins have an old one.
    policy_heads: { ...owned, columns: { tenant_id, confirmed_at: `'2000-01-01'` } },
    approvals: {
      ...owned,
      // No policy hash: a worker expires approvals under a replaced policy, and heads of twins are not updated.
      columns: {
        ...{ tenant_id, approval_id: `'apr_' || reverse(substr(NEW.approval_id, 5))` },
        ...{ expires_at: never, policy_hash: 'NULL' },
      },
    },
    budget_usage: { ...owned, columns: { tenant_id, recorded_at: never } },
    passkey_challenges: { ...owned, columns: { tenant_id, expires_at: never } },
    dispatches: { ...owned, columns: { tenant_id, ulid: 'reverse(NEW.ulid)', deadline_at: never } },
    idempotency_keys: { ...owned, columns: { tenant_id, created_at: never } },
    relation_snapshots: { ...owned, columns: { tenant_id } },
    relation_tuples: { ...owned, columns: { tenant_id } },
    relation_entities: { ...owned, columns: { tenant_id } },
    permission_models: { ...owned, columns: { tenant_id } },
    mcp_servers: {
      of: `NEW.tenant_id IS NOT NULL`,
      columns: { tenant_id, server_id: `NEW.tenant_id || '.twin/' || NEW.name` },
    },
    evidence_exports: { ...owned, columns: { tenant_id } },
    evidence_envelopes: {
      ...owned,
      columns: { tenant_id, manifest_id: `'env_' || reverse(substr(NEW.manifest_id, 5))` },
    },
    access_keys: {
      ...owned,
      columns: {
        tenant_id,
        key_id: `'key_' || reverse(substr(NEW.key_id, 5))`,
        secret_hash: 'reverse(NEW.secret_hash)',
      },
    },
  },
};
