import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSigningKey } from '@countersign/crypto/signing';
import { tenant } from './requests.ts';

/** A few rules of each kind, so that a decision evaluates globs, literals and CEL. */
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
    match: { action: [tool.call], tool: [notes.fill, plain.fill, contained.fill] }
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
tools:
  files.read: { effect_level: E1 }
`;

export type KernelSettings = {
  environmentFor(databaseUrl: string): Record<string, string>;
  /** The headers of the operator, for the measured tenant. */
  headers: Record<string, string>;
  /** The key that a gateway presents to the kernel. */
  serviceApiKey: string;
  /** The public key that must verify every receipt. */
  signingKey: { key_id: string; public_key: Uint8Array };
};

const priceOfAnyModel = {
  input_per_million_minor: 300,
  output_per_million_minor: 1_500,
  output_tokens_max: 4_096,
  input_tokens_max: 200_000,
};

/**
 * The settings of every kernel of one run. All share one key and one policy, so that each can continue another's
 * ledger.
 */
export function kernelSettings(places: { modelUrl: string; toolsUrl: string; scratchDir: string }): KernelSettings {
  const secret = () => randomBytes(32).toString('hex');
  const key = generateSigningKey();
  const [adminKey, serviceApiKey] = [secret(), secret()];
  const policyFile = join(places.scratchDir, 'policy.yaml');
  writeFileSync(policyFile, policy);
  const environment = {
    NODE_ENV: 'production',
    GOV_LOG_ORIGIN: 'bench.local/log',
    GOV_ADMIN_API_KEY: adminKey,
    GOV_SERVICE_API_KEY: serviceApiKey,
    GOV_SIGNING_KEY: key.privateKeyPem,
    GOV_POLICY_KEY: generateSigningKey().privateKeyPem,
    GOV_LOG_KEY: generateSigningKey().privateKeyPem,
    GOV_TENANT_SALT_SECRET: secret(),
    GOV_RATE_LIMITS: '0',
    GOV_LOG_LEVEL: 'warn',
    GOV_POLICY_FILE: policyFile,
    GOV_UPSTREAM_URL: places.modelUrl,
    // Every model call has a price and counts towards the installation's ceiling, as in production.
    GOV_MODEL_PRICES: JSON.stringify({ '*': priceOfAnyModel }),
    GOV_CURRENCY: 'EUR',
    GOV_MODEL_SPEND_LIMIT: '1000000000000 EUR',
    GOV_MCP_SERVERS: JSON.stringify({
      servers: [{ server_id: 'notes', transport: 'http', trust_annotations: true, url: places.toolsUrl }],
    }),
  };
  return {
    environmentFor: (databaseUrl) => ({ ...environment, DATABASE_URL: databaseUrl }),
    headers: { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant },
    serviceApiKey,
    signingKey: { key_id: key.keyId, public_key: key.publicKey },
  };
}
