-- What of the facts of an approval is too large to be kept, as the boundary record has it: hash and length by path.
ALTER TABLE "approvals" ADD COLUMN "capped_facts" JSONB;
