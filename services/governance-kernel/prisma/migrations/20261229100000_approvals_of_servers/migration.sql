-- A worker reads them each second: the approvals of MCP servers that were given and not used.
CREATE INDEX "approvals_of_servers" ON "approvals" ("expires_at") WHERE "action" = 'mcp.server.approve' AND "state" = 'approved';
