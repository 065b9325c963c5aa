import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ErrorEnvelope, type AnyRoute } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, announceBody, credentialsFor, rawCall, type RawAnswer, type RawCall } from './_raw.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

/** The routes with the common error envelope. MCP uses JSON-RPC, pages use HTML, and AuthZEN uses plain text. */
const routes = allRoutes.filter(({ media }) => media !== 'mcp' && media !== 'html' && media !== 'authzen');
const writing = routes.filter(({ method }) => method === 'POST' || method === 'PUT');
/** The maximum number of values in a body, except in policy bundles. */
const valuesMax = 20_000;
const deep = `{"a":${'['.repeat(80)}${']'.repeat(80)}}`;

type Hostile = { name: string; status: number; codes: string[]; call: Omit<RawCall, 'route'>; of?: AnyRoute[] };

const hostile: Hostile[] = [
  { name: 'malformed JSON', status: 400, codes: ['MALFORMED_JSON'], call: { body: '{"a":' }, of: writing },
  { name: 'two values', status: 400, codes: ['MALFORMED_JSON'], call: { body: '{} {}' }, of: writing },
  {
    name: 'a body that is not UTF-8',
    status: 400,
    codes: ['MALFORMED_JSON'],
    call: { body: Buffer.from('{"a":"\xff"}', 'latin1') },
    of: writing,
  },
  {
    name: 'a wrong type',
    status: 400,
    codes: ['INVALID_REQUEST', 'UNKNOWN_MEMBER'],
    call: { body: '"text"' },
    of: writing,
  },
  {
    name: 'an unknown member',
    status: 400,
    codes: ['UNKNOWN_MEMBER'],
    call: { body: '{"no_such_member":1}' },
    of: writing.filter(({ media }) => media === 'json'),
  },
  { name: 'a duplicate key', status: 400, codes: ['DUPLICATE_MEMBER'], call: { body: '{"a":1,"a":2}' }, of: writing },
  { name: 'excessive nesting', status: 400, codes: ['NESTING_TOO_DEEP'], call: { body: deep }, of: writing },
  {
    name: 'more values than the limit',
    status: 413,
    codes: ['PAYLOAD_TOO_LARGE'],
    call: { body: `[${'1,'.repeat(valuesMax)}1]` },
    of: writing.filter(({ bodyValuesMax }) => bodyValuesMax <= valuesMax),
  },
  { name: 'a lone surrogate', status: 400, codes: ['LONE_SURROGATE'], call: { body: '{"a":"\\ud800"}' }, of: writing },
  {
    name: 'a number out of range',
    status: 400,
    codes: ['NUMBER_OUT_OF_RANGE'],
    call: { body: '{"a":1e999}' },
    of: writing,
  },
  {
    name: 'a wrong media type',
    status: 415,
    codes: ['UNSUPPORTED_MEDIA_TYPE'],
    call: { body: '{}', headers: { 'content-type': 'text/plain' } },
    of: writing,
  },
  { name: 'an unknown query member', status: 400, codes: ['UNKNOWN_MEMBER'], call: { query: { no_such: '1' } } },
  { name: 'a wrong method', status: 405, codes: ['METHOD_NOT_ALLOWED'], call: { method: 'PATCH' } },
  { name: 'an unknown path', status: 404, codes: ['ROUTE_NOT_FOUND'], call: { suffix: '/no/such/path' } },
];

/** The part of an answer that differs from the required envelope. `null` when there is no difference. */
function faultOf({ status, headers, text }: RawAnswer, expected: { status: number; codes: string[] }): string | null {
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return `media ${headers.get('content-type')}`;
  const envelope = ErrorEnvelope.safeParse(JSON.parse(text));
  if (!envelope.success) return `no envelope: ${text}`;
  const { code, request_id } = envelope.data.error;
  if (status !== expected.status || !expected.codes.includes(code)) return `${status} ${code}`;
  return request_id === headers.get('x-request-id') ? null : 'another request id';
}

const ledgerSize = async () => {
  const { rows } = await test.pool.query<{ size: string; held: string }>(
    'SELECT size, (SELECT count(*) FROM ledger) AS held FROM log_head',
  );
  return rows[0];
};

describe('errors of every JSON route in the contract', () => {
  for (const { name, status, codes, call, of = routes } of hostile) {
    verifies('kn.errors', `${name} causes ${status} in the common envelope, and seals nothing`, async () => {
      const before = await ledgerSize();
      for (const route of of) {
        const headers = { ...credentialsFor(route), ...call.headers };
        const fault = faultOf(await rawCall(test.kernel.url, { ...call, route, headers }), { status, codes });
        expect([route.operation, fault]).toEqual([route.operation, null]);
      }
      expect(of.length).toBeGreaterThan(5);
      expect(await ledgerSize()).toEqual(before);
    });
  }

  verifies(
    'kn.errors',
    'an oversized body causes 413 in the common envelope before it is read, and seals nothing',
    async () => {
      const before = await ledgerSize();
      for (const route of writing) {
        const headers = credentialsFor(route);
        const answer = await announceBody(test.kernel.url, { route, headers }, route.bodyBytesMax + 1);
        const fault = faultOf(answer, { status: 413, codes: ['PAYLOAD_TOO_LARGE'] });
        expect([route.operation, fault]).toEqual([route.operation, null]);
      }
      expect(await ledgerSize()).toEqual(before);
    },
  );

  it('an invalid percent escape is refused in path and query', async () => {
    for (const path of ['/api/v1/receipts/%zz', '/api/v1/receipts?cursor=%zz', '/nowhere%ff']) {
      const response = await fetch(`${test.kernel.url}${path}`, { headers: { ...headersOfTenant() } });
      expect([path, response.status, ErrorEnvelope.safeParse(await response.json()).success]).toEqual([
        path,
        400,
        true,
      ]);
    }
  });
});

function headersOfTenant(): Record<string, string> {
  const route = routes.find(({ auth }) => auth === 'tenant_scoped');
  return route === undefined ? {} : credentialsFor(route);
}
