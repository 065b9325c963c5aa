-- The functions of the controls as they are generated from src/controls.ts. Rows, order of locks and error codes are as before. Triggers
-- now also fire for columns that change together with others alone: access_keys (all but last_used_at) and budgets (updated_at).

CREATE OR REPLACE FUNCTION put_fence_commands(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO fences AS t (scope, kind, reason, effective_at, epoch, call_limit, window_seconds, expires_at, set_by)
  SELECT p.scope, p.kind, p.reason, p.effective_at, p.epoch, p.call_limit, p.window_seconds, p.expires_at, p.set_by
    FROM jsonb_populate_recordset(NULL::fences, puts) AS p ORDER BY p.scope
  ON CONFLICT (scope) DO UPDATE SET
    kind = excluded.kind, reason = excluded.reason, effective_at = excluded.effective_at, epoch = excluded.epoch,
    call_limit = excluded.call_limit, window_seconds = excluded.window_seconds, expires_at = excluded.expires_at,
    set_by = excluded.set_by;
END $$;

CREATE OR REPLACE FUNCTION put_fences(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM 1 FROM fences t JOIN jsonb_populate_recordset(NULL::fences, puts) AS p USING (scope)
    ORDER BY t.scope FOR UPDATE OF t;
  UPDATE fences t SET
    calls_taken = p.calls_taken, window_ends_at = p.window_ends_at, revision = t.revision + 1
    FROM jsonb_populate_recordset(NULL::fences, puts) AS p
   WHERE t.scope = p.scope AND t.revision = p.revision;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('fences'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_tenant_orgs(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tenant_orgs AS t (tenant_id, org_id, version, updated_at)
  SELECT p.tenant_id, p.org_id, p.version, p.updated_at
    FROM jsonb_populate_recordset(NULL::tenant_orgs, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET
    org_id = excluded.org_id, version = excluded.version, updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_policy_bundles(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
  SELECT p.tenant_id, p.epoch, p.policy_hash, p.bundle, p.key_id, p.signature, p.activated_at
    FROM jsonb_populate_recordset(NULL::policy_bundles, puts) AS p ORDER BY p.tenant_id, p.epoch
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('policy_bundles'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_policy_ceilings(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_ceilings AS t (tenant_id, version, rules, needs_decision, set_by, updated_at)
  SELECT p.tenant_id, p.version, p.rules, p.needs_decision, p.set_by, p.updated_at
    FROM jsonb_populate_recordset(NULL::policy_ceilings, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET
    version = excluded.version, rules = excluded.rules, needs_decision = excluded.needs_decision, set_by = excluded.set_by,
    updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_shadow_lanes(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shadow_lanes AS t (tenant_id, lanes, drafts)
  SELECT p.tenant_id, p.lanes, p.drafts
    FROM jsonb_populate_recordset(NULL::shadow_lanes, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET
    lanes = excluded.lanes, drafts = jsonb_strip_nulls(t.drafts || excluded.drafts);
END $$;

CREATE OR REPLACE FUNCTION put_activation_signatures(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO activation_signatures (tenant_id, decision_id, policy_hash, epoch, report_hash, confirmed_at, key_id, signature)
  SELECT p.tenant_id, p.decision_id, p.policy_hash, p.epoch, p.report_hash, p.confirmed_at, p.key_id, p.signature
    FROM jsonb_populate_recordset(NULL::activation_signatures, puts) AS p ORDER BY p.tenant_id, p.decision_id;
END $$;

CREATE OR REPLACE FUNCTION put_tool_blocks(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tool_blocks AS t (tenant_id, version, tools, updated_at)
  SELECT p.tenant_id, p.version, p.tools, p.updated_at
    FROM jsonb_populate_recordset(NULL::tool_blocks, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET
    version = excluded.version, tools = excluded.tools, updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_identities(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO identities AS t (tenant_id, kind, principal_id, ulid, display_name, live_keys, revision, enrolled_at, enrolled_by,
    revoked_at, revoked_by)
  SELECT p.tenant_id, p.kind, p.principal_id, p.ulid, p.display_name, p.live_keys, p.revision, p.enrolled_at, p.enrolled_by,
         p.revoked_at, p.revoked_by
    FROM jsonb_populate_recordset(NULL::identities, puts) AS p ORDER BY p.tenant_id, p.kind, p.principal_id
  ON CONFLICT (tenant_id, kind, principal_id) DO UPDATE SET
    display_name = excluded.display_name, live_keys = excluded.live_keys, revision = excluded.revision,
    revoked_at = excluded.revoked_at, revoked_by = excluded.revoked_by;
END $$;

CREATE OR REPLACE FUNCTION put_identity_keys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO identity_keys AS t (tenant_id, kid, principal_id, public_key, created_at, created_by, revoked_at, revoked_by)
  SELECT p.tenant_id, p.kid, p.principal_id, p.public_key, p.created_at, p.created_by, p.revoked_at, p.revoked_by
    FROM jsonb_populate_recordset(NULL::identity_keys, puts) AS p ORDER BY p.tenant_id, p.kid
  ON CONFLICT (tenant_id, kid) DO UPDATE SET
    revoked_at = excluded.revoked_at, revoked_by = excluded.revoked_by;
END $$;

CREATE OR REPLACE FUNCTION put_access_keys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO access_keys AS t (key_id, tenant_id, principal_id, kind, doors, tools, prefix, secret_hash, expires_at, created_at,
    created_by, revoked_at)
  SELECT p.key_id, p.tenant_id, p.principal_id, p.kind, p.doors, p.tools, p.prefix, p.secret_hash, p.expires_at, p.created_at,
         p.created_by, p.revoked_at
    FROM jsonb_populate_recordset(NULL::access_keys, puts) AS p ORDER BY p.key_id
  ON CONFLICT (key_id) DO UPDATE SET
    revoked_at = excluded.revoked_at;
END $$;

CREATE OR REPLACE FUNCTION put_approval_terms(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approval_terms AS t (tenant_id, version, signatures_only, break_glass, passkeys_since, updated_at)
  SELECT p.tenant_id, p.version, p.signatures_only, p.break_glass, p.passkeys_since, p.updated_at
    FROM jsonb_populate_recordset(NULL::approval_terms, puts) AS p ORDER BY p.tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET
    version = excluded.version, signatures_only = excluded.signatures_only, break_glass = excluded.break_glass,
    updated_at = excluded.updated_at, passkeys_since = coalesce(t.passkeys_since, excluded.passkeys_since);
END $$;

CREATE OR REPLACE FUNCTION put_passkeys(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO passkeys AS t (ulid, tenant_id, credential_id, principal_id, public_key, counter, transports, is_backup_eligible,
    is_backed_up, created_at, created_by, activated_at, vouched_by, last_used_at, revoked_at)
  SELECT p.ulid, p.tenant_id, p.credential_id, p.principal_id, p.public_key, p.counter, p.transports, p.is_backup_eligible,
         p.is_backed_up, p.created_at, p.created_by, p.activated_at, p.vouched_by, p.last_used_at, p.revoked_at
    FROM jsonb_populate_recordset(NULL::passkeys, puts) AS p ORDER BY p.tenant_id, p.credential_id
  ON CONFLICT (tenant_id, credential_id) DO UPDATE SET
    counter = excluded.counter, is_backed_up = excluded.is_backed_up, activated_at = excluded.activated_at,
    vouched_by = excluded.vouched_by, last_used_at = excluded.last_used_at, revoked_at = excluded.revoked_at;
END $$;

CREATE OR REPLACE FUNCTION put_budget_terms(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO budgets AS t (tenant_id, budget_id, subject, "window", approval_required_above_minor, currency, resets_at,
    tool_call_limit, spend_limit_minor, egress_limit_bytes, write_limit, version, updated_at)
  SELECT p.tenant_id, p.budget_id, p.subject, p.window, p.approval_required_above_minor, p.currency, p.resets_at,
         p.tool_call_limit, p.spend_limit_minor, p.egress_limit_bytes, p.write_limit, p.version, p.updated_at
    FROM jsonb_populate_recordset(NULL::budgets, puts) AS p ORDER BY p.tenant_id, p.budget_id
  ON CONFLICT (tenant_id, budget_id) DO UPDATE SET
    subject = excluded.subject, "window" = excluded.window,
    approval_required_above_minor = excluded.approval_required_above_minor, currency = excluded.currency,
    resets_at = excluded.resets_at, tool_call_limit = excluded.tool_call_limit, spend_limit_minor = excluded.spend_limit_minor,
    egress_limit_bytes = excluded.egress_limit_bytes, write_limit = excluded.write_limit, version = excluded.version,
    updated_at = excluded.updated_at;
END $$;

CREATE OR REPLACE FUNCTION put_budgets(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  PERFORM 1 FROM budgets t JOIN jsonb_populate_recordset(NULL::budgets, puts) AS p USING (tenant_id, budget_id)
    ORDER BY t.tenant_id, t.budget_id FOR UPDATE OF t;
  UPDATE budgets t SET
    used_tool_calls = p.used_tool_calls, used_spend_micros = p.used_spend_micros, used_egress_bytes = p.used_egress_bytes,
    used_writes = p.used_writes, reserved_tool_calls = p.reserved_tool_calls, reserved_spend_micros = p.reserved_spend_micros,
    reserved_egress_bytes = p.reserved_egress_bytes, reserved_writes = p.reserved_writes, resets_at = p.resets_at,
    revision = t.revision + 1
    FROM jsonb_populate_recordset(NULL::budgets, puts) AS p
   WHERE t.tenant_id = p.tenant_id AND t.budget_id = p.budget_id AND t.revision = p.revision;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('budgets'); END IF;
END $$;

CREATE OR REPLACE FUNCTION check_budgets(reads jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  unmoved bigint;
BEGIN
  SELECT count(*) INTO unmoved FROM jsonb_populate_recordset(NULL::budgets, reads) AS r
    JOIN budgets t USING (tenant_id, budget_id) WHERE t.revision = r.revision;
  IF unmoved <> jsonb_array_length(reads) THEN PERFORM refuse_stale('budgets'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_budget_usage(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  written bigint;
BEGIN
  INSERT INTO budget_usage (tenant_id, budget_id, event_id, fingerprint, counted, recorded_at)
  SELECT p.tenant_id, p.budget_id, p.event_id, p.fingerprint, p.counted, p.recorded_at
    FROM jsonb_populate_recordset(NULL::budget_usage, puts) AS p ORDER BY p.tenant_id, p.budget_id, p.event_id
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('budget_usage'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_approvals(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO approvals AS t (approval_id, tenant_id, state, requested_by, sponsor, session_id, action, tool, resource,
    effect_level, demand, facts, capped_facts, args_hash, args_encrypted, intent_hash, judged_hash, policy_hash, policy_epoch,
    preconditions, receipt_id, reason, quorum, approvers, approved_by, approved_with, approved_as, approved_credentials, scope,
    uses_remaining, rejection_reason, timelock_seconds, timelock_until, broken_by, broken_reason, broken_at, broken_with,
    expires_at, ceremony_hash, created_at, updated_at)
  SELECT p.approval_id, p.tenant_id, p.state, p.requested_by, p.sponsor, p.session_id, p.action, p.tool, p.resource,
         p.effect_level, p.demand, p.facts, p.capped_facts, p.args_hash, p.args_encrypted, p.intent_hash, p.judged_hash,
         p.policy_hash, p.policy_epoch, p.preconditions, p.receipt_id, p.reason, p.quorum, p.approvers, p.approved_by,
         p.approved_with, coalesce(p.approved_as, '{}'), coalesce(p.approved_credentials, '{}'), p.scope, p.uses_remaining,
         p.rejection_reason, p.timelock_seconds, p.timelock_until, p.broken_by, p.broken_reason, p.broken_at, p.broken_with,
         p.expires_at, p.ceremony_hash, p.created_at, p.updated_at
    FROM jsonb_populate_recordset(NULL::approvals, puts) AS p ORDER BY p.approval_id
  ON CONFLICT (approval_id) DO UPDATE SET
    state = excluded.state, approved_by = excluded.approved_by, approved_with = excluded.approved_with,
    approved_as = excluded.approved_as, approved_credentials = excluded.approved_credentials, scope = excluded.scope,
    uses_remaining = excluded.uses_remaining, ceremony_hash = excluded.ceremony_hash, updated_at = excluded.updated_at,
    rejection_reason = excluded.rejection_reason, args_encrypted = excluded.args_encrypted,
    timelock_until = excluded.timelock_until, expires_at = excluded.expires_at,
    broken_by = coalesce(t.broken_by, excluded.broken_by), broken_reason = coalesce(t.broken_reason, excluded.broken_reason),
    broken_at = coalesce(t.broken_at, excluded.broken_at), broken_with = coalesce(t.broken_with, excluded.broken_with);
END $$;

CREATE OR REPLACE FUNCTION put_dispatches(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO dispatches (ulid, tenant_id, tools, reservations, deadline_at)
  SELECT p.ulid, p.tenant_id, coalesce(p.tools, '{}'), p.reservations, p.deadline_at
    FROM jsonb_populate_recordset(NULL::dispatches, puts) AS p ORDER BY p.ulid;
END $$;

CREATE OR REPLACE FUNCTION drop_dispatches(drops jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  settled text[] := ARRAY(SELECT d ->> 'ulid' FROM jsonb_array_elements(drops) AS d);
BEGIN
  PERFORM 1 FROM dispatches WHERE ulid = ANY (settled) ORDER BY ulid FOR UPDATE;
  DELETE FROM dispatches WHERE ulid = ANY (settled);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(settled) THEN PERFORM refuse_stale('dispatches'); END IF;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM refuse_unknown('puts', puts, ARRAY[
    'fence_commands', 'fences', 'tenant_orgs', 'policy_bundles', 'policy_heads', 'policy_ceilings', 'shadow_lanes',
    'activation_signatures', 'tool_blocks', 'identities', 'identity_keys', 'access_keys', 'approval_terms', 'passkeys',
    'relation_heads', 'budget_terms', 'budgets', 'budget_usage', 'approvals', 'dispatches', 'answers'
  ]::text[]);
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
  IF puts ? 'policy_bundles' THEN PERFORM put_policy_bundles(puts -> 'policy_bundles'); END IF;
  IF puts ? 'policy_heads' THEN PERFORM put_policy_heads(puts -> 'policy_heads'); END IF;
  IF puts ? 'policy_ceilings' THEN PERFORM put_policy_ceilings(puts -> 'policy_ceilings'); END IF;
  IF puts ? 'shadow_lanes' THEN PERFORM put_shadow_lanes(puts -> 'shadow_lanes'); END IF;
  IF puts ? 'activation_signatures' THEN PERFORM put_activation_signatures(puts -> 'activation_signatures'); END IF;
  IF puts ? 'tool_blocks' THEN PERFORM put_tool_blocks(puts -> 'tool_blocks'); END IF;
  IF puts ? 'identities' THEN PERFORM put_identities(puts -> 'identities'); END IF;
  IF puts ? 'identity_keys' THEN PERFORM put_identity_keys(puts -> 'identity_keys'); END IF;
  IF puts ? 'access_keys' THEN PERFORM put_access_keys(puts -> 'access_keys'); END IF;
  IF puts ? 'approval_terms' THEN PERFORM put_approval_terms(puts -> 'approval_terms'); END IF;
  IF puts ? 'passkeys' THEN PERFORM put_passkeys(puts -> 'passkeys'); END IF;
  IF puts ? 'relation_heads' THEN PERFORM put_relation_heads(puts -> 'relation_heads'); END IF;
  IF puts ? 'budget_terms' THEN PERFORM put_budget_terms(puts -> 'budget_terms'); END IF;
  IF puts ? 'budgets' THEN PERFORM put_budgets(puts -> 'budgets'); END IF;
  IF puts ? 'budget_usage' THEN PERFORM put_budget_usage(puts -> 'budget_usage'); END IF;
  IF puts ? 'approvals' THEN PERFORM put_approvals(puts -> 'approvals'); END IF;
  IF puts ? 'dispatches' THEN PERFORM put_dispatches(puts -> 'dispatches'); END IF;
END $$;

CREATE OR REPLACE FUNCTION append(
  decided_under bigint, chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[],
  chain_hashes text[], chain_issued timestamptz[], reads jsonb, puts jsonb, drops jsonb, ulids text[], tenants text[],
  sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[], actions text[],
  tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes, chain_issued);
  -- Older kernels send rows of every control that is guarded by row, compared or not.
  PERFORM refuse_unknown('reads', reads, ARRAY['fences', 'budgets', 'dispatches']::text[]);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN PERFORM put_rows(puts); END IF;
  PERFORM refuse_unknown('drops', drops, ARRAY['dispatches']::text[]);
  IF drops ? 'dispatches' THEN PERFORM drop_dispatches(drops -> 'dispatches'); END IF;
  IF puts ? 'answers' THEN PERFORM put_answers(puts -> 'answers'); END IF;
  UPDATE log_head SET size = size + cardinality(ulids) WHERE id = 1 RETURNING size INTO grown_to;
  INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action,
                      tool, issued_at, receipt_hash, payload, key_id, signature, record)
  SELECT grown_to - cardinality(ulids) + e.nth - 1, e.ulid, e.tenant_id, e.session_id, e.lamport_clock, e.principal_id, e.kind,
         e.verdict, e.reason_code, e.action, e.tool, e.issued_at, e.receipt_hash, e.payload, e.key_id, e.signature, e.record
    FROM unnest(ulids, tenants, sessions, clocks, principals, kinds, verdicts, reasons, actions, tools, issued, hashes, payloads,
                key_ids, signatures, records) WITH ORDINALITY
      AS e(ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool, issued_at,
           receipt_hash, payload, key_id, signature, record, nth);
  RETURN grown_to - cardinality(ulids);
END $$;

CREATE OR REPLACE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    key_id, tenant_id, principal_id, kind, doors, tools, prefix, secret_hash, expires_at, created_at, created_by, revoked_at
  ON access_keys FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();

CREATE OR REPLACE TRIGGER moves_the_epoch BEFORE INSERT OR DELETE OR TRUNCATE OR UPDATE OF
    tenant_id, budget_id, subject, "window", approval_required_above_minor, currency, tool_call_limit, spend_limit_minor,
    egress_limit_bytes, write_limit, version, updated_at
  ON budgets FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
