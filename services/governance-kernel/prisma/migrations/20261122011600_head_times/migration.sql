-- When the last receipt of a chain was issued: the next one is not dated before it, whatever the clocks say (ADR 0014).
ALTER TABLE "session_heads" ADD COLUMN "issued_at" TIMESTAMPTZ(3);
UPDATE "session_heads" h SET "issued_at" = l."issued_at" FROM "ledger" l
 WHERE l."tenant_id" = h."tenant_id" AND l."session_id" = h."session_id" AND l."lamport_clock" = h."lamport_clock";

DROP FUNCTION append;
DROP FUNCTION grow_chains;

-- As before, with the time of the last receipt.
CREATE FUNCTION grow_chains(tenants text[], sessions text[], expected text[], clocks bigint[], hashes text[], issued timestamptz[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  begun bigint := 0;
  grown bigint;
BEGIN
  IF array_position(expected, NULL) IS NOT NULL THEN
    INSERT INTO session_heads (tenant_id, session_id, lamport_clock, receipt_hash, issued_at)
    SELECT c.tenant_id, c.session_id, c.lamport_clock, c.receipt_hash, c.issued_at
      FROM unnest(tenants, sessions, expected, clocks, hashes, issued)
        AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash, issued_at)
     WHERE c.expected IS NULL ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS begun = ROW_COUNT;
  END IF;
  IF cardinality(tenants) > 1 THEN
    PERFORM 1 FROM session_heads h JOIN unnest(tenants, sessions) AS c(tenant_id, session_id) USING (tenant_id, session_id)
      ORDER BY h.tenant_id, h.session_id FOR UPDATE OF h;
  END IF;
  UPDATE session_heads h SET lamport_clock = c.lamport_clock, receipt_hash = c.receipt_hash, issued_at = c.issued_at
    FROM unnest(tenants, sessions, expected, clocks, hashes, issued)
      AS c(tenant_id, session_id, expected, lamport_clock, receipt_hash, issued_at)
   WHERE h.tenant_id = c.tenant_id AND h.session_id = c.session_id AND h.receipt_hash = coalesce(c.expected, '');
  GET DIAGNOSTICS grown = ROW_COUNT;
  IF grown + begun <> cardinality(tenants) THEN PERFORM refuse_stale('chain'); END IF;
END $$;

CREATE FUNCTION append(
  decided_under bigint,
  chain_tenants text[], chain_sessions text[], chain_expected text[], chain_clocks bigint[], chain_hashes text[], chain_issued timestamptz[],
  reads jsonb, puts jsonb, drops jsonb,
  ulids text[], tenants text[], sessions text[], clocks bigint[], principals text[], kinds text[], verdicts text[], reasons text[],
  actions text[], tools text[], issued timestamptz[], hashes text[], payloads text[], key_ids text[], signatures text[], records text[]
) RETURNS bigint LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  grown_to bigint;
BEGIN
  PERFORM lock_controls(false);
  IF (SELECT epoch FROM controls WHERE id = 1) <> decided_under THEN PERFORM refuse_stale('controls'); END IF;
  PERFORM grow_chains(chain_tenants, chain_sessions, chain_expected, chain_clocks, chain_hashes, chain_issued);
  IF reads ? 'budgets' THEN PERFORM check_budgets(reads -> 'budgets'); END IF;
  IF puts IS NOT NULL THEN PERFORM put_rows(puts); END IF;
  IF drops ? 'dispatches' THEN PERFORM drop_dispatches(drops -> 'dispatches'); END IF;
  IF puts ? 'answers' THEN PERFORM put_answers(puts -> 'answers'); END IF;
  UPDATE log_head SET size = size + cardinality(ulids) WHERE id = 1 RETURNING size INTO grown_to;
  INSERT INTO ledger (log_index, ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool,
                      issued_at, receipt_hash, payload, key_id, signature, record)
  SELECT grown_to - cardinality(ulids) + e.nth - 1, e.ulid, e.tenant_id, e.session_id, e.lamport_clock, e.principal_id, e.kind, e.verdict,
         e.reason_code, e.action, e.tool, e.issued_at, e.receipt_hash, e.payload, e.key_id, e.signature, e.record
    FROM unnest(ulids, tenants, sessions, clocks, principals, kinds, verdicts, reasons, actions, tools, issued, hashes, payloads,
                key_ids, signatures, records) WITH ORDINALITY
      AS e(ulid, tenant_id, session_id, lamport_clock, principal_id, kind, verdict, reason_code, action, tool, issued_at, receipt_hash,
           payload, key_id, signature, record, nth);
  RETURN grown_to - cardinality(ulids);
END $$;

