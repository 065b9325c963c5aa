-- Of the list of members that a tenant's relations hold, as the gateway counts it.
ALTER TABLE "relation_heads" ADD COLUMN "members_version" INTEGER NOT NULL DEFAULT 0;

-- A head with the snapshot that it becomes, and all that this changes. Of each tenant the last 256 snapshots are kept.
CREATE FUNCTION put_relation_heads(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  put jsonb;
  gone jsonb;
  tenant text;
BEGIN
  INSERT INTO relation_heads SELECT * FROM jsonb_populate_recordset(NULL::relation_heads, puts) ORDER BY tenant_id
  ON CONFLICT (tenant_id) DO UPDATE SET version = excluded.version, snapshot_hash = excluded.snapshot_hash,
    confirmed_at = excluded.confirmed_at, members_version = excluded.members_version;
  INSERT INTO relation_snapshots SELECT * FROM jsonb_populate_recordset(NULL::relation_snapshots, puts);

  FOR put IN SELECT value FROM jsonb_array_elements(puts) LOOP
    tenant := put ->> 'tenant_id';
    DELETE FROM relation_snapshots WHERE tenant_id = tenant AND version <= (put ->> 'version')::integer - 256;
    -- One by one, so that each is found by its key, however many others there are.
    FOR gone IN SELECT value FROM jsonb_array_elements(coalesce(put #> '{changes,deletes}', '[]')) LOOP
      DELETE FROM relation_tuples WHERE tenant_id = tenant AND object = gone ->> 'object' AND relation = gone ->> 'relation'
         AND is_userset = (strpos(gone ->> 'subject', '#') > 0) AND subject = gone ->> 'subject';
    END LOOP;
    INSERT INTO relation_tuples (tenant_id, object, relation, is_userset, subject)
    SELECT tenant, w.object, w.relation, strpos(w.subject, '#') > 0, w.subject
      FROM jsonb_to_recordset(put #> '{changes,writes}') AS w(object text, relation text, subject text);
    -- What a tuple names can be searched for; what is known of it stays.
    INSERT INTO relation_entities (tenant_id, entity_type, entity_id, properties)
    SELECT DISTINCT tenant, split_part(n.name, ':', 1), substr(n.name, strpos(n.name, ':') + 1), '{}'::jsonb
      FROM jsonb_to_recordset(put #> '{changes,writes}') AS w(object text, subject text),
           unnest(ARRAY[w.object, split_part(w.subject, '#', 1)]) AS n(name)
    ON CONFLICT DO NOTHING;
    INSERT INTO relation_entities (tenant_id, entity_type, entity_id, properties)
    SELECT tenant, split_part(e.entity, ':', 1), substr(e.entity, strpos(e.entity, ':') + 1), e.properties
      FROM jsonb_to_recordset(put #> '{changes,entities}') AS e(entity text, properties jsonb)
     WHERE e.properties <> 'null'::jsonb
    ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE SET properties = excluded.properties;
    FOR gone IN SELECT value FROM jsonb_array_elements(coalesce(put #> '{changes,entities}', '[]'))
                 WHERE value -> 'properties' = 'null'::jsonb LOOP
      DELETE FROM relation_entities WHERE tenant_id = tenant AND entity_type = split_part(gone ->> 'entity', ':', 1)
         AND entity_id = substr(gone ->> 'entity', strpos(gone ->> 'entity', ':') + 1);
    END LOOP;
    IF put ->> 'model' IS NOT NULL THEN
      INSERT INTO permission_models (tenant_id, model_hash, model) VALUES (tenant, put ->> 'model_hash', put ->> 'model')
      ON CONFLICT (tenant_id) DO UPDATE SET model_hash = excluded.model_hash, model = excluded.model;
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION put_rows(puts jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF puts ? 'fence_commands' THEN PERFORM put_fence_commands(puts -> 'fence_commands'); END IF;
  IF puts ? 'fences' THEN PERFORM put_fences(puts -> 'fences'); END IF;
  IF puts ? 'tenant_orgs' THEN PERFORM put_tenant_orgs(puts -> 'tenant_orgs'); END IF;
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
