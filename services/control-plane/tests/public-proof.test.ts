import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, explainStatements, recordPlans, type TestDatabase } from '@countersign/database/testing';
import { createLifecycle, createServiceApp, openTelemetry, serveHttp } from '@countersign/service-kit';
import pg from 'pg';
import { createApp } from '../src/app.ts';
import { controlPlaneConfigFrom } from '../src/config.ts';
import { createContext, type Context } from '../src/context.ts';

const places = { receipt: '/api/public/verify', approval: '/api/public/approval', replay: '/api/v1/replays' };
type Kind = keyof typeof places;
const kinds = Object.keys(places) as Kind[];
const objectIds: Record<Kind, string> = {
  receipt: `rcp_${'0'.repeat(25)}`,
  approval: `apr_${'0'.repeat(25)}`,
  replay: `rpl_${'A'.repeat(21)}`,
};

/** The reasons why a handle opens nothing. */
const fates = ['private', 'over', 'revoked', 'shut'] as const;
const unknown = 'unknown';
const handleOf = (kind: Kind, fate: string) => `hdl_${`${kind}${fate}`.padEnd(22, 'A').slice(0, 22)}`;
const objectOf = (kind: Kind, fate: string) =>
  `${objectIds[kind]}${[...fates, unknown].findIndex((candidate) => candidate === fate)}`;

let scratch: TestDatabase;
let context: Context;
let server: Awaited<ReturnType<typeof serveHttp>>;

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  await fill(scratch);
  await explainStatements(scratch);
  // Gateway and kernel are unreachable, so a request to them would change the response.
  const config = controlPlaneConfigFrom({
    ...{ DATABASE_URL: scratch.url, GOV_GATEWAY_URL: 'http://127.0.0.1:9', GOV_GOVERNANCE_URL: 'http://127.0.0.1:9' },
    ...{ GOV_SERVICE_API_KEY: 'service-key-'.repeat(4), GOV_SESSION_SECRET: 'console-secret-'.repeat(3) },
    ...{ GOV_LOG_LEVEL: 'silent', GOV_RATE_LIMITS: '0' },
  });
  const telemetry = await openTelemetry(config.collector, { service: 'control-plane', version: 'test' });
  context = createContext(config, telemetry);
  server = await serveHttp(createServiceApp(context, createApp(context), createLifecycle(context.log)), {
    ...{ host: '127.0.0.1', port: 0 },
  });
});

afterAll(async () => {
  await server?.close();
  await context?.close();
  await scratch?.drop();
});

async function fill({ adminUrl }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=control_plane' });
  await client.connect();
  await client.query(`INSERT INTO public_proofs VALUES ('open', 'published', now()), ('shut', 'off', now())`);
  for (const kind of kinds)
    for (const fate of fates)
      await client.query(
        `INSERT INTO evidence_handles
           (id, workspace_id, kind, object_id, is_public, receipt_id, shown, created_by, created_at, expires_at, revoked_at)
         VALUES ($1, $2, $3, $4, $5, CASE WHEN $5 THEN 'rcp_decision' END, '{}', 'ada', now(), now() + $6::interval, $7)`,
        [
          ...[handleOf(kind, fate), fate === 'shut' ? 'shut' : 'open', kind, objectOf(kind, fate), fate !== 'private'],
          ...[fate === 'over' ? '0' : '1 hour', fate === 'revoked' ? new Date() : null],
        ],
      );
  await client.end();
}

it('handles that are private, expired, revoked, unknown or of a workspace without public proof have the same response and the same single statement', async () => {
  const recorder = recordPlans(context.database.pool);
  for (const kind of kinds) {
    const answers = new Set<string>();
    const statements = new Set<string>();
    for (const fate of [...fates, unknown])
      for (const name of [handleOf(kind, fate), objectOf(kind, fate)]) {
        const recorded = await recorder.during(async () => {
          const response = await fetch(new URL(`${places[kind]}/${name}`, server.url), {
            headers: { 'x-request-id': 'the-same-request' },
          });
          answers.add(`${response.status} ${await response.text()}`);
        });
        statements.add(recorded.map(({ text }) => text).join('; '));
        expect([kind, fate, recorded.length]).toEqual([kind, fate, 1]);
      }
    expect([kind, [...answers]]).toEqual([kind, [expect.stringMatching(/^404 .*NOT_FOUND/)]]);
    expect([kind, [...statements]]).toEqual([kind, [expect.stringContaining('evidence_handles')]]);
  }
});
