-- The newest key of a purpose ends the ones before it. A kernel may only insert keys, so the owner of the table ends them.
-- A key is dated 40 s before its publication and its predecessors end 40 s after it: the clocks of two kernels differ by no more, so
-- nothing that a predecessor signed before the publication is outside its window.
CREATE FUNCTION end_predecessors() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Two kernels that publish different keys at once take turns, so that the second one sees the key of the first.
  PERFORM pg_advisory_xact_lock(hashtextextended('the newest key', 0));
  EXECUTE format(
    'UPDATE %I.%I SET valid_until = $1 WHERE purpose = $2 AND log_origin IS NOT DISTINCT FROM $3 AND key_id <> $4
        AND valid_from <= $5 AND (valid_until IS NULL OR valid_until > $1)', TG_TABLE_SCHEMA, TG_TABLE_NAME)
    USING NEW.valid_from + interval '80 seconds', NEW.purpose, NEW.log_origin, NEW.key_id, NEW.valid_from;
  RETURN NULL;
END $$;

CREATE TRIGGER "ends_predecessors" AFTER INSERT ON "trust_keys" FOR EACH ROW EXECUTE FUNCTION end_predecessors();

-- Keys that were replaced before this version end now: what they have signed stays within their window.
UPDATE "trust_keys" AS k SET "valid_until" = now() + interval '40 seconds'
 WHERE k."valid_until" IS NULL AND EXISTS (
   SELECT FROM "trust_keys" AS n WHERE n."purpose" = k."purpose" AND n."log_origin" IS NOT DISTINCT FROM k."log_origin"
      AND n."valid_from" > k."valid_from");
