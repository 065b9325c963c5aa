import { AppError, PrincipalId, TenantId } from '@countersign/contracts';
import { anonymous, bearerToken, secretsEqual, type GuardRequest, type Guards } from '@countersign/service-kit';
import type { Caller } from './boundary/governed-call.ts';
import type { KernelConfig } from './config.ts';

/** Callers of admin and service routes have no tenant: they speak for the system. */
export type SystemCaller = { principal: PrincipalId };

const adminPrincipal = 'admin' as PrincipalId; // within its schema
const servicePrincipal = 'service' as PrincipalId;
const ownScopes = ['*'];

/** Who may call which class of route. */
export function kernelGuards(config: KernelConfig): Guards<Caller | SystemCaller | undefined> {
  const asAdmin = (request: GuardRequest) => requireKey(request, config.GOV_ADMIN_API_KEY);
  return {
    public: anonymous,
    admin: (request) => {
      asAdmin(request);
      return { principal: principalOf(request) };
    },
    service_internal: (request) => {
      requireKey(request, config.GOV_SERVICE_API_KEY);
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

function requireKey({ req }: GuardRequest, key: string): void {
  const token = bearerToken(req);
  if (token === null) throw new AppError('CREDENTIALS_REQUIRED', 'This route needs Authorization: Bearer <key>');
  if (!secretsEqual(token, key))
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
