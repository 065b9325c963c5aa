import type { Instant } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport, verifyText, type ExportReport, type TrustedKey } from '@countersign/verifier';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { readAsAdministrator } from './_administrator.ts';
import { clientOf, type TestKernel } from './_kernel.ts';
import { askPack } from './_pack.ts';

type Span = { tenant_id: string; last: Date };

/**
 * Exports the ledger of each tenant, and verifies each export as a third party does. Throws when an export is not
 * verified. A new kernel exports, with a clock later than the last receipt. With `inPacks` each tenant is exported as a
 * pack, whose decisions are compared with the controls in the log. The busiest tenant is also exported as a period.
 */
export async function assertSealedVerifies(
  test: Pick<TestKernel, 'database' | 'env'>,
  { inPacks }: { inPacks: boolean },
): Promise<void> {
  const spans = await spansOf(test);
  if (spans.length === 0) return;
  const now = new Date(Math.max(Date.now(), ...spans.map(({ last }) => last.getTime())) + 1);
  const kernel = await startKernel(kernelConfigFrom(test.env), { clock: () => now });
  try {
    const trust = parseKeySet((await clientOf(kernel, 'acme').listTrustKeys()).body);
    const inputs = spans.map(({ tenant_id: tenant }) => ({ tenant, to: now, trust }));
    for (const input of inPacks ? inputs.slice(0, 1) : inputs) await assertVerifies(kernel, input);
    if (inPacks) for (const input of inputs) await assertPackVerifies(kernel, input);
  } finally {
    await kernel.stop();
  }
}

const spansOf = (test: Pick<TestKernel, 'database'>) =>
  readAsAdministrator<Span>(
    test,
    `SELECT tenant_id, max((payload::jsonb ->> 'issued_at')::timestamptz) AS last FROM ledger GROUP BY tenant_id
     ORDER BY count(*) DESC`,
  );

type Input = { tenant: string; to: Date; trust: TrustedKey[] };

async function assertVerifies(kernel: StartedKernel, { tenant, to, trust }: Input): Promise<void> {
  const period = { from: '2020-01-01T00:00:00.000Z' as Instant, to: to.toISOString() as Instant };
  const { body } = await clientOf(kernel, tenant).exportReceipts({ query: period });
  const lines = body.map((line) => JSON.stringify(line));
  assertVerified(tenant, verifyExport(lines, { trust, provider: nodeProvider, tenant, ...period }));
}

/** Verifies a pack with the tenant's whole log: each decision must match the controls in the log. */
async function assertPackVerifies({ url }: StartedKernel, { tenant, trust }: Input): Promise<void> {
  const text = await (await askPack(url, {}, tenant)).text();
  assertVerified(tenant, verifyText(text, { trust, provider: nodeProvider, tenant }));
}

function assertVerified(tenant: string, { verdict, fault, missing }: ExportReport): void {
  if (verdict === 'VERIFIED') return;
  const why = fault === null ? missing.join(', ') : `${fault.code} in line ${fault.line}: ${fault.message}`;
  throw new Error(`The sealed export of ${tenant} is ${verdict}: ${why}`);
}
