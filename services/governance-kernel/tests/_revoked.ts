import { nodeProvider } from '@countersign/crypto/node';
import { generateSigningKey } from '@countersign/crypto/signing';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import type { TestKernel } from './_kernel.ts';

type Query = NonNullable<Parameters<ReturnType<TestKernel['as']>['exportReceipts']>[0]>['query'];
type KeyName = 'log' | 'receipts' | 'policies';

/** Verifies an export with the currently published keys, as a third party does. Returns the verdict or the fault. */
export async function judged(test: TestKernel, query: Query): Promise<string> {
  const trust = await trustNow(test);
  const { fault, verdict } = verifyExport(await linesOf(test, query), { trust, provider: nodeProvider });
  return fault === null ? verdict : `${fault.code}: ${fault.message}`;
}

/** The tree sizes of the checkpoints in an export. */
export async function headsIn(test: TestKernel, query: Query): Promise<number[]> {
  const [header = ''] = await linesOf(test, query);
  const { checkpoints } = JSON.parse(header) as { checkpoints: string[] }; // a response of the kernel
  return checkpoints.map((note) => Number(note.split('\n')[1])).sort((left, right) => left - right);
}

async function linesOf(test: TestKernel, query: Query): Promise<string[]> {
  const { body } = await test.as('acme').exportReceipts({ query });
  return body.map((line) => JSON.stringify(line));
}

export async function trustNow(test: TestKernel) {
  return parseKeySet((await test.as('acme').listTrustKeys()).body);
}

export const wholePeriod = () => ({ from: '2026-01-01T00:00:00.000Z', to: new Date().toISOString() }) as Query;

/** Restarts the kernel with new keys. Returns the ids of the previous keys. */
export async function rotateKeys(test: TestKernel, names: KeyName[]): Promise<string[]> {
  const variables = { log: 'GOV_LOG_KEY', receipts: 'GOV_SIGNING_KEY', policies: 'GOV_POLICY_KEY' };
  const had = names.map((name) => test.kernel.context.signers[name].keyId);
  for (const name of names) test.env[variables[name]] = generateSigningKey().privateKeyPem;
  await test.restart();
  return had;
}

/** Revokes keys from `at` on. */
export async function revokeKeys(test: TestKernel, keyIds: string[], at = new Date()): Promise<void> {
  const statement = 'UPDATE kernel.trust_keys SET revoked_at = $2 WHERE key_id = ANY($1)';
  await asAdministrator(test, statement, [keyIds, at]);
}

/** Restarts the kernel with new keys, and revokes the previous keys. */
export async function replaceKeys(test: TestKernel, names: KeyName[]): Promise<void> {
  await revokeKeys(test, await rotateKeys(test, names));
}

/** Ends the validity of keys. Signatures from this instant on are void. */
export async function endKeys(test: TestKernel, keyIds: string[], at: Date): Promise<void> {
  await asAdministrator(test, 'UPDATE kernel.trust_keys SET valid_until = $2 WHERE key_id = ANY($1)', [keyIds, at]);
}

/** The first instant after a checkpoint was signed. */
export function after({ created_at }: { created_at: string }): Date {
  return new Date(Date.parse(created_at) + 1);
}
