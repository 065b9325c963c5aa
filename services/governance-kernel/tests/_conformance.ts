import { type SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { adminKey, type TestKernel } from './_kernel.ts';

/** The longest time of a run, and more than clients wait for an answer otherwise. */
const timeoutMs = 120_000;

/** Run by an operator; throws the kernel's refusal. */
export async function runConformance(
  { kernel }: Pick<TestKernel, 'kernel'>,
  scope: 'full' | 'short',
): Promise<SignedConformanceReport> {
  const client = createKernelClient({ baseUrl: kernel.url, apiKey: adminKey, timeoutMs });
  return (await client.as({ tenant: 'acme' }).runConformance({ body: { scope } })).body;
}
