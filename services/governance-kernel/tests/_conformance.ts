import { type SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { patienceMs } from '@countersign/testkit/until';
import { adminKey, type TestKernel } from './_kernel.ts';

/** A run takes longer than the default timeout of clients. */
const timeoutMs = patienceMs;

/** Starts a run as an operator. Throws when the kernel refuses it. */
export async function runConformance(
  { kernel }: Pick<TestKernel, 'kernel'>,
  scope: 'full' | 'short',
): Promise<SignedConformanceReport> {
  const client = createKernelClient({ baseUrl: kernel.url, apiKey: adminKey, timeoutMs });
  return (await client.as({ tenant: 'acme' }).runConformance({ body: { scope } })).body;
}
