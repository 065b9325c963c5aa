-- Refresh tokens that authorization servers issued in place of the configured ones, encrypted. Replicas take turns by the lease.
CREATE TABLE "mcp_upstream_tokens" (
    "server_id" TEXT NOT NULL,
    "credentials_hash" TEXT NOT NULL,
    "sealed_token" TEXT,
    "leased_until" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mcp_upstream_tokens_pkey" PRIMARY KEY ("server_id")
);
