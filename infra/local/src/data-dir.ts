import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { services, type ServiceName } from '@countersign/services';
import { z } from 'zod';
import { LocalProblem } from './local-problem.ts';

/**
 * The secrets that every installation has, created once. If they are lost, new ones are created. The keys of the
 * operator then change, and sessions end. Earlier receipts stay valid.
 */
const Secrets = z.strictObject({
  adminApiKey: z.string(),
  serviceApiKey: z.string(),
  sessionSecret: z.string(),
  /** The secret for sessions of browsers. */
  consoleSecret: z.string(),
  tenantSaltSecret: z.string(),
  /** PKCS#8 PEM of the three Ed25519 keys. They are separate, so that a stolen key cannot sign for another purpose. */
  signingKey: z.string(),
  policyKey: z.string(),
  logKey: z.string(),
});
type Secrets = z.infer<typeof Secrets>;

/** For example `controlPlaneDatabasePassword` for the schema `control_plane`. */
const passwordMember = ({ schema }: { schema: string }) =>
  `${schema.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}DatabasePassword`;

/**
 * Passwords and `evidenceKey` are optional, because an installation may be older than they are.
 * `formerSigningPublicKeys` are the public keys of replaced signing keys: base64url, separated by commas. With them,
 * older receipts still verify.
 */
const KeptSecrets = Secrets.extend(
  Object.fromEntries(services.map((row) => [passwordMember(row), z.string().optional()])),
).extend({ formerSigningPublicKeys: z.string().optional(), evidenceKey: z.string().optional() });
type KeptSecrets = Secrets & Record<string, string | undefined>;
type DatabasePasswords = Readonly<Record<ServiceName, string>>;

export type DataDir = {
  path: string;
  secrets: Secrets;
  /** The passwords of the roles that the services log in with. */
  databasePasswords: DatabasePasswords;
  /** The public key of the signing key, which verifiers pin: raw Ed25519, base64url. */
  trustedPublicKey: string;
  /** The current and all former public keys, separated by commas. */
  trustedPublicKeys: string;
  /** Signs envelopes for other tools: ECDSA P-256, PKCS#8 PEM. */
  evidenceKey: string;
  /** The folder that the filesystem MCP server may read and write. */
  filesDir: string;
  postgresDir: string;
};

const ownerOnly = 0o600;
const othersBits = 0o077;
/**
 * When root runs this, PostgreSQL has its own account, which must pass through the directory. Other accounts cannot
 * list it.
 */
const passableDir = 0o711;

type GivenKeys = { adminApiKey: string | null; serviceApiKey: string | null };

/**
 * Opens a data directory, or creates one with new keys and secrets that only their owner can read. API keys in `keys`
 * replace the stored ones.
 */
export function openDataDir(path: string, keys: GivenKeys): DataDir {
  mkdirSync(path, { recursive: true, mode: passableDir });
  const filesDir = join(path, 'files');
  mkdirSync(filesDir, { recursive: true, mode: 0o700 });
  const {
    stored: kept,
    former,
    evidenceKey,
    databasePasswords,
  } = withPasswords(path, readSecrets(path) ?? newSecrets());
  const secrets = {
    ...kept,
    adminApiKey: keys.adminApiKey ?? kept.adminApiKey,
    serviceApiKey: keys.serviceApiKey ?? kept.serviceApiKey,
  };
  const trustedPublicKey = publicKeyOf(secrets.signingKey);
  return {
    path,
    secrets,
    databasePasswords,
    trustedPublicKey,
    trustedPublicKeys: former === undefined ? trustedPublicKey : `${trustedPublicKey},${former}`,
    evidenceKey,
    filesDir,
    postgresDir: join(path, 'postgres'),
  };
}

/** Writes a file atomically, readable by its owner only. */
export function writePrivate(file: string, text: string): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, text, { mode: ownerOnly });
  chmodSync(partial, ownerOnly);
  renameSync(partial, file);
}

function readSecrets(path: string): KeptSecrets | null {
  const file = join(path, 'secrets.json');
  const text = readIfPresent(file);
  if (text === null) return null;
  // A file that was restored from a backup may be readable by the accounts of MCP servers.
  if ((statSync(file).mode & othersBits) !== 0) chmodSync(file, ownerOnly);
  try {
    const kept: unknown = JSON.parse(text);
    return { ...KeptSecrets.parse(kept), ...Secrets.strip().parse(kept) };
  } catch {
    throw new LocalProblem(
      `${file} cannot be read as the secrets of this installation.`,
      'Restore it from a backup, or choose another GOV_DATA_DIR.',
    );
  }
}

function newSecrets(): Secrets {
  return {
    adminApiKey: randomSecret('adm'),
    serviceApiKey: randomSecret('svc'),
    sessionSecret: randomSecret('ses'),
    consoleSecret: randomSecret('con'),
    tenantSaltSecret: randomSecret('slt'),
    signingKey: newSigningKey(),
    policyKey: newSigningKey(),
    logKey: newSigningKey(),
  };
}

/** Adds missing passwords and a missing evidence key. If anything was added, it stores all secrets in their file. */
function withPasswords(
  path: string,
  { ...secrets }: KeptSecrets,
): { stored: Secrets; former: string | undefined; evidenceKey: string; databasePasswords: DatabasePasswords } {
  const passwords = services.map((row) => [row, secrets[passwordMember(row)] ?? randomSecret('db')] as const);
  // The installation may be older than the evidence key.
  const evidenceKey = secrets['evidenceKey'] ?? newEvidenceKey();
  const whole = {
    ...secrets,
    evidenceKey,
    ...Object.fromEntries(passwords.map(([row, password]) => [passwordMember(row), password])),
  };
  if (Object.keys(whole).length > Object.keys(secrets).length) writeSecrets(path, whole);
  const databasePasswords = Object.fromEntries(passwords.map(([{ name }, password]) => [name, password]));
  const former = secrets['formerSigningPublicKeys'];
  return { stored: whole, former, evidenceKey, databasePasswords: databasePasswords as DatabasePasswords }; // one for each row of the register
}

function writeSecrets(path: string, secrets: object): void {
  writePrivate(join(path, 'secrets.json'), `${JSON.stringify(secrets, null, 2)}\n`);
}

/** PKCS#8 PEM of an Ed25519 key. */
export function newSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function newEvidenceKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/** 256 random bits. The prefix identifies the kind of a leaked secret. */
function randomSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** The public key of a private key, in base64url. */
export function publicKeyOf(pem: string): string {
  const { x } = createPublicKey(pem).export({ format: 'jwk' });
  if (x === undefined) throw new TypeError('The signing key is not an Ed25519 key');
  return x;
}

/** `null` when the file does not exist. */
export function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
