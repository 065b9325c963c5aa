import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import { commercialRoutes } from '@countersign/contracts/routes';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';
import { Upstream } from './_upstream.ts';

const upstream = new Upstream();
const routes: AnyRoute[] = Object.values(commercialRoutes).filter(({ auth }: AnyRoute) => auth === 'scim');
let database: TestDatabase;
let gateway: StartedGateway;

beforeAll(async () => {
  database = await testDatabase();
  const commercial = { GOV_COMMERCIAL_URL: await upstream.start(), GOV_RUN_WORKERS: '0' };
  gateway = await startTestGateway(testConfig(database, commercial));
});
afterAll(async () => {
  await gateway?.stop();
  await upstream.stop();
  await database?.drop();
});

it.each(routes.map(({ method, path }) => [method, path]))(
  'the gateway forwards %s %s with unchanged bearer, If-Match, query and body, and returns the entity tag',
  async (method, path) => {
    const url = `${path.replace(/\{\w+\}/, 'scu_1')}?filter=userName%20eq%20%22Zo%C3%AB%22`;
    const isBodiless = method === 'GET' || method === 'DELETE';
    const body = '{\n "Operations" : [ {"op":"Replace","value":"Zo\\u00eb"} ] }';
    upstream.answer = (_req, res) => res.writeHead(200, { etag: 'W/"7"' }).end('{}');
    const credentials = { authorization: 'Bearer cst_1', 'if-match': 'W/"6"' };
    const answer = await fetch(new URL(url, gateway.url), {
      method,
      headers: { ...credentials, ...(isBodiless ? {} : { 'content-type': 'application/scim+json' }) },
      ...(isBodiless ? {} : { body }),
    });
    expect([answer.status, answer.headers.get('etag')]).toEqual([200, 'W/"7"']);
    expect(upstream.last).toMatchObject({ method, url, headers: credentials, body: isBodiless ? '' : body });
  },
);

it('the tests of forwarding cover each route of SCIM', () => expect(routes).toHaveLength(15));
