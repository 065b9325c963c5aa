import type { Instant } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport, verifyText, type ExportReport, type TrustedKey } from '@countersign/verifier';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { clientOf, poolOf } from './_kernel.ts';
import { askPack } from './_pack.ts';

type Span = { tenant_id: string; last: Date };

/**
 * Exports all that the ledger of a test holds, a tenant at a time, and verifies it as a stranger would. A kernel that has just begun gives
 * it, after the last instant that the test's clock has reached. `inPacks`: each tenant as a pack too, whose decisions are held against the
 * controls in its log. Throws for the first export that is not verified.
 */
export async function assertSealedVerifies(
  env: Record<string, string>,
  { inPacks }: { inPacks: boolean },
): Promise<void> {
  let now = new Date();
  const kernel = await startKernel(kernelConfigFrom(env), { clock: () => now });
  try {
    const spans = await spansOf(kernel);
    now = new Date(Math.max(now.getTime(), ...spans.map(({ last }) => last.getTime())) + 1);
    const trust = parseKeySet((await clientOf(kernel, 'acme').listTrustKeys()).body);
    for (const { tenant_id: tenant } of spans) {
      await assertVerifies(kernel, { tenant, to: now, trust });
      if (inPacks) await assertPackVerifies(kernel, { tenant, to: now, trust });
    }
  } finally {
    await kernel.stop();
  }
}

async function spansOf(kernel: StartedKernel): Promise<Span[]> {
  const { rows } = await poolOf(kernel).query<Span>(
    `SELECT tenant_id, max((payload::jsonb ->> 'issued_at')::timestamptz) AS last FROM ledger GROUP BY tenant_id`,
  );
  return rows;
}

type Asked = { tenant: string; to: Date; trust: TrustedKey[] };

async function assertVerifies(kernel: StartedKernel, { tenant, to, trust }: Asked): Promise<void> {
  const period = { from: '2020-01-01T00:00:00.000Z' as Instant, to: to.toISOString() as Instant };
  const { body } = await clientOf(kernel, tenant).exportReceipts({ query: period });
  const lines = body.map((line) => JSON.stringify(line));
  assertVerified(tenant, verifyExport(lines, { trust, provider: nodeProvider, tenant, ...period }));
}

/** The whole log of the tenant: each decision is under the controls that its log says. */
async function assertPackVerifies({ url }: StartedKernel, { tenant, trust }: Asked): Promise<void> {
  const text = await (await askPack(url, {}, tenant)).text();
  assertVerified(tenant, verifyText(text, { trust, provider: nodeProvider, tenant }));
}

function assertVerified(tenant: string, { verdict, fault, missing }: ExportReport): void {
  if (verdict === 'VERIFIED') return;
  const why = fault === null ? missing.join(', ') : `${fault.code} in line ${fault.line}: ${fault.message}`;
  throw new Error(`The sealed export of ${tenant} is ${verdict}: ${why}`);
}
