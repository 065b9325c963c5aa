-- When a server first listed its tools, be it none: only what it listed then is pinned without anybody having looked.
ALTER TABLE "mcp_servers" ADD COLUMN "first_listed_at" TIMESTAMPTZ(3);
UPDATE mcp_servers s SET first_listed_at = s.updated_at WHERE EXISTS (SELECT 1 FROM mcp_tools t WHERE t.server_id = s.server_id);

-- What annotations admit to: a tool that says both that it reads and that it destroys destroys, and what reaches an open world leaves
-- the house.
UPDATE mcp_tools SET effect_level = CASE
    WHEN definition->'annotations'->'destructiveHint' = 'true' THEN 'E4'
    WHEN definition->'annotations'->'openWorldHint' = 'true' AND effect_level = 'E2' THEN 'E3'
    ELSE effect_level END;
