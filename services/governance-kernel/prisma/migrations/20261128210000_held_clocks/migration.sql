-- Refuses what is dated far from the clock that all kernels share (ADR 0068). It stands in the statement that appends, and is run before
-- anything of it waits for a lock. The detail is this clock, in milliseconds since the epoch: whether latency explains the distance, the
-- caller judges.
CREATE FUNCTION hold_clock(dated timestamptz, skew_max interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  shared timestamptz := clock_timestamp();
BEGIN
  IF dated BETWEEN shared - skew_max AND shared + skew_max THEN RETURN; END IF;
  RAISE EXCEPTION 'far from the clock' USING ERRCODE = 'CS002', DETAIL = round(extract(epoch FROM shared) * 1000)::text;
END $$;
