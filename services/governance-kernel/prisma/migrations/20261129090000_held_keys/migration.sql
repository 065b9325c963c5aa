-- Refuses what is dated far from the clock that all kernels share (ADR 0068), and then what a key has signed that does not count: nobody
-- could ever prove it (ADR 0071). It stands in the statement that appends, and is run before anything of it waits for a lock. A key that
-- somebody has revoked counts no more, whatever instant stands there. The detail says what is wrong with the key.
CREATE FUNCTION hold_append(dated timestamptz, skew_max interval, keys text[], issued timestamptz[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  fault text;
BEGIN
  PERFORM hold_clock(dated, skew_max);
  SELECT CASE WHEN known.key_id IS NULL THEN 'unknown' WHEN known.revoked_at IS NOT NULL THEN 'revoked'
              WHEN sealed.first < known.valid_from THEN 'early' WHEN sealed.last >= known.valid_until THEN 'ended' END
    INTO fault
    FROM (SELECT s.key, min(s.at) AS first, max(s.at) AS last FROM unnest(keys, issued) AS s (key, at) GROUP BY s.key) AS sealed
    LEFT JOIN trust_keys known ON known.key_id = sealed.key AND known.purpose = 'receipts'
   ORDER BY 1 LIMIT 1;
  IF fault IS NOT NULL THEN RAISE EXCEPTION 'a key does not count' USING ERRCODE = 'CS003', DETAIL = fault; END IF;
END $$;
