import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSigningKey } from '@countersign/crypto/signing';

/** A handful of rules of every kind, so that a decision evaluates globs, literals and CEL. */
const policy = `
format: countersign/policy.v1
name: bench
version: '1'
rules:
  - id: models
    effect: allow
    match: { action: [model.call] }
  - id: reads
    effect: allow
    match: { action: [tool.call], effect_level: [E0, E1] }
    when: "!has(args.path) || size(args.path) < 4096"
  - id: tools
    effect: allow
    match: { action: [tool.call], tool: [notes.fill] }
  - id: no-secrets
    effect: deny
    match: { action: [tool.call], tool: ['files.*'] }
    when: args.path.startsWith("/etc/")
    reason: Secrets of the host are not for agents.
  - id: no-deletion
    effect: deny
    match: { action: [tool.call], tool: ['*.delete'] }
    reason: Deletion is not for agents.
  - id: payments
    effect: escalate
    match: { action: [tool.call], tool: [pay.*] }
    reason: A person confirms payments.
`;

/** What the measured kernel is told, and the key that its receipts must verify under. */
export function kernelEnvironment({ databaseUrl, modelUrl, toolsUrl, scratchDir }) {
  const secret = () => randomBytes(32).toString('hex');
  const key = generateSigningKey();
  const adminKey = secret();
  const policyFile = join(scratchDir, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const env = {
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    GOV_ADMIN_API_KEY: adminKey,
    GOV_SERVICE_API_KEY: secret(),
    GOV_SIGNING_KEY: key.privateKeyPem,
    GOV_TENANT_SALT_SECRET: secret(),
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'warn',
    GOV_POLICY_FILE: policyFile,
    GOV_UPSTREAM_URL: modelUrl,
    GOV_MCP_SERVERS: JSON.stringify({ servers: [{ server_id: 'notes', transport: 'http', url: toolsUrl }] }),
  };
  return { env, adminKey, signingKey: { key_id: key.keyId, public_key: key.publicKey } };
}
