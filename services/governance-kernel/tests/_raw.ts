import { request as httpRequest } from 'node:http';
import { urlOf, type AnyRoute } from '@countersign/contracts';
import { adminKey, kernelRoutes, serviceKey } from './_kernel.ts';

/** All routes of the kernel's contract, for tests that cover each route. */
export const allRoutes: AnyRoute[] = Object.values(kernelRoutes);

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** A well-formed value for each path parameter of the contract. No object with this value exists. */
const unknownParams: Record<string, string> = {
  receipt_id: `rcp_${ulid}`,
  session_id: 'no-such-session',
  receipt_hash: `sha256:${'0'.repeat(64)}`,
  record_id: `rec_${ulid}`,
  checkpoint_id: `chk_${ulid}`,
  approval_id: `apr_${ulid}`,
  key_id: `key_${ulid}`,
  principal: 'unknown-person',
  credential_id: 'A'.repeat(43),
  snapshot_id: `snp_${ulid}`,
  budget_id: 'unknown-budget',
  action: 'deny',
  policy_hash: `sha256:${'0'.repeat(64)}`,
  report_id: `cfr_${ulid}`,
  directory: 'agents',
  kid: 'A'.repeat(43),
  tenant: 'unknown-tenant',
  scope: 'tenant:unknown-tenant',
  lane: 'unknown',
  server_id: 'unknown-server',
  profile_id: 'unknown',
  grant_id: `sbx_${ulid}`,
  manifest_id: `env_${ulid}`,
  host_chain_id: `hch_${ulid}`,
  surface_id: 'unknown',
  model: 'unknown-model',
};

/** Values for routes that accept fewer values of a parameter than other routes. */
const unknownParamsOf: Record<string, Record<string, string>> = {
  'put-ceiling': { budget_id: 'ceiling.unknown' },
  'put-members': { tenant: `wsp_${ulid}` },
};

/** Values for the path parameters of a route. New parameters must be added above. */
export function paramsOf(route: AnyRoute, existing: Record<string, string> = {}): Record<string, string> {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(
    names.map((name) => {
      const value = existing[name] ?? unknownParamsOf[route.operation]?.[name] ?? unknownParams[name];
      if (value === undefined) throw new Error(`${route.operation}: no test knows the path parameter ${name}`);
      return [name, value];
    }),
  );
}

export type RawAnswer = { status: number; headers: Headers; text: string };
export type RawCall = {
  route: AnyRoute;
  params?: Record<string, string>;
  query?: Record<string, string>;
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Appended to the path. */
  suffix?: string;
};

/** Sends the call unchanged and reads the answer as text. It reads only the headers of an event stream. */
export async function rawCall(baseUrl: string, call: RawCall): Promise<RawAnswer> {
  const { route, query, method = route.method, headers = {}, body, suffix = '' } = call;
  const params = paramsOf(route, call.params);
  const url = urlOf({ ...route, path: `${route.path}${suffix}` }, baseUrl, { params, query });
  const typed = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const response = await fetch(url, { method, headers: typed, ...(body === undefined ? {} : { body }) });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, text: '' };
  }
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Announces a body of this length but sends none of it. The server must reject a large body before reading it. */
export function announceBody(baseUrl: string, { route, headers }: RawCall, bytes: number): Promise<RawAnswer> {
  const url = urlOf(route, baseUrl, { params: paramsOf(route) });
  return new Promise((resolve, reject) => {
    const announced = { 'content-type': 'application/json', 'content-length': String(bytes), ...headers };
    const req = httpRequest(url, { method: route.method, headers: announced }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => {
        req.destroy();
        const head = new Headers(
          Object.entries(res.headers).map(([name, value]): [string, string] => [name, String(value)]),
        );
        resolve({ status: res.statusCode ?? 0, headers: head, text: Buffer.concat(chunks).toString() });
      });
    });
    req.on('error', reject);
    req.flushHeaders();
  });
}

/** The credentials that a route requires, as headers. */
export function credentialsFor({ auth }: AnyRoute, tenant = 'acme'): Record<string, string> {
  if (auth === 'public') return {};
  if (auth === 'service_internal') return { authorization: `Bearer ${serviceKey}` };
  const admin = { authorization: `Bearer ${adminKey}` };
  return auth === 'tenant_scoped' ? { ...admin, 'x-gov-tenant-id': tenant } : admin;
}

/** The error code of an answer. AuthZEN errors contain only a sentence, so the code is derived from the status. */
export function refusalCodeOf({ media }: AnyRoute, { status, text }: { status: number; text: string }): string {
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
  if (code !== undefined || media !== 'authzen' || !/^"[^"]+"$/.test(text)) return code ?? 'none';
  return status === 403 ? 'PERMISSION_DENIED' : 'CREDENTIALS_INVALID';
}

/** A well-formed call of a route, without credentials. */
export type Sample = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  form?: Record<string, string>;
  headers?: object;
};
