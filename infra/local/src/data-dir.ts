import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { services, type ServiceName } from '@countersign/services';
import { z } from 'zod';
import { LocalProblem } from './local-problem.ts';

/** Everything secret that one installation has. Made once; losing it means new keys and sessions, not lost receipts. */
const Secrets = z.strictObject({
  adminApiKey: z.string(),
  serviceApiKey: z.string(),
  sessionSecret: z.string(),
  /** The secret for sessions of browsers. */
  consoleSecret: z.string(),
  tenantSaltSecret: z.string(),
  /** PKCS#8 PEM of the three Ed25519 keys: who takes one must not gain another's voice. */
  signingKey: z.string(),
  policyKey: z.string(),
  logKey: z.string(),
});
type Secrets = z.infer<typeof Secrets>;

/** `controlPlaneDatabasePassword` of the schema `control_plane`. */
const passwordMember = ({ schema }: { schema: string }) =>
  `${schema.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}DatabasePassword`;

/**
 * Passwords are optional, since an installation may be older than a service. `formerSigningPublicKeys`: public keys of replaced signing
 * keys, base64url with commas between them, so that their receipts still verify.
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
  /** Raw Ed25519 public key, base64url: what a verifier pins. */
  trustedPublicKey: string;
  /** That key and the ones before it, with commas between them. */
  trustedPublicKeys: string;
  /** Signs envelopes for other tools: ECDSA P-256, PKCS#8 PEM. */
  evidenceKey: string;
  /** The files that the filesystem MCP server may read. */
  filesDir: string;
  postgresDir: string;
};

const ownerOnly = 0o600;
const othersBits = 0o077;
/** Others may pass through and see nothing: PostgreSQL has an account of its own when the starter is root. */
const passableDir = 0o711;

type GivenKeys = { adminApiKey: string | null; serviceApiKey: string | null };

/** Opens a data directory, or makes one with new keys and secrets, readable by their owner alone. Keys that are given win. */
export function openDataDir(path: string, given: GivenKeys): DataDir {
  mkdirSync(path, { recursive: true, mode: passableDir });
  const filesDir = join(path, 'files');
  mkdirSync(filesDir, { recursive: true, mode: 0o700 });
  const { kept, former, evidenceKey, databasePasswords } = withPasswords(path, readSecrets(path) ?? newSecrets());
  const secrets = {
    ...kept,
    adminApiKey: given.adminApiKey ?? kept.adminApiKey,
    serviceApiKey: given.serviceApiKey ?? kept.serviceApiKey,
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

/** Writes a file that only its owner may read, whole or not at all. */
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
  // A copy that came back from a backup, or by another hand, may be open to accounts that MCP servers run as.
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

/** Adds the passwords and the key that the installation lacks, and keeps all secrets in their file. */
function withPasswords(
  path: string,
  { ...secrets }: KeptSecrets,
): { kept: Secrets; former: string | undefined; evidenceKey: string; databasePasswords: DatabasePasswords } {
  const passwords = services.map((row) => [row, secrets[passwordMember(row)] ?? randomSecret('db')] as const);
  // An installation may be older than envelopes are.
  const evidenceKey = secrets['evidenceKey'] ?? newEvidenceKey();
  const whole = {
    ...secrets,
    evidenceKey,
    ...Object.fromEntries(passwords.map(([row, password]) => [passwordMember(row), password])),
  };
  if (Object.keys(whole).length > Object.keys(secrets).length) writeSecrets(path, whole);
  const databasePasswords = Object.fromEntries(passwords.map(([{ name }, password]) => [name, password]));
  const former = secrets['formerSigningPublicKeys'];
  return { kept: whole, former, evidenceKey, databasePasswords: databasePasswords as DatabasePasswords }; // one for each row of the register
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

/** 256 bits, with a prefix that tells secrets apart when one turns up where it should not. */
function randomSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** The public key to it, base64url. */
export function publicKeyOf(pem: string): string {
  const { x } = createPublicKey(pem).export({ format: 'jwk' });
  if (x === undefined) throw new TypeError('The signing key is not an Ed25519 key');
  return x;
}

/** Null: there is no such file. */
export function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
