import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const pem = z.string().startsWith('-----BEGIN PRIVATE KEY-----');
const secret = z.string().min(32);

const BoundaryKeys = z.strictObject({
  format: z.literal('countersign/boundary-keys.v1'),
  created_at: z.iso.datetime({ precision: 3 }),
  signing_key: pem,
  policy_key: pem,
  log_key: pem,
  evidence_key: pem,
  tenant_salt_secret: secret,
  /** The bearer token of all requests. It is never a key of an agent. */
  operator_key: secret,
});
type BoundaryKeys = z.infer<typeof BoundaryKeys>;

type SigningKeys = { signingKeyPem: string; policyKeyPem: string; logKeyPem: string };

/** The keys of `/x/surfaces.json` are in `/x/surfaces.keys.json`. */
export function keysPathOf(registryPath: string): string {
  return `${registryPath.replace(/\.json$/, '')}.keys.json`;
}

/**
 * The keys of a registry file. The first call creates them, with mode 0600. Throws when a registry file has lost its
 * keys, since new ones would not continue its log, and when other accounts can read them.
 */
export async function openBoundaryKeys(
  registryPath: string,
  { now, generate }: { now: Date; generate(): SigningKeys },
): Promise<BoundaryKeys> {
  const path = keysPathOf(registryPath);
  return (await findKeys(path)) ?? (await createKeys({ path, registryPath }, now, generate()));
}

async function findKeys(path: string): Promise<BoundaryKeys | null> {
  if (!(await exists(path))) return null;
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) throw new Error(`Other accounts may read the keys in ${path}. Run: chmod 600 '${path}'`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    throw new Error(`The keys in ${path} are not JSON. Restore the file from a backup.`);
  }
  const { data, error } = BoundaryKeys.safeParse(value);
  if (data !== undefined) return data;
  // Only the path is stated, since the values are secret.
  throw new Error(`The keys in ${path} are damaged at ${error.issues[0]?.path.join('.') || 'the top level'}.`);
}

async function createKeys(
  { path, registryPath }: { path: string; registryPath: string },
  now: Date,
  { signingKeyPem, policyKeyPem, logKeyPem }: SigningKeys,
): Promise<BoundaryKeys> {
  if (await exists(registryPath))
    throw new Error(
      `The registry file ${registryPath} has no keys. Restore ${path} from a backup, or name another file.`,
    );
  const keys: BoundaryKeys = {
    format: 'countersign/boundary-keys.v1',
    created_at: now.toISOString(),
    signing_key: signingKeyPem,
    policy_key: policyKeyPem,
    log_key: logKeyPem,
    evidence_key: evidenceKey(),
    tenant_salt_secret: randomBytes(32).toString('base64url'),
    operator_key: randomBytes(32).toString('base64url'),
  };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = join(dirname(path), `.${randomUUID()}.keys`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    await file.writeFile(`${JSON.stringify(keys)}\n`);
    await file.sync();
    await file.close();
    await link(temporary, path);
    return keys;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    const earlier = await findKeys(path); // another process created them first
    if (earlier === null) throw error;
    return earlier;
  } finally {
    await rm(temporary, { force: true });
  }
}

function evidenceKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: unknown) => {
      if (isCode(error, 'ENOENT')) return false;
      throw error;
    },
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
