import { createKernelClient } from '@countersign/contracts/routes';
import { nodeProvider } from '@countersign/crypto/node';
import { AuditVerification, parseKeySet, verifyExport } from '@countersign/verifier';
import type { Installation } from './_installation.ts';
import type { Person, StartedRun } from './_workload.ts';

/** Verifies the receipts of each run with the published keys only, as a third party does. */
export async function findUnprovenRuns(
  { kernelUrl: baseUrl, adminApiKey: apiKey }: Pick<Installation, 'kernelUrl' | 'adminApiKey'>,
  started: readonly StartedRun[],
): Promise<string[]> {
  const kernel = createKernelClient({ baseUrl, apiKey });
  const found: string[] = [];
  for (const { nth, runId, person } of started) {
    const client = kernel.as({ tenant: person.workspaceId });
    const trust = parseKeySet((await client.listTrustKeys()).body);
    const { body } = await client.exportReceipts({ query: { session_id: runId } });
    const lines = (body as unknown[]).map((line) => JSON.stringify(line));
    const { verdict, fault } = verifyExport(lines, { trust, provider: nodeProvider, session: runId });
    if (verdict !== 'VERIFIED') found.push(`run ${nth}: ${verdict} ${fault?.code}`);
  }
  return found;
}

/** Verifies the audit log of each workspace. */
export async function findBrokenLogs(people: readonly Person[]): Promise<string[]> {
  const found: string[] = [];
  for (const { doorUrl, token, workspaceId } of people) {
    const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId };
    const exported = await (await fetch(`${doorUrl}/api/audit/export`, { headers })).text();
    const verification = new AuditVerification({ provider: nodeProvider, workspace: workspaceId });
    for (const line of exported.split('\n').slice(0, -1)) if (!verification.take(line)) break;
    const { verdict, fault } = verification.report();
    if (verdict !== 'VERIFIED') found.push(`${workspaceId}: ${verdict} ${fault?.code}`);
  }
  return found;
}
