import { AppError, PrincipalId, TenantId } from '@countersign/contracts';
import { anonymous, bearerToken, secretsEqual, type GuardRequest, type Guards } from '@countersign/service-kit';
import type { Caller } from './call/governed-call.ts';
import type { Context } from './context.ts';

/** Callers of admin and service routes have no tenant: they speak for the system. */
export type SystemCaller = { principal: PrincipalId };

const adminPrincipal = 'admin' as PrincipalId; // within its schema
const servicePrincipal = 'service' as PrincipalId;
const ownScopes = ['*'];

/** Who may call which class of route. */
export function createGuards({ config }: Pick<Context, 'config'>): Guards<Caller | SystemCaller | undefined> {
  const asAdmin = (request: GuardRequest) => requireKey(request, config.adminApiKey);
  return {
    public: anonymous,
    admin: (request) => {
      asAdmin(request);
      return { principal: principalOf(request) };
    },
    service_internal: (request) => {
      requireKey(request, config.serviceApiKey);
      return { principal: servicePrincipal };
    },
    tenant_scoped: (request) => {
      asAdmin(request);
      return {
        tenant: tenantOf(request),
        principal: principalOf(request),
        identity: { kind: 'operator_credential' },
        scopes: ownScopes,
      };
    },
  };
}

/** A key of one tenant or principal must not answer for another. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('principal' in caller)) return null;
  const tenant = 'tenant' in caller ? String(caller.tenant) : '';
  return `${tenant}\n${String(caller.principal)}`;
}

function requireKey({ req }: GuardRequest, key: string): void {
  if (!secretsEqual(bearerToken(req), key))
    throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
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
