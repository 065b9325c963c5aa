/**
 * The body of the SQL function `put_relation_heads`, which writes a head together with its snapshot and the changed
 * tuples.
 */
export const putRelationHeads = `DECLARE
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
END `;
