-- A kernel publishes its keys and never changes them: with UPDATE, a kernel that was taken over could revoke the keys of the others.
COMMENT ON TABLE "trust_keys" IS 'append-only: keys that count; an administrator revokes';
COMMENT ON TABLE "policy_heads" IS 'never deleted: the active bundle of each tenant';
COMMENT ON TABLE "session_heads" IS 'never deleted: the end of each chain';
COMMENT ON TABLE "log_tree" IS 'never deleted: the size of the log';
