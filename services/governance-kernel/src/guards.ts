import { AppError, PrincipalId, TenantId } from '@countersign/contracts';
import {
  anonymous,
  bearerToken,
  isAssertion,
  secretsEqual,
  type GuardRequest,
  type Guards,
  type ProvenAssertion,
} from '@countersign/service-kit';
import type { AccessKeyRow } from './access-keys/access-keys.ts';
import { isAccessKey } from './access-keys/secret.ts';
import type { Caller } from './call/governed-call.ts';
import type { Context } from './context.ts';

/** Callers of admin and service routes have no tenant: they speak for the system. */
export type SystemCaller = { principal: PrincipalId };

const adminPrincipal = 'admin' as PrincipalId; // within its schema
const servicePrincipal = 'service' as PrincipalId;
const ownScopes = ['*'];

type Guarding = Pick<Context, 'config' | 'presentedKeys' | 'assertions'>;

/** Who may call which class of route. */
export function createGuards({
  config,
  presentedKeys,
  assertions,
}: Guarding): Guards<Caller | SystemCaller | undefined> {
  return {
    public: anonymous,
    admin: (request) => {
      requireKey(bearerToken(request.req), config.adminApiKey);
      return { principal: principalOf(request) };
    },
    service_internal: (request) => {
      requireKey(bearerToken(request.req), config.serviceApiKey);
      return { principal: servicePrincipal };
    },
    tenant_scoped: (request) => {
      const bearer = bearerToken(request.req);
      if (isAccessKey(bearer)) return callerOfKey(request, presentedKeys.get(bearer));
      if (isAssertion(bearer)) return callerOfAssertion(request, assertions.verify(bearer));
      requireKey(bearer, config.adminApiKey);
      return {
        tenant: tenantOf(request),
        principal: principalOf(request),
        identity: { kind: 'operator_credential' },
        scopes: ownScopes,
      };
    },
  };
}

/** The key says who calls; what the request says beside it may only repeat that. */
async function callerOfKey(request: GuardRequest, presented: AccessKeyRow | Promise<AccessKeyRow>): Promise<Caller> {
  const { id, tenant, principal, kind, doors } = await presented;
  const { door } = request.route;
  if (kind !== 'agent' || door === undefined || !doors.includes(door))
    throw new AppError('PERMISSION_DENIED', 'This key does not open this route');
  refuseAnother(request, { tenant, principal });
  return { tenant, principal, identity: { kind: 'missing' }, scopes: [], accessKey: id };
}

type Presented = ProvenAssertion | Promise<ProvenAssertion>;

/** The gateway has proven who calls. It opens what the route names for the caller's role, and nothing else. */
async function callerOfAssertion(request: GuardRequest, presented: Presented): Promise<Caller> {
  const { workspace_id: tenant, sub: principal, role, keyId } = await presented;
  if (request.route.assertedBy?.includes(role) !== true)
    throw new AppError('PERMISSION_DENIED', `An assertion for the role ${role} does not open this route`);
  refuseAnother(request, { tenant, principal });
  const identity = { kind: 'agent', agent_id: principal, status: 'active' } as const;
  return { tenant, principal, identity, scopes: [], assertion: { keyId, role } };
}

/** A proven caller may say again who it is, and never that it is somebody else. */
function refuseAnother(request: GuardRequest, { tenant, principal }: Pick<Caller, 'tenant' | 'principal'>): void {
  if (namesTenant(request) && tenantOf(request) !== tenant)
    throw new AppError('PERMISSION_DENIED', 'This credential belongs to another tenant', { param: 'X-Gov-Tenant-ID' });
  if (request.req.headers['x-gov-principal-id'] !== undefined && principalOf(request) !== principal)
    throw new AppError('PERMISSION_DENIED', 'This credential belongs to another principal', {
      param: 'X-Gov-Principal-ID',
    });
}

/** A key of one tenant or principal must not answer for another. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('principal' in caller)) return null;
  const tenant = 'tenant' in caller ? String(caller.tenant) : '';
  return `${tenant}\n${String(caller.principal)}`;
}

function requireKey(bearer: string, key: string): void {
  if (!secretsEqual(bearer, key))
    throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
}

function namesTenant({ req, query }: GuardRequest): boolean {
  return req.headers['x-gov-tenant-id'] !== undefined || query['tenant_id'] !== undefined;
}

/** Header or query parameter; both may be sent when they agree. */
function tenantOf({ req, query }: GuardRequest): TenantId {
  const named = [req.headers['x-gov-tenant-id'], query['tenant_id']].filter((value) => value !== undefined).map(String);
  const [tenant] = named;
  if (tenant === undefined)
    throw new AppError('TENANT_REQUIRED', 'Name the tenant by X-Gov-Tenant-ID or tenant_id', {
      param: 'X-Gov-Tenant-ID',
    });
  if (named.some((value) => value !== tenant))
    throw new AppError('INVALID_REQUEST', 'X-Gov-Tenant-ID and tenant_id differ', { param: 'tenant_id' });
  return parsed(TenantId, tenant, 'X-Gov-Tenant-ID');
}

function principalOf({ req }: GuardRequest): PrincipalId {
  const header = req.headers['x-gov-principal-id'];
  return header === undefined ? adminPrincipal : parsed(PrincipalId, String(header), 'X-Gov-Principal-ID');
}

function parsed<Value>(
  schema: { safeParse(value: unknown): { success: true; data: Value } | { success: false } },
  value: string,
  param: string,
): Value {
  const result = schema.safeParse(value);
  if (!result.success) throw new AppError('INVALID_REQUEST', `${param} is malformed`, { param });
  return result.data;
}
