-- A trust list may contain evidence keys. They sign no receipts, so the guard of appends does not read them. Kernels publish them from the
-- list that they verified.
CREATE OR REPLACE FUNCTION apply_trust_list() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format(
    'INSERT INTO %I.trust_keys (key_id, public_key, purpose, log_origin, valid_from)
     SELECT k.kid, decode(translate(k.x, ''-_'', ''+/'') || ''='', ''base64''), k.purpose, k.log_origin, k.valid_from
       FROM jsonb_to_recordset($1) AS k (kid text, x text, purpose text, log_origin text, valid_from timestamptz)
      WHERE k.purpose <> ''evidence''
      ORDER BY k.valid_from, k.kid
     ON CONFLICT (key_id) DO NOTHING', TG_TABLE_SCHEMA) USING NEW.document #> '{list,keys}';
  EXECUTE format(
    'INSERT INTO %I.trust_key_ends AS e (key_id, valid_until, revoked_at)
     SELECT k.kid, k.valid_until, k.revoked_at
       FROM jsonb_to_recordset($1) AS k (kid text, purpose text, valid_until timestamptz, revoked_at timestamptz)
      WHERE k.purpose <> ''evidence'' AND (k.valid_until IS NOT NULL OR k.revoked_at IS NOT NULL)
     ON CONFLICT (key_id) DO UPDATE SET valid_until = least(e.valid_until, excluded.valid_until),
                                        revoked_at = least(e.revoked_at, excluded.revoked_at)', TG_TABLE_SCHEMA)
    USING NEW.document #> '{list,keys}';
  RETURN NULL;
END $$;
