import { isUtf8 } from 'node:buffer';
import { agentDoors, AppError, PrincipalId, TenantId, ToldCaller, type AssertionClaims } from '@countersign/contracts';
import {
  anonymous,
  bearerToken,
  isSignedToken,
  secretsEqual,
  signedTokenType,
  unprovenClaims,
  type GuardRequest,
  type Guards,
  type Proven,
} from '@countersign/service-kit';
import { agentTokenTerms, exportEvidence } from '@countersign/contracts/governance-kernel';
import type { AccessKeyRow } from './controls/access-keys/access-keys.ts';
import { isAccessKey } from './controls/access-keys/secret.ts';
import type { Caller } from './call/governed-call.ts';
import { isConformanceTenant } from './evidence/conformance/tenants.ts';
import type { Context } from './context.ts';
import { refuseKernelName } from './controls/identities/kernel-name.ts';
import { challenged, insufficientScope } from './doors/oauth/challenge.ts';
import type { OauthCaller, OauthSettings } from './doors/oauth/oauth-tokens.ts';

/** Callers of admin and service routes have no tenant. They act for the system. */
export type SystemCaller = { principal: PrincipalId };

const adminPrincipal = PrincipalId.parse('admin');
const servicePrincipal = PrincipalId.parse('service');
const ownScopes = ['*'];

type Guarding = Pick<Context, 'presentedKeys' | 'assertions' | 'agentTokens' | 'oauthTokens' | 'runCredential'> & {
  config: Pick<Context['config'], 'adminApiKey' | 'serviceApiKey' | 'oauth'>;
};

/** The guard of each class of routes, which finds the caller or refuses the request. */
export function createGuards(
  guarding: Guarding,
): Guards<Caller | SystemCaller | undefined> & { tenant_scoped: TenantGuard } {
  const { tenant_scoped: anyName, ...guards } = kernelGuards(guarding);
  const { oauth } = guarding.config;
  const tenantScoped = withCallersName(anyName);
  return { ...guards, tenant_scoped: oauth === null ? tenantScoped : withChallenges(oauth, tenantScoped) };
}

function kernelGuards({
  config,
  presentedKeys,
  assertions,
  agentTokens,
  oauthTokens,
  runCredential,
}: Guarding): Guards<Caller | SystemCaller | undefined> & { tenant_scoped: TenantGuard } {
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
      if (oauthTokens !== null && config.oauth !== null && isIssuedBy(config.oauth.issuer, bearer))
        return callerOfOauth(request, oauthTokens.verify(bearer), config.oauth);
      if (isSignedToken(bearer))
        return signedTokenType(bearer) === agentTokenTerms.tokenType
          ? callerOfToken(request, agentTokens.verify(bearer))
          : callerOfAssertion(request, assertions.verify(bearer));
      const isOfRun = runCredential.isPresented(bearer);
      if (!isOfRun) requireKey(bearer, config.adminApiKey);
      const caller = operatorNamed(request);
      refuseForeignTenant(request, { tenant: caller.tenant, isOfRun });
      return caller;
    },
  };
}

function operatorNamed(request: GuardRequest): Caller {
  return {
    tenant: tenantOf(request),
    principal: principalOf(request),
    scopes: ownScopes,
    door: request.route.door,
  };
}

/**
 * Only a conformance run may act for the tenants of conformance runs. Otherwise, a caller could prepare the result of a
 * run. A run may act for no other tenant. Other callers may only read in these tenants.
 */
function refuseForeignTenant(
  { route }: GuardRequest,
  { tenant, isOfRun }: { tenant: TenantId; isOfRun: boolean },
): void {
  const reads = route.method === 'GET' || route.operation === exportEvidence.operation;
  if (isOfRun ? isConformanceTenant(tenant) : !isConformanceTenant(tenant) || reads) return;
  throw new AppError(
    'PERMISSION_DENIED',
    'The tenants of conformance runs are reserved for these runs, and a conformance run can use no other tenant',
    {
      param: 'X-Gov-Tenant-ID',
    },
  );
}

/** The key identifies the caller. Names in the request must match it. */
async function callerOfKey(request: GuardRequest, presented: AccessKeyRow | Promise<AccessKeyRow>): Promise<Caller> {
  const { id, tenant, principal, kind, doors } = await presented;
  const { door } = request.route;
  if (kind !== 'agent' || door === undefined || !doors.includes(door))
    throw new AppError('PERMISSION_DENIED', 'This key is not accepted on this route. Use another credential');
  refuseAnother(request, { tenant, principal });
  return { tenant, principal, scopes: [], accessKey: id, door };
}

type Signed = ReturnType<Context['agentTokens']['verify']>;

/** An agent that proved its identity with a signed token. It may use the same routes as agents with keys. */
async function callerOfToken(request: GuardRequest, signed: Signed): Promise<Caller> {
  const { tenant, principal, kid } = await signed;
  const { door } = request.route;
  if (door === undefined || !agentDoors.includes(door))
    throw new AppError('PERMISSION_DENIED', 'Agent tokens are not accepted on this route');
  refuseAnother(request, { tenant, principal });
  return { tenant, principal, scopes: [], agentKey: kid, door };
}

/** A token that names this issuer is verified only as an access token of this issuer. */
function isIssuedBy(issuer: string, bearer: string): boolean {
  try {
    const claims = isSignedToken(bearer) ? unprovenClaims(bearer) : null;
    return typeof claims === 'object' && claims !== null && 'iss' in claims && claims.iss === issuer;
  } catch {
    return false;
  }
}

/** The access token identifies the caller. It is accepted only on the MCP route. */
async function callerOfOauth(
  request: GuardRequest,
  verified: Promise<OauthCaller>,
  settings: OauthSettings,
): Promise<Caller> {
  const { tenant, principal, scopes, clientId } = await verified;
  const { door } = request.route;
  if (door !== 'mcp') throw new AppError('PERMISSION_DENIED', 'OAuth access tokens are not accepted on this route');
  if (!settings.scopes.every((scope) => scopes.includes(scope))) throw insufficientScope(settings);
  refuseAnother(request, { tenant, principal });
  refuseForeignTenant(request, { tenant, isOfRun: false });
  // No scope of a token may grant the operator's rights.
  const own = scopes.filter((scope) => !ownScopes.includes(scope));
  return { tenant, principal, scopes: own, resource: settings.resource, oauth: { clientId }, door };
}

type TenantGuard = (request: GuardRequest) => Caller | Promise<Caller>;

/**
 * Refuses the name of the kernel, for every kind of credential. A guard that returns synchronously still returns
 * synchronously.
 */
function withCallersName(guard: TenantGuard): TenantGuard {
  const named = (caller: Caller) => {
    refuseKernelName(caller.principal);
    return caller;
  };
  return (request) => {
    const caller = guard(request);
    return caller instanceof Promise ? caller.then(named) : named(caller);
  };
}

/** A refusal at the MCP endpoint tells a client where to request a token. */
function withChallenges(settings: OauthSettings, guard: TenantGuard): TenantGuard {
  return async (request) => {
    try {
      return await guard(request);
    } catch (error) {
      throw request.route.door === 'mcp' ? challenged(settings, error) : error;
    }
  };
}

type Presented = Proven<AssertionClaims> | Promise<Proven<AssertionClaims>>;

/** The gateway has proven the caller. The assertion opens only the routes that list the caller's role. */
async function callerOfAssertion(request: GuardRequest, presented: Presented): Promise<Caller> {
  const {
    workspace_id: tenant,
    sub: principal,
    role,
    keyId,
    members_version: membersVersion = 0,
    sponsor,
  } = await presented;
  if (request.route.assertedBy?.includes(role) !== true)
    throw new AppError('PERMISSION_DENIED', `The role ${role} is not allowed on this route`);
  refuseAnother(request, { tenant, principal });
  refuseForeignTenant(request, { tenant, isOfRun: false });
  const assertion = { keyId, role, membersVersion, sponsor: sponsor === undefined ? null : PrincipalId.parse(sponsor) };
  return { tenant, principal, scopes: [], assertion, door: request.route.door };
}

/** A proven caller may repeat its own identity, and never claim another one. */
function refuseAnother(request: GuardRequest, { tenant, principal }: Pick<Caller, 'tenant' | 'principal'>): void {
  if (namesTenant(request) && tenantOf(request) !== tenant)
    throw new AppError('PERMISSION_DENIED', 'This credential belongs to another tenant', { param: 'X-Gov-Tenant-ID' });
  if (request.req.headers['x-gov-principal-id'] !== undefined && principalOf(request) !== principal)
    throw new AppError('PERMISSION_DENIED', 'This credential belongs to another principal', {
      param: 'X-Gov-Principal-ID',
    });
}

/** The scope of an Idempotency-Key. Answers for one tenant and principal must not be replayed for others. */
export function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('principal' in caller)) return null;
  const tenant = 'tenant' in caller ? String(caller.tenant) : '';
  return `${tenant}\n${String(caller.principal)}`;
}

/**
 * Reports the tenant and the key of an agent's credential to the gateway, which forwards the credential without knowing
 * its owner.
 */
export function tellCaller(principal: unknown): ToldCaller | null {
  if (typeof principal !== 'object' || principal === null || !('tenant' in principal)) return null;
  const { tenant: workspace_id, accessKey, agentKey } = principal as Caller; // the guards recognise no other kind with a tenant
  return ToldCaller.safeParse({ workspace_id, key_id: accessKey ?? agentKey }).data ?? null;
}

function requireKey(bearer: string, key: string): void {
  if (!secretsEqual(bearer, key))
    throw new AppError('CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
}

function namesTenant({ req, query }: GuardRequest): boolean {
  return req.headers['x-gov-tenant-id'] !== undefined || query['tenant_id'] !== undefined;
}

/** From the header or the query parameter. Both may be sent when they agree. */
function tenantOf({ req, query }: GuardRequest): TenantId {
  const header = req.headers['x-gov-tenant-id'];
  const named = [header, query['tenant_id']].filter((value) => value !== undefined).map(String);
  const [tenant] = named;
  if (tenant === undefined)
    throw new AppError('TENANT_REQUIRED', 'Name the tenant by X-Gov-Tenant-ID or tenant_id', {
      param: 'X-Gov-Tenant-ID',
    });
  if (named.some((value) => value !== tenant))
    throw new AppError('INVALID_REQUEST', 'X-Gov-Tenant-ID and tenant_id differ', { param: 'tenant_id' });
  return parsed(TenantId, tenant, header === undefined ? 'tenant_id' : 'X-Gov-Tenant-ID');
}

function principalOf({ req }: GuardRequest): PrincipalId {
  const header = req.headers['x-gov-principal-id'];
  if (header === undefined) return adminPrincipal;
  return parsed(PrincipalId, textOfHeader(String(header)), 'X-Gov-Principal-ID');
}

/** Decodes the name in a header as UTF-8. Returns an empty text, which is not a valid name, for other bytes. */
function textOfHeader(header: string): string {
  const bytes = Buffer.from(header, 'latin1'); // the encoding in which Node reads headers
  return isUtf8(bytes) ? bytes.toString('utf8') : '';
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
