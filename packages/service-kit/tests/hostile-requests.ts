import { asAdmin, type RawRequest } from './echo-service.ts';

export type HostileCase = {
  guarantee: string;
  request: RawRequest;
  status: number;
  code: string;
  param?: string | null;
};

const post = (body: string | Buffer): RawRequest => ({ headers: asAdmin, body });
const oversize = JSON.stringify({ text: 'x'.repeat(5_000) });
const deep = `{"text":"a","free":{"a":${'['.repeat(70)}${']'.repeat(70)}}}`;

/** Invalid requests of all kinds, each with its response. */
export const hostileRequests: readonly HostileCase[] = [
  { guarantee: 'malformed JSON', request: post('{"text":'), status: 400, code: 'MALFORMED_JSON' },
  { guarantee: 'text after the value', request: post('{"text":"a"} x'), status: 400, code: 'MALFORMED_JSON' },
  {
    guarantee: 'a byte that is not UTF-8',
    request: post(Buffer.from('{"text":"\xff"}', 'latin1')),
    status: 400,
    code: 'MALFORMED_JSON',
  },
  { guarantee: 'NaN', request: post('{"text":"a","n":NaN}'), status: 400, code: 'MALFORMED_JSON' },
  {
    guarantee: 'a number beyond binary64',
    request: post('{"text":"a","n":1e999}'),
    status: 400,
    code: 'NUMBER_OUT_OF_RANGE',
    param: 'n',
  },
  {
    guarantee: 'a duplicate member',
    request: post('{"text":"a","text":"b"}'),
    status: 400,
    code: 'DUPLICATE_MEMBER',
    param: 'text',
  },
  {
    guarantee: 'a lone surrogate',
    request: post('{"text":"\\ud800"}'),
    status: 400,
    code: 'LONE_SURROGATE',
    param: 'text',
  },
  { guarantee: 'excessive nesting', request: post(deep), status: 400, code: 'NESTING_TOO_DEEP' },
  { guarantee: 'too many values', request: post(`[${'0,'.repeat(10_000)}0]`), status: 413, code: 'PAYLOAD_TOO_LARGE' },
  {
    guarantee: 'a member __proto__ at the top level',
    request: post('{"text":"a","__proto__":{}}'),
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: '__proto__',
  },
  {
    guarantee: 'a member __proto__ in a free object',
    request: post('{"text":"a","free":{"x":[{"__proto__":1}]}}'),
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'free.x.0.__proto__',
  },
  {
    guarantee: 'a member __proto__ that is written with escapes',
    request: post('{"text":"a","free":{"\\u005f_proto__":1}}'),
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'free.__proto__',
  },
  { guarantee: 'a wrong type', request: post('{"text":7}'), status: 400, code: 'INVALID_REQUEST', param: 'text' },
  {
    guarantee: 'a wrong type deep inside',
    request: post('{"text":"a","nested":{"list":[1,"2"]}}'),
    status: 400,
    code: 'INVALID_REQUEST',
    param: 'nested.list.1',
  },
  {
    guarantee: 'an unknown member',
    request: post('{"text":"a","txet":"b"}'),
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'txet',
  },
  {
    guarantee: 'an unknown member deep inside',
    request: post('{"text":"a","nested":{"list":[],"x":1}}'),
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'nested.x',
  },
  { guarantee: 'no body', request: { headers: asAdmin }, status: 400, code: 'INVALID_REQUEST', param: null },
  {
    guarantee: 'a body whose declared length is too large',
    request: post(oversize),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    guarantee: 'a chunked body that is too large',
    request: { ...post(oversize), chunked: true },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    guarantee: 'another media type',
    request: { ...post('{"text":"a"}'), headers: { ...asAdmin, 'content-type': 'text/plain' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    guarantee: 'another charset',
    request: { ...post('{"text":"a"}'), headers: { ...asAdmin, 'content-type': 'application/json; charset=latin1' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    guarantee: 'a compressed body',
    request: { ...post('{"text":"a"}'), headers: { ...asAdmin, 'content-encoding': 'gzip' } },
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
  {
    guarantee: 'no credentials',
    request: { headers: { 'content-type': 'application/json' }, body: '{"text":"a"}' },
    status: 401,
    code: 'CREDENTIALS_REQUIRED',
  },
  {
    guarantee: 'another scheme',
    request: { headers: { ...asAdmin, authorization: 'Basic YTpi' }, body: '{"text":"a"}' },
    status: 401,
    code: 'CREDENTIALS_REQUIRED',
  },
  {
    guarantee: 'a wrong key',
    request: { headers: { ...asAdmin, authorization: 'Bearer nonsense' }, body: '{"text":"a"}' },
    status: 401,
    code: 'CREDENTIALS_INVALID',
  },
  {
    guarantee: 'an unknown query member',
    request: { ...post('{"text":"a"}'), path: '/echo?laud=1' },
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'laud',
  },
  {
    guarantee: 'a query member sent twice',
    request: { ...post('{"text":"a"}'), path: '/echo?loud=1&loud=1' },
    status: 400,
    code: 'INVALID_REQUEST',
    param: 'loud',
  },
  {
    guarantee: 'a malformed escape in the query',
    request: { ...post('{"text":"a"}'), path: '/echo?loud=%zz' },
    status: 400,
    code: 'INVALID_REQUEST',
  },
  {
    guarantee: 'a query member with a wrong value',
    request: { ...post('{"text":"a"}'), path: '/echo?loud=2' },
    status: 400,
    code: 'INVALID_REQUEST',
    param: 'loud',
  },
  { guarantee: 'an unknown path', request: { path: '/nowhere' }, status: 404, code: 'ROUTE_NOT_FOUND' },
  {
    guarantee: 'a trailing slash',
    request: { ...post('{"text":"a"}'), path: '/echo/' },
    status: 404,
    code: 'ROUTE_NOT_FOUND',
  },
  {
    guarantee: 'a path in another case',
    request: { ...post('{"text":"a"}'), path: '/Echo' },
    status: 404,
    code: 'ROUTE_NOT_FOUND',
  },
  { guarantee: 'a wrong method', request: { method: 'GET' }, status: 405, code: 'METHOD_NOT_ALLOWED' },
  {
    guarantee: 'a malformed escape in a path parameter',
    request: { method: 'GET', path: '/things/%zz' },
    status: 400,
    code: 'INVALID_REQUEST',
  },
  {
    guarantee: 'a malformed escape in an unknown path',
    request: { method: 'GET', path: '/nowhere%ff' },
    status: 400,
    code: 'INVALID_REQUEST',
  },
  {
    guarantee: 'a path parameter that is too long',
    request: { method: 'GET', path: `/things/${'x'.repeat(21)}` },
    status: 400,
    code: 'INVALID_REQUEST',
    param: 'thing_id',
  },
  {
    guarantee: 'a body on a route that has none',
    request: { ...post('{"why":1}'), path: '/things/a/forget' },
    status: 400,
    code: 'UNKNOWN_MEMBER',
    param: 'why',
  },
  {
    guarantee: 'a missing object',
    request: post('{"text":"missing"}'),
    status: 404,
    code: 'NOT_FOUND',
    param: 'text',
  },
  { guarantee: 'an internal fault', request: post('{"text":"crash"}'), status: 500, code: 'INTERNAL', param: null },
];
