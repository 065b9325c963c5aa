import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient, TenantId, WorkspaceId } from '@countersign/contracts';
import { putToolBlocks } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import { createTestDatabase } from '@countersign/database/testing';
import type { BenchDatabase } from './bench-database.ts';
import { openKernel, opened, type Bench } from './bench.ts';
import type { Closing } from './closing.ts';
import type { Comparison, OpenComparison } from './comparison.ts';
import { loadMember, type Member } from './member.ts';
import { startService, type Running } from './processes.ts';
import { evaluateCall } from './requests.ts';
import { withAdmin } from './with-admin.ts';

/** Decisions of a kernel whose receipts a commercial gateway counts, compared with a kernel without a reader. */
export const commercialComparison: Comparison = { groups: [['unmetered', 'metered']], open: openMetered };

const mark = '0'.repeat(26);
const [workspaceId, orgId] = [WorkspaceId.parse(`wsp_${mark}`), `org_${mark}`];
const schema = 'commercial';
const [countedWithinMs, pollMs] = [60_000, 200];
/**
 * No server has this address. The bench itself writes the organisation of the workspace, so the gateway need not ask
 * for it.
 */
const away = 'http://127.0.0.1:9';

async function openMetered(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const [unread, read] = [await bench.seed.copy(closing), await bench.seed.copy(closing)];
  const [alone, metered] = [await openKernel(bench, closing, unread), await openKernel(bench, closing, read)];
  const members = {
    unmetered: await deciding(bench, unread, alone),
    metered: await deciding(bench, read, metered),
  };
  await openCommercialGateway(bench, closing, metered);
  return { members, databases: [unread, read] };
}

/** Makes a first decision, so that there is something to count before the measurement. */
async function deciding({ generator, settings }: Bench, database: BenchDatabase, kernel: Running): Promise<Member> {
  const authorization = `Bearer ${settings.serviceApiKey}`;
  const client = createClient({ putToolBlocks }, { baseUrl: kernel.url, headers: () => ({ authorization }) });
  const params = { tenant: TenantId.parse(workspaceId) };
  await client.putToolBlocks({ params, body: { version: 1, tools: [] } });
  const member = loadMember({
    ...{ generator, servers: [kernel], path: '/api/v1/evaluate', kind: evaluateCall, connections: 64 },
    headers: { ...settings.headers, 'x-gov-tenant-id': workspaceId },
    sealing: { database, receiptsPerAnswer: 1 },
  });
  await member.tryOnce();
  return member;
}

async function openCommercialGateway({ settings, amqpUrl }: Bench, closing: Closing, kernel: Running): Promise<void> {
  const serviceDir = fileURLToPath(new URL('../../../services/commercial-gateway', import.meta.url));
  const database = await createTestDatabase({ serviceDir, schema });
  closing.add(() => database.drop());
  await withAdmin(
    database.adminUrl,
    (client) =>
      client.query('INSERT INTO org_workspaces (workspace_id, org_id, added_at) VALUES ($1, $2, now())', [
        workspaceId,
        orgId,
      ]),
    schema,
  );
  const environment = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    AMQP_URL: amqpUrl,
    GOV_AMQP_EXCHANGE: `countersign-bench-${randomBytes(6).toString('hex')}`,
    GOV_CONTROL_PLANE_URL: away,
    GOV_GATEWAY_URL: away,
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_SERVICE_API_KEY: settings.serviceApiKey,
    GOV_ASSERTION_KEYS: encodeBase64Url(generateSigningKey().publicKey),
    GOV_LOG_LEVEL: 'error',
    GOV_STOP_NOTICE: '0ms',
  };
  await opened(closing, startService('commercial-gateway', environment));
  await untilCounted(database.adminUrl);
}

async function untilCounted(adminUrl: string): Promise<void> {
  const deadline = Date.now() + countedWithinMs;
  for (;;) {
    const { rows } = await withAdmin(adminUrl, (client) => client.query('SELECT FROM usage_events LIMIT 1'), schema);
    if (rows.length > 0) return;
    if (Date.now() > deadline) throw new Error('The commercial gateway counts no receipts of the kernel');
    await delay(pollMs);
  }
}
