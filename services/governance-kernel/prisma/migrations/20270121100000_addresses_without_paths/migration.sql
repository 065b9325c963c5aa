-- The path of an address may be a secret, and this column is shown. Tenants' configurations are encrypted elsewhere,
-- and declared servers are described again at the next start.
UPDATE mcp_servers
   SET config = jsonb_set(config, '{url}', to_jsonb(substring(config->>'url' FROM '^https?://[^/?#]+')))
 WHERE config->>'url' ~ '^https?://[^/?#]+';
UPDATE mcp_servers
   SET config = jsonb_set(config, '{oauth,token_url}', to_jsonb(substring(config#>>'{oauth,token_url}' FROM '^https?://[^/?#]+')))
 WHERE config#>>'{oauth,token_url}' ~ '^https?://[^/?#]+';
