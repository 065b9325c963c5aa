-- The environment that the principal of a key names. It is NULL for keys of a workspace, as for all keys until now.
ALTER TABLE "api_keys" ADD COLUMN "environment" TEXT CONSTRAINT "api_keys_environment_check" CHECK ("environment" IN ('dev', 'staging', 'prod'));
