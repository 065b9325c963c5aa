CREATE OR REPLACE FUNCTION put_mcp_servers(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mcp_servers AS t (server_id, name, tenant_id, transport, config, config_hash, state, reason, registered_by, approved_by, approved_at, approval_receipt_id, expires_at, revoked_by, revoked_at, created_at, updated_at, sealed_config, first_listed_at)
  SELECT p.server_id, p.name, p.tenant_id, p.transport, p.config, p.config_hash, p.state, p.reason, p.registered_by, p.approved_by, p.approved_at, p.approval_receipt_id, p.expires_at, p.revoked_by, p.revoked_at, p.created_at, p.updated_at, p.sealed_config,
         CASE WHEN f.pins_first_list THEN NULL ELSE p.updated_at END
    FROM jsonb_populate_recordset(NULL::mcp_servers, puts) AS p
    JOIN jsonb_to_recordset(puts) AS f(server_id text, pins_first_list boolean) ON f.server_id = p.server_id
   ORDER BY p.server_id
  ON CONFLICT (server_id) DO UPDATE SET transport = excluded.transport, config = excluded.config, config_hash = excluded.config_hash, state = excluded.state, reason = excluded.reason, registered_by = excluded.registered_by, approved_by = excluded.approved_by, approved_at = excluded.approved_at, approval_receipt_id = excluded.approval_receipt_id, expires_at = excluded.expires_at, revoked_by = excluded.revoked_by, revoked_at = excluded.revoked_at, updated_at = excluded.updated_at,
    sealed_config = coalesce(excluded.sealed_config, t.sealed_config),
    first_listed_at = coalesce(t.first_listed_at, excluded.first_listed_at);
  DELETE FROM mcp_tools t USING jsonb_to_recordset(puts) AS s(server_id text, pins jsonb)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL
     AND NOT EXISTS (SELECT FROM jsonb_to_recordset(s.pins) AS p(tool_name text) WHERE p.tool_name = t.tool_name);
  INSERT INTO mcp_tools AS t (server_id, tool_name, pinned_hash, current_hash, definition, effect_level, pinned_at)
  SELECT s.server_id, p.tool_name, p.hash, p.hash, p.definition, p.effect_level, s.updated_at
    FROM jsonb_to_recordset(puts) AS s(server_id text, pins jsonb, updated_at timestamptz),
         jsonb_to_recordset(coalesce(s.pins, '[]')) AS p(tool_name text, hash text, definition jsonb, effect_level text)
   ORDER BY 1, 2
  ON CONFLICT (server_id, tool_name) DO UPDATE SET pinned_hash = excluded.pinned_hash, definition = excluded.definition,
    effect_level = excluded.effect_level, pinned_at = excluded.pinned_at, gone_at = NULL,
    observed_definition = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE coalesce(t.observed_definition, t.definition) END,
    drifted_at = CASE WHEN t.current_hash = excluded.pinned_hash THEN NULL ELSE excluded.pinned_at END;
END $$;

-- A grant of a server is bound to its configuration: grants that exist, to the one of this moment.
ALTER TABLE "sandbox_grants" ADD COLUMN "config_hash" TEXT;
UPDATE sandbox_grants g SET config_hash = s.config_hash
  FROM mcp_servers s WHERE g.subject LIKE 'server:%' AND s.server_id = g.tenant_id || '/' || substr(g.subject, 8);

CREATE OR REPLACE FUNCTION put_sandbox_grants(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO sandbox_grants AS t (tenant_id, subject, grant_id, terms, grant_hash, config_hash, created_by, created_at,
    expires_at, receipt_id)
  SELECT p.tenant_id, p.subject, p.grant_id, p.terms, p.grant_hash, p.config_hash, p.created_by, p.created_at, p.expires_at,
         p.receipt_id
    FROM jsonb_populate_recordset(NULL::sandbox_grants, puts) AS p ORDER BY p.tenant_id, p.subject
  ON CONFLICT (tenant_id, subject) DO UPDATE SET
    grant_id = excluded.grant_id, terms = excluded.terms, grant_hash = excluded.grant_hash, config_hash = excluded.config_hash,
    created_by = excluded.created_by, created_at = excluded.created_at, expires_at = excluded.expires_at,
    receipt_id = excluded.receipt_id;
END $$;
