/**
 * The statements of one group commit. All are set-based: their number does not grow with the batch. The first one takes the
 * log head, which orders all sealing across replicas; so everything read afterwards is current, and no other order of locks exists.
 * All are found by key whatever their values are, so planning them anew for each batch would only cost.
 */
export const lockLogHead =
  'BEGIN; SET LOCAL plan_cache_mode = force_generic_plan; SELECT size, frontier FROM log_head WHERE id = 1 FOR UPDATE';

export const readControls = `
WITH b AS (SELECT * FROM budgets WHERE tenant_id = ANY($5::text[]) ORDER BY tenant_id, budget_id FOR UPDATE),
a AS (SELECT * FROM approvals
       WHERE approval_id = ANY($6::text[]) OR (intent_hash = ANY($7::text[]) AND state IN ('pending', 'approved'))
       ORDER BY approval_id FOR UPDATE)
SELECT
 (SELECT json_agg(json_build_array(h.tenant_id, h.session_id, h.lamport_clock, h.receipt_hash))
    FROM unnest($1::text[], $2::text[]) AS wanted(tenant_id, session_id)
    JOIN session_heads h USING (tenant_id, session_id)) AS heads,
 (SELECT json_agg(json_build_array(f.scope, f.kind)) FROM fences f WHERE f.scope = ANY($3::text[])) AS fences,
 (SELECT json_agg(json_build_array(p.tenant_id, p.epoch, p.policy_hash, (extract(epoch FROM p.confirmed_at) * 1000)::bigint))
    FROM policy_heads p WHERE p.tenant_id = ANY($4::text[])) AS policies,
 (SELECT json_agg(b) FROM b) AS budgets,
 (SELECT json_agg(a) FROM a) AS approvals`;

export const readTools = `
SELECT DISTINCT s.server_id, t.tool_name, s.state, t.pinned_hash FROM unnest($1::text[], $2::text[]) AS wanted(server_id, tool_name)
  JOIN mcp_servers s USING (server_id) JOIN mcp_tools t USING (server_id, tool_name)`;

export const readDispatches = 'SELECT * FROM dispatches WHERE ulid = ANY($1::text[]) ORDER BY ulid FOR UPDATE';

export const readAnswers = `
SELECT k.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS wanted(tenant_id, principal_id, route, key)
  JOIN idempotency_keys k USING (tenant_id, principal_id, route, key)
 WHERE k.created_at > $5`;

export const writeEntries = `
WITH entries AS (
  INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool,
                      issued_at, receipt_hash, payload, key_id, signature, record)
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[],
                       $10::text[], $11::text[], $12::timestamptz[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[])
), heads AS (
  INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash)
  SELECT * FROM unnest($18::text[], $19::text[], $20::bigint[], $21::text[])
  ON CONFLICT (tenant_id, session_id) DO UPDATE SET lamport_clock = excluded.lamport_clock, receipt_hash = excluded.receipt_hash
)
UPDATE log_head SET size = $22, frontier = $23 WHERE id = 1`;

export const writeNodes = `
INSERT INTO log_nodes (level, index, hash) SELECT * FROM unnest($1::int[], $2::bigint[], $3::bytea[])`;

export const writeBudgets = `
UPDATE budgets b SET
  used_tool_calls = c.ut, used_spend_minor = c.us, used_egress_bytes = c.ue, used_writes = c.uw,
  reserved_tool_calls = c.rt, reserved_spend_minor = c.rs, reserved_egress_bytes = c.re, reserved_writes = c.rw,
  resets_at = c.resets_at
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
            $10::bigint[], $11::timestamptz[])
  AS c(tenant_id, budget_id, ut, us, ue, uw, rt, rs, re, rw, resets_at)
WHERE b.tenant_id = c.tenant_id AND b.budget_id = c.budget_id`;

export const insertDispatches = `
INSERT INTO dispatches (ulid, tenant_id, state, reservations, deadline_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[], $5::timestamptz[])`;

export const settleDispatches = `UPDATE dispatches SET state = 'settled', settled_at = $2 WHERE ulid = ANY($1::text[])`;

/** A key that exists here has outlived its day: a live one was answered from before anything was concluded. */
export const insertAnswers = `
INSERT INTO idempotency_keys (tenant_id, principal_id, route, key, fingerprint, state, status, answer, created_at)
SELECT t, p, r, k, f, 'done', 200, a, $7 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS n(t, p, r, k, f, a)
ON CONFLICT (tenant_id, principal_id, route, key) DO UPDATE SET
  fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at`;

export const insertPolicies = `
INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
SELECT t, e, h, b, k, s, $7 FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[]) AS n(t, e, h, b, k, s)`;

export const activatePolicies = `
INSERT INTO policy_heads (tenant_id, epoch, policy_hash, confirmed_at)
SELECT t, e, h, $4 FROM unnest($1::text[], $2::int[], $3::text[]) AS n(t, e, h)
ON CONFLICT (tenant_id) DO UPDATE SET epoch = excluded.epoch, policy_hash = excluded.policy_hash, confirmed_at = excluded.confirmed_at`;

export const confirmPolicies = `
UPDATE policy_heads p SET confirmed_at = c.confirmed_at
  FROM unnest($1::text[], $2::timestamptz[]) AS c(tenant_id, confirmed_at) WHERE p.tenant_id = c.tenant_id`;
