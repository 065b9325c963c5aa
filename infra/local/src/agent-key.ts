import { join } from 'node:path';
import type { PrincipalId } from '@countersign/contracts';
import { createKernelClient } from '@countersign/contracts/routes';
import { readIfPresent, writePrivate, type DataDir } from './data-dir.ts';

/** The tenant in the examples of the README. */
const tenant = 'acme';
const principal = 'agent' as PrincipalId; // matches its schema
const yearDays = 365;

/** A key for the first agent of this installation. The key of the previous start is reused while it is valid. */
export async function agentKey(kernelUrl: string, { path, secrets }: DataDir): Promise<string> {
  const file = join(path, 'agent.key');
  const kept = readIfPresent(file);
  if (kept !== null && (await opensItsDoors(kernelUrl, kept))) return kept;
  const operator = createKernelClient({ baseUrl: kernelUrl, apiKey: secrets.adminApiKey }).as({ tenant });
  const terms = { kind: 'agent', principal_id: principal, expires_in_days: yearDays } as const;
  const { body } = await operator.createAccessKey({ body: { ...terms, doors: ['evaluate', 'chat', 'mcp'] } });
  writePrivate(file, body.key);
  return body.key;
}

async function opensItsDoors(kernelUrl: string, key: string): Promise<boolean> {
  const { status } = await createKernelClient({ baseUrl: kernelUrl, apiKey: key }).rawAs({ tenant }).describeMcp();
  return status === 200;
}
