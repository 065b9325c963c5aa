-- What a pinned tool's server shows now, where that is something else than what was pinned.
ALTER TABLE "mcp_tools" ADD COLUMN "observed_definition" JSONB;
