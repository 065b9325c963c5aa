-- AlterTable
ALTER TABLE "mcp_servers" ADD COLUMN     "replaced_at" TIMESTAMPTZ(3);

CREATE OR REPLACE FUNCTION put_mcp_servers(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE mcp_tools t SET pinned_hash = NULL, pinned_at = NULL, earlier_hash = t.pinned_hash,
         earlier_definition = CASE WHEN t.pinned_hash IS NOT NULL THEN t.definition END,
         definition = coalesce(t.observed_definition, t.definition), observed_definition = NULL, drifted_at = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, ends_pins boolean), mcp_servers m
   WHERE s.ends_pins AND m.server_id = s.server_id AND m.first_listed_at IS NOT NULL AND t.server_id = s.server_id;
  INSERT INTO mcp_servers AS t (server_id, name, tenant_id, transport, config, config_hash, state, reason, registered_by, approved_by, approved_at, approval_receipt_id, expires_at, revoked_by, revoked_at, created_at, updated_at, replaced_at, sealed_config, first_listed_at)
  SELECT p.server_id, p.name, p.tenant_id, p.transport, p.config, p.config_hash, p.state, p.reason, p.registered_by, p.approved_by, p.approved_at, p.approval_receipt_id, p.expires_at, p.revoked_by, p.revoked_at, p.created_at, p.updated_at, p.replaced_at, p.sealed_config,
         CASE WHEN f.pins_first_list THEN NULL ELSE p.updated_at END
    FROM jsonb_populate_recordset(NULL::mcp_servers, puts) AS p
    JOIN jsonb_to_recordset(puts) AS f(server_id text, pins_first_list boolean) ON f.server_id = p.server_id
   ORDER BY p.server_id
  ON CONFLICT (server_id) DO UPDATE SET transport = excluded.transport, config = excluded.config, config_hash = excluded.config_hash, state = excluded.state, reason = excluded.reason, registered_by = excluded.registered_by, approved_by = excluded.approved_by, approved_at = excluded.approved_at, approval_receipt_id = excluded.approval_receipt_id, expires_at = excluded.expires_at, revoked_by = excluded.revoked_by, revoked_at = excluded.revoked_at, updated_at = excluded.updated_at,
    sealed_config = coalesce(excluded.sealed_config, t.sealed_config),
    replaced_at = coalesce(excluded.replaced_at, t.replaced_at),
    first_listed_at = coalesce(t.first_listed_at, excluded.first_listed_at);
  UPDATE mcp_servers t SET first_listed_at = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, ends_pins boolean)
   WHERE s.ends_pins AND t.server_id = s.server_id;
  UPDATE mcp_tools t SET earlier_hash = NULL, earlier_definition = NULL
    FROM jsonb_to_recordset(puts) AS s(server_id text, pins jsonb, keeps_ended_pins boolean)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL AND s.keeps_ended_pins IS NULL AND t.earlier_hash IS NOT NULL;
  DELETE FROM mcp_tools t USING jsonb_to_recordset(puts) AS s(server_id text, pins jsonb)
   WHERE t.server_id = s.server_id AND s.pins IS NOT NULL AND t.earlier_hash IS NULL
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
