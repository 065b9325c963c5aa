-- contract: what the release before this one is refused here it keeps, and the reconciler seals it later without an output.
-- What nobody knows has no output. Rows from before are left as they were signed (NOT VALID); a verifier names them as defects of their issuer.
-- In canonical JSON a quote inside a text stands behind a backslash, so only the members themselves are found.
ALTER TABLE "ledger" ADD CONSTRAINT "ledger_uncertain_without_output"
  CHECK ("kind" <> 'outcome' OR strpos("payload", '"outcome":"uncertain"') = 0 OR strpos("payload", '"output_hash":') = 0) NOT VALID;
