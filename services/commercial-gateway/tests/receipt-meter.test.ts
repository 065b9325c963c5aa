import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import { reaching } from '@countersign/testkit/until';
import { startReceiptMeter } from '../src/workers/receipt-meter.ts';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';

const workspaces = Array.from({ length: 12 }, (_, index) =>
  WorkspaceId.parse(`wsp_${String(index).padStart(26, '0')}`),
);
const failing = workspaces.slice(0, 4);
const read = new Map<string, number>();

/** Fake of a kernel that fails for four workspaces and has no receipts of the others. */
const kernel = createServer((req, res) => {
  const workspace = workspaces.find((id) => req.url?.includes(id)) ?? '';
  read.set(workspace, (read.get(workspace) ?? 0) + 1);
  const fails = failing.some((id) => id === workspace);
  res.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
  res.end(JSON.stringify(fails ? {} : { data: [] }));
});

let site: CommercialSite;
beforeAll(async () => {
  await new Promise<void>((resolve) => kernel.listen(0, '127.0.0.1', resolve));
  const { port } = kernel.address() as AddressInfo; // it listens on TCP
  site = await startCommercialSite({ env: { GOV_GOVERNANCE_URL: `http://127.0.0.1:${port}` } });
});
afterAll(async () => {
  await site?.stop();
  kernel.closeAllConnections();
  await new Promise((resolve) => kernel.close(resolve));
});

it('the receipt meter counts the usage of other workspaces while some workspaces cannot be read', async () => {
  const { context } = site.gateway;
  const orgId = `org_${'1'.repeat(26)}`;
  await context.transaction((tx) =>
    tx.orgWorkspace.createMany({
      data: workspaces.map((workspaceId) => ({ workspaceId, orgId, addedAt: new Date() })),
    }),
  );
  const meter = startReceiptMeter(context, 20);
  try {
    const isRead = (unread: readonly string[]) => unread.length === 0;
    await reaching(() => workspaces.filter((id) => !read.has(id)), isRead);
    // A failing workspace is read again later, not in each pass.
    const reads = read.get(failing[0] ?? '');
    await new Promise((resolve) => setTimeout(resolve, 300)); // 15 passes without a reading
    expect(read.get(failing[0] ?? '')).toBe(reads);
  } finally {
    await meter.stop();
  }
});
