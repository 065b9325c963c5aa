-- What must still be so when an approved call is made. One of before names no pin, so it fits no registered tool.
ALTER TABLE "approvals" ADD COLUMN "preconditions" JSONB NOT NULL DEFAULT '{"tool_definition_hash": null, "budgets": null}';
ALTER TABLE "approvals" ALTER COLUMN "preconditions" DROP DEFAULT;
